package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a program that runs beside a test.
type Process struct {
	cmd    *exec.Cmd
	output output
	exited chan struct{} // closed after it ended
	err    error         // how, once exited is closed
}

// Launch starts a program and collects what it prints where the command says
// nothing else.
func Launch(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = &p.output
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.output
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name(), err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (p *Process) name() string { return filepath.Base(p.cmd.Path) }

// PID is its id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log is what it has printed so far.
func (p *Process) Log() string { return p.output.String() }

// Signal sends it a signal.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to %s: %w", s, p.name(), err)
	}
	return nil
}

// Await waits until something is so; it fails after Patience, when ctx ends,
// and when the process ends before.
func (p *Process) Await(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-p.exited:
			cancel(fmt.Errorf("it ended: %v", p.err))
		case <-ctx.Done():
		}
	}()
	err := Until(ctx, ok)
	cancel(nil)
	<-watched
	if err != nil {
		return fmt.Errorf("%s is not %s: %w\n%s", p.name(), what, err, p.Log())
	}
	return nil
}

// AwaitListening waits until connections are taken on all addresses.
func (p *Process) AwaitListening(ctx context.Context, addresses ...string) error {
	return p.Await(ctx, "listening", func() bool {
		return !slices.ContainsFunc(addresses, func(a string) bool { return !Listens(a) })
	})
}

// Children are the processes that it has started and that run. They need not be
// a group: PostgreSQL gives each a session of its own.
func (p *Process) Children() (pids []int, err error) {
	// A child is that of one thread.
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil || len(lists) == 0 {
		return nil, errors.Join(err, fmt.Errorf("the children of %s cannot be read; that needs Linux and /proc", p.name()))
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("read the children of %s: %w", p.name(), err)
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Wait waits for its end, after Patience by force, and says how it ended.
func (p *Process) Wait() error {
	select {
	case <-p.exited:
		return p.err
	case <-time.After(Patience):
	}
	return errors.Join(fmt.Errorf("%s has not ended after %v", p.name(), Patience), p.Kill())
}

// Stop ends it as an operator does and says how it ended.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, p.Kill())
	}
	if err := p.Wait(); err != nil {
		return fmt.Errorf("stop %s: %w\n%s", p.name(), err, p.Log())
	}
	return nil
}

// Kill ends it as no program can prepare for.
func (p *Process) Kill() error {
	if err := p.Signal(os.Kill); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.exited
	return nil
}

// output collects what a process prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
