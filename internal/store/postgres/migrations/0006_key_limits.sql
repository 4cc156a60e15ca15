-- What a gateway key is good for, a haltd.KeyLimits as JSON, and when it was
-- last used.
ALTER TABLE keys ADD COLUMN limits       TEXT NOT NULL DEFAULT '{}';
ALTER TABLE keys ADD COLUMN last_used_at BIGINT;
