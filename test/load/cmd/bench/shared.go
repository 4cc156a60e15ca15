package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/haltd/haltd/test/servers"
	"github.com/jackc/pgx/v5"
	"github.com/redis/rueidis"
)

// The haltd of a platform that runs several: with its record in PostgreSQL, and
// with its state in Redis as well. Both servers are on this machine: what they
// add is what they cost, without a network.
const withPostgres, withRedis = "haltd-postgres", "haltd-redis"

// backends are the servers of one haltd.
type backends struct{ postgres, redis *servers.Server }

// startShared runs a haltd with servers of its own.
func startShared(ctx context.Context, name, binary, dir, upstream string) (*target, error) {
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	b := &backends{}
	var err error
	if b.postgres, err = servers.Postgres(); err != nil {
		return nil, err
	}
	yaml := fmt.Sprintf("store: {url: %q}\n", b.postgres.URL)
	if name == withRedis {
		if b.redis, err = servers.Redis(); err != nil {
			return nil, errors.Join(err, b.close())
		}
		yaml += fmt.Sprintf("state: {url: %q}\n", b.redis.URL)
	}
	t, err := startHaltd(ctx, name, binary, dir, upstream, yaml)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	t.backends = b
	release := t.process.release
	t.process.release = func() error { return errors.Join(release(), b.close()) }
	return t, nil
}

func (b *backends) close() (err error) {
	for _, s := range []*servers.Server{b.redis, b.postgres} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// operations is what the servers have done for one haltd.
type operations struct {
	Target       string  `json:"target"`
	Transactions float64 `json:"postgres_transactions_per_request"`
	Scripts      float64 `json:"redis_scripts_per_request"`
	Commands     float64 `json:"redis_commands_per_request"` // those inside of scripts among them
}

// newOperations waits for the record of a haltd and reads what its servers have
// counted. What they do while nobody calls is little beside it.
func newOperations(ctx context.Context, t *target) (operations, error) {
	recorded, err := t.gateway.awaitEvents(ctx, t.sent)
	if err == nil && recorded != t.sent {
		err = fmt.Errorf("%s recorded %d events for %d requests", t.name, recorded, t.sent)
	}
	if err != nil {
		return operations{}, err
	}
	o, sent := operations{Target: t.name}, float64(t.sent)
	transactions, err := t.backends.transactions(ctx)
	if err != nil {
		return o, err
	}
	o.Transactions = float64(transactions) / sent
	if t.backends.redis == nil {
		return o, nil
	}
	scripts, commands, err := t.backends.commands(ctx)
	o.Scripts, o.Commands = float64(scripts)/sent, float64(commands)/sent
	return o, err
}

func (b *backends) transactions(ctx context.Context) (n int64, err error) {
	conn, err := pgx.Connect(ctx, b.postgres.URL)
	if err != nil {
		return 0, fmt.Errorf("ask PostgreSQL what it did: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n); err != nil {
		return 0, fmt.Errorf("ask PostgreSQL what it did: %w", err)
	}
	return n, nil
}

var commandCalls = regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`)

func (b *backends) commands(ctx context.Context) (scripts, all int64, err error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{b.redis.Address}, DisableCache: true})
	if err != nil {
		return 0, 0, fmt.Errorf("ask Redis what it did: %w", err)
	}
	defer client.Close()
	info, err := client.Do(ctx, client.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		return 0, 0, fmt.Errorf("ask Redis what it did: %w", err)
	}
	for _, m := range commandCalls.FindAllStringSubmatch(info, -1) {
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read the commands of Redis: %w", err)
		}
		if all += n; m[1] == "evalsha" {
			scripts = n
		}
	}
	return scripts, all, nil
}

// operationsTable is what the servers did, for a document.
func operationsTable(all []operations) string {
	var b strings.Builder
	b.WriteString("\nWhat the servers did for a call:\n\n| target | PostgreSQL, transactions | Redis, scripts | Redis, commands |\n|---|---|---|---|\n")
	for _, o := range all {
		fmt.Fprintf(&b, "| %s | %.3f | %s | %s |\n", o.Target, o.Transactions, orDash(o.Scripts, 1), orDash(o.Commands, 1))
	}
	return b.String()
}
