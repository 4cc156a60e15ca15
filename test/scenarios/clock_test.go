package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A clock that stands still or is set back while haltd restarts costs no event
// and no order.
func TestNoEventIsLostWhenTheClockGoesBack(t *testing.T) {
	s := newStage(t)
	var sent, recorded []string
	for _, back := range []time.Duration{0, 0, time.Hour} {
		s.now.Add(-int64(back))
		s.restart()
		for range 3 {
			session := fmt.Sprint("call-", len(sent))
			req, err := http.NewRequest("POST", s.Gateway+"/agents/clock/v1/chat/completions",
				strings.NewReader(`{"model":"gpt-x","messages":[{"role":"user","content":"What time is it?"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Session-Id", session)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s is answered %d", session, res.StatusCode)
			}
			s.moveTo(s.clock()) // it is recorded
			sent = append(sent, session)
		}
	}
	s.restart() // ends the writing of the record
	for _, e := range calls(s.events(t, "clock")) {
		recorded = append(recorded, e.Session)
	}
	if diff := cmp.Diff(sent, recorded); diff != "" {
		t.Errorf("calls in the order of the record (-sent +recorded):\n%s", diff)
	}
}
