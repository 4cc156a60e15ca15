//go:build !linux

package http1

import "errors"

const canWatch = false

type watch struct{}

func newWatch() (*watch, error)   { return nil, errors.ErrUnsupported }
func (*watch) add(*serverConn)    {}
func (*watch) remove(*serverConn) {}
func (*watch) close()             {}
