package openai

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// readUsage reads the usage of either format and of compatible providers,
// which spell it in many ways. Streams repeat it; the last one counts.
func readUsage(r *wire.Reader, reply *haltd.Reply) {
	if r.Kind() != wire.KindObject {
		return
	}
	var u haltd.Usage
	var total int64
	counted := false
	for name := range r.Object() {
		switch string(name) {
		case "prompt_tokens", "input_tokens":
			u.Input, counted = r.Count(), true
		case "completion_tokens", "output_tokens":
			u.Output, counted = r.Count(), true
		case "total_tokens":
			total = r.Count()
		case "prompt_tokens_details", "input_tokens_details":
			readCacheUse(r, &u)
		case "cached_tokens", "prompt_cache_hit_tokens":
			u.CacheRead = max(u.CacheRead, r.Count())
		}
	}
	if !counted {
		return
	}
	// Providers that leave thinking out of their output count it in the total.
	u.Output = max(u.Output, total-u.Input)
	reply.Usage, reply.Counted = u, true
}

func readCacheUse(r *wire.Reader, u *haltd.Usage) {
	for name := range r.Object() {
		switch string(name) {
		case "cached_tokens":
			u.CacheRead = max(u.CacheRead, r.Count())
		case "cache_write_tokens":
			u.CacheWrite = r.Count()
		}
	}
}
