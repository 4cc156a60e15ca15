package nodes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

// TestDoctorOfBrokenServers: for each way in which a database or a Redis can be
// unfit, haltd doctor says which it is and what to do.
func TestDoctorOfBrokenServers(t *testing.T) {
	t.Parallel()
	c := startShared(t, 1)
	full := closing(t, servers.Redis)
	full.Set(t, "maxmemory", "100mb")
	full.Set(t, "maxmemory-policy", "noeviction")
	small := closing(t, servers.Redis)
	small.Set(t, "maxmemory", "4mb")
	small.Set(t, "maxmemory-policy", "allkeys-lru")
	small.Fill(t, 8000)

	cluster := closing(t, servers.RedisCluster)

	made := c.database.URL // with the tables of haltd
	as := func(user, url string) string { return strings.Replace(url, "//postgres@", "//"+user+"@", 1) }
	c.database.SQL(t, made, "CREATE ROLE locked LOGIN PASSWORD 'open-sesame'", "CREATE ROLE guest LOGIN", "CREATE ROLE reader LOGIN", "CREATE ROLE writer LOGIN",
		"GRANT USAGE ON SCHEMA haltd TO reader", "GRANT SELECT ON ALL TABLES IN SCHEMA haltd TO reader",
		"GRANT USAGE ON SCHEMA haltd TO writer", "GRANT ALL ON ALL TABLES IN SCHEMA haltd TO writer")
	c.database.Require(t, "locked")
	newer := c.database.Database(t)
	c.database.SQL(t, newer, "CREATE SCHEMA haltd", "CREATE TABLE haltd.migrations (version INTEGER PRIMARY KEY, time BIGINT NOT NULL)", "INSERT INTO haltd.migrations VALUES (999, 0)")
	older := c.database.Database(t)
	c.database.SQL(t, older, "CREATE SCHEMA haltd", "CREATE TABLE haltd.migrations (version INTEGER PRIMARY KEY, time BIGINT NOT NULL)", "INSERT INTO haltd.migrations VALUES (1, 0)")

	for _, test := range []struct {
		name, store, state string
		want, fix          string
	}{
		{"a wrong password", as("locked:wrong", made), c.redis.URL, "problem: the database", "Check user and password in store.url"},
		{"no such database", strings.Replace(made, "/postgres?", "/nowhere?", 1), c.redis.URL, "does not exist", "Create it"},
		{"no right to make the schema", as("guest", c.database.Database(t)), c.redis.URL, "problem: There is no schema haltd, and user guest may not make it", "CREATE SCHEMA haltd AUTHORIZATION guest"},
		{"no right to use the schema", as("guest", made), c.redis.URL, "problem: User guest may not use the schema haltd", "GRANT USAGE, CREATE ON SCHEMA haltd TO guest"},
		{"no schema of that name", made + "&search_path=elsewhere", c.redis.URL, "problem: There is no schema elsewhere", "CREATE SCHEMA elsewhere AUTHORIZATION postgres"},
		{"no right to make tables", as("writer", made), c.redis.URL, "notice: User writer may not make tables", "Before the next upgrade: GRANT CREATE ON SCHEMA haltd TO writer"},
		{"no right to write", as("reader", made), c.redis.URL, "problem: User reader may not read and write all tables", "GRANT ALL ON ALL TABLES IN SCHEMA haltd TO reader"},
		{"tables of a newer release", newer, c.redis.URL, "problem: The tables have version 999", "Run the newer haltd"},
		{"tables of an older release", older, c.redis.URL, "notice: The tables have version 1 of", "Start this haltd"},
		{"a Redis that refuses when it is full", made, full.URL, "notice: Redis takes no writes when its memory is full", "allkeys-lru"},
		{"a Redis that evicts", made, small.URL, "notice: Redis has evicted", "Give it more memory"},
		{"a Redis Cluster", made, cluster.URL, "problem: Redis runs as a cluster", "no cluster"},
		{"a wrong password of Redis", made, strings.Replace(c.redis.URL, "redis://", "redis://nobody:wrong@", 1), "problem: Redis at", "Put its user and password into state.url"},
		{"no Redis", made, "redis://" + harness.Address(t), "problem: Redis at", "Start it, or set state.url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := harness.New(t, t.TempDir()) // one that does not run: doctor says that, too
			n.Config.Write(t, c.yaml+fmt.Sprintf("store: {url: %q}\nstate: {url: %q}\n", test.store, test.state))
			said, _ := doctor(t, n)
			line := ""
			for l := range strings.Lines(said) {
				if strings.Contains(l, test.want) {
					line = l
				}
			}
			if line == "" || !strings.Contains(line, test.fix) {
				t.Errorf("it does not say %q and what to do, %q:\n%s", test.want, test.fix, said)
			}
			if strings.Contains(said, "haltd doctor") {
				t.Errorf("it leads to itself:\n%s", said)
			}
			for _, secret := range []string{"wrong@", "open-sesame"} {
				if strings.Contains(said, secret) {
					t.Errorf("it shows a password:\n%s", said)
				}
			}
		})
	}

	// Who may not make tables, because they are there, needs no more to start.
	writer := harness.New(t, t.TempDir())
	writer.Config.Write(t, c.yaml+fmt.Sprintf("store: {url: %q}\n", as("writer", made)))
	writer.Run(t)
	writer.Must(t, "POST", "/v1/keys", map[string]string{"agent": "keyed"}, nil)

	// haltd does not start on what can never work, and says the same.
	n := harness.New(t, t.TempDir())
	n.Config.Write(t, c.yaml+fmt.Sprintf("store: {url: %q}\nstate: {url: %q}\n", made, cluster.URL))
	if out, errs, code := harness.CLI(t, nil, "serve", "--config", n.Config.Path); code == 0 || !strings.Contains(out+errs, "state.url names a Redis Cluster") || !strings.Contains(out+errs, "no cluster") {
		t.Errorf("on a Redis Cluster haltd ends with %d and says:\n%s%s", code, out, errs)
	}
}
