-- What each node has spent of a ledger and holds. The share of nobody, whose
-- node is empty, is what nodes had that are gone, and what the record knew
-- before. What was held so far was held by a process that has ended.
CREATE TABLE shares (
    agent        TEXT    NOT NULL,
    period       TEXT    NOT NULL,
    start        INTEGER NOT NULL,
    node         TEXT    NOT NULL,
    spent_cost   INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    held_cost    INTEGER NOT NULL,
    held_tokens  INTEGER NOT NULL,
    alone        INTEGER NOT NULL,
    PRIMARY KEY (agent, period, start, node)
) STRICT, WITHOUT ROWID;
INSERT INTO shares SELECT agent, period, start, '', spent_cost + held_cost, spent_tokens + held_tokens, 0, 0, 0 FROM ledgers;
DROP TABLE ledgers;
