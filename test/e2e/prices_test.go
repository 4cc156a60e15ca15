package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// An operator brings newer prices without a restart. They are checked, stay, and
// the audit log says who brought them.
func TestPricesAreTakenFromAFile(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url)+"pricing: {models: {mine: {input: 7, output: 7}}}\n")
	prices := func(args ...string) string {
		t.Helper()
		out, errs, code := n.CLI(t, append([]string{"prices"}, args...)...)
		if code != 0 {
			t.Fatalf("prices %v: exit %d\n%s%s", args, code, out, errs)
		}
		return out
	}
	cost := func(want int) haltd.Money {
		t.Helper()
		if status, body := post(t, n.Gateway+"/agents/bot/v1/chat/completions", chat); status != 200 {
			t.Fatal(status, body)
		}
		return n.Events(t, "agent=bot", want)[0].Cost
	}
	file := filepath.Join(t.TempDir(), "prices.json")
	load := func(text string) (string, int) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, errs, code := n.CLI(t, "prices", "load", file)
		return errs, code
	}

	if out := prices(); !strings.Contains(out, "built-in: ") || !strings.Contains(out, "read on 2026-") || !strings.Contains(out, "gpt-4o-mini ") || !strings.Contains(out, "mine ") {
		t.Errorf("haltd prices:\n%s", out)
	}
	unknown := cost(1) // by the default: no table has the model echo
	for field, text := range map[string]string{
		"date":                `{"source":"s","date":"soon","models":{"echo":{"input":1,"output":1}}}`,
		"source":              `{"date":"2030-01-01","models":{"echo":{"input":1,"output":1}}}`,
		"models.echo":         `{"source":"s","date":"2030-01-01","models":{"echo":{"input":1}}}`,
		"models.echo.input":   `{"source":"s","date":"2030-01-01","models":{"echo":{"input":-1,"output":1}}}`,
		`unknown field "in"`:  `{"source":"s","date":"2030-01-01","models":{"echo":{"in":1,"output":1}}}`,
		"built-in one":        `{"source":"s","date":"2020-01-01","models":{"echo":{"input":1,"output":1}}}`,
		"is not JSON":         `{"source":`,
		"expected 1 to 10000": `{"source":"s","date":"2030-01-01","models":{}}`,
	} {
		if errs, code := load(text); code == 0 || !strings.Contains(errs, field) {
			t.Errorf("%s: exit %d, %s; want the field %s", text, code, errs, field)
		}
	}
	if got := cost(2); got != unknown {
		t.Errorf("after tables that were refused a call costs %s, before %s", got, unknown)
	}
	if errs, code := load(`{"source":"a list of mine","date":"2030-01-01","models":{"Echo":{"input":1000,"output":2000},"mine":{"input":1,"output":1}}}`); code != 0 {
		t.Fatal(errs)
	}
	dear := cost(3)
	if dear < 50*unknown {
		t.Errorf("a call costs %s by the new table, %s before", dear, unknown)
	}
	n.Stop(t)
	n.Run(t)
	if got := cost(4); got != dear {
		t.Errorf("after a restart a call costs %s, want %s", got, dear)
	}
	out := prices("ls", "e")
	for _, want := range []string{"loaded: 2 models, read on 2030-01-01", "echo ", "  1000.00 ", " loaded", "claude-2 ", " built-in"} {
		if !strings.Contains(out, want) {
			t.Errorf("haltd prices does not say %q:\n%.800s", want, out)
		}
	}
	if line := prices("ls", "mine"); !strings.Contains(line, "7.00") {
		t.Errorf("the configuration does not win:\n%s", line)
	}
	prices("reset")
	if got := cost(5); got != unknown {
		t.Errorf("after a reset a call costs %s, want %s", got, unknown)
	}
	audit, _, _ := n.CLI(t, "audit")
	for _, want := range []string{"prices_loaded", "loaded table of 2030-01-01", "prices_reset"} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit log does not say %q:\n%s", want, audit)
		}
	}
}
