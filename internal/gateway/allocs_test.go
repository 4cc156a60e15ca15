//go:build !race

package gateway

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// What a call may allocate in all: net/http's two sides of it, about 150, and
// haltd's own. A call that allocates more than that has to say why.
const mostAllocations = 260

func TestACallKeepsToItsAllocations(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	n := 0
	got := testing.AllocsPerRun(200, func() {
		n++
		body := strings.Replace(chatBody, "hi", "question "+strconv.Itoa(n), 1)
		res, err := http.Post(f.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	})
	t.Logf("%.0f allocations a call, those of the client among them", got)
	if got > mostAllocations {
		t.Errorf("a call allocates %.0f times, %d at most are allowed", got, mostAllocations)
	}
}
