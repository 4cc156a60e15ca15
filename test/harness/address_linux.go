package harness

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// Reserve takes a loopback address until release. It is bound and nobody
// listens on it: Linux gives its port to nobody who asks for any port, neither
// to listen nor to call from, and lets a program that names it listen. So
// nobody comes between the choice of an address and its use, nor between the
// end of a haltd and its restart.
func Reserve() (address string, release func() error, err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("reserve an address: %w", os.NewSyscallError("socket", err))
	}
	port, err := bind(socket)
	if err != nil {
		_ = syscall.Close(socket) // the first error is the one to tell
		return "", nil, fmt.Errorf("reserve an address: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), func() error { return syscall.Close(socket) }, nil
}

func bind(socket int) (port int, err error) {
	// Go's listeners set it as well; both have to.
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return name.(*syscall.SockaddrInet4).Port, nil
}
