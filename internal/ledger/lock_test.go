package ledger

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
)

// stuckDisk answers no write of one agent until its context ends.
type stuckDisk struct {
	*disk
	agent string
}

func (d stuckDisk) SaveShares(ctx context.Context, node string, shares []haltd.Share) ([]haltd.Ledger, bool, error) {
	if shares[0].Agent == d.agent {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	return d.disk.SaveShares(ctx, node, shares)
}

// A write that hangs delays no call of another agent, and of the same agent
// each for its own time only, not one after the other.
func TestAHangingWriteIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Open(stuckDisk{newDisk(), "stuck"}, "node", func(context.Context) error { return nil }, time.Now, slog.New(slog.DiscardHandler))
		booking := Booking{Agent: "stuck", Budgets: haltd.Budgets{Day: haltd.Budget{HardTokens: 1000}}, Zone: time.UTC, Amount: haltd.Spending{Tokens: 10}, Now: time.Now()}
		const calls = 10
		ended := make(chan error, calls)
		began := time.Now()
		for range calls {
			go func() {
				_, _, err := l.Reserve(context.Background(), booking)
				ended <- err
			}()
		}
		synctest.Wait()
		leaving, leave := context.WithCancel(context.Background())
		left := make(chan error, 1)
		go func() {
			_, _, err := l.Reserve(leaving, booking)
			left <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("a client that left waited %v, %v", time.Since(began), err)
		}
		other := booking
		other.Agent = "other"
		if r, _, err := l.Reserve(context.Background(), other); err != nil || time.Since(began) > 0 {
			t.Errorf("another agent waited %v, %v", time.Since(began), err)
		} else {
			r.Release()
		}
		for range calls {
			if err := <-ended; err == nil {
				t.Error("a call was let through without a reservation on disk")
			}
		}
		if took := time.Since(began); took > 2*storeTimeout {
			t.Errorf("%d calls waited %v for a disk that hangs", calls, took)
		}
		_ = l.Close(context.Background())
	})
}
