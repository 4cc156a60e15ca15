package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The channels of NOTIFY.
const (
	eventsChannel  = "haltd_events"
	changesChannel = "haltd_changes"
)

// listen rings the bells when another node, or this one, has written. It connects
// again for ever: who waits looks each second, too.
func (s *Store) listen(ctx context.Context, cfg *pgx.ConnConfig) {
	for ctx.Err() == nil {
		_ = s.listenOnce(ctx, cfg) // whoever asks the database is told why it fails
		s.changed.Ring()           // what was told meanwhile nobody heard
		s.committed.Ring()
		sleep(ctx, time.Second)
	}
}

func (s *Store) listenOnce(ctx context.Context, cfg *pgx.ConnConfig) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.listener.Store(&end)
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+eventsChannel+"; LISTEN "+changesChannel); err != nil {
		return err
	}
	s.changed.Ring()
	s.committed.Ring()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Channel == changesChannel {
			s.changed.Ring()
		} else {
			s.committed.Ring()
		}
	}
}
