package e2e

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A provider that takes no connection does not hold a call longer than its
// connect_timeout, and the answer names the provider.
func TestConnectTimeoutEndsACall(t *testing.T) {
	t.Parallel()
	n := start(t, fmt.Sprintf("providers:\n  openai: {base_url: %q, connect_timeout: 200ms}\n", "http://"+deaf(t)))
	began := time.Now()
	status, body := post(t, n.Gateway+"/agents/bot/v1/chat/completions", chat, "Authorization", "Bearer sk-own")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the call took %v", took)
	}
	if status != 502 && status != 504 || !strings.Contains(body, "openai") || !strings.Contains(body, `"error"`) {
		t.Errorf("%d %s", status, body)
	}
	if e := n.Events(t, "agent=bot", 1)[0]; e.Error != "upstream_unreachable" {
		t.Errorf("the event says %+v", e)
	}
}

// deaf is an address whose queue of connections is full: nobody who comes later
// is answered.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 10 { // until one more is not let in
		conn, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue of a listener does not fill")
	return ""
}
