//go:build !linux

package harness

import (
	"fmt"
	"net"
)

// Reserve finds a loopback address that nobody listens on. Other systems than
// Linux let nobody listen on an address that is held, so this one is only not
// in use now.
func Reserve() (address string, release func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("reserve an address: %w", err)
	}
	return l.Addr().String(), func() error { return nil }, l.Close()
}
