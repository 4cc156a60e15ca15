PRAGMA application_id = 1751215220;

CREATE TABLE agents (
    no             INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    active         INTEGER NOT NULL DEFAULT 1,
    deactivated_by TEXT,
    shared         INTEGER NOT NULL DEFAULT 0,
    first_seen     INTEGER NOT NULL,
    last_seen      INTEGER NOT NULL,
    calls          INTEGER NOT NULL DEFAULT 0,
    blocked        INTEGER NOT NULL DEFAULT 0,
    errors         INTEGER NOT NULL DEFAULT 0,
    input          INTEGER NOT NULL DEFAULT 0,
    output         INTEGER NOT NULL DEFAULT 0,
    cache_read     INTEGER NOT NULL DEFAULT 0,
    cache_write    INTEGER NOT NULL DEFAULT 0,
    cost           INTEGER NOT NULL DEFAULT 0
) STRICT;

-- first_event and last_event bound the ids of a session's events. A session
-- is short next to its agent, so that these bounds and the index by agent
-- find its events without an index of their own, which would cost every
-- insert half as much again. Nor is there one by last_seen, which every batch
-- would move: listings sort.
CREATE TABLE sessions (
    no          INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL,
    agent       INTEGER NOT NULL,
    client      TEXT    NOT NULL DEFAULT '',
    model       TEXT    NOT NULL DEFAULT '',
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    last_event  INTEGER NOT NULL,
    calls       INTEGER NOT NULL DEFAULT 0,
    blocked     INTEGER NOT NULL DEFAULT 0,
    errors      INTEGER NOT NULL DEFAULT 0,
    input       INTEGER NOT NULL DEFAULT 0,
    output      INTEGER NOT NULL DEFAULT 0,
    cache_read  INTEGER NOT NULL DEFAULT 0,
    cache_write INTEGER NOT NULL DEFAULT 0,
    cost        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX sessions_id ON sessions (id, agent);

-- agent and session are the no of their rows, 0 for none. Fields that no
-- query filters by are together in detail, as JSON.
CREATE TABLE events (
    id       INTEGER PRIMARY KEY,
    time     INTEGER,
    agent    INTEGER,
    session  INTEGER,
    type     TEXT,
    client   TEXT,
    provider TEXT,
    model    TEXT,
    blocked  INTEGER,
    detail   TEXT
);
CREATE INDEX events_agent ON events (agent);

-- The ids that the events of an hour lie between: turns a time into a range
-- of ids, in place of an index by time.
CREATE TABLE hours (
    hour        INTEGER PRIMARY KEY,
    first_event INTEGER NOT NULL,
    last_event  INTEGER NOT NULL
) STRICT;

CREATE TABLE usage (
    hour        INTEGER NOT NULL,
    agent       INTEGER NOT NULL,
    provider    TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    calls       INTEGER NOT NULL,
    blocked     INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost        INTEGER NOT NULL,
    PRIMARY KEY (hour, agent, provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    no         INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    agent      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    hash       BLOB    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
