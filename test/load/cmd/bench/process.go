package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd/test/harness"
)

// ticksPerSecond is the unit of times in /proc on every Linux that Go runs on.
const ticksPerSecond = 100

// process is a program under measurement, with the children it had when it
// became ready.
type process struct {
	*harness.Process
	name    string
	address string
	release func() error // its address
	pids    []int
	lag     time.Duration // how long what it still has to do may wait before it begins
}

// start runs a program on an address of its own, which command is told, and
// waits until it takes calls there.
func start(ctx context.Context, dir, name string, command func(address string) (*exec.Cmd, error)) (*process, error) {
	address, release, err := harness.Reserve()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, address: address, release: release}
	cmd, err := command(address)
	if err == nil {
		cmd.Dir = dir
		p.Process, err = harness.Launch(cmd)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	err = p.Await(ctx, "listening", func() bool { return harness.Listens(address) })
	if err == nil {
		p.pids, err = p.Children()
		p.pids = append(p.pids, p.PID())
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// stop ends the program. How it ends says nothing: those of the benchmark
// itself end by the signal.
func (p *process) stop() {
	_ = p.Stop()
	_ = p.release()
}

// cpu is the processor time that the program has used so far.
func (p *process) cpu() (time.Duration, error) {
	var sum time.Duration
	for _, pid := range p.pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, fmt.Errorf("read the processor time of %s: %w", p.name, err)
		}
		d, err := parseCPU(b)
		if err != nil {
			return 0, fmt.Errorf("read the processor time of %s: %w", p.name, err)
		}
		sum += d
	}
	return sum, nil
}

// settle waits until the program has done nothing for 280 ms, a second at
// most: what it does after the last reply belongs to the requests too, and
// events may wait 200 ms to be written together, those of others for longer.
func (p *process) settle(ctx context.Context) (time.Duration, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(p.lag):
	}
	before, err := p.cpu()
	for quiet, i := 0, 0; err == nil && quiet < 7 && i < 25; i++ {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(40 * time.Millisecond):
		}
		var now time.Duration
		if now, err = p.cpu(); now == before {
			quiet++
		} else {
			quiet = 0
		}
		before = now
	}
	return before, err
}

// memory is the resident memory in bytes now and at its highest.
func (p *process) memory() (now, peak int64, err error) {
	for _, pid := range p.pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", p.name, err)
		}
		rss, errRSS := parseMemory(b, "VmRSS")
		hwm, errHWM := parseMemory(b, "VmHWM")
		if err := errors.Join(errRSS, errHWM); err != nil {
			return 0, 0, fmt.Errorf("read the memory of %s: %w", p.name, err)
		}
		now, peak = now+rss, peak+hwm
	}
	return now, peak, nil
}

// parseCPU reads utime and stime from a /proc/PID/stat. The name in it may
// hold anything, so fields count from its closing bracket.
func parseCPU(stat []byte) (time.Duration, error) {
	fields, err := statFields(stat)
	if err != nil {
		return 0, err
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(errUser, errSystem); err != nil {
		return 0, fmt.Errorf("times in %q: %w", stat, err)
	}
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}

// statFields are the fields after the name: state, parent and so on.
func statFields(stat []byte) ([]string, error) {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return nil, fmt.Errorf("%q is not the stat of a process", stat)
	}
	fields := strings.Fields(string(stat[i+1:]))
	if len(fields) < 13 {
		return nil, fmt.Errorf("%q is not the stat of a process", stat)
	}
	return fields, nil
}

func parseMemory(status []byte, field string) (int64, error) {
	for line := range strings.Lines(string(status)) {
		if name, value, ok := strings.Cut(line, ":"); ok && name == field {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", field, err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("there is no %s", field)
}
