package app

import (
	"io/fs"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// limitShare is how much of the memory that the system grants the heap and the
// stacks may take, in percent; the rest is for the program itself and the store.
const limitShare = 85

// LimitMemory makes the collector keep to what the control group of this
// process grants, so that a container is not killed for what could have been
// collected. Where GOMEMLIMIT says something else, that holds. It answers the
// limit, or 0 where there is none.
func LimitMemory(root fs.FS, env func(string) (string, bool)) int64 {
	if set, ok := env("GOMEMLIMIT"); ok && set != "" {
		return 0
	}
	granted := grantedMemory(root)
	if granted == 0 {
		return 0
	}
	limit := granted / 100 * limitShare
	debug.SetMemoryLimit(limit)
	return limit
}

// grantedMemory is what the control group, or one that it is in, grants; 0
// where none says. Version 2 has one tree of groups, version 1 one for memory.
func grantedMemory(root fs.FS) (least int64) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		tree, file := "", ""
		switch {
		case parts[1] == "":
			tree, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			tree, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			text, err := fs.ReadFile(root, path.Join(tree, group, file))
			n, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && errNumber == nil && n > 0 && n < noLimit && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// noLimit is from where on a number means that there is no limit.
const noLimit = 1 << 60

// collection keeps the garbage that may wait for the collector to mostGarbage where
// much is alive: the runtime alone lets as much garbage gather as is alive. Where
// GOGC says something else, that holds.
type collection struct {
	own     bool // GOGC is not set
	percent int
	alive   [2]metrics.Sample
}

func newCollection(env func(string) (string, bool)) *collection {
	_, set := env("GOGC")
	return &collection{own: !set, percent: 100, alive: [2]metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}}
}

const (
	mostGarbage  = 80 << 20
	leastPercent = 25 // or the collector would hardly rest
)

// follow looks at what is alive now.
func (c *collection) follow() {
	if !c.own {
		return
	}
	metrics.Read(c.alive[:])
	percent := garbagePercent(c.alive[0].Value.Uint64() + c.alive[1].Value.Uint64())
	if percent != c.percent {
		debug.SetGCPercent(percent)
		c.percent = percent
	}
}

// garbagePercent is how much garbage may gather, in percent of what is alive, in
// steps of five.
func garbagePercent(alive uint64) int {
	return int(min(max(100*mostGarbage/max(alive, 1), leastPercent), 100)) / 5 * 5
}
