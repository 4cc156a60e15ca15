-- What was said in the rounds that prove an incident, sealed, as JSON.
CREATE TABLE incident_excerpts (
    incident TEXT    PRIMARY KEY,
    agent    TEXT    NOT NULL,
    time     INTEGER NOT NULL,
    sealed   BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX incident_excerpts_time ON incident_excerpts (time);
