package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is the unit of times in /proc on every Linux that Go runs on.
const ticksPerSecond = 100

// process is a program under measurement, with the children it had when it
// became ready.
type process struct {
	name   string
	cmd    *exec.Cmd
	output *os.File
	pids   []int
	exited chan struct{} // closed when it has ended
}

// start runs a program with its output in a file in dir and waits until it
// accepts connections at address.
func start(ctx context.Context, dir, name, address, program string, args ...string) (*process, error) {
	output, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", name, err)
	}
	p := &process{name: name, cmd: exec.Command(program, args...), output: output, exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, output, output
	if err := p.cmd.Start(); err != nil {
		_ = output.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.exited)
	}()
	err = p.awaitListener(ctx, address)
	if err == nil {
		p.pids, err = family(p.cmd.Process.Pid)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// awaitListener waits ten seconds at most.
func (p *process) awaitListener(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended at once: %s", p.name, p.lastOutput())
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen on %s: %s", p.name, address, p.lastOutput())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *process) lastOutput() string {
	b, err := os.ReadFile(p.output.Name())
	if err != nil {
		return err.Error()
	}
	b = bytes.TrimSpace(b)
	return string(b[max(0, len(b)-1000):])
}

// stop asks the program to end and ends it after five seconds.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	_ = p.output.Close()
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
// events may wait 200 ms to be written together.
func (p *process) settle(ctx context.Context) (time.Duration, error) {
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

// family is a process and its children.
func family(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, errors.Join(err, errors.New("processes cannot be read; the benchmark needs Linux and /proc"))
	}
	pids := []int{pid}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		fields, err := statFields(b)
		if err != nil || fields[1] != strconv.Itoa(pid) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, fmt.Errorf("read the id of a process: %w", err)
		}
		pids = append(pids, child)
	}
	return pids, nil
}

// freeAddress is a loopback address that nobody uses now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	address := l.Addr().String()
	return address, l.Close()
}
