package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/haltd/haltd/internal/lock"
)

// writer is the one connection that writes.
type writer struct {
	db     *sql.DB
	conn   *sql.Conn
	lock   lock.Lock // whoever holds it may use conn
	closed bool      // the lock guards it
	*appender
	ledgers *ledgerWriter
}

func openWriter(ctx context.Context, dsn string) (_ *writer, err error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	w := &writer{db: db}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, w.conn, steps); err != nil {
		return nil, err
	}
	err = w.conn.Raw(func(c any) error {
		if w.appender, err = newAppender(c.(preparer)); err == nil {
			w.ledgers, err = newLedgerWriter(c.(preparer))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	if w.appender != nil {
		_ = w.lock.Acquire(context.Background()) // a write that has begun ends first
		closed := w.closed
		w.closed = true
		w.lock.Release()
		if closed {
			return nil
		}
		errs = append(errs, w.conn.Raw(func(any) error {
			err := w.appender.close()
			if w.ledgers != nil {
				err = errors.Join(err, w.ledgers.close())
			}
			return err
		}))
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// write runs fn in a transaction when nobody else writes. ctx is for the
// wait: once begun, a transaction is not cut short, because an interrupt
// would cost the connection.
func (w *writer) write(ctx context.Context, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.lock.Acquire(ctx); err != nil {
		return err
	}
	defer w.lock.Release()
	if w.closed {
		return sql.ErrConnDone
	}
	ctx = context.WithoutCancel(ctx)
	err := transact(ctx, w.conn, func() error { return fn(ctx) })
	if err != nil {
		w.appender.forget() // rows it remembers may have been rolled back
	}
	return err
}

// exec runs a statement inside the transaction of its caller.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	_, err := s.writer.conn.ExecContext(ctx, query, args...)
	return err
}

// affect is exec for those who want to know how many rows it changed.
func (s *Store) affect(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.writer.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func transact(ctx context.Context, conn *sql.Conn, fn func() error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite has rolled back by itself after some failures, then this
		// one says so and changes nothing.
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// preparer is what the driver's connection offers below database/sql, whose
// own share of the work would be a third of an insert.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (driver.Stmt, error)
}

// statement is a prepared statement with room for its arguments.
type statement struct {
	stmt driver.Stmt
	args []driver.NamedValue
}

func prepare(c preparer, query string) (*statement, error) {
	stmt, err := c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	return &statement{stmt: stmt}, nil
}

func (s *statement) bind(values []driver.Value) []driver.NamedValue {
	for len(s.args) < len(values) {
		s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1})
	}
	for i, v := range values {
		s.args[i].Value = v
	}
	return s.args[:len(values)]
}

func (s *statement) exec(values ...driver.Value) error {
	_, err := s.stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.bind(values))
	return err
}

// number runs a statement that answers one row with one integer.
func (s *statement) number(values ...driver.Value) (int64, error) {
	var n [1]int64
	err := s.numbers(n[:], values...)
	return n[0], err
}

// numbers runs a statement that answers one row of integers.
func (s *statement) numbers(to []int64, values ...driver.Value) (err error) {
	rows, err := s.stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.bind(values))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(to))
	if err := rows.Next(row); err != nil {
		return err
	}
	for i, v := range row {
		n, ok := v.(int64)
		if !ok {
			return fmt.Errorf("statement answered %T, not an integer", v)
		}
		to[i] = n
	}
	// A statement with RETURNING has done its work only when it ends.
	if err := rows.Next(row); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// rowsAtOnce is how many rows go into one statement: to begin and to end one costs as
// much as a row, and between its rows it keeps its place in the table. More gain
// nothing.
const rowsAtOnce = 32

// insertSQL inserts rows. What fails, fails with its transaction: so no page has to be
// copied to undo the statement alone.
func insertSQL(table, columns string, rows int) string {
	row := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	return "INSERT OR ROLLBACK INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, rows-1)
}

// inserter inserts one row, or rowsAtOnce.
type inserter struct {
	one, many, next *statement
	values          []driver.Value // for next
}

// begin begins a statement, and says for how many of so many rows it is.
func (s *inserter) begin(rows int) int {
	s.values = s.values[:0]
	if rows < rowsAtOnce {
		s.next = s.one
		return 1
	}
	s.next = s.many
	return rowsAtOnce
}

// add adds the values of a row.
func (s *inserter) add(values ...driver.Value) { s.values = append(s.values, values...) }

// exec inserts the rows. It answers how many of them were not there, and the number of
// the first of these; those of the others follow.
func (s *inserter) exec() (first, added int64, err error) {
	r, err := s.next.stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.next.bind(s.values))
	if err != nil {
		return 0, 0, err
	}
	if added, err = r.RowsAffected(); err != nil {
		return 0, 0, err
	}
	last, err := r.LastInsertId()
	return last - added + 1, added, err
}

// closeAll closes statements, of which some may never have been prepared.
func closeAll(list ...*statement) error {
	var errs []error
	for _, s := range list {
		if s != nil {
			errs = append(errs, s.stmt.Close())
		}
	}
	return errors.Join(errs...)
}
