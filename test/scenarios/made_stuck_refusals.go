package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

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
		{"stuck-cosmetic-edits", true, stuckCosmeticEdits},
		{"stuck-clears-the-way-again", true, stuckClearsTheWay},
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
	"stuck-cosmetic-edits":              32,
	"stuck-clears-the-way-again":        18,
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

// One test fails to the letter as before, after edits that change names and
// comments only: twice as many as anybody needs to see that they are beside the
// point.
func stuckCosmeticEdits(w *words) Case {
	k := newSkit(w)
	file, symbol := sfileName(w), w.word()
	shell, edit := k.tool(pick(w, "run", "execute"), pick(w, "command", "shell")), k.tool(pick(w, "edit", "replace"), pick(w, "file", "text"))
	command := fmt.Sprintf(pick(w, "pytest -q tests/%s", "npm test -- %s", "go test ./%s", "cargo test %s", "mvn -q test -Dtest=%s"), w.word())
	total := w.between(8, 90)
	failure := fmt.Sprintf("FAILED %s::%s - %s %d, %s %d\n%d passed, 1 failed in ", w.word(), w.word(), pick(w, "expected", "assert", "want"), w.between(1, 99), pick(w, "got", "was", "is"), w.between(100, 999), total)
	report := func() haltd.ToolResult {
		return ok(fmt.Sprintf("%s%d.%02d s", failure, w.between(0, 9), w.between(0, 99)))
	}
	before := symbol
	round := func(int) Moves {
		after := pick(w, w.word(), "new_"+w.word(), w.word()+"  # "+w.name(), w.word()+"  // renamed", w.word()+"_"+w.word())
		change := call(edit, sargs("path", file, "old", before, "new", after), ok(pick(w, "ok", "The file "+file+" has been updated.", "1 replacement in "+file)))
		before = after
		return seq(k.say(change), k.say(call(shell, sargs("command", command), report())))
	}
	return Case{
		System: k.system("You are a coding agent."),
		Moves:  seq(k.asks(file, "Make the test of "+file+" pass."), k.prior(sCoding), k.loop(w.between(22, 30), round)),
	}
}

// A service does not start, what is in its way is looked up and removed, and
// is back at once under another number.
func stuckClearsTheWay(w *words) Case {
	k := newSkit(w)
	shell := k.tool(pick(w, "run", "execute"), pick(w, "command", "shell", "bash"))
	port := w.between(3000, 9999)
	start := fmt.Sprintf(pick(w, "npm run dev -- --port %d", "./serve --listen :%d", "docker run -p %d:80 web", "java -jar app.jar --port=%d"), port)
	find, remove := fmt.Sprintf(pick(w, "lsof -ti :%d", "fuser %d/tcp", "ss -ltnp sport = :%d"), port), pick(w, "kill -9 %d", "kill %d", "docker rm -f %d")
	refusal := fmt.Sprintf(pick(w, "Error: listen EADDRINUSE: address already in use :::%d", "exit code 1\nbind: address already in use (port %d)", "fatal: port %d is taken"), port)
	pid := w.between(1000, 9000)
	does := func(command, result string) Moves {
		return k.say(call(shell, sargs("command", command), ok(result)))
	}
	round := func(int) Moves {
		pid += w.between(3, 60)
		return seq(does(start, refusal), does(find, fmt.Sprint(pid)), does(fmt.Sprintf(remove, pid), ""))
	}
	return Case{
		System: k.system("You operate a development machine.", "You are a coding agent."),
		Moves:  seq(k.asks(w.name(), "Start the server of "+w.name()+"."), k.prior(sCoding), k.loop(w.between(10, 15), round)),
	}
}
