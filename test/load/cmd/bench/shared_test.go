package main

import (
	"strings"
	"testing"
)

// A document tells what each haltd asked of its servers, and nothing of a Redis
// that it does not have.
func TestOperationsTable(t *testing.T) {
	got := operationsTable([]operations{{Target: withPostgres, Transactions: 0.25}, {Target: withRedis, Transactions: 0.3, Scripts: 4, Commands: 27}})
	for _, want := range []string{"| haltd-postgres | 0.250 | – | – |\n", "| haltd-redis | 0.300 | 4.0 | 27.0 |\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %q", got, want)
		}
	}
}
