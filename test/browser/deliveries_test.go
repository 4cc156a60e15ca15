package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// What no channel got is one banner a channel, with its ways out: try all
// again, or let all be. What was meant for a channel that is no more can only be
// dismissed.
func TestDeadDeliveries(t *testing.T) {
	t.Parallel()
	folder := recorded(t, func(ctx context.Context, s *sqlite.Store) error {
		for i, channel := range []string{"file-hook", "file-hook", "chn_gone", "chn_gone"} {
			notice := haltd.Notice{ID: fmt.Sprint("msg_", i), Time: time.Now(), Topic: haltd.IncidentKillSwitch, Agent: fmt.Sprint("lost-", i), Action: haltd.Kill, Sentence: fmt.Sprintf("lost-%d was stopped.", i)}
			if err := s.Commit(ctx, haltd.Change{Notices: []haltd.Notice{notice}}); err != nil {
				return err
			}
			dead := haltd.Delivery{ID: fmt.Sprint("dlv_", i), Notice: notice, Channel: channel, Status: haltd.DeliveryDead, Attempts: 8, Answers: []string{"503 Service Unavailable"}, NextAt: notice.Time, UpdatedAt: notice.Time}
			if err := s.Dispatch(ctx, notice.ID, []haltd.Delivery{dead}); err != nil {
				return err
			}
		}
		return nil
	})
	n := startIn(t, folder, fmt.Sprintf("alerts: {channels: [{name: hook, kind: webhook, enabled: true, secret: whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=, url: %q}]}\n", newReceiver(t).URL))
	p := newTab(t, n)
	p.open("/")
	p.sees("4 alerts were never delivered.")
	p.link("Retry or dismiss")
	p.sees("2 notices never reached hook.", "503 Service Unavailable", "2 notices never reached a channel that is deleted.")
	p.in("button", "Retry all 2").there()
	p.accessible(axe(t))
	p.show(phone)
	p.fits()
	p.show(desktop)

	row := p.in("region", "Deliveries").in("row", "lost-3")
	row.sees("(deleted)", "given up")
	row.button("Dismiss")
	row.sees("given up and dismissed")
	p.button("Dismiss all 1")
	p.in("button", "Dismiss all 1").gone()
	p.button("Retry all 2")
	p.in("region", "Deliveries").in("row", "lost-0").sees("delivered")
	p.in("region", "Deliveries").in("row", "lost-1").sees("delivered")
	p.lacks("never reached", "never delivered")
}
