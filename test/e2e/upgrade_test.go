package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
	_ "modernc.org/sqlite"
)

// A record of the version before is migrated with all that it holds, and one of
// a newer version is refused and left alone.
func TestUpgradeAndDowngradeOfTheRecord(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url))
	var key struct{ ID, Secret string }
	n.Must(t, "POST", "/v1/keys", map[string]any{"agent": "keyed-bot"}, &key)
	n.Must(t, "POST", "/v1/agents/bad-bot/deactivate", map[string]any{"reason": "loops"}, nil)
	n.Must(t, "PATCH", "/v1/agents/spender", map[string]any{"budgets": map[string]any{"day": map[string]any{"hard_usd": 5}}}, nil)
	for range 3 {
		if status, body := post(t, n.Gateway+"/agents/spender/v1/chat/completions", chat); status != 200 {
			t.Fatal(status, body)
		}
	}
	n.Events(t, "agent=spender&type=llm_call", 3)
	spent := spentBy(t, n, "spender")
	n.Stop(t)

	// Back to how the release before left it: without the newest four steps.
	record := filepath.Join(n.Config.DataDir, "haltd.db")
	version := inRecord(t, record,
		"DROP TABLE users", "ALTER TABLE nodes DROP COLUMN host", "DROP TABLE price_file", "ALTER TABLE keys DROP COLUMN limits", "ALTER TABLE keys DROP COLUMN last_used_at")
	setVersion(t, record, version-4)
	n.Run(t)
	if got := len(n.AllEvents(t, "agent=spender&type=llm_call")); got != 3 {
		t.Errorf("%d of 3 events are left", got)
	}
	if got := spentBy(t, n, "spender"); got != spent {
		t.Errorf("%s are spent, %s before the upgrade", got, spent)
	}
	if status, body := post(t, n.Gateway+"/agents/bad-bot/v1/chat/completions", chat); status != 400 {
		t.Errorf("a stopped agent may call after the upgrade: %d %s", status, body)
	}
	if status, body := post(t, n.Gateway+"/agents/keyed-bot/v1/chat/completions", chat); status != 401 {
		t.Errorf("a name that has a key may be used without it after the upgrade: %d %s", status, body)
	}
	n.Must(t, "DELETE", "/v1/keys/"+key.ID, nil, nil)
	n.Stop(t)
	if got := inRecord(t, record); got != version {
		t.Errorf("the record has version %d after the upgrade, want %d", got, version)
	}

	// A newer haltd has written it.
	setVersion(t, record, version+1)
	out, errs, code := harness.CLI(t, nil, "serve", "--config", n.Config.Path)
	for _, want := range []string{fmt.Sprintf("version %d", version+1), "up to " + strconv.Itoa(version), "Run the newer haltd that wrote it, or restore the backup"} {
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("exit %d, %s%s; want %q", code, out, errs, want)
		}
	}
	if got := inRecord(t, record); got != version+1 {
		t.Errorf("the older haltd changed the version to %d", got)
	}
	setVersion(t, record, version)
	n.Run(t)
}

func spentBy(t *testing.T, n *node, agent string) haltd.Money {
	t.Helper()
	var a struct{ Spending []haltd.PeriodSpending }
	n.Must(t, "GET", "/v1/agents/"+agent, nil, &a)
	return a.Spending[0].Spent.Cost
}

// inRecord does something to a record that nobody uses, and tells its version.
func inRecord(t *testing.T, path string, steps ...string) (version int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if _, err := db.Exec(step); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	return version
}

func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	inRecord(t, path, "PRAGMA user_version = "+strconv.Itoa(version))
}
