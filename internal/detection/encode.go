package detection

import (
	"math/bits"

	"github.com/haltd/haltd"
)

// AppendBinary appends the window in a form that another node, or a later
// release with the same version, can read.
func (w *WindowMemory) AppendBinary(b []byte) ([]byte, error) {
	c := codec{b: b}
	w.code(&c)
	return c.b, nil
}

// UnmarshalBinary reads what AppendBinary wrote. What it cannot read is an
// error, and leaves an empty window.
func (w *WindowMemory) UnmarshalBinary(b []byte) error {
	return unmarshal(w, b)
}

// AppendBinary is that of WindowMemory, for a session.
func (s *SessionMemory) AppendBinary(b []byte) ([]byte, error) {
	c := codec{b: b}
	s.code(&c)
	return c.b, nil
}

// UnmarshalBinary is that of WindowMemory, for a session.
func (s *SessionMemory) UnmarshalBinary(b []byte) error {
	return unmarshal(s, b)
}

// AppendBinary is that of WindowMemory, for a guard's session.
func (g *GuardMemory) AppendBinary(b []byte) ([]byte, error) {
	c := codec{b: b}
	g.code(&c)
	return c.b, nil
}

// UnmarshalBinary is that of WindowMemory, for a guard's session.
func (g *GuardMemory) UnmarshalBinary(b []byte) error {
	return unmarshal(g, b)
}

// unmarshal reads a memory, or empties it.
func unmarshal[M any, P interface {
	*M
	code(*codec)
}](m P, b []byte) error {
	var empty M
	*m = empty
	c := codec{b: b, reading: true}
	m.code(&c)
	err := c.end()
	if err != nil {
		*m = empty
	}
	return err
}

func (w *WindowMemory) code(c *codec) {
	c.header()
	w.Window.code(c)
	w.Similar.code(c)
	c.time(&w.Warned)
	c.time(&w.Since)
}

func (w *Window) code(c *codec) {
	list(c, &w.entries, 50, (*codec).entry)
	c.uvarint(&w.last)
	s := &w.streak
	c.uvarint(&s.entry)
	c.uint64(&s.prompt)
	c.uint64(&s.answer)
	c.int(&s.n)
}

func (c *codec) entry(e *entry) {
	c.uvarint(&e.id)
	c.uint64(&e.session)
	c.time(&e.at)
	c.uint64(&e.prompt.Hash)
	c.uint64(&e.prompt.Exact)
	c.uint64(&e.prompt.User)
	c.bools(&e.prompt.Loose, &e.prompt.Chained)
	c.uvarint(&e.replied)
	c.time(&e.ended)
	c.bools(&e.cut)
	c.uint64(&e.response)
	c.uint64(&e.tools)
	list(c, &e.tasks, 17, (*codec).task)
	c.task(&e.said)
	c.bools(&e.given)
}

func (c *codec) task(t *task) { c.list32((*[]uint32)(t)) }

func (r *Rejections) code(c *codec) {
	c.time(&r.Last)
	c.string(&r.Incident)
	c.time(&r.Began)
}

func (s *SessionMemory) code(c *codec) {
	c.header()
	s.Session.code(c)
	n := &s.Progress
	reported := int(n.ReportedLevel)
	c.int(&reported)
	n.ReportedLevel = haltd.Level(reported)
	c.uint64(&n.Mark.Round)
	c.int(&n.Mark.Count)
	c.time(&n.Marked)
	n.Stalled.code(c)
	n.Tally.code(c)
	n.Climb.code(c)
}

func (g *GuardMemory) code(c *codec) {
	c.header()
	g.Window.code(c)
	g.Session.code(c)
	c.uint64(&g.Mark.Round)
	c.int(&g.Mark.Count)
	c.bools(&g.Resumed, &g.Loose)
	c.uvarint(&g.Entry)
	c.string(&g.Source.Model)
	c.uint64(&g.Source.System)
}

func (k *Climb) code(c *codec) {
	c.byte((*uint8)(&k.Rung))
	c.int(&k.Steers)
	c.int(&k.Round)
	c.int(&k.News)
	c.string(&k.Incident)
	list(c, &k.Steps, 4, func(c *codec, r *haltd.Rung) {
		c.byte((*uint8)(&r.Action))
		c.time(&r.Time)
		c.int(&r.Round)
		c.bools(&r.Shadow)
	})
}

func (t *Tally) code(c *codec) {
	c.time(&t.Began)
	c.uint64(&t.Turn)
	for _, n := range [...]*int64{&t.Calls, (*int64)(&t.Cost), &t.Tokens, &t.TurnCalls, (*int64)(&t.TurnCost)} {
		c.int64(n)
	}
}

func (s *Session) code(c *codec) {
	s.strand.code(c)
	list(c, &s.others, 20, func(c *codec, s *strand) { s.code(c) })
	s.growth.code(c)
	c.time(&s.replied)
	c.bools(&s.grew, &s.awaiting)
	c.uvarint(&s.turns)
	c.int(&s.shown)
	c.uvarint(&s.entry)
	pending := s.pending != nil
	c.bools(&pending)
	if pending {
		if c.reading {
			s.pending = &Pending{}
		}
		s.pending.code(c)
	}
}

func (p *Pending) code(c *codec) {
	c.uvarint(&p.turn)
	c.list64(&p.messages)
	c.list64(&p.lines)
	c.list32(&p.forms)
	c.list64(&p.states)
	c.list64(&p.fixed)
	answered := p.answer != nil
	c.bools(&answered)
	if answered {
		if c.reading {
			p.answer = &Answer{}
		}
		p.answer.code(c)
	}
}

func (a *Answer) code(c *codec) {
	c.uint64(&a.response)
	c.uint64(&a.exact)
	c.uint64(&a.tools)
	list(c, &a.tasks, 17, (*codec).task)
	c.task(&a.said)
	if c.reading {
		a.act = &round{}
	}
	a.act.code(c)
	list(c, &a.names, 1, (*codec).string)
	c.int64(&a.usage.Input)
	c.int64(&a.usage.Output)
	c.int64(&a.usage.CacheRead)
	c.int64(&a.usage.CacheWrite)
	c.bools(&a.counted, &a.object, &a.cut)
}

func (g *growth) code(c *codec) {
	list(c, &g.series, 10, func(c *codec, s *growthSeries) {
		c.string(&s.key.model)
		c.uint64(&s.key.system)
		list(c, &s.tokens, 1, (*codec).int64)
	})
	c.bools(&g.reported)
	c.time(&g.at)
}

func (s *strand) code(c *codec) {
	n := len(s.past)
	c.count(&n, 100)
	if c.reading && n > 0 {
		s.past = make([]seenRound, n)
		rounds := make([]round, n)
		for i := range s.past {
			s.past[i].round = &rounds[i]
		}
	}
	for i := range s.past {
		r := &s.past[i]
		r.round.code(c)
		c.uint64(&r.turn)
		c.time(&r.at)
		c.duration(&r.pause)
		c.bools(&r.passedOn, &r.relayed)
	}
	list(c, &s.all, 80, func(c *codec, r *relation) { r.code(c) })
	if len(s.all) > len(s.past) {
		c.bad = true
	}
	c.int(&s.from)
	c.uint64(&s.system)
	c.uint64(&s.opening.digest)
	c.list32(&s.opening.words)
	c.list32(&s.opening.names)
	s.opening.orders.code(c)
	c.list32(&s.task)
	c.bools(&s.unbegun, &s.fresh, &s.delegated)
}

func (o *orders) code(c *codec) {
	list(c, &o.counts, 8, (*codec).float64)
	list(c, &o.bounds, 8, (*codec).float64)
	c.bools(&o.each)
	c.float64(&o.every)
}

func (f *round) code(c *codec) {
	c.uint64(&f.id)
	c.byte((*uint8)(&f.manner))
	c.string(&f.name)
	for _, digest := range [...]*uint64{&f.tools, &f.program, &f.act, &f.core, &f.shape, &f.frame, &f.result, &f.residue, &f.fault, &f.exactFault, &f.form, &f.bag, &f.view, &f.scene, &f.beside, &f.counts, &f.listing, &f.input} {
		c.uint64(digest)
	}
	f.numbers.code(c)
	f.told.code(c)
	f.shares.code(c)
	c.float64(&f.score)
	for _, words := range [...]*[]uint32{&f.does, &f.items, &f.listed, &f.idents, &f.ids, &f.lists, &f.aims, &f.says, &f.claims, &f.cites, &f.tells, &f.turns, &f.mentions, &f.asks, &f.hears, &f.changes, &f.leaves} {
		c.list32(words)
	}
	c.bools(&f.prose, &f.record, &f.enters, &f.looks, &f.shapes, &f.plans, &f.asked, &f.wordy, &f.payload, &f.rests, &f.moves, &f.writes, &f.effects, &f.stirs, &f.wasWords, &f.answered, &f.taken, &f.missing, &f.waiting, &f.ended,
		&f.lastPage, &f.figures, &f.scripted, &f.event, &f.polite, &f.thinks, &f.thanked, &f.state, &f.full, &f.absent, &f.paged, &f.scored, &f.rated, &f.board, &f.near, &f.aloud, &f.sumsUp, &f.labelled)
	c.duration(&f.promised)
	c.int(&f.values)
	c.int(&f.bytes)
	c.int(&f.runes)
	c.int(&f.calls)
	c.int(&f.doubles)
	c.byte((*uint8)(&f.outcome))
	c.int(&f.rest)
	c.int(&f.bagged)
	ordered := f.orders != nil
	c.bools(&ordered)
	if ordered {
		if c.reading {
			f.orders = &orders{}
		}
		f.orders.code(c)
	}
	if c.reading && len(f.tells) > 0 {
		f.sketch = sketchOf(f.tells)
	}
}

func (a *amounts) code(c *codec) {
	c.int(&a.n)
	for i := range min(max(a.n, 0), len(a.first)) {
		c.float64(&a.first[i])
	}
}

func (s *relation) code(c *codec) {
	for _, n := range [...]*int{
		&s.pairAgo, &s.actAgo, &s.coreAgo, &s.shapeAgo, &s.frameAgo, &s.resultAgo, &s.residueAgo, &s.formAgo, &s.deniedAgo, &s.giverAgo, &s.placeAgo, &s.saysAgo,
		&s.inputs, &s.newDeeds, &s.newTurns, &s.newTells, &s.newWords, &s.newSays, &s.newClaims, &s.lap.of, &s.lap.runs, &s.ring.of, &s.ring.runs,
	} {
		c.int(n)
	}
	for _, f := range [...]*float32{
		&s.payload, &s.place, &s.said, &s.pairTimes, &s.failTimes, &s.placeTimes, &s.refusals, &s.refused, &s.failedAlike, &s.news, &s.dose,
		&s.uselessSum, &s.idleSum, &s.chatSum, &s.logOdds, &s.certainty,
	} {
		c.float32(f)
	}
	c.uint64(&s.refusedFor)
	c.uint64(&s.failedFor)
	c.bools(&s.over, &s.asked, &s.amid, &s.tried, &s.drawn, &s.echo, &s.cured, &s.aimed, &s.first, &s.nextID, &s.landed, &s.given, &s.gets, &s.walk, &s.probes, &s.wrote, &s.recast, &s.onward, &s.fills, &s.adds, &s.redone, &s.ready, &s.anchor, &s.spins, &s.drills, &s.slow, &s.retold, &s.closed, &s.relists, &s.named, &s.human)
	s.signs.code(c)
}

// code writes the few signs that are not zero.
func (s *signs) code(c *codec) {
	var set uint64
	for i, v := range s {
		if v != 0 {
			set |= 1 << i
		}
	}
	c.uvarint(&set)
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if i >= len(s) {
			c.bad = true
			return
		}
		c.float32(&s[i])
	}
}

// A sign more than fits into the set would be lost.
var _ [64 - int(signCount)]struct{}
