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
		{"stuck-answer-called-wrong", true, stuckAnswerCalledWrong},
		{"stuck-gate-stays-closed", true, stuckGateStaysClosed},
		{"stuck-writing-denied-amid-looking", true, stuckWritingDenied},
		{"stuck-check-fails-amid-queries", true, stuckCheckFails},
	}
}

// readLate has the families whose rounds are mostly new ones: only when the
// refusal came back for the sixth time is a reader sure.
var readLate = map[string]int{
	"stuck-refused-amid-new-reading":    24,
	"stuck-declined-amid-work":          24,
	"stuck-turn-ends-are-refused":       24,
	"stuck-answer-called-wrong":         24,
	"stuck-gate-stays-closed":           24,
	"stuck-writing-denied-amid-looking": 24,
	"stuck-check-fails-amid-queries":    24,
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

// Answers are called wrong in the same words, and research lies between.
func stuckAnswerCalledWrong(w *words) Case {
	k, fail := newSkit(w), sfault(w)
	tool := k.tool(pick(w, "submit", "give", "check"), pick(w, "answer", "solution", "guess"))
	refusal := fail(pick(w, "Incorrect. Try again.", "Wrong answer.", "That is not the answer.", "Expected something else: the answer does not match."))
	answers := []string{w.name(), w.name(), w.name(), w.name()}
	round := func(int) Moves {
		return seq(k.work(sBrowsing, w.between(2, 6)), k.say(call(tool, sargs("answer", pick(w, answers...)), refusal)))
	}
	return Case{
		System: k.system("You research questions.", "You answer by the tool and may search before."),
		Moves:  seq(k.asks(w.name(), "Who built the "+pick(w, sThings...)+" of "+w.name()+"?"), k.prior(sBrowsing), k.loop(w.between(11, 15), round)),
	}
}

// A deployment is turned down by the same check; logs are read in between.
func stuckGateStaysClosed(w *words) Case {
	k := newSkit(w)
	command := fmt.Sprintf(pick(w, "./deploy.sh --target %s", "make release ENV=%s", "helm upgrade %s ./chart", "gh pr merge %s"), w.word())
	refusal := fmt.Sprintf(pick(w, "exit code 1\n%s: required check %s has not passed", "<returncode>1</returncode>\n<output>\nrefusing to go on: policy %s needs %s\n</output>", "denied by %s: missing label %s (exit status 1)"), w.word(), w.word())
	look := func() Moves {
		f := sfileName(w)
		return answer(sname(w, k.t.look, f)+"\n\n```bash\ncat "+f+"\n```", "<returncode>0</returncode>\n<output>\n"+scode(w, f)+"</output>")
	}
	round := func(int) Moves {
		return seq(k.paced(each(w.between(2, 5), func(int) Moves { return look() })), answer(k.typed("```bash\n"+command+"\n```"), refusal))
	}
	return Case{
		System: k.system("Reply with one code block. You get its output.", "You ship what is ready."),
		Moves:  seq(k.asks(w.name(), "Ship "+w.name()+"."), k.paced(each(w.between(0, 8), func(int) Moves { return look() })), k.loop(w.between(11, 15), round)),
	}
}

// Writing is denied each time, whatever the content; looking around works.
func stuckWritingDenied(w *words) Case {
	k, fail := newSkit(w), sfault(w)
	tool, file := k.tool(pick(w, "write", "save", "create"), "file"), sfileName(w)
	refusal := fail(pick(w, "Permission denied: "+file, "Read-only file system: "+file, pick(w, k.t.invalid...)))
	round := func(int) Moves {
		return seq(k.reading(w.between(2, 5)), k.say(call(tool, sargs("path", file, "content", scode(w, file)), refusal)))
	}
	return Case{
		System: k.system("You are a coding agent."),
		Moves:  seq(k.asks(file, "Write "+file+"."), k.prior(sCoding), k.loop(w.between(11, 15), round)),
	}
}

// A check reports the same difference after each look at the data.
func stuckCheckFails(w *words) Case {
	k := newSkit(w)
	tool, table := k.tool(pick(w, "validate", "verify", "reconcile"), pick(w, "books", "totals", "import")), w.word()
	refusal := ok(sargs("ok", false, "table", table, "message", fmt.Sprintf("%s differs from %s by %d", w.word(), w.word(), w.between(3, 900))))
	round := func(int) Moves {
		return seq(k.work(sData, w.between(2, 5)), k.say(call(tool, sargs("table", table), refusal)))
	}
	return Case{
		System: k.system("You look after a data warehouse."),
		Moves:  seq(k.asks(table, "Make the check of "+table+" pass."), k.prior(sData), k.loop(w.between(11, 15), round)),
	}
}
