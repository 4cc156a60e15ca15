package servers_test

import (
	"net"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

func TestServersStopFreezeAndStartAgain(t *testing.T) {
	for name, start := range map[string]func() (*servers.Server, error){"postgres": servers.Postgres, "redis": servers.Redis} {
		t.Run(name, func(t *testing.T) {
			s, err := start()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			for what, end := range map[string]func(testing.TB){"stopped": s.Stop, "killed": s.Kill} {
				end(t)
				if harness.Listens(s.Address) {
					t.Errorf("%s, it listens", what)
				}
				s.Start(t)
			}
			s.Freeze(t)
			if answers(t, s.Address, 200*time.Millisecond) {
				t.Error("frozen, it answers")
			}
			s.Thaw(t)
			if !answers(t, s.Address, 10*time.Second) {
				t.Error("thawed, it does not answer")
			}
			if name == "postgres" && s.Database(t) == s.Database(t) {
				t.Error("two databases are one")
			}
		})
	}
}

// answers says what no server takes for its protocol: both answer that in time, by
// words or by hanging up.
func answers(t *testing.T, address string, within time.Duration) bool {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("HELLO THERE, SERVER\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Read(make([]byte, 1))
	timeout, late := err.(net.Error)
	return !late || !timeout.Timeout()
}
