package scenarios

import "fmt"

// madeStuckRefusals come back to one refusal again and again, with ever new
// reading between: the steps are all different, and the one thing that
// matters never changes.
func madeStuckRefusals() []Family {
	return []Family{
		{"stuck-refused-amid-new-reading", true, stuckRefusedAmidReading},
		{"stuck-declined-amid-work", true, stuckDeclinedAmidWork},
		{"stuck-turn-ends-are-refused", true, stuckTurnEndsAreRefused},
	}
}

// A submission is refused with the same message; only reading lies between.
func stuckRefusedAmidReading(w *words) Case {
	k, fail := newSkit(w), sfault(w)
	tool := k.tool(pick(w, "submit", "complete", "publish"), pick(w, "answer", "report", "release"))
	refusal := fail(pick(w, "Refused: the review of "+w.name()+" is missing.", "Not accepted: "+w.word()+" does not match "+w.word()+".", pick(w, k.t.invalid...)))
	round := func(int) Moves {
		return seq(k.reading(w.between(2, 6)), k.say(call(tool, sargs("note", k.claims()), refusal)))
	}
	return Case{
		System: k.system("You finish a task and hand it in.", "You are a careful agent."),
		Moves:  seq(k.asks(w.name(), "Finish "+w.name()+" and hand it in."), k.prior(sCoding), k.loop(w.between(10, 14), round)),
	}
}

// One tool declines in the same words whatever the work between.
func stuckDeclinedAmidWork(w *words) Case {
	k, fail, kind := newSkit(w), sfault(w), pick(w, sOffice, sData, sBrowsing)
	tool := k.tool(pick(w, "charge", "book", "order", "upload"), pick(w, "card", "room", "parcel", "batch"))
	refusal := fail(fmt.Sprintf("%s declined: code %s-%d", w.name(), w.word(), w.between(10, 99)))
	round := func(int) Moves {
		return seq(k.work(kind, w.between(2, 4)), k.say(call(tool, sargs("ref", w.hex(10), "name", w.name()), refusal)))
	}
	return Case{
		System: k.system("You run errands.", "You book and order for customers."),
		Moves:  seq(k.asks(w.name(), "Get it booked for "+w.name()+"."), k.prior(kind), k.loop(w.between(12, 16), round)),
	}
}

// The harness answers each attempt to end the turn with the same message.
func stuckTurnEndsAreRefused(w *words) Case {
	k := newSkit(w)
	refusal := pick(w, "The hook "+w.word()+" says: tests are missing. You may not stop yet.", "You have not finished: "+w.name()+" must be confirmed.", pick(w, k.t.invalid...)+" "+w.name())
	round := func(int) Moves {
		return seq(k.reading(w.between(2, 5)), answer(k.claims(), refusal))
	}
	return Case{
		System: k.system("You are a coding agent.", "You work until the hooks are content."),
		Moves:  seq(k.asks(w.name(), "Tidy up "+w.name()+"."), k.prior(sCoding), k.loop(w.between(10, 14), round)),
	}
}
