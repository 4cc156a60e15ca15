// Package sqlite keeps the record in one SQLite file: events and excerpts, the
// agents and sessions they belong to, hourly sums and gateway keys; who may
// call, and the rules, budgets and incidents behind it; and the outbox of
// alerts. It knows nothing of requests, policy or prices; what it writes was
// decided elsewhere.
//
// One connection writes, a few read. A write is on disk when its method
// returns.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/haltd/haltd/internal/store"
	"github.com/haltd/haltd/internal/store/table"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

var _ store.Port = (*Store)(nil)

const (
	readers     = 4
	busyTimeout = 5 * time.Second
)

// Store is an open database. Its methods may be called from many goroutines.
type Store struct {
	path    string
	writer  *writer
	readers *sql.DB
	secrets secrets
	// What is read before the first call of an agent.
	spent, sums *sql.Stmt

	changed   table.Bell // who may call
	committed table.Bell // events
}

// Open opens the database at path, makes it when there is none, and brings
// its tables up to date. The key of the secrets in it lies beside it.
func Open(ctx context.Context, path string) (*Store, error) {
	return open(ctx, path, busyTimeout)
}

func open(ctx context.Context, path string, busy time.Duration) (_ *Store, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open the record: %w", explain(path, err))
		}
	}()
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	w, err := openWriter(ctx, dataSource(path, busy,
		"journal_mode(wal)", "synchronous(full)", "cache_size(-2048)", "wal_autocheckpoint(4000)", "secure_delete(fast)"))
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dataSource(path, busy, "query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	s := &Store{path: path, writer: w, readers: db, secrets: secrets{path: filepath.Join(filepath.Dir(path), keyFile)}}
	if err := s.sealChannels(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.endLeases(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for query, to := range map[string]**sql.Stmt{spentSQL: &s.spent, sumsSQL: &s.sums} {
		if *to, err = db.PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// createFile makes the file and its folder for the owner's eyes only; SQLite
// gives the files beside it the same mode.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func dataSource(path string, busy time.Duration, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	q := url.Values{"_busy_timeout": {fmt.Sprint(busy.Milliseconds())}, "_pragma": pragmas, "_dqs": {"0"}}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

// Close ends all work and closes the file. The store cannot be used after.
func (s *Store) Close() error {
	// The writer goes last: the last connection folds the log into the file.
	if err := errors.Join(s.readers.Close(), s.writer.close()); err != nil {
		return fmt.Errorf("close the record: %w", explain(s.path, err))
	}
	return nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var version int
	if err := s.readers.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the record: %w", explain(s.path, err))
	}
	return nil
}

// Size is how many bytes the database and its log take on disk.
func (s *Store) Size() int64 {
	var size int64
	for _, path := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	return size
}
