-- What was changed of who may call, for the nodes that follow. standing,
-- override and rule are whose: the agent, or the id of the rule.
CREATE TABLE changes (
    version  INTEGER PRIMARY KEY AUTOINCREMENT,
    node     TEXT    NOT NULL,
    time     INTEGER NOT NULL,
    standing TEXT,
    override TEXT,
    rule     TEXT,
    bypass   INTEGER NOT NULL,
    body     TEXT    NOT NULL
) STRICT;
