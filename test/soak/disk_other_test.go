//go:build !linux

package soak

import "testing"

// Elsewhere the disk never fills up.
func fill(*testing.T, int)  {}
func empty(*testing.T, int) {}

func makeReadOnly(t *testing.T, folder string) (lift func()) { return hide(t, folder) }
