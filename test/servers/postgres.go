package servers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// postgresFolders is where Debian keeps the programs of each version.
const postgresFolders = "/usr/lib/postgresql/*/bin"

// Postgres starts a PostgreSQL with an empty database. What it has committed
// survives its end, but not that of the machine: the disk is not waited for.
func Postgres() (*Server, error) { return postgres(makeCluster) }

// Replica starts a PostgreSQL that follows this one.
func (s *Server) Replica() (*Server, error) {
	host, port, _ := net.SplitHostPort(s.Address)
	return postgres(func(programs, folder, data string) error {
		return makeData(folder, exec.Command(filepath.Join(programs, "pg_basebackup"), "-h", host, "-p", port, "-U", "postgres",
			"-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	})
}

// Promote makes a replica a primary, once it has all of the one that it follows.
func (s *Server) Promote(t testing.TB, from *Server) {
	t.Helper()
	end := from.SQL(t, from.URL, "SELECT pg_current_wal_lsn()")
	if err := harness.Until(t.Context(), func() bool {
		return s.SQL(t, s.URL, "SELECT pg_last_wal_replay_lsn() >= '"+end+"'") == "t"
	}); err != nil {
		t.Fatal(err)
	}
	s.SQL(t, s.URL, "SELECT pg_promote()")
}

// SetReadOnly has a PostgreSQL take no writes, or take them again.
func (s *Server) SetReadOnly(t testing.TB, on bool) {
	t.Helper()
	change := "RESET default_transaction_read_only"
	if on {
		change = "SET default_transaction_read_only = on"
	}
	s.SQL(t, s.URL, "SET default_transaction_read_only = off", "ALTER SYSTEM "+change, "SELECT pg_reload_conf()")
}

// postgres starts one with what fill puts into its folder.
func postgres(fill func(programs, folder, data string) error) (*Server, error) {
	program, err := find("postgres", postgresFolders)
	if err != nil {
		return nil, err
	}
	s, err := open("postgres")
	if err != nil {
		return nil, err
	}
	s.URL = "postgres://postgres@" + s.Address + "/postgres?sslmode=disable"
	s.end = syscall.SIGINT
	data := filepath.Join(s.folder, "data")
	host, port, _ := net.SplitHostPort(s.Address)
	if err := fill(filepath.Dir(program), s.folder, data); err != nil {
		return nil, fmt.Errorf("make a PostgreSQL: %w", errors.Join(err, s.Close()))
	}
	s.command = func() *exec.Cmd {
		cmd := exec.Command(program, "-D", data, "-k", s.folder, "-h", host, "-p", port,
			"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
		asServant(cmd)
		return cmd
	}
	s.ready = func() error {
		return exec.Command(filepath.Join(filepath.Dir(program), "pg_isready"), "-q", "-h", host, "-p", port).Run()
	}
	return s.begin()
}

func makeCluster(programs, folder, data string) error {
	return makeData(folder, exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
}

// makeData runs what makes the data of a PostgreSQL in a folder.
func makeData(folder string, cmd *exec.Cmd) error {
	if uid, gid, ok := servant(); ok {
		if err := os.Chown(folder, int(uid), int(gid)); err != nil {
			return err
		}
	}
	asServant(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// Database makes an empty database in a PostgreSQL and is its URL. It goes with
// the server.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := haltd.NewName("test_")
	s.SQL(t, s.URL, "CREATE DATABASE "+name)
	return "postgres://postgres@" + s.Address + "/" + name + "?sslmode=disable"
}

// SQL runs statements in a database of a PostgreSQL and is what they print.
func (s *Server) SQL(t testing.TB, url string, statements ...string) string {
	t.Helper()
	psql, err := find("psql", postgresFolders)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url}
	for _, statement := range statements {
		args = append(args, "-c", statement)
	}
	out, err := exec.Command(psql, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", statements, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Require has a PostgreSQL ask a user for a password, which it else does not.
func (s *Server) Require(t testing.TB, user string) {
	t.Helper()
	path := filepath.Join(s.folder, "data", "pg_hba.conf")
	rules, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("host all "+user+" all scram-sha-256\n"), rules...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.SQL(t, s.URL, "SELECT pg_reload_conf()")
}

// asServant has root's tests run a program as somebody else: PostgreSQL
// refuses to be root.
func asServant(cmd *exec.Cmd) {
	cmd.Dir = "/"
	if uid, gid, ok := servant(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
}

func servant() (uid, gid uint32, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return uint32(uid), uint32(gid), true
		}
	}
	return 0, 0, false
}
