package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// teller is an agent that tells its history anew in its only message.
type teller struct {
	f       *fixture
	replies chan string
	history strings.Builder
	steps   int
}

const tellerTask = "You are given a task, the history of your steps and the page that is open. " +
	"Answer with what you remember, what you want to do next and one action.\n" +
	"Task: book a table for four in the restaurant that the guide names first.\n"

func newTellers(t *testing.T, n int, yaml string) (tellers []*teller) {
	replies := make(chan string, 1)
	f := newFixture(t, answerEach(replies), yaml)
	for range n {
		tellers = append(tellers, &teller{f: f, replies: replies})
	}
	return tellers
}

// say sends a message that is answered so, and returns the session it is in.
func (a *teller) say(t *testing.T, message, reply string) (session string) {
	t.Helper()
	a.replies <- `{"id":"c1","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":` + quoted(t, reply) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`
	res, body := a.f.send(t, "POST", chatPath, nil, userSays(t, message))
	if res.StatusCode != http.StatusOK {
		t.Fatalf("answered %d: %s", res.StatusCode, body)
	}
	return a.f.last(t).Session
}

func userSays(t *testing.T, message string) string {
	return `{"model":"gpt-x","messages":[{"role":"system","content":"You use a browser."},{"role":"user","content":` + quoted(t, message) + `}]}`
}

func quoted(t *testing.T, text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// message tells the history so far.
func (a *teller) message() string {
	return fmt.Sprintf("%s%s\nPage %d of the guide.", tellerTask, a.history.String(), a.steps)
}

// step tells the history so far and adds what the reply says to it.
func (a *teller) step(t *testing.T, memory, goal string) (session string) {
	t.Helper()
	session = a.say(t, a.message(), fmt.Sprintf(`{"memory":%q,"next_goal":%q,"action":"click"}`, memory, goal))
	a.steps++
	fmt.Fprintf(&a.history, "Step %d\nMemory: %s\nNext goal: %s\nResult: clicked\n", a.steps, memory, goal)
	return session
}

// A client that tells its history anew in its only message is in one session, from
// the second call on: the first tells nothing yet that could be known again.
func TestAHistoryToldAnewIsOneSession(t *testing.T) {
	a := newTellers(t, 1, "")[0]
	first := a.step(t, "Nothing is done so far.", "Open the guide of the city")
	session := a.step(t, "The guide of the city is open.", "Look for the first restaurant")
	for i := range 30 {
		if s := a.step(t, fmt.Sprintf("The guide shows page %d of it.", i), "Turn to the page that follows"); s != session {
			t.Fatalf("step %d is in %s, not in %s", i+3, s, session)
		}
	}
	if first == session {
		t.Error("a message that tells nothing is in the session of another")
	}
	// Others begin with the same task, and are told apart.
	b := &teller{f: a.f, replies: a.replies}
	if s := b.step(t, "Nothing is done so far.", "Search for the guide by its name"); s == session {
		t.Error("who tells nothing is in the session of one who does")
	}
	other := b.step(t, "The search shows three guides.", "Open the one of this year")
	if other == session {
		t.Error("who tells of other steps is in the same session")
	}
	if s := b.step(t, "The guide of this year is open.", "Look for the first restaurant"); s != other {
		t.Errorf("the third step of another is in %s, not in %s", s, other)
	}
}

// Two that are told the same at every step stay two sessions.
func TestTwoWhoTellTheSameAreTwoSessions(t *testing.T) {
	both := newTellers(t, 2, "")
	sessions := map[string]int{}
	for i := range 12 {
		for _, a := range both {
			s := a.step(t, fmt.Sprintf("The guide shows page %d of it.", i), "Turn to the page that follows")
			if i > 1 {
				sessions[s]++
			}
		}
	}
	for s, n := range sessions {
		if n != 10 {
			t.Errorf("%d calls are in %s, want 10 in each of two sessions: %v", n, s, sessions)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%v, want two sessions", sessions)
	}
}

// The same message again, as a client sends whose call has failed, is in the session
// that it was in.
func TestAMessageSentAgainStaysInItsSession(t *testing.T) {
	var fails atomic.Bool
	replies := make(chan string, 1)
	each := answerEach(replies)
	a := &teller{replies: replies, f: newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			answer(http.StatusBadGateway, "text/plain", "down").ServeHTTP(w, r)
			return
		}
		each.ServeHTTP(w, r)
	}), "")}
	a.step(t, "Nothing is done so far.", "Open the guide of the city")
	session := a.step(t, "The guide of the city is open.", "Look for the first restaurant")
	a.step(t, "The first restaurant is shown.", "Open its page and look for tables")
	fails.Store(true)
	for range 2 {
		if res, _ := a.f.send(t, "POST", chatPath, nil, userSays(t, a.message())); res.StatusCode != http.StatusBadGateway || a.f.last(t).Session != session {
			t.Fatalf("answered %d in %s, want 502 in %s", res.StatusCode, a.f.last(t).Session, session)
		}
	}
	fails.Store(false)
	if s := a.step(t, "The page of it is open.", "Choose a table for four"); s != session {
		t.Errorf("sent again it is in %s, not in %s", s, session)
	}
}

// What all requests of a batch say in their instructions is no quote of a reply.
func TestABatchIsNotOneSession(t *testing.T) {
	a := newTellers(t, 1, "")[0]
	sessions := map[string]bool{}
	for i := range 40 {
		text := fmt.Sprintf("Read the letter and answer with one sentence of these:\n\"The customer asks for money back.\"\n\"The customer says thanks.\"\n\"It cannot be told what is meant.\"\nLetter %d: %s", i, strings.Repeat(fmt.Sprintf("matter %d, ", i*i), 20))
		sessions[a.say(t, text, "It cannot be told what is meant.")] = true
	}
	if len(sessions) != 40 {
		t.Errorf("40 questions are in %d sessions", len(sessions))
	}
}

// What is kept of histories is bounded, forgotten after a pause, and let go of by a
// call that is not sent.
func TestRetellingsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var s retellings
	told := func(form, message uint64, pieces ...uint64) *retold {
		return &retold{form: form, message: message, pieces: pieces}
	}
	for form := range uint64(3 * mostRetellings) {
		s.mayTell(form)
	}
	if n := len(s.young) + len(s.old); n > 2*mostRetellings {
		t.Errorf("%d forms are kept, %d may be", n, 2*mostRetellings)
	}
	const form = 7
	s.mayTell(form)
	thread := func(session string, digest uint64, at time.Time) {
		call := told(form, 1)
		s.keep(call, session, 1, []quote{{piece{digest, 2}, 0}}, at)
	}
	for i := range uint64(3 * mostThreads) {
		thread("ses", i+1, now)
	}
	if n := len(s.find(form).threads); n != mostThreads {
		t.Errorf("%d threads are kept, want %d", n, mostThreads)
	}
	thread("ses_new", 1000, now)
	taken := told(form, 2, 1000)
	if session, _ := s.follow(taken, now); session != "ses_new" {
		t.Fatalf("it goes on from %q", session)
	}
	if session, _ := s.follow(told(form, 3, 1000), now); session != "" {
		t.Errorf("another goes on from %q, which is taken", session)
	}
	s.letGo(taken)
	if session, _ := s.follow(told(form, 3, 1000), now); session != "ses_new" {
		t.Errorf("what was let go of is not taken: %q", session)
	}
	thread("ses_old", 2000, now)
	if session, _ := s.follow(told(form, 4, 2000), now.Add(time.Hour)); session != "" {
		t.Errorf("after an hour it goes on from %q", session)
	}
}

// A client that drops its oldest messages, and one that writes the time into its first
// message, are in one session: the newest turn that they show is the reply they got.
func TestWhoShowsItsLastReplyIsInItsSession(t *testing.T) {
	const turn = `{"role":"assistant","content":"I look into the list of orders, number %d of those that are open."},{"role":"user","content":"Order %d: paid"}`
	const called = `{"role":"assistant","content":"","tool_calls":[{"id":"call_7fa0c3%02d","function":{"name":"order","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_7fa0c3%02d","content":"paid %[1]d"}`
	for name, tc := range map[string]struct {
		turn  string
		reply func(i int) string
		first func(i int) string
		keep  int
	}{
		"texts, the oldest dropped": {turn, func(i int) string {
			return fmt.Sprintf(`{"role":"assistant","content":"I look into the list of orders, number %d of those that are open."}`, i)
		}, nil, 3},
		"tool calls, the first message with a clock": {called, func(i int) string {
			return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_7fa0c3%02d","type":"function","function":{"name":"order","arguments":"{}"}}]}`, i)
		}, func(i int) string {
			return fmt.Sprintf(`{"role":"user","content":"It is 12:%02d. Check the orders."}`, i)
		}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			replies := make(chan string, 1)
			f := newFixture(t, answerEach(replies), "")
			sessions := map[string]int{}
			for i := range 20 {
				var messages []string
				for k := max(0, i-tc.keep); k < i; k++ {
					messages = append(messages, fmt.Sprintf(tc.turn, k, k))
				}
				if tc.first != nil {
					messages = slices.Insert(messages, 0, tc.first(i))
				} else if i <= tc.keep {
					messages = slices.Insert(messages, 0, `{"role":"user","content":"Check the orders."}`)
				}
				replies <- `{"id":"c1","model":"gpt-x","choices":[{"index":0,"message":` + tc.reply(i) + `,"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`
				f.send(t, "POST", chatPath, nil, `{"model":"gpt-x","messages":[`+strings.Join(messages, ",")+`]}`)
				sessions[f.last(t).Session]++
			}
			if len(sessions) != 1 {
				t.Errorf("20 calls are in %d sessions: %v", len(sessions), sessions)
			}
		})
	}
}

// Visitors who are greeted alike are not one session, whoever speaks first.
func TestAGreetingIsNoSession(t *testing.T) {
	const greeting = "Hello! I am the assistant of the library. How can I help you today? Ask me about any book."
	f := newFixture(t, answer(200, "application/json", strings.Replace(chatReply, "hello", greeting, 1)), "")
	send := func(visitor string, greeted bool) string {
		body := `{"model":"gpt-x","messages":[{"role":"user","content":"` + visitor + `"}`
		if greeted {
			body += `,{"role":"assistant","content":"` + greeting + `"},{"role":"user","content":"Do you have maps?"}`
		}
		f.send(t, "POST", chatPath, nil, body+`]}`)
		return f.last(t).Session
	}
	anna, bert := send("Hi, it is Anna", false), send("Good morning", false)
	if anna == bert {
		t.Fatal("both are in one session")
	}
	if s := send("Hi, it is Anna", true); s != anna {
		t.Errorf("she goes on in %s, not in %s", s, anna)
	}
	if s := send("Good morning", true); s != bert {
		t.Errorf("he goes on in %s, not in %s", s, bert)
	}
}

// Pieces are what stands between line breaks, quotes and brackets, with labels and
// without.
func TestPieces(t *testing.T) {
	digests := func(text string, labelled bool) map[uint64]bool {
		set := map[uint64]bool{}
		eachPiece(text, labelled, func(p piece) bool { set[p.digest] = true; return true })
		return set
	}
	for reply, message := range map[string]string{
		`{"memory":"The list is open.","index":4}`:              "<step_4>\nMemory: The list is open.\n</step_4>",
		"Thought: I open the next one.\nAction: open":           "Thought: Thought: I open the next one.\nAction: open\nObservation: it is open",
		`{"steps": ["Ask for the template", "Write the text"]}`: "done: ('Ask for the template', 'It was not there'), next",
		"I agree: both of them matter.":                         "B: I agree: both of them matter.\n",
	} {
		in, found := digests(message, true), false
		for p := range digests(reply, false) {
			found = found || in[p]
		}
		if !found {
			t.Errorf("%q does not quote %q", message, reply)
		}
	}
	hashed := 0
	eachPiece(strings.Repeat("a: ", 1000)+"the end of it", true, func(piece) bool { hashed++; return true })
	if hashed > mostLabels+1 {
		t.Errorf("a piece with a thousand labels is read %d times", hashed)
	}
	for _, short := range []string{"", "yes", "ok, done", `{"a":1}`, "a b c", "Answer: 42"} {
		if n := len(digests(short, true)); n > 0 {
			t.Errorf("%q has %d pieces", short, n)
		}
	}
}
