package load

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

const (
	// streamKB is what haltd may take for an open stream. A plain ReverseProxy
	// takes 85 KB; 40 KB, which are 400 MB for 10,000 streams, is the aim that
	// the growth run of the benchmark holds it against.
	streamKB = 60
	// agentsMB is all that haltd may take, however many agents and sessions it
	// has seen.
	agentsMB = 300
)

// TestOpenStreamsTakeLittleMemory opens streams until all are open at once.
// HALTD_STREAMS says how many; there are no more than files may be open.
func TestOpenStreamsTakeLittleMemory(t *testing.T) {
	const spare = 200 // files for other things; a stream takes two here and two in haltd
	streams := min(times(t, "HALTD_STREAMS", 1_000, 200), (mostFiles(t)-spare)/2)
	up := newUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		streamChat(w, 10)
		<-r.Context().Done()
	}))
	client := newClient(t)
	n := startProcess(t, up.URL, "", nil)
	before := residentMB(t, n)

	ctx, cancel := context.WithCancel(limited(t, time.Duration(streams)*20*time.Millisecond))
	var open atomic.Int64
	eachOf(t, streams, func(number int) error {
		res, err := call{number * perSession, "openai-chat", true}.send(ctx, client, n.Gateway)
		if err != nil {
			return err
		}
		t.Cleanup(func() { res.Body.Close() })
		open.Add(1)
		_, err = res.Body.Read(make([]byte, 1))
		return err
	})
	t.Cleanup(cancel) // comes before the bodies are closed
	limit := float64(streamKB*streams>>10) + 30
	holds(t, n, fmt.Sprintf("more with %d streams open", open.Load()), residentMB(t, n)-before, limit)
}

// TestManyAgentsTakeLittleMemory has every call come from an agent and a session
// of its own. HALTD_AGENTS says how many.
func TestManyAgentsTakeLittleMemory(t *testing.T) {
	agents := times(t, "HALTD_AGENTS", 2_000, 1_000)
	up := newUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			writeChat(w)
		}
	}))
	client := newClient(t)
	n := startProcess(t, up.URL, "", nil)
	ctx := limited(t, time.Duration(agents)*10*time.Millisecond)
	eachOf(t, agents, func(number int) error {
		_, err := call{number: number * perSession * 10, format: "openai-chat"}.do(ctx, client, n.Gateway)
		return err
	})
	holds(t, n, fmt.Sprintf("after %d agents and sessions", agents), residentMB(t, n), agentsMB)
}

// eachOf does something for each number below n, some at once, and fails the test
// with the first error.
func eachOf(t *testing.T, n int, do func(number int) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for !t.Failed() {
				number := int(next.Add(1)) - 1
				if number >= n {
					return
				}
				if err := do(number); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// holds compares memory with its limit. The race detector takes several times as much
// for itself: where it watches haltd the figure says nothing, and make verify does
// the same with the product.
func holds(t *testing.T, n *harness.Node, when string, mb, limit float64) {
	t.Helper()
	info, err := buildinfo.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			t.Logf("with the race detector haltd takes %.0f MB %s", mb, when)
			return
		}
	}
	t.Logf("haltd takes %.0f MB %s; %.0f are allowed", mb, when, limit)
	if mb > limit {
		t.Errorf("haltd takes %.0f MB %s, at most %.0f are allowed", mb, when, limit)
	}
}

// residentMB is the memory of a haltd now.
func residentMB(t *testing.T, n *harness.Node) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	if err != nil {
		harness.Lacking(t, "the memory of a process cannot be read; that needs Linux and /proc")
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	v, err := strconv.Atoi(kb)
	if err != nil {
		t.Fatalf("VmRSS: %v", err)
	}
	return float64(v) / (1 << 10)
}

// mostFiles is how many files a process may have open here. Programs in Go take as
// many as they are granted.
func mostFiles(t *testing.T) int {
	t.Helper()
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	return int(min(r.Max, 1<<20))
}
