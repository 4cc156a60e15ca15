package gateway

import (
	"os"
	"testing"
)

// All tests of the gateway run with buffers that are spoiled when they are
// free, so that whoever keeps a text of a request makes one of them fail.
func TestMain(m *testing.M) {
	poison = true
	os.Exit(m.Run())
}
