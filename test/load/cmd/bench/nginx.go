package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/haltd/haltd/test/harness"
)

// startNginx runs nginx as a proxy that keeps its connections to the upstream
// and buffers no reply. All its files are in dir.
func startNginx(ctx context.Context, dir, upstream string) (*target, error) {
	p, err := start(ctx, dir, "nginx", func(address string) (*exec.Cmd, error) {
		return harness.NginxCommand("nginx", dir, nginxConfig(address, upstream))
	})
	if err != nil {
		return nil, err
	}
	return &target{name: "nginx", address: p.address, process: p}, nil
}

func nginxConfig(address, upstream string) string {
	return fmt.Sprintf(`worker_processes auto;
events { worker_connections 4096; }
http {
	access_log off;
	keepalive_requests 100000000;
	client_max_body_size 16m;
	client_body_buffer_size 2m;
	upstream provider {
		server %[2]s;
		keepalive 256;
		keepalive_requests 100000000;
	}
	server {
		listen %[1]s;
		location / {
			proxy_pass http://provider;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_buffering off;
		}
	}
}
`, address, upstream)
}
