package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/wire/formats"
)

// The codes of requests that a key is not good for.
const (
	codeKeyExpired = "key_expired"
	codeKeyModel   = "model_not_allowed"
)

// checkExpiry refuses a key whose time is over, in the name of its agent.
func (x *exchange) checkExpiry() error {
	if !x.key.Expired(x.start) {
		return nil
	}
	x.event.Agent = x.key.Agent
	return refuse(http.StatusUnauthorized, haltd.Errorf(codeKeyExpired, "Gateway key %q of agent %s expired at %s", x.key.Title(), x.key.Agent, x.key.ExpiresAt.Format(time.RFC3339)).
		WithFix("Ask the operator for a new one (haltd keys create --agent %s).", x.key.Agent))
}

// checkModels refuses what a key is not good for: every model that may answer
// has to be one of its own. Under such a key, what would generate with a model
// that cannot be read does not pass either.
func (x *exchange) checkModels() error {
	if len(x.key.Models) == 0 {
		return nil
	}
	for _, model := range x.modelNames() {
		if !policy.AllowsModel(x.key.Models, model) {
			return x.refuseModel("Gateway key %q of agent %s may not call the model %.200q", model)
		}
	}
	return nil
}

// modelNames are all models that the request names; an empty one stands for a
// model that nobody can tell.
func (x *exchange) modelNames() []string {
	switch {
	case x.call != nil && x.call.Alias != "":
		return append([]string{x.call.Model, x.call.Alias}, x.call.Models...)
	case x.call != nil:
		return append([]string{x.call.Model}, x.call.Models...)
	case x.ask != nil && len(x.ask.Models) > 0:
		return append(append([]string(nil), x.ask.Models...), x.ask.Names...)
	case x.ask != nil:
		return []string{""}
	case x.route.kind != formats.NotMetered && x.r.Method != http.MethodGet && x.r.Method != http.MethodHead:
		return []string{""}
	}
	return nil
}

func (x *exchange) refuseModel(sentence, model string) error {
	if model == "" {
		sentence, model = "Gateway key %q of agent %s is for certain models, and %.200q does not say which one it calls", x.route.path
	}
	return refuse(http.StatusForbidden, haltd.Errorf(codeKeyModel, sentence, x.key.Title(), x.key.Agent, model).
		WithFix("Call one of %s, or ask the operator for a key that is good for it (haltd keys create --agent %s --models …).", strings.Join(x.key.Models, ", "), x.key.Agent))
}
