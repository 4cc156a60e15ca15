package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const deliveryColumns = `SELECT d.no, d.id, d.channel, d.status, d.attempts, d.next_at, d.answer, d.updated_at, n.body
	FROM deliveries d JOIN notices n ON n.no = d.notice`

func writeNotices(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	for i := range c.Notices {
		n := &c.Notices[i]
		if n.ID == "" {
			return haltd.Errorf(haltd.CodeInvalid, "the notice has none").In(fmt.Sprintf("notices[%d].id", i))
		}
		body, err := json.Marshal(n)
		if err != nil {
			return table.Unfit("notice", err)
		}
		_, err = exec(ctx, tx, "INSERT INTO notices (id, time, incident, body) VALUES ($1, $2, $3, $4)", n.ID, table.Micros(n.Time), n.Incident, string(body))
		if err != nil {
			return err
		}
	}
	return nil
}

// Notices implements haltd.OutboxStore.
func (s *Store) Notices(ctx context.Context, most int) (notices []haltd.Notice, err error) {
	err = s.do(ctx, "read notices", func(ctx context.Context) error {
		notices, err = read(ctx, s.pool, scanDocument[haltd.Notice],
			"SELECT body FROM notices WHERE NOT dispatched ORDER BY time, no LIMIT $1", table.Limit(most))
		return err
	})
	return notices, err
}

// Dispatch implements haltd.OutboxStore. An unknown notice is CodeNotFound.
func (s *Store) Dispatch(ctx context.Context, notice string, deliveries []haltd.Delivery) error {
	return s.write(ctx, "dispatch notice", func(ctx context.Context, tx pgx.Tx) error { return dispatch(ctx, tx, notice, deliveries) })
}

func dispatch(ctx context.Context, tx pgx.Tx, notice string, deliveries []haltd.Delivery) error {
	var no int64
	var dispatched bool
	err := tx.QueryRow(ctx, "SELECT no, dispatched FROM notices WHERE id = $1 FOR UPDATE", notice).Scan(&no, &dispatched)
	switch {
	case isNoRows(err):
		return haltd.Errorf(haltd.CodeNotFound, "there is no notice %q", notice)
	case err != nil || dispatched:
		return err
	}
	for i := range deliveries {
		d := &deliveries[i]
		if d.ID == "" {
			return haltd.Errorf(haltd.CodeInvalid, "the delivery has none").In(fmt.Sprintf("deliveries[%d].id", i))
		}
		_, err := exec(ctx, tx, `INSERT INTO deliveries (id, notice, channel, status, attempts, next_at, answer, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			d.ID, no, d.Channel, string(d.Status), d.Attempts, table.Micros(d.NextAt), table.Lines(d.Answers), table.Micros(d.UpdatedAt))
		if err != nil {
			return err
		}
	}
	if len(deliveries) > 0 && deliveries[0].Notice.ID == notice {
		body, err := json.Marshal(deliveries[0].Notice)
		if err != nil {
			return table.Unfit("notice", err)
		}
		if _, err := exec(ctx, tx, "UPDATE notices SET body = $1 WHERE no = $2", string(body), no); err != nil {
			return err
		}
	}
	_, err = exec(ctx, tx, "UPDATE notices SET dispatched = true WHERE no = $1", no)
	return err
}

const due = "d.status = 'pending' AND d.next_at <= $1 AND d.claimed <= " + now

// claimSQL takes deliveries of channels with a free lane, however many of
// others are due before them. Those that another node is about to claim are
// passed over.
const claimSQL = `UPDATE deliveries AS d SET claimed = ` + now + ` + $2 WHERE d.no IN (
	SELECT d.no FROM deliveries d WHERE d.no IN (
		SELECT ranked.no FROM (
			SELECT d.no, d.channel, row_number() OVER (PARTITION BY d.channel ORDER BY d.next_at, d.no) AS place FROM deliveries d WHERE ` + due + `
		) ranked LEFT JOIN unnest($3::text[], $4::bigint[]) AS busy (channel, calls) ON busy.channel = ranked.channel
		WHERE $5 <= 0 OR ranked.place <= $5 - coalesce(busy.calls, 0)
	) AND ` + due + ` ORDER BY d.next_at, d.no LIMIT $6 FOR UPDATE SKIP LOCKED
) RETURNING d.no`

// Claim implements haltd.OutboxStore.
func (s *Store) Claim(ctx context.Context, q haltd.Claim) (claimed []haltd.Delivery, err error) {
	scan := func(row scanner) (haltd.Delivery, error) {
		d, _, err := table.ScanDelivery(row)
		return d, err
	}
	err = s.do(ctx, "claim deliveries", func(ctx context.Context) error {
		// Mostly nothing is due, and then nothing is written.
		waits, err := read(ctx, s.pool, value[int64], "SELECT d.no FROM deliveries d WHERE "+due+" LIMIT 1", table.Micros(q.Now))
		if err != nil || len(waits) == 0 {
			return err
		}
		return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
			var names []string
			var calls []int64
			for channel, n := range q.Busy {
				names, calls = append(names, channel), append(calls, int64(n))
			}
			nos, err := read(ctx, tx, value[int64], claimSQL, table.Micros(q.Now), q.Lease.Microseconds(), names, calls, q.Lanes, table.Limit(q.Limit))
			if err != nil || len(nos) == 0 {
				return err
			}
			slices.Sort(nos)
			claimed, err = read(ctx, tx, scan, deliveryColumns+" WHERE d.no = ANY($1) ORDER BY d.next_at, d.no", nos)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// SaveDelivery implements haltd.OutboxStore. Notice and channel stay as they
// were dispatched; an unknown delivery is CodeNotFound.
func (s *Store) SaveDelivery(ctx context.Context, d haltd.Delivery) error {
	return s.do(ctx, "save delivery", func(ctx context.Context) error {
		saved, err := exec(ctx, s.pool, `UPDATE deliveries SET status = $1, attempts = $2, next_at = $3, answer = $4, updated_at = $5, claimed = 0
			WHERE id = $6`, string(d.Status), d.Attempts, table.Micros(d.NextAt), table.Lines(d.Answers), table.Micros(d.UpdatedAt), d.ID)
		if err == nil && saved == 0 {
			err = haltd.Errorf(haltd.CodeNotFound, "there is no delivery %q", d.ID)
		}
		return err
	})
}

// Deliveries implements haltd.OutboxStore.
func (s *Store) Deliveries(ctx context.Context, q haltd.DeliveryQuery) (ds []haltd.Delivery, next string, err error) {
	var w table.Conditions
	w.Equal("d.status", string(q.Status))
	w.Equal("d.channel", q.Channel)
	w.Equal("n.incident", q.Incident)
	err = s.do(ctx, "list deliveries", func(ctx context.Context) error {
		ds, next, err = list(ctx, s.pool, listing[haltd.Delivery]{
			columns: deliveryColumns, at: "d.no", no: "d.no", kind: 'd', scan: table.ScanDelivery, where: w, page: q.Page,
		})
		return err
	})
	return ds, next, err
}

// pruneDeliveries deletes deliveries that ended before t.
func pruneDeliveries(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM deliveries WHERE no IN (SELECT no FROM deliveries
		WHERE status <> 'pending' AND updated_at < $1 LIMIT $2)`, table.Micros(t), most)
}

// pruneNotices deletes the notices from before t that have no deliveries left.
func pruneNotices(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM notices WHERE no IN (SELECT n.no FROM notices n WHERE n.dispatched AND n.time < $1
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notice = n.no) LIMIT $2)`, table.Micros(t), most)
}
