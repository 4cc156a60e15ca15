package nodes

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
	"github.com/jackc/pgx/v5"
)

// TestMigrate moves a haltd from SQLite to PostgreSQL: what its API showed
// before it shows after.
func TestMigrate(t *testing.T) {
	t.Parallel()
	database := closing(t, servers.Postgres)
	_, url := harness.Provider(t, harness.Scripted)
	providers := harness.Providers(url) + "excerpts: on\nalerts: {allow_internal: [127.0.0.1]}\n"
	n := harness.New(t, t.TempDir())
	n.Config.Write(t, providers)
	n.Run(t)
	for i := range 30 {
		ask(t, n, request{agent: fmt.Sprint("agent-", i%3), model: dear, reply: fakellm.Script{Text: "hi \x00 there", Usage: &haltd.Usage{Input: 10, Output: 10}}})
	}
	n.Must(t, "PATCH", "/v1/agents/agent-0", json.RawMessage(`{"budgets":{"day":{"hard_usd":0.001}}}`), nil)
	ask(t, n, request{agent: "agent-0", model: dear, tokens: 1000})
	n.Must(t, "POST", "/v1/agents/agent-1/deactivate", map[string]any{"reason": "enough"}, nil)
	n.Must(t, "POST", "/v1/rules", map[string]any{"name": "r", "enabled": true, "condition": map[string]any{"model": "x"}, "action": "block"}, nil)
	n.Must(t, "POST", "/v1/keys", map[string]any{"agent": "agent-2", "models": []string{"gpt-5*"}, "budget_day_usd": 5}, nil)
	n.Must(t, "POST", "/v1/tokens", map[string]string{"name": "ann", "role": "viewer"}, nil)
	n.Must(t, "PUT", "/v1/prices", json.RawMessage(`{"source":"us","date":"2099-01-01","models":{"m":{"input":1,"output":2}}}`), nil)
	n.Must(t, "POST", "/v1/channels", map[string]any{"name": "ops", "kind": "webhook", "settings": map[string]any{"url": url}}, nil)
	n.Must(t, "PATCH", "/v1/agents/looper/kill-switch", map[string]any{"enabled": true}, nil)
	stoppedAt(t, []*harness.Node{n}, "looper", func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, "looper", i) })
	n.Events(t, "agent=agent-0", 11)
	before := shown(t, n)
	n.Stop(t)

	if out, errs, code := n.CLI(t, "migrate"); code == 0 || !strings.Contains(errs, "store.url") {
		t.Errorf("without store.url: exit %d, %s%s", code, out, errs)
	}
	n.Config.Write(t, providers+fmt.Sprintf("store: {url: %q}\nseal_key: the-key-of-all-nodes\n", database.URL))
	interrupted(t, n, database)
	falsified(t, n, database)
	out, errs, code := n.CLI(t, "migrate")
	events := regexp.MustCompile(`events +(\d+) of (\d+) rows`).FindStringSubmatch(out)
	if code != 0 || !strings.Contains(out, "Both records have the same") || events == nil || events[1] != events[2] || events[1] == "0" {
		t.Fatalf("haltd migrate: exit %d\n%s%s", code, out, errs)
	}
	if _, errs, code := n.CLI(t, "migrate"); code == 0 || !strings.Contains(errs, "holds a record already") {
		t.Errorf("a second time: exit %d, %s", code, errs)
	}
	n.Run(t)
	if diff := cmp.Diff(before, shown(t, n)); diff != "" {
		t.Errorf("after the migration (-before +after):\n%s", diff)
	}
	if status, _ := ask(t, n, request{agent: "agent-1", model: "echo"}); status != 400 {
		t.Errorf("a stopped agent after the migration: %d", status)
	}
	if status, reason := ask(t, n, request{agent: "agent-0", model: dear, tokens: 1000}); reason != "budget_exceeded" {
		t.Errorf("a spent budget after the migration: %d %s", status, reason)
	}
	// New rows are numbered after the old ones.
	n.Must(t, "POST", "/v1/keys", map[string]string{"agent": "agent-9"}, nil)
	n.Must(t, "POST", "/v1/tokens", map[string]string{"name": "bob", "role": "viewer"}, nil)
	n.Must(t, "POST", "/v1/rules", map[string]any{"name": "s", "enabled": true, "condition": map[string]any{"model": "y"}, "action": "block"}, nil)
}

// sums are those of a day and two hours around the tests: without a range they are
// those of the last 24 hours, which are others after every full hour.
var sums = func() string {
	hour := time.Now().UTC().Truncate(time.Hour)
	return fmt.Sprintf("/v1/stats?by=agent&since=%s&until=%s", hour.Add(-24*time.Hour).Format(time.RFC3339), hour.Add(2*time.Hour).Format(time.RFC3339))
}()

// shown is what the API shows of a record.
func shown(t *testing.T, n *harness.Node) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, path := range []string{
		"/v1/agents", "/v1/agents/agent-0", "/v1/agents/agent-1", "/v1/events?limit=500", "/v1/sessions", "/v1/incidents", "/v1/rules", "/v1/keys",
		"/v1/channels", sums, "/v1/tokens", "/v1/audit", "/v1/prices",
	} {
		var got any
		n.Must(t, "GET", path, nil, &got)
		all[path] = got
	}
	// What was said in a call.
	events := n.Events(t, "agent=agent-0&type=llm_call", 1)
	var said any
	n.Must(t, "GET", "/v1/events/"+events[0].ID.String(), nil, &said)
	all["excerpt"] = said
	// And in what proves an incident.
	var list struct{ Incidents []haltd.Incident }
	n.Must(t, "GET", "/v1/incidents?agent=looper", nil, &list)
	if len(list.Incidents) == 0 {
		t.Fatal("no incident of the loop")
	}
	var proof struct{ Excerpt *haltd.IncidentExcerpt }
	n.Must(t, "GET", "/v1/incidents/"+list.Incidents[0].ID+"/excerpt", nil, &proof)
	if proof.Excerpt == nil {
		t.Error("what proves an incident is lost")
	}
	all["proof"] = proof
	return all
}

// falsified has the database lose a row, and change an amount, of what it is
// given: the check of counts and sums sees both, and nothing is copied.
func falsified(t *testing.T, n *harness.Node, database *servers.Server) {
	t.Helper()
	for _, c := range []struct{ table, body, says string }{
		{"events", "IF NEW.agent = 'agent-2' THEN RETURN NULL; END IF; RETURN NEW", "events: "},
		{"usage", "NEW.cost = NEW.cost + 1; RETURN NEW", "money of all hours: "},
	} {
		database.SQL(t, database.URL, "CREATE OR REPLACE FUNCTION haltd.falsify() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+c.body+"; END $$",
			"CREATE TRIGGER falsify BEFORE INSERT ON haltd."+c.table+" FOR EACH ROW EXECUTE FUNCTION haltd.falsify()")
		if out, errs, code := n.CLI(t, "migrate"); code == 0 || !strings.Contains(errs, "the copy is not the same: "+c.says) || !strings.Contains(errs, "triggers") {
			t.Errorf("a database that falsifies %s: exit %d, %s%s", c.table, code, out, errs)
		}
		if rows := database.SQL(t, database.URL, "SELECT (SELECT count(*) FROM haltd.events) + (SELECT count(*) FROM haltd.agents)"); rows != "0" {
			t.Errorf("%s: %s rows are left", c.table, rows)
		}
		database.SQL(t, database.URL, "DROP FUNCTION haltd.falsify() CASCADE")
	}
}

// interrupted begins a migration that gets stuck half-way, and ends it: as a
// person does, and as a machine that goes down does. The database is as empty as
// before.
func interrupted(t *testing.T, n *harness.Node, database *servers.Server) {
	t.Helper()
	n.Run(t) // makes the tables
	n.Stop(t)
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		conn, err := pgx.Connect(t.Context(), database.URL)
		if err != nil {
			t.Fatal(err)
		}
		// The hours are copied after the events.
		if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE haltd.hours IN ACCESS EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		p, err := harness.Launch(harness.Command(t, nil, "migrate", "--config", n.Config.Path))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Await(t.Context(), "half-way", func() bool {
			return strings.Contains(p.Log(), "events") && database.SQL(t, database.URL, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'haltd' AND wait_event_type = 'Lock'") == "1"
		}); err != nil {
			t.Fatal(err)
		}
		if err := p.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(); err == nil {
			t.Errorf("%v: the migration ends well:\n%s", signal, p.Log())
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows := database.SQL(t, database.URL, "SELECT (SELECT count(*) FROM haltd.events) + (SELECT count(*) FROM haltd.agents)"); rows != "0" {
			t.Errorf("%v: %s rows are left", signal, rows)
		}
	}
}
