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

func TestBuffersAreAsLongAsAsked(t *testing.T) {
	for _, n := range []int{0, 1, leastBuffer - 1, leastBuffer, leastBuffer + 1, 100_000, mostBuffer - 1, mostBuffer, mostBuffer + 1} {
		for _, free := range []int{n - 1, n, n + 1, n + n/2} { // of any capacity
			releaseBuffer(make([]byte, max(free, 0)))
		}
		for range 5 {
			if b := acquireBuffer(n); len(b) != n {
				t.Fatalf("%d bytes of %d", len(b), n)
			}
		}
	}
}
