package servers

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

// Redis starts an empty Redis that keeps nothing on disk: started again, it is
// empty.
func Redis() (*Server, error) { return redis() }

// RedisCluster starts a Redis that is a node of a cluster, and the only one.
func RedisCluster() (*Server, error) { return redis("--cluster-enabled", "yes") }

// RedisThatReloads starts a Redis that takes its time to read what it holds from its
// disk, where Reload has it do so.
func RedisThatReloads() (*Server, error) {
	return redis("--enable-debug-command", "yes", "--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024")
}

func redis(more ...string) (*Server, error) {
	program, err := find("redis-server")
	if err != nil {
		return nil, err
	}
	s, err := open("redis")
	if err != nil {
		return nil, err
	}
	s.URL = "redis://" + s.Address
	s.end = syscall.SIGTERM
	host, port, _ := net.SplitHostPort(s.Address)
	s.command = func() *exec.Cmd {
		return exec.Command(program, append([]string{"--bind", host, "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "no"}, more...)...)
	}
	s.ready = s.pingRedis
	return s.begin()
}

func (s *Server) pingRedis() error {
	line, err := s.redis("PING")
	if err == nil && !strings.HasPrefix(line, "+PONG") {
		err = fmt.Errorf("redis answers %q", line)
	}
	return err
}

// Set changes a setting of a Redis.
func (s *Server) Set(t testing.TB, name, value string) {
	t.Helper()
	s.Command(t, "CONFIG SET "+name+" "+value)
}

// Command has a Redis do what it answers with OK.
func (s *Server) Command(t testing.TB, command string) {
	t.Helper()
	if line, err := s.redis(command); err != nil || !strings.HasPrefix(line, "+OK") {
		t.Fatalf("%s: %q, %v", command, line, err)
	}
}

// Occupy has a Redis do something that takes long, and returns when it is at it
// and refuses everybody else: what is sent on another connection may overtake the
// command until then.
func (s *Server) Occupy(t testing.TB, command string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		t.Fatal(err)
	}
	var line string
	err = harness.Until(t.Context(), func() bool {
		line, _ = s.redis("PING") // no answer is none of the two either
		return strings.HasPrefix(line, "-BUSY") || strings.HasPrefix(line, "-LOADING")
	})
	if err != nil {
		t.Fatalf("%s does not occupy Redis, which answers %q: %v", command, line, err)
	}
}

// Reload has a Redis read what it holds from its disk, and answer nothing else
// meanwhile.
func (s *Server) Reload(t testing.TB) {
	t.Helper()
	s.Occupy(t, "DEBUG RELOAD")
}

// Fill writes so many keys of a kilobyte to a Redis.
func (s *Server) Fill(t testing.TB, keys int) {
	t.Helper()
	script := fmt.Sprintf(`EVAL "for i=1,%d do redis.call('SET', 'filler:'..i, string.rep('x', 1000)) end return 1" 0`, keys)
	if line, err := s.redis(script); err != nil || !strings.HasPrefix(line, ":1") {
		t.Fatalf("fill: %q, %v", line, err)
	}
}

// redis is the first line of the answer to a command.
func (s *Server) redis(command string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}
