package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// What a million tokens cost, in dollars.
const (
	inputPrice  = 1
	outputPrice = 10
)

func cost(u haltd.Usage) haltd.Money {
	return haltd.Money(u.Input*inputPrice+u.Output*outputPrice) * haltd.Dollar / 1_000_000
}

// numberHeader tells the provider which call it has before it.
const numberHeader = "X-Soak-Call"

// provider is the fake one, with books of its own.
type provider struct {
	url  string
	busy atomic.Int64

	mu     sync.Mutex
	served map[int]served
}

// served is what the provider knows of a call.
type served struct {
	times int
	whole bool // it has sent all of the reply
	words int  // of its text that it has sent, counted where they are not encoded
	from  time.Time
	to    time.Time
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{served: map[int]served{}}
	llm := fakellm.New(harness.Scripted)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.Header.Get(numberHeader))
		if err != nil {
			http.Error(w, "whose call is this?", http.StatusTeapot)
			return
		}
		p.busy.Add(1)
		began, whole := time.Now(), false
		counting := &wordCounter{ResponseWriter: w}
		defer func() {
			p.note(number, began, whole, counting.words)
			p.busy.Add(-1)
		}()
		var script fakellm.Script
		_ = json.Unmarshal([]byte(r.Header.Get(harness.ScriptHeader)), &script) // as the fake reads it
		llm.ServeHTTP(counting, r)
		whole = script.Cut == nil && r.Context().Err() == nil
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// passage is what replies consist of; word is found once in each.
const (
	passage = "What the provider says, at some length. "
	word    = "provider"
	// perWord is fewer tokens than a passage has by any count.
	perWord = 4
)

// wordCounter counts what goes through.
type wordCounter struct {
	http.ResponseWriter
	words int
}

func (c *wordCounter) Write(b []byte) (int, error) {
	c.words += bytes.Count(b, []byte(word))
	return c.ResponseWriter.Write(b)
}

// Unwrap lets the fake flush and cut.
func (c *wordCounter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (p *provider) note(number int, began time.Time, whole bool, words int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.served[number]
	p.served[number] = served{times: s.times + 1, whole: whole, words: words, from: began, to: time.Now()}
}

// of is what the provider knows of a call.
func (p *provider) of(number int) served {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.served[number]
}

const noticeSecret = "whsec_c29hay1zb2FrLXNvYWstc29hay1zb2FrLXNvYWs="

// receiver takes notices and knows of which incidents it was told.
type receiver struct {
	url string

	mu   sync.Mutex
	told map[string]map[string]bool // ids of messages, by incident
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{told: map[string]map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var message struct {
			Type string
			Data struct{ Incident string }
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || json.Unmarshal(body, &message) != nil {
			http.Error(w, "not a message", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if message.Type == "alert.kill_switch" {
			if r.told[message.Data.Incident] == nil {
				r.told[message.Data.Incident] = map[string]bool{}
			}
			r.told[message.Data.Incident][req.Header.Get("Webhook-Id")] = true
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// messages is of how many messages about an incident the receiver knows.
func (r *receiver) messages(incident string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.told[incident])
}

// sleep waits, and says whether the soak still goes on.
func (s *run) sleep(d time.Duration) bool {
	select {
	case <-s.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// limited ends a call that nobody ends. What sends 30 MB has longer: haltd takes
// a quarter of a second of processor time for it, but these tests, which make
// and read it as JSON, take seconds, and on a busy machine minutes.
func limited(m manner) (context.Context, context.CancelFunc) {
	limit := 2 * time.Minute
	if m == isLarge {
		limit = 10 * time.Minute
	}
	return context.WithTimeout(context.Background(), limit)
}
