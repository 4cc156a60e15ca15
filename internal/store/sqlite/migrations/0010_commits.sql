-- Which events were written together, in the order of the transactions: their
-- ids, each as its distance to the one before.
CREATE TABLE commits (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    time     INTEGER NOT NULL,
    events   BLOB    NOT NULL
) STRICT;
