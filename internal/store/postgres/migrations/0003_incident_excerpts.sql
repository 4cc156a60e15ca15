-- What was said in the rounds that prove an incident, sealed with the operator's
-- key.
CREATE TABLE incident_excerpts (
    incident TEXT PRIMARY KEY,
    agent    TEXT NOT NULL,
    time     BIGINT NOT NULL,
    sealed   BYTEA NOT NULL
);
CREATE INDEX incident_excerpts_time ON incident_excerpts (time);
CREATE INDEX incident_excerpts_agent ON incident_excerpts (agent);
