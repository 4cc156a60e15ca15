// Package formats is the list of the dialects that haltd speaks. A new
// provider family is one folder beside this one and one line here. Of requests
// that no dialect reads it tells which may pass with the operator's key, and what
// they make and cost.
package formats

import (
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/anthropic"
	"github.com/haltd/haltd/internal/wire/gemini"
	"github.com/haltd/haltd/internal/wire/ollama"
	"github.com/haltd/haltd/internal/wire/openai"
)

var dialects = []wire.Dialect{
	openai.Dialect{},
	anthropic.Dialect{},
	gemini.Dialect{},
	ollama.Dialect{},
}

// Dialect is the dialect of that name, or nil.
func Dialect(name string) wire.Dialect {
	for _, d := range dialects {
		if d.Name() == name {
			return d
		}
	}
	return nil
}

// Match is the format of a POST to path and the dialect it belongs to, or nil
// where that is no LLM call. All formats are tried whatever the provider: many
// speak more than one.
func Match(path string) (wire.Format, wire.Dialect) {
	for _, d := range dialects {
		for _, f := range d.Formats() {
			if f.Match(path) {
				return f, d
			}
		}
	}
	return nil, nil
}

// Fetched is the id of the reply that a GET of path fetches from a provider that
// keeps it, and the format of the reply; "" where it fetches none.
func Fetched(path string) (id string, f wire.Keeper) {
	for _, d := range dialects {
		for _, f := range d.Formats() {
			if keeper, ok := f.(wire.Keeper); ok {
				if id := keeper.Fetched(path); id != "" {
					return id, keeper
				}
			}
		}
	}
	return "", nil
}
