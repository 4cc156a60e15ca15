package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/config"
)

// listen takes an address or says in one sentence why it cannot.
func listen(what, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l, nil
	}
	set := fmt.Sprintf("Set %s.listen in the configuration or HALTD_%s_LISTEN in the environment.", what, strings.ToUpper(what))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, haltd.Errorf(haltd.CodeUnavailable, "Another program listens on %s, the %s address", address, what).
			WithFix("Stop it, or choose another address. %s", set)
	case errors.Is(err, syscall.EACCES):
		return nil, haltd.Errorf(haltd.CodeUnavailable, "haltd may not listen on %s, the %s address", address, what).
			WithFix("Ports below 1024 need root; choose a higher one. %s", set)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, haltd.Errorf(haltd.CodeUnavailable, "%s, the %s address, is not an address of this machine", address, what).
			WithFix("%s", set)
	}
	return nil, haltd.Errorf(haltd.CodeUnavailable, "haltd cannot listen on %s, the %s address: %v", address, what, err).WithFix("%s", set)
}

func isLoopback(a net.Addr) bool {
	ap, err := netip.ParseAddrPort(a.String())
	return err == nil && ap.Addr().IsLoopback()
}

// callableURL is where to call a listener. [::] is no address to call: one
// that listens everywhere is called on loopback.
func callableURL(a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err == nil && ap.Addr().IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", ap.Port())
	}
	return "http://" + a.String()
}

// lockDataDir makes the data directory and takes it for this process: two
// nodes on one directory would not see each other's keys and kills.
func lockDataDir(dir string) (io.Closer, error) {
	set := "Choose another with data_dir in the configuration or HALTD_DATA_DIR in the environment."
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, haltd.Errorf(haltd.CodeUnavailable, "The data directory %s cannot be made: %v", dir, cause(err)).WithFix("%s", set)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, haltd.Errorf(haltd.CodeUnavailable, "The data directory %s cannot be written: %v", dir, cause(err)).
			WithFix("Give this user write access. %s", set)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, haltd.Errorf(haltd.CodeUnavailable, "Another haltd uses the data directory %s", dir).WithFix("Stop it first. %s", set)
	}
	return f, nil // closing the file lets go of the lock
}

// tokenFile is where haltd keeps a token that it made, in the data directory.
const tokenFile = "admin.token"

// adminToken is the token of the admin API: the operator's, or one made at
// the first start and kept beside the record. A listener that others can
// reach does not get here without one; config sees to that.
func adminToken(cfg *config.Config) (string, error) {
	if token := cfg.Admin.Token.Reveal(); token != "" {
		return token, nil
	}
	path := filepath.Join(cfg.DataDir, tokenFile)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeToken(path)
	case err != nil:
		return "", haltd.Errorf(haltd.CodeUnavailable, "The admin token file %s cannot be read: %v", path, cause(err)).
			WithFix("Give this user read access, or delete it and haltd makes a new one.")
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", haltd.Errorf(haltd.CodeInvalid, "The admin token file %s holds no token", path).
			WithFix("Delete it and haltd makes a new one.")
	}
	return token, nil
}

// readableByOthers reports whether users other than haltd's may read a file:
// the file itself says so, and its directory lets them in.
func readableByOthers(path string) bool {
	file, err := os.Stat(path)
	if err != nil {
		return false
	}
	dir, err := os.Stat(filepath.Dir(path))
	return err == nil && file.Mode().Perm()&0o044 != 0 && dir.Mode().Perm()&0o011 != 0
}

func makeToken(path string) (string, error) {
	var b [32]byte
	rand.Read(b[:])
	token := hex.EncodeToString(b[:])
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", haltd.Errorf(haltd.CodeUnavailable, "The admin token file %s cannot be written: %v", path, cause(err)).
			WithFix("Give this user write access to the data directory.")
	}
	return token, nil
}

// cause is the reason of a file error without the path, which the sentence
// around it names already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// OpenAPI is the description of the admin API.
func OpenAPI(version string) ([]byte, error) { return admin.OpenAPI(version) }
