// Command profile is haltd with a profile of its processor time, which is
// written to the file that HALTD_PROFILE names when it ends. make pgo runs the
// benchmark on it: what it finds hot is what the compiler then looks after.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/haltd/haltd/internal/app"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

// run takes the arguments of `haltd serve`, as far as the benchmark uses them.
func run() error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	config := f.String("config", "", "the configuration")
	if len(os.Args) < 2 || os.Args[1] != "serve" {
		return fmt.Errorf("usage: HALTD_PROFILE=FILE %s serve --config FILE", os.Args[0])
	}
	if err := f.Parse(os.Args[2:]); err != nil {
		return err
	}
	out, err := os.Create(os.Getenv("HALTD_PROFILE"))
	if err != nil {
		return fmt.Errorf("make the file for the profile: %w", err)
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := app.New(ctx, app.Options{ConfigPath: *config, Env: os.LookupEnv, Stderr: os.Stderr, Version: "profile", Clock: time.Now})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
