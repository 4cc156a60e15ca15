package admin

import "github.com/haltd/haltd"

// Refusals are the errors of the API. docs/errors.md is written from them.
var Refusals = []haltd.Explanation{
	{haltd.CodeInvalid, 400, "a field, a filter or the body breaks a rule", "mend what the message names"},
	{haltd.CodeUnauthorized, 401, "no token, or one that is wrong, has expired or was revoked", "send `Authorization: Bearer TOKEN`"},
	{codeForbidden, 403, "you are known and may not do this: the role of your token does not cover it, or a gateway key reports for another agent", "ask an admin, or report with that agent's key"},
	{haltd.CodeNotFound, 404, "no such route, or nothing with this id", "list what there is"},
	{"method_not_allowed", 405, "the route has other methods", "look into `/v1/openapi.json`"},
	{haltd.CodeConflict, 409, "somebody else changed the same thing at the same moment", "look at it again, and repeat the change if it is still wanted"},
	{haltd.CodeExists, 409, "it is there already: two channels cannot have one name", "choose another name, or change the one there is"},
	{haltd.CodeTooLarge, 413, "the body is too large", "send less"},
	{haltd.CodeInvalid, 415, "the body does not call itself JSON", "send `Content-Type: application/json`"},
	{"unknown_host", 421, "a Host header that the listener does not answer to", "set it as `alerts.public_url`, or add it to `admin.hosts`"},
	{codeTooMany, 429, "too many wrong tokens came from this address, or from all together; this one was not looked at", "wait for the seconds that `Retry-After` names; on haltd's own machine the right token is always taken"},
	{haltd.CodeInternal, 500, "a fault in haltd", "report it with the log line"},
	{haltd.CodeUnavailable, 503, "the store does not answer, or haltd is shutting down", "try again; look at haltd's log"},
}
