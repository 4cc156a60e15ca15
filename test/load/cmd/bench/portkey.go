package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// portkeyVersion is the package of npm that is measured. It takes any 1.x of its
// server, but cannot stream with 1.14.2 or later (its issue 1389): portkeyServer is
// the one that Portkey itself is built with.
const (
	portkeyVersion = "1.15.2"
	portkeyServer  = "1.13.5"
	portkeyPackage = `{"dependencies": {"@portkey-ai/gateway": "` + portkeyVersion + `"}, "overrides": {"@hono/node-server": "` + portkeyServer + `"}}`
)

// onLoopback makes Portkey listen there: it has no option for that, and would
// on every address.
const onLoopback = `data:text/javascript,import net from "node:net"; const listen = net.Server.prototype.listen; ` +
	`net.Server.prototype.listen = function (port, host = "127.0.0.1", ...rest) { return listen.call(this, port, host, ...rest); };`

// startPortkey runs Portkey's gateway as it comes. It keeps no log of its own.
func startPortkey(ctx context.Context, dir, upstream string) (*target, error) {
	home, err := install("portkey-"+portkeyVersion, func(dir string) (*exec.Cmd, error) {
		err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(portkeyPackage), 0o644)
		return exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund"), err
	})
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, dir, "portkey", func(address string) (*exec.Cmd, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		program := filepath.Join(home, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js")
		return exec.Command("node", "--import", onLoopback, program, "--port="+port), nil
	})
	if err != nil {
		return nil, err
	}
	return &target{name: "portkey", address: p.address, process: p, peer: portkeyPeer(upstream)}, nil
}

// portkeyPeer sends Portkey on to the upstream in place of OpenAI.
func portkeyPeer(upstream string) *peer {
	return &peer{headers: fmt.Sprintf("x-portkey-provider: openai\r\nx-portkey-custom-host: http://%s/v1\r\n", upstream)}
}
