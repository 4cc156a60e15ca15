-- On which machine a node runs, as that calls itself; empty for nodes of earlier releases.
ALTER TABLE nodes ADD COLUMN host TEXT NOT NULL DEFAULT '';
