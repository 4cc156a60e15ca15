package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
