-- What lists of incidents are filtered by, who acknowledged one, and what people
-- said about it: an array of comments as JSON.
ALTER TABLE incidents ADD COLUMN detector TEXT NOT NULL DEFAULT '';
ALTER TABLE incidents ADD COLUMN action   TEXT NOT NULL DEFAULT '';
ALTER TABLE incidents ADD COLUMN seen_at  BIGINT;
ALTER TABLE incidents ADD COLUMN seen_by  TEXT NOT NULL DEFAULT '';
ALTER TABLE incidents ADD COLUMN comments TEXT;
UPDATE incidents SET detector = coalesce(body::json ->> 'detector', ''), action = coalesce(body::json ->> 'action', '');
