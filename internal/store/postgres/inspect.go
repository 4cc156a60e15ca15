package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// oldest is the oldest PostgreSQL that has all that is used.
const oldest = 15

// Inspect looks at the database that a URL names as haltd would use it: whether
// it answers, its version, what the user may do, its clock, its tables, and how
// far nodes and replicas are behind. It changes nothing.
func Inspect(ctx context.Context, url string) []haltd.Diagnosis {
	cfg, err := parse(url)
	if err != nil {
		return []haltd.Diagnosis{failed(err)}
	}
	s := &Store{place: place(cfg)}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return []haltd.Diagnosis{failed(s.explain(ctx, err))}
	}
	defer conn.Close(context.WithoutCancel(ctx))
	i := &inspection{conn: conn, checks: []haltd.Diagnosis{{Outcome: haltd.DiagnosisOK, Message: "The database " + s.place + " answers"}}}
	for _, look := range []func(context.Context) error{i.server, i.clock, i.permissions, i.migrations} {
		if err := look(ctx); err != nil {
			i.checks = append(i.checks, failed(s.explain(ctx, err)))
		}
		if i.closed {
			break
		}
	}
	return i.checks
}

func failed(err error) haltd.Diagnosis {
	var e *haltd.Error
	if errors.As(err, &e) {
		return haltd.Diagnosis{Outcome: haltd.DiagnosisProblem, Message: e.Sentence(), Fix: e.Fix}
	}
	return haltd.Diagnosis{Outcome: haltd.DiagnosisProblem, Message: err.Error(), Fix: "Look at PostgreSQL's log."}
}

type inspection struct {
	conn   *pgx.Conn
	checks []haltd.Diagnosis
	closed bool // to the user: there is nothing more to look at
}

func (i *inspection) add(outcome, fix, format string, args ...any) {
	i.checks = append(i.checks, haltd.Diagnosis{Outcome: outcome, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (i *inspection) server(ctx context.Context) error {
	var number int
	var version string
	var replica bool
	err := i.conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::integer, current_setting('server_version'), pg_is_in_recovery()").Scan(&number, &version, &replica)
	if err != nil {
		return err
	}
	i.version(number, version)
	if replica {
		i.add(haltd.DiagnosisProblem, "Set store.url to the primary.", "This PostgreSQL is a replica, and takes no writes")
	}
	return nil
}

func (i *inspection) version(number int, version string) {
	if number/10000 < oldest {
		i.add(haltd.DiagnosisProblem, fmt.Sprintf("Use PostgreSQL %d or newer.", oldest), "PostgreSQL %s is too old", version)
	} else {
		i.add(haltd.DiagnosisOK, "", "PostgreSQL has version %s", version)
	}
}

func (i *inspection) clock(ctx context.Context) error {
	var us int64
	asked := time.Now()
	if err := i.conn.QueryRow(ctx, "SELECT "+now).Scan(&us); err != nil {
		return err
	}
	i.checks = append(i.checks, haltd.DiagnoseClock("PostgreSQL", table.FromMicros(us), asked, time.Now()))
	return nil
}

// permissions looks at what the user may do in the schema, or whether it may
// make one.
func (i *inspection) permissions(ctx context.Context) error {
	var user, name string
	var exists, used, makes, creates bool
	var lacking int
	// A schema that is there and that the user may not use is none of its path.
	err := i.conn.QueryRow(ctx, `SELECT current_user, name, EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = name), current_schema() IS NOT NULL,
		has_database_privilege(current_database(), 'CREATE'),
		current_schema() IS NOT NULL AND has_schema_privilege(current_schema(), 'CREATE'),
		(SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind = 'r'
			AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')))
		FROM (SELECT coalesce(current_schema(), trim(BOTH '" ' FROM split_part(current_setting('search_path'), ',', 1)))::text AS name) path`).
		Scan(&user, &name, &exists, &used, &makes, &creates, &lacking)
	if err != nil {
		i.closed = true
		return err
	}
	use := fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s; GRANT ALL ON ALL TABLES IN SCHEMA %s TO %s;", name, user, name, user)
	switch {
	case !used && exists:
		i.deny("Run as its owner: "+use, "User %s may not use the schema %s", user, name)
	case !used && (!makes || name != schema): // haltd makes no schema of another name
		i.deny(fmt.Sprintf("Run as a superuser: CREATE SCHEMA %s AUTHORIZATION %s;", name, user), "There is no schema %s, and user %s may not make it", name, user)
	case lacking > 0:
		i.deny("Run as their owner: "+use, "User %s may not read and write all tables: %d are closed to it", user, lacking)
	case used && !creates:
		i.add(haltd.DiagnosisNotice, fmt.Sprintf("Before the next upgrade: GRANT CREATE ON SCHEMA %s TO %s;", name, user), "User %s may not make tables: an upgrade could not", user)
	default:
		i.add(haltd.DiagnosisOK, "", "User %s may do what haltd needs", user)
	}
	return nil
}

func (i *inspection) deny(fix, format string, args ...any) {
	i.closed = true
	i.add(haltd.DiagnosisProblem, fix, format, args...)
}

// migrations says whether the tables are those that this haltd knows, and then
// how far nodes and replicas are behind.
func (i *inspection) migrations(ctx context.Context) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	var there bool
	if err := i.conn.QueryRow(ctx, "SELECT to_regclass('migrations') IS NOT NULL").Scan(&there); err != nil {
		return err
	}
	if !there {
		i.add(haltd.DiagnosisOK, "", "The tables are not made yet; haltd makes them when it starts")
		return nil
	}
	var version int
	if err := i.conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > len(steps):
		i.add(haltd.DiagnosisProblem, "Run the newer haltd that wrote it, or restore the backup from before the upgrade.", "The tables have version %d, and this haltd knows versions up to %d", version, len(steps))
		return nil
	case version < len(steps):
		i.add(haltd.DiagnosisNotice, "Start this haltd: it brings them up to date.", "The tables have version %d of %d", version, len(steps))
		return nil
	}
	i.add(haltd.DiagnosisOK, "", "The tables are up to date (version %d)", version)
	return i.lag(ctx)
}

// behind is how far a node or a replica may be behind.
const behind = 5 * time.Second

// lostWithin is how long it is told of a node that has ended without a word.
const lostWithin = time.Hour

// lag looks at nodes and replicas that are behind.
func (i *inspection) lag(ctx context.Context) error {
	// A node that a later one of the same machine has replaced is not lost.
	nodes, err := read(ctx, i.conn, func(row scanner) (n inspectedNode, err error) {
		var silent int64
		err = row.Scan(&n.id, &n.host, &n.version, &n.alive, &silent)
		n.silent = time.Duration(silent) * time.Microsecond
		return n, err
	}, `SELECT id, host, version, until > `+now+`, `+now+` - seen_at FROM nodes n
		WHERE until > `+now+` OR until > seen_at AND until > `+now+` - $1
			AND NOT EXISTS (SELECT 1 FROM nodes m WHERE m.host = n.host AND n.host <> '' AND m.id <> n.id AND m.until > n.until)
		ORDER BY host, number`, lostWithin.Microseconds())
	if err != nil {
		return err
	}
	i.nodes(nodes)
	var all, hidden int
	var latest int64
	var user string
	err = i.conn.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE state IS NULL), coalesce(max(extract(epoch FROM replay_lag)) * 1000000, 0)::bigint, current_user
		FROM pg_stat_replication`).Scan(&all, &hidden, &latest, &user)
	if err != nil {
		return err
	}
	i.replicas(user, all, hidden, time.Duration(latest)*time.Microsecond)
	return nil
}

// inspectedNode is one that lives, or ended without a word.
type inspectedNode struct {
	id, host, version string
	alive             bool
	silent            time.Duration
}

func (n *inspectedNode) name() string {
	if n.host == "" {
		return n.id
	}
	return n.host + " (" + n.id + ")"
}

// nodes says which live, which are silent or lost, and whether they run the
// same version.
func (i *inspection) nodes(all []inspectedNode) {
	living, longest := 0, time.Second
	versions := map[string][]string{}
	for _, n := range all {
		if n.alive {
			living++
			longest = max(longest, n.silent)
			versions[n.version] = append(versions[n.version], n.name())
		}
		switch last := n.silent.Round(time.Second); {
		case !n.alive:
			i.add(haltd.DiagnosisNotice, "Start it again where nobody has: the others do its work, and what it held for calls was charged.", "Node %s ended without a word, %v ago", n.name(), last)
		case n.silent > behind:
			i.add(haltd.DiagnosisNotice, "Look at its machine, its way to the database and its log.", "Node %s was last seen %v ago", n.name(), last)
		}
	}
	switch {
	case living == 0:
		i.add(haltd.DiagnosisNotice, "Start haltd with this store.url.", "No node uses the database now")
	case longest > behind:
		i.add(haltd.DiagnosisOK, "", "%d nodes live", living)
	default:
		i.add(haltd.DiagnosisOK, "", "%d nodes live, all seen within %v", living, longest.Round(time.Second))
	}
	if len(versions) > 1 {
		var runs []string
		for _, v := range slices.Sorted(maps.Keys(versions)) {
			runs = append(runs, v+" on "+strings.Join(versions[v], ", "))
		}
		i.add(haltd.DiagnosisNotice, "Finish the upgrade: replace the nodes of the older version, one after the other.", "Nodes run different versions: %s", strings.Join(runs, "; "))
	}
}

// replicas says how far they are behind. PostgreSQL hides that from users that
// have no right to see it.
func (i *inspection) replicas(user string, all, hidden int, lag time.Duration) {
	switch {
	case all == 0:
	case lag > behind:
		i.add(haltd.DiagnosisNotice, "Look at the replica's disk and network: what it lacks is lost if it takes over.", "A replica is %v behind", lag.Round(time.Second))
	case hidden > 0:
		i.add(haltd.DiagnosisNotice, fmt.Sprintf("Run as a superuser: GRANT pg_read_all_stats TO %s;", user), "User %s may not see how far the replicas of this PostgreSQL are behind", user)
	default:
		i.add(haltd.DiagnosisOK, "", "Replicas: %d, none more than %v behind", all, max(lag, time.Second).Round(time.Second))
	}
}
