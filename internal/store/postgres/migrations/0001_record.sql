-- Times are microseconds since 1970, money is in the unit of haltd.Money. Names
-- sort by their bytes, on whichever machine.

-- The numbers that commits and changes get. Whoever takes one has the row until
-- its transaction ends, so that they become visible in their order.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters VALUES ('commits', 0), ('changes', 0);

-- The standing of an agent is beside what it has used: times and texts that
-- there are none of are NULL, so that an agent with nothing but NULLs is simply
-- active. override is the API's, as JSON. A deleted agent is one that was
-- forgotten: its row keeps the standing until it calls again.
CREATE TABLE agents (
    no             BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    id             TEXT COLLATE "C" PRIMARY KEY,
    active         BOOLEAN NOT NULL DEFAULT true,
    deactivated_by TEXT,
    incident       TEXT,
    changed_by     TEXT,
    why            TEXT,
    changed_at     BIGINT,
    activated_at   BIGINT,
    grace_until    BIGINT,
    override       TEXT,
    deleted        BOOLEAN NOT NULL DEFAULT false,
    shared         BOOLEAN NOT NULL DEFAULT false,
    first_seen     BIGINT NOT NULL,
    last_seen      BIGINT NOT NULL,
    calls          BIGINT NOT NULL DEFAULT 0,
    blocked        BIGINT NOT NULL DEFAULT 0,
    errors         BIGINT NOT NULL DEFAULT 0,
    input          BIGINT NOT NULL DEFAULT 0,
    output         BIGINT NOT NULL DEFAULT 0,
    cache_read     BIGINT NOT NULL DEFAULT 0,
    cache_write    BIGINT NOT NULL DEFAULT 0,
    cost           BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX agents_notable ON agents (id) WHERE NOT active OR num_nonnulls(deactivated_by, incident, changed_by, why, changed_at, activated_at, grace_until) > 0;

-- first_event and last_event bound the ids of a session's events: with the
-- index by agent they find them without an index of their own.
CREATE TABLE sessions (
    no          BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    agent       TEXT COLLATE "C" NOT NULL,
    id          TEXT COLLATE "C" NOT NULL,
    client      TEXT NOT NULL DEFAULT '',
    model       TEXT NOT NULL DEFAULT '',
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    first_event BIGINT NOT NULL,
    last_event  BIGINT NOT NULL,
    peak_score  DOUBLE PRECISION NOT NULL DEFAULT 0,
    calls       BIGINT NOT NULL DEFAULT 0,
    blocked     BIGINT NOT NULL DEFAULT 0,
    errors      BIGINT NOT NULL DEFAULT 0,
    input       BIGINT NOT NULL DEFAULT 0,
    output      BIGINT NOT NULL DEFAULT 0,
    cache_read  BIGINT NOT NULL DEFAULT 0,
    cache_write BIGINT NOT NULL DEFAULT 0,
    cost        BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, id)
) WITH (fillfactor = 70);
CREATE INDEX sessions_id ON sessions (id);

-- Fields that no query filters by are together in detail, as JSON. So are, in
-- raw, texts that PostgreSQL does not take as they are.
CREATE TABLE events (
    id       BIGINT PRIMARY KEY,
    time     BIGINT NOT NULL,
    agent    TEXT COLLATE "C" NOT NULL,
    session  TEXT COLLATE "C" NOT NULL,
    type     TEXT NOT NULL,
    client   TEXT NOT NULL,
    provider TEXT NOT NULL,
    model    TEXT NOT NULL,
    blocked  BOOLEAN NOT NULL,
    score    DOUBLE PRECISION NOT NULL,
    detail   TEXT NOT NULL,
    raw      TEXT
);
CREATE INDEX events_agent ON events (agent, id);

-- Which events were written together, in the order of the transactions.
CREATE TABLE commits (
    position BIGINT PRIMARY KEY,
    time     BIGINT NOT NULL,
    events   BIGINT[] NOT NULL
);

-- What was said in calls, sealed with the operator's key.
CREATE TABLE excerpts (
    event  BIGINT PRIMARY KEY,
    time   BIGINT NOT NULL,
    sealed BYTEA NOT NULL
);
CREATE INDEX excerpts_time ON excerpts (time);

-- The ids that the events of an hour lie between: turns a time into a range of
-- ids, in place of an index by time.
CREATE TABLE hours (
    hour        BIGINT PRIMARY KEY,
    first_event BIGINT NOT NULL,
    last_event  BIGINT NOT NULL
);

CREATE TABLE usage (
    hour        BIGINT NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    provider    TEXT COLLATE "C" NOT NULL,
    model       TEXT COLLATE "C" NOT NULL,
    calls       BIGINT NOT NULL,
    blocked     BIGINT NOT NULL,
    errors      BIGINT NOT NULL,
    input       BIGINT NOT NULL,
    output      BIGINT NOT NULL,
    cache_read  BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    cost        BIGINT NOT NULL,
    PRIMARY KEY (hour, agent, provider, model)
);
CREATE INDEX usage_agent ON usage (agent, hour);

CREATE TABLE keys (
    no         BIGINT GENERATED ALWAYS AS IDENTITY,
    id         TEXT PRIMARY KEY,
    agent      TEXT NOT NULL,
    name       TEXT NOT NULL,
    hash       BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE session_standings (
    agent          TEXT COLLATE "C" NOT NULL,
    session        TEXT COLLATE "C" NOT NULL,
    active         BOOLEAN NOT NULL,
    deactivated_by TEXT,
    incident       TEXT,
    changed_by     TEXT,
    why            TEXT,
    changed_at     BIGINT,
    activated_at   BIGINT,
    grace_until    BIGINT,
    PRIMARY KEY (agent, session)
);

CREATE TABLE marks (
    agent        TEXT COLLATE "C" NOT NULL,
    session      TEXT COLLATE "C" NOT NULL,
    activated_at BIGINT,
    round        BIGINT NOT NULL, -- the same 64 bits, signed
    count        BIGINT NOT NULL,
    PRIMARY KEY (agent, session)
);

CREATE TABLE bypass (
    no   INTEGER PRIMARY KEY CHECK (no = 1),
    body TEXT NOT NULL
);

-- What people make in small numbers is kept as JSON, in the order of making.
CREATE TABLE rules (
    no   BIGINT GENERATED ALWAYS AS IDENTITY,
    id   TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE channels (
    no   BIGINT GENERATED ALWAYS AS IDENTITY,
    id   TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE alert_rules (
    no   BIGINT GENERATED ALWAYS AS IDENTITY,
    id   TEXT PRIMARY KEY,
    body TEXT NOT NULL
);

-- What was changed of who may call, for the nodes that follow. standing,
-- override and rule are whose: the agent, or the id of the rule.
CREATE TABLE changes (
    version  BIGINT PRIMARY KEY,
    node     TEXT NOT NULL,
    time     BIGINT NOT NULL,
    standing TEXT,
    override TEXT,
    rule     TEXT,
    bypass   BOOLEAN NOT NULL,
    body     TEXT NOT NULL
);

-- body is the incident as it was raised, as JSON without its verdict. The
-- columns are what queries filter by and what a decision changes.
CREATE TABLE incidents (
    no        BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    id        TEXT PRIMARY KEY,
    time      BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    status    TEXT NOT NULL,
    shadow    BOOLEAN NOT NULL,
    scope     TEXT NOT NULL,
    agent     TEXT COLLATE "C" NOT NULL,
    session   TEXT COLLATE "C" NOT NULL,
    once      TEXT,
    verdict   TEXT,
    body      TEXT NOT NULL,
    closed_at BIGINT,
    closed_by TEXT NOT NULL,
    note      TEXT NOT NULL
);
CREATE INDEX incidents_time ON incidents (time, no);
CREATE INDEX incidents_agent ON incidents (agent, time);
CREATE INDEX incidents_once ON incidents (md5(once), time) WHERE once IS NOT NULL;

-- What each node has spent of a ledger and holds. The share of nobody, whose
-- node is empty, is what nodes had that are gone, and what the record knew
-- before.
CREATE TABLE shares (
    agent        TEXT COLLATE "C" NOT NULL,
    period       TEXT NOT NULL,
    start        BIGINT NOT NULL,
    node         TEXT NOT NULL,
    spent_cost   BIGINT NOT NULL,
    spent_tokens BIGINT NOT NULL,
    held_cost    BIGINT NOT NULL,
    held_tokens  BIGINT NOT NULL,
    alone        BOOLEAN NOT NULL,
    PRIMARY KEY (agent, period, start, node)
) WITH (fillfactor = 50);

CREATE TABLE notices (
    no         BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    id         TEXT PRIMARY KEY,
    time       BIGINT NOT NULL,
    incident   TEXT NOT NULL,
    dispatched BOOLEAN NOT NULL DEFAULT false,
    body       TEXT NOT NULL
);
CREATE INDEX notices_new ON notices (time) WHERE NOT dispatched;

-- claimed is until when somebody tries a delivery.
CREATE TABLE deliveries (
    no         BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    id         TEXT PRIMARY KEY,
    notice     BIGINT NOT NULL, -- the no of its row
    channel    TEXT NOT NULL,
    status     TEXT NOT NULL,
    attempts   BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    answer     TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    claimed    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE status = 'pending';
CREATE INDEX deliveries_notice ON deliveries (notice);

CREATE TABLE sign_outs (
    digest TEXT PRIMARY KEY,
    until  BIGINT NOT NULL
);

-- The processes that share the database. A lease that has ended is that of a
-- node that is gone.
CREATE TABLE nodes (
    id         TEXT PRIMARY KEY,
    number     INTEGER NOT NULL,
    version    TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    until      BIGINT NOT NULL
);
CREATE TABLE leaders (
    task  TEXT PRIMARY KEY,
    node  TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- What all nodes have in common, made by the first of them.
CREATE TABLE shared_secrets (
    name  TEXT PRIMARY KEY,
    value BYTEA NOT NULL
);
