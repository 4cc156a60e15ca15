// Command bench compares haltd with other ways to the same upstream on one
// machine: direct, the plainest Go reverse proxy, and nginx; with itself where its
// record is in PostgreSQL and its state in Redis; or with other gateways, which
// it installs. Each is a process
// of its own, all take turns under the same load, by busy connections and at a
// fixed rate, and what they cost is read from /proc. haltd runs with
// everything on. It is measured from outside only, and nothing of it is
// imported but its words, and its store to begin with a long record.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := mainError(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func mainError() error {
	// The processes that are part of the benchmark itself.
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "upstream":
		return http.ListenAndServe(args[1], upstream())
	case len(args) == 3 && args[0] == "reverseproxy":
		return http.ListenAndServe(args[1], reverseProxy(&url.URL{Scheme: "http", Host: args[2]}))
	case len(args) == 3 && args[0] == "streamingproxy":
		return http.ListenAndServe(args[1], streamingProxy(&url.URL{Scheme: "http", Host: args[2]}))
	}
	o, err := parseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.growth {
		return o.measureGrowth(ctx)
	}
	return o.bench(ctx)
}

// options are what the command line says.
type options struct {
	rounds      int
	busySpan    time.Duration
	concurrency []int
	rate        int
	pacedSpan   time.Duration
	targets     []string
	haltd       string
	json        string
	docs        string
	largest     int // bytes
	only        string
	check       bool
	growth      bool
	quick       bool
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 3, "how often every target gets every load")
	seconds := f.Float64("seconds", 0.8, "how long a load on busy connections lasts")
	concurrency := f.String("concurrency", "1,16,64,512", "how many connections are busy at once")
	largest := f.Int("largest", 1000, "the largest bodies, in KB")
	f.StringVar(&o.only, "only", "", "of all loads, those whose `words` begin so, e.g. \"growing, JSON replies, bodies of 100 KB\"")
	f.StringVar(&o.docs, "docs", "", "write the table into this `file`, in place of the one that is there")
	f.IntVar(&o.rate, "rate", 300, "requests per second of the load that starts them at fixed times; 0 leaves it out")
	rateSeconds := f.Float64("rate-seconds", 4, "how long that load lasts")
	targets := f.String("targets", "direct,nginx,reverseproxy,haltd", "what to compare")
	f.BoolVar(&o.growth, "growth", false, "measure how the cost of a call grows with its body, its conversation, agents, streams and events instead, and draw it; -only names one of bodies, calls, agents, streams, events")
	f.BoolVar(&o.quick, "quick", false, "about a minute: one round of 0.4 seconds at each load, 1 second at a fixed rate")
	f.StringVar(&o.haltd, "haltd", "bin/haltd", "the haltd to measure")
	f.StringVar(&o.json, "json", "", "write the figures to this `file`, too")
	f.BoolVar(&o.check, "check", false, "fail when haltd takes more processor time, memory or time than it may")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if o.quick {
		o.rounds, *seconds, *rateSeconds = 1, 0.4, 1
	}
	if o.rounds < 1 || o.rounds > 100 {
		return nil, fmt.Errorf("rounds must be from 1 to 100, not %d", o.rounds)
	}
	if o.rate < 0 || o.rate > 10_000 {
		return nil, fmt.Errorf("rate must be from 0 to 10000, not %d", o.rate)
	}
	for _, s := range []struct {
		flag    string
		seconds float64
		span    *time.Duration
	}{{"seconds", *seconds, &o.busySpan}, {"rate-seconds", *rateSeconds, &o.pacedSpan}} {
		*s.span = time.Duration(s.seconds * float64(time.Second))
		if *s.span < 10*time.Millisecond || *s.span > time.Minute {
			return nil, fmt.Errorf("%s must be from 0.01 to 60, not %v", s.flag, s.seconds)
		}
	}
	for s := range strings.SplitSeq(*concurrency, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("concurrency %q is not a number from 1 to 1024", s)
		}
		o.concurrency = append(o.concurrency, n)
	}
	o.targets, o.largest = strings.Split(*targets, ","), *largest<<10
	return o, nil
}

func (o *options) bench(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "haltd-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	targets, stop, err := o.start(ctx, dir)
	defer stop()
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(cells(o.concurrency, o.rate, o.largest), func(c cell) bool { return !strings.HasPrefix(c.String(), o.only) })
	if len(all) == 0 {
		return fmt.Errorf("no load begins with %q", o.only)
	}
	r := &run{targets: targets, cells: all, rounds: o.rounds, busySpan: o.busySpan, pacedSpan: o.pacedSpan, log: os.Stderr}
	limit, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	if err := r.measure(limit); err != nil {
		if ctx.Err() == nil && limit.Err() != nil { // which dialling calls a timeout of its own
			return fmt.Errorf("the benchmark takes longer than %v, which is more than it needs: the machine is busy, or a target hangs: %w", r.limit(), err)
		}
		return err
	}
	rep := newReport(r)
	for _, t := range targets {
		switch {
		case t.backends != nil:
			did, err := newOperations(ctx, t)
			if err != nil {
				return err
			}
			rep.Operations = append(rep.Operations, did)
		case t.gateway != nil:
			if rep.Haltd, err = newHaltdReport(ctx, t, r); err != nil {
				return err
			}
		}
	}
	return o.publish(rep)
}

func (o *options) publish(rep *report) error {
	err := rep.print(os.Stdout)
	if err == nil && o.json != "" {
		err = rep.save(o.json)
	}
	if err == nil {
		err = rep.complete()
	}
	if err == nil && o.docs != "" {
		err = rep.writeDocs(o.docs)
	}
	if o.check {
		err = errors.Join(err, rep.check())
	}
	return err
}

func newHaltdReport(ctx context.Context, t *target, r *run) (*haltdReport, error) {
	recorded, err := t.gateway.awaitEvents(ctx, t.sent)
	if err != nil {
		return nil, err
	}
	decisions, err := t.gateway.decisions(ctx)
	if err != nil {
		return nil, err
	}
	_, peak, err := t.process.memory()
	if err != nil {
		return nil, err
	}
	h := &haltdReport{Sent: t.sent, Recorded: recorded, Decisions: decisions, SameAnswer: t.sameAnswer, PeakMB: megabytes(peak)}
	h.addLatency(r)
	return h, nil
}

// start runs the upstream and the targets. stop ends those that run, also
// after an error.
func (o *options) start(ctx context.Context, dir string) (targets []*target, stop func(), err error) {
	var running []*process
	stop = func() {
		for _, p := range slices.Backward(running) {
			p.stop()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, stop, fmt.Errorf("find this program: %w", err)
	}
	up, err := startSelf(ctx, self, dir, "upstream")
	if err != nil {
		return nil, stop, err
	}
	running = append(running, up.process)
	for _, name := range o.targets {
		t, err := o.startTarget(ctx, name, self, dir, up.address)
		if err != nil {
			return nil, stop, err
		}
		if t == nil {
			continue
		}
		targets = append(targets, t)
		if t.process != nil {
			running = append(running, t.process)
		}
	}
	return targets, stop, nil
}

// startTarget answers nil for an nginx that is not installed.
func (o *options) startTarget(ctx context.Context, name, self, dir, upstream string) (*target, error) {
	switch name {
	case "direct":
		return &target{name: name, address: upstream}, nil
	case "reverseproxy", "streamingproxy":
		return startSelf(ctx, self, dir, name, upstream)
	case "haltd", withoutBudgets:
		return startHaltd(ctx, name, o.haltd, dir, upstream, "")
	case withPostgres, withRedis:
		return startShared(ctx, name, o.haltd, dir, upstream)
	case "bifrost":
		return startBifrost(ctx, dir, upstream)
	case "portkey":
		return startPortkey(ctx, dir, upstream)
	case "nginx":
		if _, err := exec.LookPath("nginx"); err != nil {
			fmt.Fprintln(os.Stderr, "nginx is not installed and is left out")
			return nil, nil
		}
		return startNginx(ctx, dir, upstream)
	}
	return nil, fmt.Errorf("target %q is none of direct, reverseproxy, streamingproxy, nginx, haltd, haltd-without-budgets, haltd-postgres, haltd-redis, bifrost, portkey", name)
}

// startSelf runs one of this program's own processes on a free port.
func startSelf(ctx context.Context, self, dir, name string, args ...string) (*target, error) {
	p, err := start(ctx, dir, name, func(address string) (*exec.Cmd, error) {
		return exec.Command(self, append([]string{name, address}, args...)...), nil
	})
	if err != nil {
		return nil, err
	}
	return &target{name: name, address: p.address, process: p}, nil
}
