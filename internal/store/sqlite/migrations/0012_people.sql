-- API tokens, with the role of who holds one; body is a haltd.Token.
CREATE TABLE tokens (
    no   INTEGER PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

-- The audit log: who changed what; body is a haltd.Audit.
CREATE TABLE audits (
    id      INTEGER PRIMARY KEY, -- that of the event
    time    INTEGER NOT NULL,
    by      TEXT NOT NULL,
    change  TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX audits_by_time ON audits (time);
INSERT INTO audits
SELECT e.id, e.time, audit ->> 'by', audit ->> 'change', coalesce(a.id, ''), coalesce(s.id, ''), audit
FROM (SELECT *, coalesce(detail -> 'audit', detail -> 'verdict') AS audit FROM events WHERE type = 'policy_change') e
LEFT JOIN agents a ON a.no = e.agent LEFT JOIN sessions s ON s.no = e.session
WHERE audit ->> 'change' IS NOT NULL AND audit ->> 'by' IS NOT NULL;
