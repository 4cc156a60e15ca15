// Package openai reads the two formats of OpenAI and of everyone compatible
// with it: Chat Completions and Responses. It reads copies of bytes and
// touches nothing else.
package openai

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Dialect is the manner of OpenAI and compatible providers.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name is "openai".
func (Dialect) Name() string { return "openai" }

// Formats are Chat Completions and Responses.
func (Dialect) Formats() []wire.Format { return []wire.Format{Chat{}, Responses{}} }

// KeyHeader is a bearer token.
func (Dialect) KeyHeader(key string) (name, value string) {
	return "Authorization", "Bearer " + key
}

// Operation is "chat".
func (Dialect) Operation() string { return "chat" }

// deployed adds the deployment of Azure's that a path names to the models that
// may answer a call: of its name and the body's, the reply tells which it was.
func deployed(path string) func(*haltd.Call, error) (*haltd.Call, error) {
	return func(call *haltd.Call, err error) (*haltd.Call, error) {
		if name := wire.Deployment(path); err == nil && name != "" && name != call.Model {
			if call.Model == "" {
				call.Model = name
			}
			call.Models = append(call.Models, name)
		}
		return call, err
	}
}
