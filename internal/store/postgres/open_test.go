package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/storetest"
	"github.com/jackc/pgx/v5"
)

func TestReopenKeepsEverything(t *testing.T) {
	url := server.Database(t)
	storetest.Reopen(t, open(t, url), func() storetest.Store { return open(t, url) })
}

// Nodes that start together make the tables once.
func TestMigrationsOfManyNodes(t *testing.T) {
	url := server.Database(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			s, err := Open(t.Context(), url, "")
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestMigrations(t *testing.T) {
	cfg, err := parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	steps := []string{"CREATE TABLE one (id INTEGER)", "CREATE TABLE half (id INTEGER); nonsense"}
	if err := applySteps(t.Context(), conn, steps); err == nil || !strings.Contains(err.Error(), "apply migration 2") {
		t.Errorf("a broken step: error %v, want one that names migration 2", err)
	}
	steps[1] = "CREATE TABLE half (id INTEGER)" // fails if the broken step left it behind
	for range 2 {
		if err := applySteps(t.Context(), conn, steps); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "an older haltd", applySteps(t.Context(), conn, steps[:1]), haltd.CodeUnavailable, "the database has version 2, but this haltd knows versions up to 1")
}

func TestOpenErrors(t *testing.T) {
	const password = "correct-horse"
	for name, c := range map[string]struct{ url, code, message string }{
		"no URL":          {"postgres://haltd:" + password + "@host:port/x", haltd.CodeInvalid, "store.url"},
		"nobody there":    {"postgres://haltd:" + password + "@127.0.0.1:1/haltd?sslmode=disable", haltd.CodeUnavailable, "127.0.0.1:1/haltd cannot be reached"},
		"no database":     {strings.Replace(server.URL, "/postgres?", "/nowhere?", 1), haltd.CodeUnavailable, "does not exist"},
		"nobody's access": {strings.Replace(server.URL, "//postgres@", "//stranger:"+password+"@", 1), haltd.CodeUnavailable, "does not let haltd in"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), c.url, "")
			if err == nil {
				s.Close()
			}
			wantError(t, "Open", err, c.code, c.message)
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestConnectionsOfANode(t *testing.T) {
	for url, want := range map[string]int32{
		"postgres://haltd@host/haltd":                                        connections,
		"postgres://haltd@host/haltd?sslmode=disable&pool_max_conns=3":       3,
		"host=one,two dbname=haltd pool_max_conns=25 connect_timeout=1":      25,
		"postgres://haltd@one:1,two:2/haltd?target_session_attrs=read-write": connections,
	} {
		if cfg, err := parse(url); err != nil || cfg.MaxConns != want {
			t.Errorf("%s: %+v, %v; want %d connections", url, cfg, err, want)
		}
	}
}

// What must be sealed needs the key; all else works without.
func TestWithoutSealKey(t *testing.T) {
	url := server.Database(t)
	sealed := open(t, url)
	channel := haltd.Channel{ID: "chn", Kind: haltd.ChannelWebhook, Enabled: true, Settings: []byte(`{"secret":"hush"}`)}
	if err := sealed.SaveChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	said := haltd.Event{ID: 1, Time: time.Now(), Type: haltd.EventCall, Agent: "a", Excerpt: &haltd.Excerpt{Prompt: "hush"}}
	if err := sealed.AppendEvents(t.Context(), []haltd.Event{said}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"SELECT body FROM channels", "SELECT encode(sealed, 'escape') FROM excerpts"} {
		text, err := readOne(t.Context(), sealed.pool, value[string], query)
		if err != nil || strings.Contains(text, "hush") {
			t.Errorf("%s: %q, %v; want it sealed", query, text, err)
		}
	}
	s, err := Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantError(t, "SaveChannel", s.SaveChannel(t.Context(), channel), haltd.CodeUnavailable, "seal_key")
	list, err := s.Channels(t.Context())
	if err != nil || len(list) != 1 || list[0].Enabled || !strings.Contains(list[0].Disabled, "seal_key") {
		t.Errorf("channels %+v, %v; want one that is off and says why", list, err)
	}
	said.ID = 2
	if err := s.AppendEvents(t.Context(), []haltd.Event{said}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Excerpt(t.Context(), 2); ok || err != nil {
		t.Errorf("an excerpt is kept without a key: %v, %v", ok, err)
	}
}

// What one node writes another hears at once, not at its next poll.
func TestNodesHearEachOther(t *testing.T) {
	url := server.Database(t)
	here, there := open(t, url), open(t, url)
	if err := there.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	heard := make(chan error, 1)
	go func() {
		_, _, err := there.Committed(t.Context(), 0, 10)
		heard <- err
	}()
	changed := make(chan error, 1)
	go func() {
		list, err := there.Changes(t.Context(), 0)
		if err == nil && (len(list) != 1 || list[0].Standing == nil || list[0].Cut == nil) {
			err = errors.New("not the change that was made")
		}
		changed <- err
	}()
	err := here.Commit(t.Context(), haltd.Change{Node: "here",
		Standing: &haltd.Standing{Agent: "a", At: time.Now()}, Cut: &haltd.Target{Agent: "a"},
		Events: []haltd.Event{{ID: 1, Time: time.Now(), Type: haltd.EventPolicy, Agent: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []chan error{heard, changed} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

// A database that hangs is waited for once; then calls are refused at once,
// until it answers again.
func TestFrozenDatabase(t *testing.T) {
	s := open(t, server.Database(t))
	server.Freeze(t)
	wantError(t, "while it hangs", s.Ping(t.Context()), haltd.CodeUnavailable, "does not answer")
	begin := time.Now()
	wantError(t, "the next one", s.Ping(t.Context()), haltd.CodeUnavailable, "does not answer")
	if took := time.Since(begin); took > time.Second {
		t.Errorf("who asked next waited %v", took)
	}
	server.Thaw(t)
	for end := time.Now().Add(20 * time.Second); s.Ping(t.Context()) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come back")
		}
	}
}

func wantError(t *testing.T, what string, err error, code, message string) {
	t.Helper()
	var e *haltd.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Sentence(), message) {
		t.Errorf("%s: error %v; want code %q and a message with %q", what, err, code, message)
	} else if e.Fix == "" {
		t.Errorf("%s: error %q does not say what to do", what, err)
	}
}
