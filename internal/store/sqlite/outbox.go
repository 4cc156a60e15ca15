package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const deliveryColumns = `SELECT d.no, d.id, d.channel, d.status, d.attempts, d.next_at, d.answer, d.updated_at, n.body
	FROM deliveries d JOIN notices n ON n.no = d.notice`

func (s *Store) writeNotices(ctx context.Context, c *haltd.Change) error {
	for i := range c.Notices {
		n := &c.Notices[i]
		if n.ID == "" {
			return haltd.Errorf(haltd.CodeInvalid, "the notice has none").In(fmt.Sprintf("notices[%d].id", i))
		}
		body, err := json.Marshal(n)
		if err != nil {
			return table.Unfit("notice", err)
		}
		err = s.exec(ctx, "INSERT INTO notices (id, time, incident, body) VALUES (?, ?, ?, ?)", n.ID, table.Micros(n.Time), n.Incident, string(body))
		if err != nil {
			return err
		}
	}
	return nil
}

// Notices implements haltd.OutboxStore.
func (s *Store) Notices(ctx context.Context, most int) ([]haltd.Notice, error) {
	notices, err := read(ctx, s.readers, scanDocument[haltd.Notice],
		"SELECT body FROM notices WHERE dispatched = 0 ORDER BY time, no LIMIT ?", table.Limit(most))
	if err != nil {
		return nil, fmt.Errorf("read notices: %w", explain(s.path, err))
	}
	return notices, nil
}

// Dispatch implements haltd.OutboxStore. An unknown notice is CodeNotFound.
func (s *Store) Dispatch(ctx context.Context, notice string, deliveries []haltd.Delivery) error {
	err := s.writer.write(ctx, func(ctx context.Context) error { return s.dispatch(ctx, notice, deliveries) })
	if err != nil {
		return fmt.Errorf("dispatch notice: %w", explain(s.path, err))
	}
	return nil
}

func (s *Store) dispatch(ctx context.Context, notice string, deliveries []haltd.Delivery) error {
	var no int64
	var dispatched bool
	err := s.writer.conn.QueryRowContext(ctx, "SELECT no, dispatched FROM notices WHERE id = ?", notice).Scan(&no, &dispatched)
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
		err := s.exec(ctx, `INSERT INTO deliveries (id, notice, channel, status, attempts, next_at, answer, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
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
		return s.exec(ctx, "UPDATE notices SET dispatched = 1, body = ? WHERE no = ?", string(body), no)
	}
	return s.exec(ctx, "UPDATE notices SET dispatched = 1 WHERE no = ?", no)
}

// Claim implements haltd.OutboxStore.
func (s *Store) Claim(ctx context.Context, q haltd.Claim) (claimed []haltd.Delivery, err error) {
	// Mostly nothing is due, and then nothing is written.
	waits, err := read(ctx, s.readers, func(row scanner) (no int64, err error) { return no, row.Scan(&no) },
		"SELECT no FROM deliveries WHERE "+due+" LIMIT 1", table.Micros(q.Now))
	if err == nil && len(waits) > 0 {
		err = s.writer.write(ctx, func(ctx context.Context) error {
			claimed, err = s.claim(ctx, q)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", explain(s.path, err))
	}
	return claimed, nil
}

const due = "status = 'pending' AND next_at <= ? AND claimed <= " + now

func (s *Store) claim(ctx context.Context, q haltd.Claim) (claimed []haltd.Delivery, err error) {
	ids, err := s.claimable(ctx, q)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	const these = " WHERE d.no IN (SELECT value FROM json_each(?))"
	if err := s.exec(ctx, "UPDATE deliveries AS d SET claimed = "+now+" + ?"+these, q.Lease.Microseconds(), string(list)); err != nil {
		return nil, err
	}
	scan := func(row scanner) (haltd.Delivery, error) {
		d, _, err := table.ScanDelivery(row)
		return d, err
	}
	return read(ctx, s.writer.conn, scan, deliveryColumns+these+" ORDER BY d.next_at, d.no", string(list))
}

// claimable are the numbers of the deliveries that a claim gets: those of
// channels with a free lane, however many of others are due before them.
func (s *Store) claimable(ctx context.Context, q haltd.Claim) (nos []int64, err error) {
	rows, err := s.writer.conn.QueryContext(ctx, "SELECT no, channel FROM deliveries WHERE "+due+" ORDER BY next_at, no", table.Micros(q.Now))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	taken := map[string]int{}
	for len(nos) < table.Limit(q.Limit) && rows.Next() {
		var no int64
		var channel string
		if err := rows.Scan(&no, &channel); err != nil {
			return nil, err
		}
		if q.Lanes > 0 && q.Busy[channel]+taken[channel] >= q.Lanes {
			continue
		}
		taken[channel]++
		nos = append(nos, no)
	}
	return nos, rows.Err()
}

// SaveDelivery implements haltd.OutboxStore. Notice and channel stay as they
// were dispatched; an unknown delivery is CodeNotFound.
func (s *Store) SaveDelivery(ctx context.Context, d haltd.Delivery) error {
	err := s.writer.write(ctx, func(ctx context.Context) error {
		saved, err := s.affect(ctx, `UPDATE deliveries SET status = ?, attempts = ?, next_at = ?, answer = ?, updated_at = ?, claimed = 0
			WHERE id = ?`, string(d.Status), d.Attempts, table.Micros(d.NextAt), table.Lines(d.Answers), table.Micros(d.UpdatedAt), d.ID)
		if err == nil && saved == 0 {
			err = haltd.Errorf(haltd.CodeNotFound, "there is no delivery %q", d.ID)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("save delivery: %w", explain(s.path, err))
	}
	return nil
}

// Deliveries implements haltd.OutboxStore.
func (s *Store) Deliveries(ctx context.Context, q haltd.DeliveryQuery) ([]haltd.Delivery, string, error) {
	var w table.Conditions
	w.Equal("d.status", string(q.Status))
	w.Equal("d.channel", q.Channel)
	w.Equal("n.incident", q.Incident)
	ds, next, err := list(ctx, s.readers, listing[haltd.Delivery]{
		columns: deliveryColumns, at: "d.no", no: "d.no", kind: 'd', scan: table.ScanDelivery, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", explain(s.path, err))
	}
	return ds, next, nil
}

// pruneDeliveries deletes deliveries that ended before t.
func (s *Store) pruneDeliveries(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM deliveries WHERE no IN (SELECT no FROM deliveries
		WHERE status <> 'pending' AND updated_at < ? LIMIT ?)`, table.Micros(t), most)
}

// pruneNotices deletes the notices from before t that have no deliveries left.
func (s *Store) pruneNotices(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM notices WHERE no IN (SELECT n.no FROM notices n WHERE n.dispatched = 1 AND n.time < ?
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notice = n.no) LIMIT ?)`, table.Micros(t), most)
}
