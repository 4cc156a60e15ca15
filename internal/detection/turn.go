package detection

import "time"

// turn names the message of a person that the newest round ends with; 0 where
// it ends with none. What lies behind a mark counts, too: a person is one also
// right after a resume.
func (c *comparison) turn() uint64 {
	if n := len(c.rounds); n > 0 && c.byPerson(n-1) {
		return c.rounds[n-1].id
	}
	return 0
}

// Newest marks the newest round of the conversation, by what it began with and
// by the assistant's turn: what comes back for that turn may still change. It
// is the zero Mark without a round.
func (s *Session) Newest() Mark {
	n := len(s.past)
	if n == 0 {
		return Mark{}
	}
	m := Mark{Round: fold(s.opening.digest, s.past[n-1].turn)}
	for i := range s.past {
		if s.past[i].turn == s.past[n-1].turn {
			m.Count++
		}
	}
	return m
}

// place is the index of the round that Newest has marked; -1 where this is
// another conversation. Where the client has dropped rounds, the last that is
// left of equal ones stands for it.
func (s *Session) place(m Mark) (at int) {
	at = -1
	n := 0
	for i := range s.past {
		if fold(s.opening.digest, s.past[i].turn) != m.Round {
			continue
		}
		at = i
		if n++; n == m.Count {
			break
		}
	}
	return at
}

// Continues reports whether a request goes on with a conversation that was
// halted at a mark and a time, and whether a person has written since. The
// state's own mark is not asked: what lies behind it is no evidence, and yet
// said by somebody.
func (s *Session) Continues(st State, h *History, halted Mark, since, now time.Time) (continues, byPerson bool) {
	s.follow(h, now)
	s.overhear(st)
	from := s.place(halted)
	if from < 0 || len(h.rounds) == 0 {
		return false, false
	}
	s.compare(model, st, func(c *comparison) {
		for i := from; i < len(c.rounds); i++ {
			byPerson = byPerson || c.byPerson(i) || c.typedAgain(i, now.Sub(since))
		}
	})
	return true, byPerson
}

// typedAgain reports a few words that came before, after a pause in which a
// person can type them: "continue". A harness says them at once, or after
// every round.
func (c *comparison) typedAgain(i int, pause time.Duration) bool {
	r := &c.rounds[i]
	return r.input != 0 && !r.scripted && r.manner == called && pause >= typing && len(r.hears) <= fewWords && !c.inputBefore(i)
}
