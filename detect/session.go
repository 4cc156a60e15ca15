package detect

import (
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
)

// maxRounds bounds what a session remembers. A loop shows in far fewer.
const maxRounds = 512

// Session is the ledger of one conversation: the rounds that its requests
// have shown, and those that only requests and replies together show, when
// the client keeps the history to itself. The caller owns and guards it.
type Session struct {
	past         []seenRound
	opening      uint64   // digest of the opening of the first request
	openingWords []uint32 // what was known before the first round

	growth growth

	replied time.Time // when the newest reply was complete; zero where unknown
	grew    bool      // a reply has come since the last request

	// The newest request without history, and its reply.
	pending struct {
		messages []uint64 // digests of its messages, in order
		lines    []uint64 // digests of the lines of the last of them
		reply    *haltd.Reply
	}
}

// rounds are the rounds to judge for a call: what the session remembers from
// before the call's own history, then that history.
func (s *Session) rounds(cache *Cache, call *haltd.Call, now time.Time) []seenRound {
	if len(call.Rounds) == 0 {
		s.followStateless(cache, call, now)
		return s.past
	}
	s.pending.reply, s.pending.messages = nil, nil
	native := isNative(call)
	sent := withoutResent(call.Rounds)
	sent = sent[max(0, len(sent)-maxRounds):]
	history := make([]seenRound, len(sent))
	for i := range sent {
		f := s.features(cache, i, &sent[i], native)
		history[i] = seenRound{f, key(f, &sent[i]), now, s.pause(now)}
	}
	if len(s.past) == 0 || len(s.openingWords) == 0 {
		s.openingWords = openingWords(call)
	}
	p := overlap(s.past, history, s.grew)
	s.grew = false
	for i := p; i < len(s.past) && i-p < len(history); i++ {
		history[i-p].at, history[i-p].pause = s.past[i].at, s.past[i].pause
	}
	all := append(s.past[:p:p], history...)
	if n := len(all) - maxRounds; n > 0 {
		all = all[n:]
	}
	s.past = all
	return all
}

// features reads the i-th round of a history. Mostly it stands where it stood
// in the request before, and the session still has what was read of it.
func (s *Session) features(cache *Cache, i int, r *haltd.Round, native bool) *features {
	id := roundID(r, native)
	if i < len(s.past) && s.past[i].id == id {
		return s.past[i].features
	}
	return cache.read(id, r, native)
}

// isNative reports whether a conversation uses the format's own tool calls.
func isNative(call *haltd.Call) bool {
	for i := range call.Rounds {
		if len(call.Rounds[i].Calls) > 0 || len(call.Rounds[i].Results) > 0 {
			return true
		}
	}
	return false
}

// overlap is the place in past at which history begins: the history of a
// request mostly begins where the last one did, and later when a client
// dropped its oldest rounds. A history that past does not know begins a
// ledger of its own. Equal rounds may fit in several places; when a reply has
// come since, the history has grown by a round, which decides.
func overlap(past, history []seenRound, grew bool) int {
	best := -1
	for p := range past {
		n := min(len(past)-p, len(history))
		i := 0
		for i < n && past[p+i].key == history[i].key {
			i++
		}
		if i < n {
			continue
		}
		if !grew || n < len(history) {
			return p
		}
		if best < 0 {
			best = p
		}
	}
	return max(best, 0)
}

// key tells a round from an equal one by the ids of its calls.
func key(f *features, r *haltd.Round) uint64 {
	k := f.id
	for i := range r.Calls {
		k = fold(k, xxhash.Sum64String(r.Calls[i].ID))
	}
	return k
}

// followStateless reads a request that carries no assistant turn: the reply
// to the request before and what is new in this one are a round.
func (s *Session) followStateless(cache *Cache, call *haltd.Call, now time.Time) {
	messages := make([]uint64, len(call.Opening))
	var opening uint64
	for i := range call.Opening {
		messages[i] = xxhash.Sum64String(call.Opening[i].Text)
		opening = fold(opening, messages[i])
	}
	p := &s.pending
	switch {
	case s.opening == 0 || opening == s.opening:
		s.begin(call, opening) // the first request, or the same one again
	case p.reply != nil:
		if r, ok := s.statelessRound(call, messages); ok {
			native := len(r.Calls) > 0
			f := cache.read(roundID(&r, native), &r, native)
			s.past = append(s.past, seenRound{f, f.id, now, s.pause(now)})
			s.past = s.past[max(0, len(s.past)-maxRounds):]
		} else {
			s.begin(call, opening)
		}
	}
	p.reply, p.messages, p.lines = nil, messages, nil
	if n := len(call.Opening); n > 0 {
		p.lines = linesOf(call.Opening[n-1].Text)
	}
}

// begin starts the ledger of a new run.
func (s *Session) begin(call *haltd.Call, opening uint64) {
	if opening != s.opening || s.openingWords == nil {
		s.openingWords = openingWords(call)
	}
	s.opening, s.past = opening, nil
}

// statelessRound joins the last reply with what this request says for the
// first time: all that follows the messages of the request before, or all of
// it where the client writes its history into one message. ok is false when
// the request does not go on from that reply but is a job of its own.
func (s *Session) statelessRound(call *haltd.Call, messages []uint64) (r haltd.Round, ok bool) {
	known := 0
	for known < min(len(messages)-1, len(s.pending.messages)) && messages[known] == s.pending.messages[known] {
		known++
	}
	reply := s.pending.reply
	r = haltd.Round{Text: reply.Text, Calls: reply.Calls}
	ok = known > 0
	for _, m := range call.Opening[known:] {
		if rest, grew := s.grown(m.Text); grew {
			m.Text, ok = strings.Replace(rest, reply.Text, "", 1), true
		}
		ok = ok || quotes(m.Text, reply)
		switch {
		case m.Role != haltd.RoleUser || m.Text == reply.Text:
		case len(r.Calls) > 0:
			r.Results = append(r.Results, haltd.ToolResult{Text: m.Text})
		default:
			r.Inputs = append(r.Inputs, m)
		}
	}
	return r, ok
}

// grown is what a message adds to the last one of the request before, where
// the client writes its history into one message: the lines that were not
// there, or not so often.
func (s *Session) grown(text string) (added string, ok bool) {
	before := s.pending.lines
	if len(before) < 2 {
		return "", false
	}
	times := make(map[uint64]int, len(before))
	for _, l := range before {
		times[l]++
	}
	var b strings.Builder
	kept := 0
	for line := range strings.Lines(text) {
		if h := lineHash(line); times[h] > 0 {
			times[h]--
			kept++
			continue
		}
		b.WriteString(line)
	}
	return b.String(), b.Len() > 0 && 10*kept >= 9*len(before)
}

// maxLines bounds what is kept of a message that holds a history.
const maxLines = 4096

func linesOf(text string) []uint64 {
	var ls []uint64
	for line := range strings.Lines(text) {
		if ls = append(ls, lineHash(line)); len(ls) == maxLines {
			break
		}
	}
	return ls
}

func lineHash(line string) uint64 { return xxhash.Sum64String(strings.TrimSpace(line)) }

// quotes reports whether a message carries a reply within it: its text, or
// the name of a tool that it called.
func quotes(message string, reply *haltd.Reply) bool {
	for i := range reply.Calls {
		if strings.Contains(message, reply.Calls[i].Name) {
			return true
		}
	}
	text := strings.TrimSpace(reply.Text)
	return len(text) >= quotable && strings.Contains(message, text)
}

// quotable is the length from which a reply that stands in the next message
// is no coincidence.
const quotable = 16

// pause is how long the client took after the newest reply.
func (s *Session) pause(now time.Time) time.Duration {
	if s.replied.IsZero() || now.IsZero() {
		return 0
	}
	return now.Sub(s.replied)
}

// attach gives the session the reply to its newest call, complete at the
// given time.
func (s *Session) attach(reply *haltd.Reply, at time.Time) {
	s.replied, s.grew = at, true
	if s.pending.messages != nil {
		s.pending.reply = reply
	}
}

// openingWords are the words that a conversation begins with: nothing that
// repeats them later is news.
func openingWords(call *haltd.Call) []uint32 {
	var ws []uint32
	for i := range call.Opening {
		ws = append(ws, words(call.Opening[i].Text, nil)...)
	}
	return ws
}

// Rounds are the rounds of the session as the newest request showed them,
// with what each adds to the evidence of a stall.
func (s *Session) Rounds(mark Mark) []RoundEvidence {
	from := mark.find(s.past)
	c := compare(s.openingWords, s.past, from)
	defer c.free()
	ss := c.rounds
	points := make([]int, len(ss))
	families := make([]Family, len(ss))
	for i := from; i < len(ss); i++ {
		points[i], families[i] = ss[i].weigh()
	}
	return roundEvidence(ss, points, families)
}

// Mark is where the rounds that count begin, after a person resumed an agent:
// behind the count-th occurrence of a round. The zero Mark lies before
// everything.
type Mark struct {
	Round uint64 `json:"round"`
	Count int    `json:"count"`
}

// MarkHere puts all that a request shows behind the mark.
func (s *Session) MarkHere(cache *Cache, call *haltd.Call, now time.Time) Mark {
	rounds := s.rounds(cache, call, now)
	if len(rounds) == 0 {
		return Mark{}
	}
	m := Mark{Round: rounds[len(rounds)-1].id}
	for _, r := range rounds {
		if r.id == m.Round {
			m.Count++
		}
	}
	return m
}

// find is the index of the first round that counts. Where the client has
// dropped rounds before the mark, the last occurrence that is left stands for
// it: rather forget evidence than count old rounds again.
func (m Mark) find(rounds []seenRound) (from int) {
	n := 0
	for i, r := range rounds {
		if r.id != m.Round {
			continue
		}
		from = i + 1
		if n++; n == m.Count {
			break
		}
	}
	return from
}
