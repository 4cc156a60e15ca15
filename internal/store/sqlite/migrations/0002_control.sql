-- The standing of an agent, beside active and deactivated_by: who changed it
-- last, why and when. Times and texts that there are none of are NULL, so
-- that an agent with nothing but NULLs is simply active. override is the
-- API's, as JSON. A deleted agent is one that was forgotten: its row keeps
-- the standing until it calls again.
ALTER TABLE agents ADD COLUMN incident     TEXT;
ALTER TABLE agents ADD COLUMN changed_by   TEXT;
ALTER TABLE agents ADD COLUMN why          TEXT;
ALTER TABLE agents ADD COLUMN changed_at   INTEGER;
ALTER TABLE agents ADD COLUMN activated_at INTEGER;
ALTER TABLE agents ADD COLUMN grace_until  INTEGER;
ALTER TABLE agents ADD COLUMN override     TEXT;
ALTER TABLE agents ADD COLUMN deleted      INTEGER NOT NULL DEFAULT 0;

ALTER TABLE sessions ADD COLUMN peak_score REAL NOT NULL DEFAULT 0;

-- By the ids of agent and session, because a standing outlives their rows.
CREATE TABLE session_standings (
    agent          TEXT    NOT NULL,
    session        TEXT    NOT NULL,
    active         INTEGER NOT NULL,
    deactivated_by TEXT,
    incident       TEXT,
    changed_by     TEXT,
    why            TEXT,
    changed_at     INTEGER,
    activated_at   INTEGER,
    grace_until    INTEGER,
    PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE marks (
    agent        TEXT    NOT NULL,
    session      TEXT    NOT NULL,
    activated_at INTEGER,
    round        INTEGER NOT NULL, -- the same 64 bits, signed
    count        INTEGER NOT NULL,
    PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE bypass (
    no   INTEGER PRIMARY KEY CHECK (no = 1),
    body TEXT NOT NULL
) STRICT;

-- What people make in small numbers is kept as JSON, in the order of making.
CREATE TABLE rules (
    no   INTEGER PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE channels (
    no   INTEGER PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE alert_rules (
    no   INTEGER PRIMARY KEY,
    id   TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

-- body is the incident as it was raised, as JSON without its verdict. The
-- columns are what queries filter by and what a decision changes.
CREATE TABLE incidents (
    no        INTEGER PRIMARY KEY,
    id        TEXT    NOT NULL UNIQUE,
    time      INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    status    TEXT    NOT NULL,
    shadow    INTEGER NOT NULL,
    agent     TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    once      TEXT,
    verdict   TEXT,
    body      TEXT    NOT NULL,
    closed_at INTEGER,
    closed_by TEXT    NOT NULL,
    note      TEXT    NOT NULL
) STRICT;
CREATE INDEX incidents_time ON incidents (time);
CREATE INDEX incidents_agent ON incidents (agent, time);
CREATE INDEX incidents_once ON incidents (once, time);

CREATE TABLE ledgers (
    agent        TEXT    NOT NULL,
    period       TEXT    NOT NULL,
    start        INTEGER NOT NULL,
    spent_cost   INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    held_cost    INTEGER NOT NULL,
    held_tokens  INTEGER NOT NULL,
    PRIMARY KEY (agent, period, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
    no         INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    time       INTEGER NOT NULL,
    incident   TEXT    NOT NULL,
    dispatched INTEGER NOT NULL DEFAULT 0,
    body       TEXT    NOT NULL
) STRICT;
CREATE INDEX notices_new ON notices (time) WHERE dispatched = 0;

CREATE TABLE deliveries (
    no         INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    notice     INTEGER NOT NULL, -- the no of its row
    channel    TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    answer     TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE status = 'pending';
CREATE INDEX deliveries_notice ON deliveries (notice);
