-- API tokens, with the role of who holds one; body is a haltd.Token.
CREATE TABLE tokens (
    no   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
);

-- The audit log: who changed what; body is a haltd.Audit.
CREATE TABLE audits (
    id      BIGINT PRIMARY KEY, -- that of the event
    time    BIGINT NOT NULL,
    by      TEXT NOT NULL,
    change  TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX audits_by_time ON audits (time);
