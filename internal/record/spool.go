package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

const (
	// spoolBytes bounds what waits on disk for a store that is gone.
	spoolBytes = 256 << 20
	// drainEvery is how often the store is asked to take it.
	drainEvery = 500 * time.Millisecond
)

// Spool keeps events in a file while the store cannot be written: they survive
// the process, and do not fill its memory. Events arrive in the store once,
// because it takes an id once, however often they are sent. Excerpts do not
// wait: they would lie on disk unsealed.
type Spool struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the file
	sent int64 // bytes of it that the store has taken
	left int   // events that it has not
	most int64 // bytes
}

// OpenSpool opens the file at path, or makes it. What an earlier process left
// there is sent first.
func OpenSpool(path string) (*Spool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	s := &Spool{file: f, most: spoolBytes}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break // half a line is what a crash left
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("read the spool: %w", err)
		}
		s.size += int64(len(line))
		s.left++
	}
	if err := f.Truncate(s.size); err != nil {
		f.Close()
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	return s, nil
}

// Waiting is how many events the store has not taken.
func (s *Spool) Waiting() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Close leaves what waits to the next process.
func (s *Spool) Close() error { return s.file.Close() }

// add writes events to disk, where they outlive the machine; it fails where they
// do not fit.
func (s *Spool) add(events []haltd.Event) error { return s.write(events, s.file.Sync) }

// keep leaves them to the system to write: they outlive the process.
func (s *Spool) keep(events []haltd.Event) error {
	return s.write(events, func() error { return nil })
}

func (s *Spool) write(events []haltd.Event, sync func() error) error {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for i := range events {
		if err := lines.Encode(&events[i]); err != nil {
			return fmt.Errorf("spool event %s: %w", events[i].ID, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+int64(b.Len()) > s.most {
		return fmt.Errorf("the spool is full: %d events wait for the store in %s", s.left, s.file.Name())
	}
	if _, err := s.file.WriteAt(b.Bytes(), s.size); err != nil {
		return fmt.Errorf("write the spool: %w", err)
	}
	if err := sync(); err != nil {
		return fmt.Errorf("write the spool: %w", err)
	}
	s.size += int64(b.Len())
	s.left += len(events)
	return nil
}

// next are the events that have waited longest, at most so many, and how many
// lines and bytes they are. A line that is damaged is left out.
func (s *Spool) next(most int) (events []haltd.Event, lines int, bytes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := bufio.NewReader(io.NewSectionReader(s.file, s.sent, s.size-s.sent))
	for ; lines < most; lines++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("read the spool: %w", err)
		}
		bytes += int64(len(line))
		var e haltd.Event
		if json.Unmarshal(line, &e) == nil && e.ID > 0 {
			events = append(events, e)
		}
	}
	return events, lines, bytes, nil
}

// took notes what the store has taken. When that is all, the file is emptied.
func (s *Spool) took(lines int, bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent += bytes
	s.left -= lines
	if s.sent < s.size {
		return nil
	}
	return s.truncate()
}

// empty forgets all that is in the file.
func (s *Spool) empty() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truncate()
}

func (s *Spool) truncate() error {
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("empty the spool: %w", err)
	}
	s.sent, s.size, s.left = 0, 0, 0
	return nil
}

// replace goes on with the file of another, which has taken this one's name.
func (s *Spool) replace(other *Spool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.file.Close() // nothing is left to be written to it
	s.file, s.size, s.sent, s.left = other.file, other.size, 0, other.left
}

// spool keeps a batch on disk that the store does not take now. It fails where
// it does not fit there.
func (r *Recorder) spool(batch []haltd.Event) error {
	if err := r.opts.Spool.add(batch); err != nil {
		return err
	}
	r.leave(batch)
	return nil
}

// spoolOrDrop drops and counts what does not fit on disk.
func (r *Recorder) spoolOrDrop(batch []haltd.Event) {
	err := r.spool(batch)
	if err == nil {
		return
	}
	if r.dropped.Add(int64(len(batch))) == int64(len(batch)) {
		r.log.Error("events are lost", "count", len(batch), "error", err)
	}
	r.leave(batch)
}

// leave is done with a batch that is not in the store.
func (r *Recorder) leave(batch []haltd.Event) {
	r.Abandon(batch) // the feed of the store tells them when they are there
	r.complete(len(batch))
}

// drain sends the store what waits on disk, until ctx ends.
func (r *Recorder) drain(ctx context.Context) {
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for {
		for r.opts.Spool.Waiting() > 0 && r.drainBatch(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Recorder) drainBatch(ctx context.Context) (taken bool) {
	events, lines, bytes, err := r.opts.Spool.next(r.opts.Batch)
	if err == nil && len(events) > 0 {
		err = r.store.AppendEvents(ctx, events)
	}
	if err != nil && ctx.Err() == nil && haltd.ErrorCode(err) == haltd.CodeInvalid {
		err = r.drainSingly(ctx, events)
	}
	if err == nil {
		err = r.opts.Spool.took(lines, bytes)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.failed(err)
		}
		return false
	}
	r.written.Add(int64(len(events)))
	if r.opts.Spool.Waiting() == 0 {
		r.recovered()
	}
	return true
}

// drainSingly has the store take what it can of events of which it refused one.
func (r *Recorder) drainSingly(ctx context.Context, events []haltd.Event) error {
	for i := range events {
		err := r.store.AppendEvents(ctx, events[i:i+1])
		if haltd.ErrorCode(err) == haltd.CodeInvalid {
			r.log.Error("event rejected by the store", "event", events[i].ID, "error", err)
			r.rejected.Add(1)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
