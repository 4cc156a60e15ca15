package gateway

import "github.com/haltd/haltd"

// Refusals are the answers to calls that the gateway cannot handle, and Stops
// those to calls that a policy, a rule or a detector stops. docs/errors.md is
// written from them.
var (
	Refusals = []haltd.Explanation{
		{haltd.CodeMalformed, 400, "the body of an LLM call is not one valid JSON object of that format; duplicate keys count as malformed, and so do keys of the API in another case (`Messages`)", "mend the request: the message says where"},
		{"invalid_agent", 400, "the agent in the path is not a valid id", "use letters, digits and `. _ : @ -`"},
		{"invalid_path", 400, "the path holds dot segments, backslashes, a fragment or broken percent signs", "send the plain path"},
		{"provider_key_missing", 400, "a gateway key was used, and haltd has no key of that provider", "set `providers.{name}.api_key` or the provider's variable in haltd's environment"},
		{haltd.CodeUnauthorized, 401, "no gateway key where one is required, or an unknown or revoked one; an agent that has a key was called without it; or the admin token, which never goes to a provider", "ask the operator for a key, or call under another name; the admin API has an address of its own"},
		{codeKeyExpired, 401, "the time of the gateway key is over; the message names it", "ask the operator for a new one: `haltd keys create --agent NAME`"},
		{codeKeyModel, 403, "the gateway key is for certain models, and the call names another one, or a route that would generate names none", "call one of the models that the message lists, or ask for another key"},
		{codePath, 403, "under a gateway key, a request that neither generates nor reads: `DELETE`, organisation, administration, training, credentials", "use a key of the provider's own for it"},
		{codeMethod, 403, "under a gateway key, a header or parameter that asks for another method", "send the request with its own method"},
		{haltd.CodeNotFound, 404, "no such route", "check the base URL: `/v1`, `/{provider}` or `/agents/{agent}/{provider}`"},
		{codeMethod, 405, "`TRACE` or `CONNECT`", "send the provider's own requests, with their own method"},
		{haltd.CodeStalled, 408, "nothing more of a body came for `gateway.stall_timeout`", "send it again; SDKs do by themselves"},
		{haltd.CodeTooLarge, 413, "the body is over `gateway.max_body`", "raise it or send less"},
		{"upgrade_required", 426, "a WebSocket was asked for", "the client falls back to plain HTTP"},
		{haltd.CodeInternal, 500, "a fault in haltd", "report it with the log line"},
		{haltd.CodeUpstream, 502, "the provider, or the proxy on the way to it, could not be reached or does not speak HTTP; the message says which", "check `providers.{name}.base_url`, `proxy` and `ca_file`, and the network; SDKs retry by themselves"},
		{haltd.CodeBusy, 503, "as many calls as `gateway.max_calls` allows are in flight, or their bodies take all of `gateway.body_memory`; the message says which", "send it again after `Retry-After` seconds, which SDKs do by themselves, or raise it"},
		{haltd.CodeUpstream, 504, "the provider began no reply within its `first_byte_timeout`", "send it again, which SDKs do by themselves, or raise `providers.{name}.first_byte_timeout`"},
	}
	Stops = []haltd.Explanation{
		{string(haltd.ReasonLoop), 400, "this call proved a loop: the agent, or the session, is killed from now on", "look at the incident, which names the command that resumes it: `haltd agents resume AGENT`, or with `--session`"},
		{string(haltd.ReasonLoop), 429, "the call repeats itself under `reject`, or is identical to recent ones (`loop_detection`)", "change what the agent does; it passes after `Retry-After` seconds without a repetition"},
		{string(haltd.ReasonHalted), 400, "the turn was ended because the session repeated itself; side calls pass", "send a message in the session, which goes on by itself; or `haltd agents resume AGENT --session SESSION`"},
		{string(haltd.ReasonKilled), 400, "the agent or session was killed earlier", "look at the incident; `haltd agents resume AGENT`, with `--session` where the session alone is stopped"},
		{string(haltd.ReasonManual), 400, "a person switched the agent or session off", "`haltd agents resume AGENT`, or with `--session`"},
		{string(haltd.ReasonBudget), 400, "a hard budget of the day or month, of the agent or of its gateway key, is spent, or has too little left for the call; the message says which", "raise the budget, ask for a shorter reply, stream it, or wait for the next period"},
		{string(haltd.ReasonBudget), 429, "calls in flight hold what is left of a hard budget", "wait as long as `Retry-After` says"},
		{string(haltd.ReasonSession), 400, "a session, or a turn of it, has reached one of its [limits](configuration.md#defaults); the message names the limit, its value and what was used", "begin a new session, for a turn send a message, or raise the limit"},
		{string(haltd.ReasonHours), 400, "the agent may not call at this hour", "change its `allowed_hours`, or wait"},
		{string(haltd.ReasonRule), 400, "a rule with the action `block` matched", "ask the operator; the event names the rule"},
		{string(haltd.ReasonRule), 429, "a rule with the action `reject` matched", "wait `Retry-After` seconds"},
		{string(haltd.ReasonRate), 429, "more requests or tokens per minute than allowed, or a policy's bucket is empty", "wait `Retry-After` seconds, or raise the limit"},
		{string(haltd.ReasonUnsaved), 503, "a hard budget applies, and haltd cannot write down what the call may cost", "look at haltd's log and disk; SDKs try again by themselves"},
	}
)
