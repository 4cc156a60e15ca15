-- The processes that use the database, one after the other mostly. Times are
-- microseconds; a lease that has ended is that of a node that is gone.
CREATE TABLE nodes (
    id         TEXT    PRIMARY KEY,
    number     INTEGER NOT NULL,
    version    TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leaders (
    task  TEXT    PRIMARY KEY,
    node  TEXT    NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
