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
const mostAllocations = 240

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

// A call of a conversation allocates for what is new in it, however long it is.
func TestLongConversationsKeepToTheirAllocations(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	const calls, longest = 16, 120
	bodies := make([]string, longest+1)
	for n := range bodies {
		bodies[n] = growing("Read all of it.", n)
	}
	n := 0
	send := func() {
		res, err := http.Post(f.url+"/v1/chat/completions", "application/json", strings.NewReader(bodies[n]))
		if err != nil {
			t.Fatal(err)
		}
		n++
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	allocations := map[int]float64{}
	for _, rounds := range []int{20, 100} {
		for n < rounds {
			send()
		}
		allocations[rounds] = testing.AllocsPerRun(calls, send)
	}
	t.Logf("%.0f allocations a call from the 20th round on, %.0f from the 100th", allocations[20], allocations[100])
	if few, many := allocations[20], allocations[100]; many > few+20 || few > mostAllocations+60 {
		t.Errorf("a call allocates %.0f times at 20 rounds and %.0f times at 100", few, many)
	}
}
