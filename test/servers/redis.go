package servers

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Redis starts an empty Redis that keeps nothing on disk: started again, it is
// empty.
func Redis() (*Server, error) {
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
		return exec.Command(program, "--bind", host, "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "no")
	}
	s.ready = s.pingRedis
	return s.begin()
}

func (s *Server) pingRedis() error {
	conn, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+PONG") {
		err = fmt.Errorf("redis answers %q", line)
	}
	return err
}
