package gateway

import "github.com/haltd/haltd"

// Refusals are the answers to calls that the gateway cannot handle, and Stops
// those to calls that a policy, a rule or a detector stops. docs/errors.md is
// written from them.
var (
	Refusals = []haltd.Explanation{
		{Code: haltd.CodeMalformed, Status: 400, Means: "the body of an LLM call is not one valid JSON object of that format; duplicate keys count as malformed, and so do keys of the API in another case (`Messages`)", Do: "mend the request: the message says where"},
		{Code: "invalid_agent", Status: 400, Means: "the agent in the path is not a valid id", Do: "use letters, digits and `. _ : @ -`"},
		{Code: "invalid_path", Status: 400, Means: "the path holds dot segments, backslashes, a fragment or broken percent signs", Do: "send the plain path"},
		{Code: "provider_key_missing", Status: 400, Means: "a gateway key was used, and haltd has no key of that provider", Do: "set `providers.{name}.api_key` or the provider's variable in haltd's environment"},
		{Code: haltd.CodeUnauthorized, Status: 401, Means: "no gateway key where one is required, or an unknown or revoked one; an agent that has a key was called without it; or the admin token, which never goes to a provider", Do: "ask the operator for a key, or call under another name; the admin API has an address of its own"},
		{Code: codeKeyExpired, Status: 401, Means: "the time of the gateway key is over; the message names it", Do: "ask the operator for a new one: `haltd keys create --agent NAME`"},
		{Code: codeKeyModel, Status: 403, Means: "the gateway key is for certain models, and the call names another one, or a route that would generate names none", Do: "call one of the models that the message lists, or ask for another key"},
		{Code: codePath, Status: 403, Means: "under a gateway key, a request that neither generates nor reads: `DELETE`, organisation, administration, training, credentials", Do: "use a key of the provider's own for it"},
		{Code: codeMethod, Status: 403, Means: "under a gateway key, a header or parameter that asks for another method", Do: "send the request with its own method"},
		{Code: haltd.CodeNotFound, Status: 404, Means: "no such route", Do: "check the base URL: `/v1`, `/{provider}` or `/agents/{agent}/{provider}`"},
		{Code: codeMethod, Status: 405, Means: "`TRACE` or `CONNECT`", Do: "send the provider's own requests, with their own method"},
		{Code: haltd.CodeStalled, Status: 408, Means: "nothing more of a body came for `gateway.stall_timeout`", Do: "send it again; SDKs do by themselves"},
		{Code: haltd.CodeTooLarge, Status: 413, Means: "the body is over `gateway.max_body`", Do: "raise it or send less"},
		{Code: "upgrade_required", Status: 426, Means: "a WebSocket was asked for", Do: "the client falls back to plain HTTP"},
		{Code: haltd.CodeInternal, Status: 500, Means: "a fault in haltd", Do: "report it with the log line"},
		{Code: haltd.CodeUpstream, Status: 502, Means: "the provider, or the proxy on the way to it, could not be reached or does not speak HTTP; the message says which", Do: "check `providers.{name}.base_url`, `proxy` and `ca_file`, and the network; SDKs retry by themselves"},
		{Code: haltd.CodeBusy, Status: 503, Means: "as many calls as `gateway.max_calls` allows are in flight, or their bodies take all of `gateway.body_memory`; the message says which", Do: "send it again after `Retry-After` seconds, which SDKs do by themselves, or raise it"},
		{Code: haltd.CodeUpstream, Status: 504, Means: "the provider began no reply within its `first_byte_timeout`", Do: "send it again, which SDKs do by themselves, or raise `providers.{name}.first_byte_timeout`"},
	}
	Stops = []haltd.Explanation{
		{Code: string(haltd.ReasonLoop), Status: 400, Means: "this call proved a loop: the agent, or the session, is killed from now on", Do: "look at the incident, which names the command that resumes it: `haltd agents resume AGENT`, or with `--session`"},
		{Code: string(haltd.ReasonLoop), Status: 429, Means: "the call repeats itself under `reject`, or is identical to recent ones (`loop_detection`)", Do: "change what the agent does; it passes after `Retry-After` seconds without a repetition"},
		{Code: string(haltd.ReasonHalted), Status: 400, Means: "the turn was ended because the session repeated itself; side calls pass", Do: "send a message in the session, which goes on by itself; or `haltd agents resume AGENT --session SESSION`"},
		{Code: string(haltd.ReasonKilled), Status: 400, Means: "the agent or session was killed earlier", Do: "look at the incident; `haltd agents resume AGENT`, with `--session` where the session alone is stopped"},
		{Code: string(haltd.ReasonManual), Status: 400, Means: "a person switched the agent or session off", Do: "`haltd agents resume AGENT`, or with `--session`"},
		{Code: string(haltd.ReasonBudget), Status: 400, Means: "a hard budget of the day or month, of the agent or of its gateway key, is spent, or has too little left for the call; the message says which", Do: "raise the budget, ask for a shorter reply, stream it, or wait for the next period"},
		{Code: string(haltd.ReasonBudget), Status: 429, Means: "calls in flight hold what is left of a hard budget", Do: "wait as long as `Retry-After` says"},
		{Code: string(haltd.ReasonSession), Status: 400, Means: "a session, or a turn of it, has reached one of its [limits](configuration.md#defaults); the message names the limit, its value and what was used", Do: "begin a new session, for a turn send a message, or raise the limit"},
		{Code: string(haltd.ReasonHours), Status: 400, Means: "the agent may not call at this hour", Do: "change its `allowed_hours`, or wait"},
		{Code: string(haltd.ReasonRule), Status: 400, Means: "a rule with the action `block` matched", Do: "ask the operator; the event names the rule"},
		{Code: string(haltd.ReasonRule), Status: 429, Means: "a rule with the action `reject` matched", Do: "wait `Retry-After` seconds"},
		{Code: string(haltd.ReasonRate), Status: 429, Means: "more requests or tokens per minute than allowed, or a policy's bucket is empty", Do: "wait `Retry-After` seconds, or raise the limit"},
		{Code: string(haltd.ReasonUnsaved), Status: 503, Means: "a hard budget applies, and haltd cannot write down what the call may cost", Do: "look at haltd's log and disk; SDKs try again by themselves"},
	}
)
