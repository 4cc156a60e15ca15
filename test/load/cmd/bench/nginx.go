package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// startNginx runs nginx as a proxy that keeps its connections to the upstream
// and buffers no reply. All its files are in dir.
func startNginx(ctx context.Context, dir, upstream string) (*target, error) {
	p, err := start(ctx, dir, "nginx", func(address string) (*exec.Cmd, error) {
		path := filepath.Join(dir, "nginx.conf")
		if err := os.WriteFile(path, nginxConfig(dir, address, upstream), 0o600); err != nil {
			return nil, fmt.Errorf("write the configuration of nginx: %w", err)
		}
		return exec.Command("nginx", "-p", dir, "-c", path, "-e", filepath.Join(dir, "nginx.err")), nil
	})
	if err != nil {
		return nil, err
	}
	return &target{name: "nginx", address: p.address, process: p}, nil
}

func nginxConfig(dir, address, upstream string) []byte {
	return fmt.Appendf(nil, `daemon off;
worker_processes auto;
pid %[1]s/nginx.pid;
events { worker_connections 4096; }
http {
	access_log off;
	keepalive_requests 100000000;
	client_max_body_size 16m;
	client_body_buffer_size 2m;
	client_body_temp_path %[1]s/nginx-body;
	proxy_temp_path %[1]s/nginx-proxy;
	fastcgi_temp_path %[1]s/nginx-fastcgi;
	uwsgi_temp_path %[1]s/nginx-uwsgi;
	scgi_temp_path %[1]s/nginx-scgi;
	upstream provider {
		server %[3]s;
		keepalive 256;
		keepalive_requests 100000000;
	}
	server {
		listen %[2]s;
		location / {
			proxy_pass http://provider;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_buffering off;
		}
	}
}
`, dir, address, upstream)
}
