package admin

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// from sends a token from an address and answers the status.
func (w *world) from(address, token string, header ...string) int {
	r := httptest.NewRequest("GET", "/v1/me", nil)
	r.Host, r.RemoteAddr = "127.0.0.1:7071", address
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if rec.Code == 429 && (rec.Header().Get("Retry-After") == "" || !strings.Contains(rec.Body.String(), `"fix":"Wait`)) {
		return 0
	}
	return rec.Code
}

func TestWrongTokensAreSlowedByAddress(t *testing.T) {
	now := noon
	w := newWorld(func(o *Options) { o.Clock = func() time.Time { return now } })
	const guesser, neighbour = "[2001:db8::1]:1000", "[2001:db8:0:1::1]:1000"
	for i := range attemptsOfOne {
		if got := w.from(guesser, fmt.Sprint("guess", i)); got != 401 {
			t.Fatalf("wrong token %d: %d", i+1, got)
		}
	}
	if got := w.from(guesser, token); got != 429 {
		t.Errorf("the right token after %d wrong ones: %d, want it not looked at", attemptsOfOne, got)
	}
	if got := w.from("[2001:db8::2]:1000", "guess"); got != 429 {
		t.Errorf("another address of the same network: %d", got)
	}
	if got := w.from(neighbour, token); got != 200 {
		t.Errorf("somebody else: %d", got)
	}
	now = now.Add(regainedOfOne)
	if got := w.from(guesser, "guess"); got != 401 {
		t.Errorf("after a pause: %d", got)
	}
	if got := w.from(guesser, "guess"); got != 429 {
		t.Errorf("one attempt was regained, not two: %d", got)
	}
	now = now.Add(regainedOfOne)
	if got := w.from(guesser, token); got != 200 {
		t.Errorf("the right token after a pause: %d", got)
	}
}

func TestWrongTokensAreSlowedInTotalAndTheirCountIsBounded(t *testing.T) {
	now := noon
	w := newWorld(func(o *Options) { o.Clock = func() time.Time { return now } })
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d:99", i>>16, i>>8&255, i&255) }
	for i := range attemptsOfAll {
		if got := w.from(address(i), "guess"); got != 401 {
			t.Fatalf("wrong token %d: %d", i+1, got)
		}
	}
	if got := w.from(address(attemptsOfAll), "guess"); got != 429 {
		t.Errorf("from one more address: %d", got)
	}
	if got := w.from("127.0.0.1:99", token); got != 200 {
		t.Errorf("the right token on this machine: %d", got)
	}
	for i := range addresses + 100 {
		now = now.Add(regainedOfAll)
		w.from(address(i+attemptsOfAll), "guess")
	}
	if n := len(w.signIn.attempts.of); n > addresses {
		t.Errorf("%d addresses are remembered", n)
	}
}

// Who sits at the machine is slowed, and never locked out.
func TestTheRightTokenIsAlwaysTakenOnThisMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(func(o *Options) { o.Clock = time.Now })
		var guessing sync.WaitGroup
		for range attemptsOfOne {
			w.from("127.0.0.1:99", "guess")
		}
		began := time.Now()
		for range localWaiting - 1 {
			guessing.Go(func() { w.from("127.0.0.1:99", "guess") })
		}
		synctest.Wait()
		if got, took := w.from("127.0.0.1:99", token), time.Since(began); got != 200 || took != localPause {
			t.Errorf("the right token: %d after %v, want 200 after %v", got, took, localPause)
		}
		guessing.Wait()
		for range localWaiting {
			guessing.Go(func() { w.from("127.0.0.1:99", "guess") })
		}
		synctest.Wait()
		if got := w.from("127.0.0.1:99", "guess"); got != 429 {
			t.Errorf("one more than may wait: %d", got)
		}
		guessing.Wait()
	})
}

func TestAProxyOnThisMachineDoesNotHideWhoGuesses(t *testing.T) {
	w := newWorld()
	for range attemptsOfOne {
		w.from("127.0.0.1:99", "guess", "X-Forwarded-For", "198.51.100.7, 203.0.113.9")
	}
	for _, c := range []struct {
		who    string
		header []string
		want   int
	}{
		{"the guesser", []string{"X-Forwarded-For", "192.0.2.44, 203.0.113.9"}, 429}, // the first is the client's own invention
		{"another behind the proxy", []string{"X-Forwarded-For", "203.0.113.10"}, 200},
		{"the command line", nil, 200},
	} {
		if got := w.from("127.0.0.1:99", token, c.header...); got != c.want {
			t.Errorf("%s: %d, want %d", c.who, got, c.want)
		}
	}
}

// Agents report with gateway keys; one that was revoked is no guess.
func TestARevokedGatewayKeyDoesNotSlowTheOperator(t *testing.T) {
	w := newWorld()
	for range 2 * attemptsOfOne {
		if got := w.from("127.0.0.1:99", "haltd_revoked"); got != 401 {
			t.Fatalf("a revoked key: %d", got)
		}
	}
	if n := len(w.signIn.attempts.of); n != 0 {
		t.Errorf("%d addresses are counted", n)
	}
}
