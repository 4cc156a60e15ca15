package record

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

var errDown = haltd.Errorf(haltd.CodeUnavailable, "the disk is full")

// memory is a store whose failures a test decides.
type memory struct {
	mu      sync.Mutex
	batches [][]haltd.Event
	pruned  []string // what, and from before when
	forgot  []time.Time
	tries   int
	fail    func(batch []haltd.Event) error
	hold    chan struct{} // while set, appends wait here
}

// block makes appends wait until the function it answers is called. A test
// in a bubble of time must call it there.
func (m *memory) block() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hold = make(chan struct{})
	return sync.OnceFunc(func() { close(m.hold) })
}

func (m *memory) AppendEvents(ctx context.Context, events []haltd.Event) error {
	m.mu.Lock()
	hold := m.hold
	m.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.fail != nil {
		if err := m.fail(events); err != nil {
			return err
		}
	}
	m.batches = append(m.batches, slices.Clone(events))
	return nil
}

func (m *memory) PruneEvents(_ context.Context, t time.Time) (int64, error) {
	return m.prune("events", t)
}

func (m *memory) PruneAudits(context.Context, time.Time) (int64, error) { return 0, nil }

func (m *memory) PruneExcerpts(_ context.Context, t time.Time) (int64, error) {
	return m.prune("excerpts", t)
}

func (m *memory) prune(things string, t time.Time) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pruned = append(m.pruned, things+" "+t.Format(time.DateTime))
	return 1, nil
}

func (m *memory) Forget(_ context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgot = append(m.forgot, now)
	return nil
}

func (m *memory) forgets() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.forgot)
}

func (m *memory) prunes() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.pruned)
}

func (m *memory) attempts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tries
}

func (m *memory) setFail(fail func([]haltd.Event) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// sizes are the lengths of the batches written so far.
func (m *memory) sizes() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n []int
	for _, b := range m.batches {
		n = append(n, len(b))
	}
	return n
}

func (m *memory) ids() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []int
	for _, b := range m.batches {
		for _, e := range b {
			ids = append(ids, int(e.ID))
		}
	}
	return ids
}

func event(id int) haltd.Event { return haltd.Event{ID: haltd.EventID(id), Type: haltd.EventCall} }

func recordN(r *Recorder, from, to int) {
	for id := from; id <= to; id++ {
		r.Record(event(id))
	}
}

func count(from, to int) (ids []int) {
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// run tests with a Recorder in a bubble of time of its own.
func run(t *testing.T, store *memory, opts Options, test func(t *testing.T, r *Recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := New(store, opts)
		test(t, r)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = r.Close(ctx) // tests that care have closed it already
	})
}
