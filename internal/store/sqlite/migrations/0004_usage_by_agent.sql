-- What one agent spent since the month began is asked before its first call:
-- without this, all that everybody spent would be looked through.
CREATE INDEX usage_agent ON usage (agent, hour);
