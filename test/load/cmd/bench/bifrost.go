package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bifrostSource is a server around Bifrost's core; its go.mod names the versions.
// It is seen from the root of the repository, as bin/haltd is.
const bifrostSource = "test/load/peers/bifrost"

// bifrostLag is more than the time that Bifrost's log collects calls for.
const bifrostLag = 5500 * time.Millisecond

// startBifrost runs it with Bifrost's log in SQLite.
func startBifrost(ctx context.Context, dir, upstream string) (*target, error) {
	home, err := install("bifrost", func(dir string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "bifrost"), ".")
		cmd.Dir = bifrostSource
		return cmd, nil
	})
	if err != nil {
		return nil, err
	}
	log := filepath.Join(dir, "bifrost")
	if err := os.Mkdir(log, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	p, err := start(ctx, dir, "bifrost", func(address string) (*exec.Cmd, error) {
		return exec.Command(filepath.Join(home, "bifrost"), address, upstream, log), nil
	})
	if err != nil {
		return nil, err
	}
	p.lag = bifrostLag
	return &target{name: "bifrost", address: p.address, process: p, peer: &peer{}}, nil
}
