package admin

import "github.com/haltd/haltd"

// Refusals are the errors of the API. docs/errors.md is written from them.
var Refusals = []haltd.Explanation{
	{Code: haltd.CodeInvalid, Status: 400, Means: "a field, a filter or the body breaks a rule", Do: "mend what the message names"},
	{Code: haltd.CodeUnauthorized, Status: 401, Means: "no token, or one that is wrong, has expired or was revoked", Do: "send `Authorization: Bearer TOKEN`"},
	{Code: codeForbidden, Status: 403, Means: "you are known and may not do this: the role of your token does not cover it, or a gateway key reports for another agent", Do: "ask an admin, or report with that agent's key"},
	{Code: haltd.CodeNotFound, Status: 404, Means: "no such route, or nothing with this id", Do: "list what there is"},
	{Code: "method_not_allowed", Status: 405, Means: "the route has other methods", Do: "look into `/v1/openapi.json`"},
	{Code: haltd.CodeConflict, Status: 409, Means: "somebody else changed the same thing at the same moment", Do: "look at it again, and repeat the change if it is still wanted"},
	{Code: haltd.CodeExists, Status: 409, Means: "it is there already: two channels cannot have one name", Do: "choose another name, or change the one there is"},
	{Code: haltd.CodeTooLarge, Status: 413, Means: "the body is too large", Do: "send less"},
	{Code: haltd.CodeInvalid, Status: 415, Means: "the body does not call itself JSON", Do: "send `Content-Type: application/json`"},
	{Code: "unknown_host", Status: 421, Means: "a Host header that the listener does not answer to", Do: "set it as `alerts.public_url`, or add it to `admin.hosts`"},
	{Code: codeTooMany, Status: 429, Means: "too many wrong tokens came from this address, or from all together; this one was not looked at", Do: "wait for the seconds that `Retry-After` names; on haltd's own machine the right token is always taken"},
	{Code: haltd.CodeInternal, Status: 500, Means: "a fault in haltd", Do: "report it with the log line"},
	{Code: haltd.CodeUnavailable, Status: 503, Means: "the store does not answer, also while haltd starts and waits for it; or haltd is shutting down", Do: "try again; look at haltd's log"},
}
