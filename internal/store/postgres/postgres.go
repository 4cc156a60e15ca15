// Package postgres keeps the record in a PostgreSQL database that several nodes
// share: all that package sqlite keeps, in tables of a schema of its own. It
// knows nothing of requests, policy or prices; what it writes was decided
// elsewhere.
//
// A write is committed when its method returns. What has to become true in one
// order for all nodes, commits of events and changes of who may call, takes its
// number from a row that it keeps locked until then.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var _ store.Port = (*Store)(nil)

const (
	schema      = "haltd"
	connections = 10
	// patience is how long one transaction may take: who waits longer is told
	// that the database does not answer.
	patience   = 5 * time.Second
	probeEvery = time.Second / 2
	// fullPause is after how long it is tried again where the database has no
	// connection left and this node has some.
	fullPause = 20 * time.Millisecond
	// pollEvery is how long a change stays unseen that NOTIFY did not tell.
	pollEvery = time.Second
)

// Store is an open database. Its methods may be called from many goroutines.
type Store struct {
	pool  *pgxpool.Pool
	place string // for messages: host, port and name
	seal  *sealer

	breaker breaker

	listener  atomic.Pointer[context.CancelFunc] // ends the connection that listens
	changed   table.Bell                         // who may call
	committed table.Bell                         // events

	running context.Context // until Close
	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Open connects to the database, makes its tables or brings them up to date,
// and listens to what other nodes write. Without sealKey nothing is kept that
// must be sealed.
func Open(ctx context.Context, url, sealKey string) (_ *Store, err error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{place: place(cfg)}
	defer func() {
		if err != nil {
			err = fmt.Errorf("open the record: %w", s.explain(ctx, err))
		}
	}()
	if s.seal, err = newSealer(sealKey); err != nil {
		return nil, err
	}
	if err := migrate(ctx, cfg.ConnConfig); err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), cfg); err != nil {
		return nil, err
	}
	s.running, s.stop = context.WithCancel(context.Background())
	s.workers.Go(func() { s.listen(s.running, cfg.ConnConfig) })
	return s, nil
}

// Probe reports whether the database that a URL names answers and takes writes,
// with an error that IsAway knows.
func Probe(ctx context.Context, url string) error {
	cfg, err := parse(url)
	if err != nil {
		return err
	}
	s := &Store{place: place(cfg)}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(limited, cfg.ConnConfig)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(limited))
	return s.explain(ctx, s.takesWrites(limited, conn))
}

// takesWrites fails where the database does not answer, or is read only.
func (s *Store) takesWrites(ctx context.Context, db querier) error {
	readOnly, err := readOne(ctx, db, value[bool], "SELECT current_setting('transaction_read_only')::boolean")
	if err == nil && readOnly {
		err = s.readOnly()
	}
	return err
}

func parse(url string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// What pgx says repeats the URL, and the password in it.
		return nil, haltd.Errorf(haltd.CodeInvalid, "it is no URL of a PostgreSQL database").In("store.url").
			WithFix("Write it as postgres://user:password@host:5432/database.")
	}
	if !strings.Contains(url, "pool_max_conns") {
		cfg.MaxConns = connections
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = patience
	}
	if cfg.ConnConfig.RuntimeParams["search_path"] == "" {
		cfg.ConnConfig.RuntimeParams["search_path"] = schema
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "haltd"
	}
	return cfg, nil
}

func place(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// Close ends all work. The store cannot be used after.
func (s *Store) Close() error {
	s.stop()
	s.workers.Wait()
	s.pool.Close()
	return nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.do(ctx, "read the record", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, "SELECT 1")
		return err
	})
}

// Size is how many bytes the tables of the record take; 0 where the database
// does not say.
func (s *Store) Size() (size int64) {
	err := s.do(context.Background(), "measure the record", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
			JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'`).Scan(&size)
	})
	if err != nil {
		return 0
	}
	return size
}

// Unsealed is for a store that once kept secrets in plain text; this one never
// did.
func (s *Store) Unsealed() error { return nil }

// do runs what asks the database, within its time, and says what a failure
// means.
func (s *Store) do(ctx context.Context, what string, fn func(context.Context) error) error {
	return s.doWithin(ctx, patience, what, fn)
}

func (s *Store) doWithin(ctx context.Context, limit time.Duration, what string, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := s.breaker.ask(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := fn(limited)
	for isFull(err) && s.isConnected() && sleep(limited, fullPause) {
		err = fn(limited)
	}
	err = s.explain(ctx, err)
	s.tell(err)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// isConnected reports whether the pool has a connection that can be waited for,
// where the database gives it no more.
func (s *Store) isConnected() bool {
	pool := s.pool.Stat()
	return pool.AcquiredConns()+pool.IdleConns() > 0
}

func sleep(ctx context.Context, d time.Duration) (whole bool) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// write runs fn in a transaction. Where transactions stood in each other's way
// it is tried again: nothing of the first try is left.
func (s *Store) write(ctx context.Context, what string, fn func(context.Context, pgx.Tx) error) error {
	return s.do(ctx, what, func(ctx context.Context) error { return s.transact(ctx, fn) })
}

func (s *Store) transact(ctx context.Context, fn func(context.Context, pgx.Tx) error) (err error) {
	for range 5 {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return fn(ctx, tx) })
		if !isDeadlock(err) {
			return err
		}
	}
	return err
}

// snapshot runs fn on one state of the database.
func (s *Store) snapshot(ctx context.Context, what string, fn func(context.Context, pgx.Tx) error) error {
	return s.do(ctx, what, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(tx pgx.Tx) error { return fn(ctx, tx) })
	})
}

// breaker answers for a database that does not: once it has failed, it is asked
// in the background each second and all others are refused at once, so that
// calls do not wait for what will not come.
type breaker struct {
	mu   sync.Mutex
	down error
}

func (b *breaker) ask() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.down
}

// set notes whether the database is down, and says whether it was not before.
func (b *breaker) set(down error) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first = b.down == nil
	b.down = down
	return first
}

// tell takes note of how a transaction ended.
func (s *Store) tell(err error) {
	var gone *goneError
	if errors.As(err, &gone) && s.breaker.set(err) && s.running.Err() == nil {
		s.workers.Go(s.probe)
	}
}

// probe asks until the database answers and takes writes again, or the store is
// closed. It begins at once: a question that took too long may have been the only
// thing that did.
func (s *Store) probe() {
	for {
		if isReadOnly(s.breaker.ask()) {
			s.reconnect()
		}
		ctx, cancel := context.WithTimeout(s.running, patience)
		err := s.explain(s.running, s.takesWrites(ctx, s.pool))
		cancel()
		if s.breaker.set(err); err == nil {
			return
		}
		if !sleep(s.running, probeEvery) {
			return
		}
	}
}

// reconnect leaves a server that takes no writes: where store.url names several,
// or a name that leads to the primary, another one may have taken over, and this
// one answers as if nothing had happened.
func (s *Store) reconnect() {
	s.pool.Reset()
	if end := s.listener.Load(); end != nil {
		(*end)()
	}
}
