package nodes

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/redis/rueidis"
)

// TestSizing measures what calls cost the servers, for docs/scaling.md, and
// prints it (go test -v -run TestSizing ./test/nodes, HALTD_CALLS=10000 for
// steadier figures): agents with a window of twenty calls and one session each,
// whose calls are new questions of 2 KB. The bounds are far above what is
// measured: they find what grows by an order of magnitude.
func TestSizing(t *testing.T) {
	t.Parallel()
	total := 200
	if os.Getenv("HALTD_CALLS") != "" {
		total = calls(t)
	}
	sessions := total / 20
	c := startShared(t, 1, killYAML)
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{c.redis.Address}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	size := func() (bytes int64) {
		t.Helper()
		c.database.SQL(t, c.database.URL, "VACUUM ANALYZE")
		text := c.database.SQL(t, c.database.URL, "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'haltd' AND c.relkind = 'r'")
		if bytes, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	words := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "%x ", rand.Uint32())
		}
		return b.String()
	}
	before, asked := size(), commands(t, client)
	for i := range total {
		status, reason := say(t, c.nodes[0].Gateway, fmt.Sprint("sized-", i%sessions), []map[string]any{{"role": "user", "content": words(2000)}}, fakellm.Script{Text: words(500)})
		if status != http.StatusOK {
			t.Fatalf("call %d: %d %s", i, status, reason)
		}
	}
	c.nodes[0].Eventually(t, "recording the calls", func() bool {
		n, _ := strconv.Atoi(c.database.SQL(t, c.database.URL, "SELECT count(*) FROM haltd.events WHERE type = '"+string(haltd.EventCall)+"'"))
		return n >= total
	})
	perEvent := (size() - before) / int64(total)
	perCall := map[string]float64{}
	sum := 0.0
	for name, n := range commands(t, client) {
		if d := float64(n-asked[name]) / float64(total); d > 0 && name != "info" {
			perCall[name] = d
			sum += d // those inside of scripts among them
		}
	}
	bytes, keys := memory(t, client)
	t.Logf("Redis, bytes by kind of key: %v (%v keys)", bytes, keys)
	perSession := (bytes["w"] + bytes["s"]) / int64(sessions)
	t.Logf("Redis: %d bytes for an agent with one session; %.1f scripts a call, %.1f commands in all: %v", perSession, perCall["evalsha"], sum, perCall)
	t.Logf("PostgreSQL: %d bytes a call, with indexes, sums and sessions; a million calls a day are %.1f GB", perEvent, float64(perEvent)/1000)
	if perSession <= 0 || perSession > 50_000 {
		t.Errorf("an agent with a session takes %d bytes of Redis", perSession)
	}
	if n := perCall["evalsha"]; n < 1 || n > 8 || sum > 60 {
		t.Errorf("a call runs %.1f scripts, and %.1f commands", n, sum)
	}
	if perEvent <= 0 || perEvent > 8000 {
		t.Errorf("a call takes %d bytes of PostgreSQL", perEvent)
	}
}

var commandCalls = regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`)

// commands is how often each was run.
func commands(t *testing.T, client rueidis.Client) map[string]int64 {
	t.Helper()
	info, err := client.Do(t.Context(), client.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, m := range commandCalls.FindAllStringSubmatch(info, -1) {
		counts[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
	}
	return counts
}

// memory is what the keys of each kind take, with all that Redis needs for them.
func memory(t *testing.T, client rueidis.Client) (bytes, keys map[string]int64) {
	t.Helper()
	all, err := client.Do(t.Context(), client.B().Keys().Pattern("haltd:*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	bytes, keys = map[string]int64{}, map[string]int64{}
	for _, key := range all {
		kind, _, _ := strings.Cut(strings.TrimPrefix(key, "haltd:"), ":")
		n, err := client.Do(t.Context(), client.B().MemoryUsage().Key(key).Build()).AsInt64()
		if rueidis.IsRedisNil(err) {
			continue // it has expired
		}
		if err != nil {
			t.Fatal(err)
		}
		bytes[kind] += n
		keys[kind]++
	}
	return bytes, keys
}
