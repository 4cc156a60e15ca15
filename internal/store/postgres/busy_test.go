package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
)

// as is the URL of a database for a user that may use what is in it.
func as(t *testing.T, url, user, rights string) string {
	t.Helper()
	server.SQL(t, url, "DROP ROLE IF EXISTS "+user, "CREATE ROLE "+user+" LOGIN "+rights,
		"GRANT ALL ON SCHEMA haltd TO "+user, "GRANT ALL ON ALL TABLES IN SCHEMA haltd TO "+user)
	t.Cleanup(func() { server.SQL(t, url, "DROP OWNED BY "+user, "DROP ROLE "+user) })
	return strings.Replace(url, "//postgres@", "//"+user+"@", 1)
}

// Where the database has no connection left, whoever asks waits for one that the
// node has: the database is not gone.
func TestTooManyConnections(t *testing.T) {
	url := server.Database(t)
	open(t, url)
	s := open(t, as(t, url, "few", "CONNECTION LIMIT 3")) // of which one listens
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				if _, err := s.Nodes(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A question that PostgreSQL gives up, because it took too long or a person said
// so, is no reason to refuse others.
func TestAQuestionThatIsGivenUp(t *testing.T) {
	url := server.Database(t)
	open(t, url)
	s := open(t, as(t, url, "hasty", ""))
	server.SQL(t, url, "ALTER ROLE hasty SET statement_timeout = 50")
	s.pool.Reset()
	err := s.do(t.Context(), "sleep", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, "SELECT pg_sleep(10)")
		return err
	})
	wantError(t, "a long question", err, haltd.CodeUnavailable, "statement timeout")
	if _, err := s.Nodes(t.Context()); err != nil {
		t.Errorf("another question after that: %v", err)
	}
}
