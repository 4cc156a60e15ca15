package detection

import (
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// Session is the memory of the conversations of one session: the rounds that
// its requests have shown, and those that only requests and replies together
// show, when the client keeps the history to itself. It holds digests and
// words, never a text. The caller owns and guards it.
type Session struct {
	strand          // the conversation of the newest request
	others []strand // the ones before, the newest last

	growth  growth
	replied time.Time // when the newest reply was complete; zero where unknown
	grew    bool      // a reply has come since the last request
	pending *Pending  // the newest request without a history, and its reply
	turns   uint64    // numbers what was ever pending
	// awaiting says that the newest call that was admitted has not been given
	// its reply.
	awaiting bool
	shown    int    // how many rounds the newest request showed
	entry    uint64 // of the newest call that was admitted, in the window
}

// strand is one conversation: mostly a session has one. Sub-agents and
// compaction make more.
type strand struct {
	past   []seenRound
	all    []relation // of the first rounds of past, as far as they are still true
	from   int        // where the rounds that counted began when they were compared
	system uint64

	opening opening
	task    []uint32 // words of the opening that it had before it was ever compacted
	unbegun bool     // no history was seen of it yet

	fresh     bool // it began with this request, and nobody has asked yet who gave it its task
	delegated bool // a reply of the same agent asked for it
}

// mostStrands is how many conversations of a session are remembered, and
// carried how many rounds go over into a new one after compaction.
const mostStrands, carried = 4, 32

// Pending is what the newest request without a history left behind; nil where
// there is none.
func (s *Session) Pending() *Pending { return s.pending }

// follow takes a request: the session's rounds are then those from before its
// history, and that history.
func (s *Session) follow(h *History, now time.Time) {
	s.shown = len(h.rounds)
	if len(h.rounds) == 0 {
		s.followLoose(h, now)
		return
	}
	s.pending = nil
	history := make([]seenRound, len(h.rounds))
	for i, r := range h.rounds {
		history[i] = seenRound{round: r.round, turn: r.turn, at: now, pause: s.pause(now)}
	}
	p := s.resume(h, history)
	if len(s.opening.words) == 0 { // it began with a request without a history
		s.readOpening(h.opening, h.texts)
	}
	s.grew = false
	same := p
	for i := p; i < len(s.past) && i-p < len(history) && s.past[i].turn == history[i-p].turn; i++ {
		old, now := &s.past[i], &history[i-p]
		if old.id == now.id || old.tellsMore(now.round) {
			*now = *old
			if same == i {
				same++
			}
			continue
		}
		now.at, now.pause, now.passedOn, now.relayed = old.at, old.pause, old.passedOn, old.relayed
	}
	rounds := history
	if p > 0 {
		rounds = append(s.past[:p:p], history...)
	}
	s.all = s.all[:min(same, len(s.all))]
	s.keep(rounds)
}

// tellsMore reports whether a round says more than the same one in a later
// request: clients drop old results to save room.
func (f *round) tellsMore(now *round) bool {
	return f.answered && (now.input == 0 || now.input == f.input) && (!now.answered || 2*len(now.tells) < len(f.tells))
}

// resume makes the strand current that a history goes on from, and says where
// in it the history begins. A history that none knows begins a new one; the
// newest rounds of the last go over into it, because clients compact a long
// conversation and go on.
func (s *Session) resume(h *History, history []seenRound) (begins int) {
	if s.unbegun && len(s.past) > 0 { // a compacted one goes on
		s.unbegun = false
		return len(s.past)
	}
	if p := beginsAt(s.past, history, s.grew); p >= 0 {
		return p
	}
	for i := len(s.others) - 1; i >= 0; i-- {
		if p := beginsAt(s.others[i].past, history, s.grew); p >= 0 {
			s.strand, s.others[i] = s.others[i], s.strand
			return p
		}
	}
	if s.unbegun {
		s.unbegun = false
		return len(s.past)
	}
	s.begin(h, history[0].round)
	s.unbegun = false
	return len(s.past)
}

// begin begins a new strand. Where the request goes on from the last one in
// other words, as after compaction, the newest rounds of that go over into it;
// the same request again, or another task, begins from nothing. first is the first round
// of the history; nil where it has none.
func (s *Session) begin(h *History, first *round) {
	last := s.strand
	if len(last.past) > 0 {
		h.opening.readTexts(h.texts)
	}
	alone := s.turns == 0 && len(s.others) == 0 && len(last.past) == 0
	s.strand = strand{
		system: h.system, opening: h.opening, task: h.opening.words, unbegun: true,
		fresh:     alone || len(last.past) > 0 && last.system != h.system, // another agent, and no summary of its own
		delegated: last.delegated,
	}
	if len(last.past) == 0 {
		return
	}
	if s.others = append(s.others, last); len(s.others) >= mostStrands {
		s.others = append(s.others[:0], s.others[1:]...)
	}
	summed := last.opening.digest != h.opening.digest &&
		contained(last.task, h.opening.words) >= .8 && len(h.opening.words) >= len(last.task)+fewWords-1
	if last.system == h.system && s.grew && !last.loose() && (summed || anySaysItGoesOn(h.texts) || first != nil && first.sumsUp) {
		s.past, s.task = append(s.past, last.past[max(0, len(last.past)-carried):]...), last.task
		s.opening.words = append(slices.Clone(s.opening.words), last.opening.words...)
	}
}

// anySaysItGoesOn reports a user's message that sums up a conversation: so clients begin
// after compaction, with or without the task, or go on from a turn that does.
func anySaysItGoesOn(messages []haltd.Message) bool {
	for i := range messages {
		if messages[i].Role == haltd.RoleUser && saysItGoesOn(messages[i].Text) {
			return true
		}
	}
	return false
}

// saysItGoesOn reports a text that says itself that it sums up a conversation.
func saysItGoesOn(text string) bool {
	return meaningOf(text[:min(len(text), 2*headBytes)], maxPhraseWords, sumsUp) != 0
}

// readOpening gives a strand the words that its opening had, as a later request
// shows it: the first of the texts of that, which have its digest, else what is
// given. What it carries over from before compaction is there already.
func (s *strand) readOpening(o opening, texts []haltd.Message) {
	digest := uint64(0)
	for i := range texts {
		digest = fold(digest, xxhash.Sum64String(texts[i].Text))
		if first := texts[:i+1]; digest == s.opening.digest && size(first) <= openingRead {
			o = *readOpening(first)
			break
		}
	}
	o.digest = s.opening.digest
	s.opening = o
	if len(s.task) == 0 {
		s.task = o.words
	}
}

// loose reports a strand whose rounds come from requests without a history.
func (s *strand) loose() bool { return len(s.past) > 0 && s.past[0].turn == s.past[0].id }

// keep makes rounds those of the session, the newest maxRounds of them.
func (s *Session) keep(rounds []seenRound) {
	if n := len(rounds) - maxRounds; n > 0 {
		rounds, s.all = rounds[n:], nil
	}
	s.past = rounds
}

// beginsAt is the place in past at which history begins: the history of a
// request mostly begins where the last one did, and later when a client
// dropped its oldest rounds; -1 where past does not know it. Equal rounds may
// fit in several places; when a reply has come since, the history has grown by
// a round, which decides.
func beginsAt(past, history []seenRound, grew bool) int {
	best := -1
	for p := range past {
		n := min(len(past)-p, len(history))
		i := 0
		for i < n && past[p+i].turn == history[i].turn {
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
	return best
}

// followLoose takes a request that carries no assistant turn.
func (s *Session) followLoose(h *History, now time.Time) {
	var fixed []uint64
	switch {
	case s.pending == nil || h.opening.digest == s.opening.digest && (h.next == nil || s.pending.fixed == nil) || s.pending.is(h.before) && s.pending.answer != nil && h.next == nil:
		// The first request, the same one again where the agent has not gone on from
		// another, or a job of its own.
		s.begin(h, nil)
	case s.pending.is(h.before) && s.pending.answer != nil:
		if len(s.opening.words) == 0 {
			o := opening{}
			o.readTexts(h.kept)
			s.readOpening(o, h.texts)
		}
		s.keep(append(s.past, seenRound{round: h.next, turn: h.next.id, at: now, pause: s.pause(now)}))
		fixed = s.pending.stays(h.lines)
	}
	s.turns++
	s.pending = &Pending{turn: s.turns, messages: h.messages, lines: h.lines, forms: h.forms, states: s.pending.statesSince(), fixed: fixed}
}

// pause is how long the client took after the newest reply.
func (s *Session) pause(now time.Time) time.Duration {
	if s.replied.IsZero() || now.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.replied))
}

// attach gives the session the reply to its newest call, complete at the
// given time.
func (s *Session) attach(a *Answer, at time.Time) {
	s.replied, s.grew, s.awaiting = at, true, false
	if s.pending != nil && a.act != nil {
		s.turns++
		s.pending = s.pending.answeredBy(a, s.turns)
	}
}

// Awaits reports whether a request goes on from a reply that the session has
// not been given: the client was faster than whoever observes the reply, and
// a moment later more is known. A call beside the one that is waited for, of a
// sub-agent for instance, does not go on from it.
func (s *Session) Awaits(h *History) bool {
	n := len(h.rounds)
	switch {
	case !s.awaiting:
		return false
	case n > 1 && len(s.past) > 0:
		return n > s.shown && h.rounds[n-2].turn == s.past[len(s.past)-1].turn
	case n > 0:
		return n == 1 && len(s.past) == 0 && h.opening.digest == s.opening.digest
	}
	return s.pending != nil && (goesOn(s.pending.messages, h.messages) || len(s.pending.lines) > 1 && goesOn(s.pending.lines, h.lines))
}

// AwaitsEqual reports whether a request without a history is the same as the
// one before it, which has not been given its reply. Who shares a session with
// other nodes cannot know whether the client has the reply already.
func (s *Session) AwaitsEqual(h *History) bool {
	return s.awaiting && s.pending != nil && len(h.rounds) == 0 && len(h.messages) > 0 && slices.Equal(s.pending.messages, h.messages)
}

// goesOn reports whether a list begins with another and is longer.
func goesOn(before, now []uint64) bool {
	return len(before) > 0 && len(now) > len(before) && slices.Equal(before, now[:len(before)])
}

// compare brings the relations of the session's rounds up to date and hands
// them to f.
func (s *Session) compare(m *Model, st State, f func(*comparison)) {
	from := st.Mark.find(s.past)
	if from != s.from {
		s.all, s.from = nil, from
	}
	s.all = s.all[:s.stillTrue()]
	c := comparison{model: m, others: st.Window.others(st.SessionID), delegated: s.delegated, orders: s.opening.orders, task: s.task, rounds: s.past, since: from}
	known := len(s.all)
	if known < len(s.past) {
		w := acquireFilters(&s.strand, known)
		defer w.release(&s.strand)
		c.seen, c.acted = &w.seen, &w.acted
		for i := len(w.rounds); i < known; i++ {
			c.remember(&s.past[i])
		}
	}
	c.all = append(s.all, make([]relation, len(s.past)-known)...)
	for i := range s.past {
		if i >= known {
			c.compare(i)
			c.judge(i, from)
		}
		if c.all[i].human {
			c.since = i + 1
			if o := c.rounds[i].orders; o != nil {
				c.orders = *o
			}
		}
	}
	s.all = c.all
	f(&c)
}

// stillTrue is how many relations hold: not those from the first message on
// that was taken for a person's and that now came again.
func (s *Session) stillTrue() int {
	for i := range s.all {
		if !s.all[i].human || s.past[i].input == 0 {
			continue
		}
		for j := len(s.all); j < len(s.past); j++ {
			if s.past[j].input == s.past[i].input {
				return i
			}
		}
	}
	return len(s.all)
}

// judge finds whether a person spoke after round i, and how certain a stall
// is by then.
func (c *comparison) judge(i, from int) {
	s := &c.all[i]
	if i < from || i < c.since {
		return
	}
	if c.byPerson(i) || c.isNewTask(i) {
		s.human = true
		return
	}
	x := c.featuresAt(i)
	s.logOdds = c.model.logOdds(&x)
	s.certainty = certainty(s.logOdds)
}

// A person needs a moment to type, and types little when there is nothing
// new to say: "continue", "try again".
const (
	typing   = 5 * time.Second
	fewWords = 5
)

// byPerson reports whether a person spoke after a round. Where tools are
// native, that is whoever says something for the first time, numbers and
// clocks aside, after the assistant had spoken; and after a result, unless the
// rounds before it ended so, too, as a harness does. Elsewhere, and when the
// words come again, it is who took the time to type a few words, some times.
func (c *comparison) byPerson(i int) bool {
	r := &c.rounds[i]
	if r.scripted || r.sumsUp || r.relayed {
		return false
	}
	if c.echoedBack(i) {
		return false
	}
	if r.input != 0 && !c.cameAgain(i) {
		return r.manner < called || !c.inputBefore(i)
	}
	if c.withoutLabel(i) {
		return true
	}
	return r.manner == spoken && r.answered && r.pause >= typing && (len(r.tells) <= fewWords || c.asksAgain(i)) && r.outcome == neutral && !c.insists(i)
}

// withoutLabel reports new words to words, without the label that every result has.
func (c *comparison) withoutLabel(i int) bool {
	const results = 2
	r := &c.rounds[i]
	if r.manner != spoken || !r.answered || r.labelled || r.outcome != neutral || c.all[i].resultAgo > 0 {
		return false
	}
	n := 0
	for j := i - 1; j >= max(0, i-far); j-- {
		if o := &c.rounds[j]; o.answered && o.manner >= commanded {
			if !o.labelled {
				return false
			}
			n++
		}
	}
	return n >= results
}

// reading is how long a person reads what came back at least.
const reading = 15 * time.Second

// asksAgain reports words that came before, but not the last time, and to which a tool
// has something new to say: somebody else asks the same, or the same person later.
func (c *comparison) asksAgain(i int) bool {
	r := &c.rounds[i]
	if r.pause < reading {
		return false
	}
	found := false
	for j := i - 1; j >= 0; j-- {
		o := &c.rounds[j]
		if o.manner == spoken && o.answered {
			return found && o.result != r.result
		}
		found = found || o.manner == called && c.all[j].news >= .3 && o.outcome == neutral
	}
	return false
}

// insists reports the same few words for the fourth time, and soon: a person who
// says "continue" so often reads what came back before.
func (c *comparison) insists(i int) bool {
	const often = 3
	r, times := &c.rounds[i], 0
	if r.pause >= reading {
		return false
	}
	for j := range i {
		if o := &c.rounds[j]; o.answered && o.manner == spoken && o.result == r.result {
			times++
		}
	}
	return times >= often
}

// echoedBack reports words against words, the other side's without a single
// new one, or thanks for thanks once more: so two agents thank each other, not a
// person with a new task. To empty replies a harness says that they are empty, in some ways.
func (c *comparison) echoedBack(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if i == 0 || r.manner > spoken || c.rounds[i-1].manner != r.manner {
		return false
	}
	if r.manner == silent {
		return r.answered && s.newWords == 0
	}
	return s.newWords == 0 && len(r.tells) >= fewWords || r.thanked && c.rounds[i-1].thanked
}

// cameAgain reports a message that came next to an equal one, or more than twice: a
// person asks a thing again, too, once, and says something else in between.
func (c *comparison) cameAgain(i int) bool {
	const often = 2
	own, times, before, next := c.rounds[i].input, 0, uint64(0), uint64(0)
	for j := range c.rounds {
		switch input := c.rounds[j].input; {
		case j == i || input == 0:
			continue
		case j < i:
			before = input
		case next == 0:
			next = input
		}
		if c.rounds[j].input == own {
			times++
		}
	}
	return times >= often || before == own || next == own
}

// inputBefore reports whether one of the two rounds with calls before this
// one ended with a user message.
func (c *comparison) inputBefore(i int) bool {
	calls := 0
	for j := i - 1; j >= 0 && calls < 2; j-- {
		if c.rounds[j].manner != called {
			continue
		}
		if c.rounds[j].input != 0 {
			return true
		}
		calls++
	}
	return false
}

// Rounds are the rounds of the session as the newest request showed them,
// with the certainty after each.
func (s *Session) Rounds(mark Mark) (rs []haltd.RoundEvidence) {
	s.compare(model, State{Mark: mark, Window: &Window{}}, func(c *comparison) {
		order := make([]int, len(c.all))
		for i := range order {
			order[i] = i
		}
		rs = c.evidence(order)
	})
	return rs
}

// Features are those of the newest round, as it stands after the session was
// judged; bounded says that it takes a certainty of BoundedRounds to kill it. ok is
// false where no round counts. Training reads them here, so that what is fitted is
// what judges.
func (s *Session) Features(st State, parts haltd.ScoreParts) (x Features, bounded, ok bool) {
	s.compare(model, st, func(c *comparison) {
		if n := len(c.all); n > 0 && c.since < n {
			x, ok = c.featuresAt(n-1), true
			x[similarCalls] = similarity(parts)
			bounded = c.bounded()
		}
	})
	return x, bounded, ok
}

// Idle reports a session of which no round is known and no call awaits its
// reply: it may have had the only call that it ever has.
func (s *Session) Idle() bool {
	return len(s.past)+len(s.others) == 0 && !s.awaiting
}

// Weight is about how many words of eight bytes a session holds, for callers
// that bound the memory of many.
func (s *Session) Weight() int {
	n := s.strand.weight()
	if p := s.pending; p != nil {
		n += len(p.lines) + len(p.forms)/2 + len(p.fixed) + len(p.messages)
		if p.answer != nil {
			n += p.answer.act.weight()
		}
	}
	for i := range s.others {
		n += s.others[i].weight()
	}
	return n
}

func (s *strand) weight() int {
	const perRelation, perRound = 56, 6
	n := (len(s.opening.words)+len(s.opening.names))/2 + perRelation*cap(s.all) + perRound*cap(s.past)
	for _, r := range s.past {
		n += r.weight()
	}
	return n
}

// Mark is where the rounds that count begin, after a person resumed an agent:
// behind the count-th occurrence of a round. The zero Mark lies before
// everything.
type Mark struct {
	Round uint64 `json:"round"`
	Count int    `json:"count"`
}

// MarkHere puts all that a request shows behind the mark.
func (s *Session) MarkHere(h *History, now time.Time) Mark {
	s.follow(h, now)
	if len(s.past) == 0 {
		return Mark{}
	}
	m := Mark{Round: s.past[len(s.past)-1].id}
	for _, r := range s.past {
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
