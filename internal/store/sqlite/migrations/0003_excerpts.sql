-- What was said in calls, where the operator has switched that on. event is
-- the id of the event and time its time: excerpts are kept for less long.
CREATE TABLE excerpts (
    event      INTEGER PRIMARY KEY,
    time       INTEGER NOT NULL,
    prompt     TEXT    NOT NULL,
    reply      TEXT    NOT NULL,
    tool_calls TEXT    NOT NULL
) STRICT;
CREATE INDEX excerpts_time ON excerpts (time);
