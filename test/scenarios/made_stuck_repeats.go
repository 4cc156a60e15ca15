package scenarios

import (
	"fmt"
	"strings"

	"github.com/haltd/haltd"
)

func madeStuckRepeats() []Family {
	return []Family{
		{"stuck-same-call-same-error", true, stuckSameCallSameError},
		{"stuck-same-long-reading", true, stuckSameLongReading},
		{"stuck-path-that-sounds-like-waiting", true, stuckPathThatSoundsLikeWaiting},
		{"stuck-fresh-nonce", true, stuckFreshNonce},
		{"stuck-volatile-result", true, stuckVolatileResult},
		{"stuck-twice-in-one-reply", true, stuckTwiceInOneReply},
		{"stuck-same-pair-in-one-reply", true, stuckSamePairInOneReply},
		{"stuck-tests-without-an-edit", true, stuckTestsWithoutAnEdit},
		{"stuck-edit-does-not-apply", true, stuckEditDoesNotApply},
		{"stuck-edit-changes-nothing", true, stuckEditChangesNothing},
	}
}

// The same call fails in the same way: nothing was changed between.
func stuckSameCallSameError(w *words) Case {
	k, thing, fail := newSkit(w), pick(w, sThings...), sfault(w)
	kind, subject := pick(w, sOffice, sData), w.name()
	tool := k.tool(pick(w, "post", "submit", "create", "load", "convert", "sync"), thing)
	args := sargs(pick(w, "id", "ref", "number"), w.between(100, 99999), "name", subject, pick(w, "amount", "limit", "size"), w.between(1, 5000))
	result := fail(pick(w, pick(w, k.t.denied...), pick(w, k.t.invalid...), pick(w, k.t.down...), sname(w, k.t.missing, subject)))
	return Case{
		System: k.system("You are a back-office agent.", "You help the people of "+w.name()+" with their "+thing+"s.", "You complete tasks with tools and say nothing else."),
		Moves: seq(
			k.asks(subject, fmt.Sprintf("Please put the %s of %s into the system.", thing, subject), fmt.Sprintf("The %s for %s is still missing, add it.", thing, subject)),
			k.prior(kind),
			k.loop(k.rounds(), func(int) Moves { return k.say(call(tool, args, result)) }),
		),
	}
}

// The same long text is read over and over; it was all there the first time.
func stuckSameLongReading(w *words) Case {
	k, file := newSkit(w), sfileName(w)
	kind, tool, args, text := sCoding, k.tool(pick(w, "read", "view", "open"), "file"), sargs(pick(w, "path", "file"), file), scode(w, file)
	switch w.IntN(3) {
	case 0:
		kind, tool, args, text = sBrowsing, k.tool("fetch", "page"), sargs("url", "https://"+ssite(w)+"/"+w.word()), spage(w)
	case 1:
		kind, tool, args, text = sData, k.tool("run", "query"), sargs("sql", "SELECT * FROM "+w.word()+" ORDER BY id"), stable(w, w.between(12, 50))
	}
	return Case{
		System: k.system("You answer questions about a code base and its data.", "You are an analyst. Look before you answer."),
		Moves: seq(
			k.asks(w.name(), "What does "+sident(w)+" do, and who calls it?", "Summarise what you find about "+w.name()+".", "Is there anything about "+w.name()+" in it?"),
			k.prior(kind),
			k.loop(k.rounds(), func(int) Moves { return k.say(call(tool, args, ok(text))) }),
		),
	}
}

// The names sound like waiting, but it is a plain file that does not change.
func stuckPathThatSoundsLikeWaiting(w *words) Case {
	k := newSkit(w)
	word := pick(w, "status", "wait", "poll", "pending", "queue", "retry", "progress", "sleep", "monitor", "job")
	file := fmt.Sprintf("%s/%s/%s_%s.%s", pick(w, sFolder...), word, w.word(), pick(w, "status", "poll", "wait", "check"), pick(w, sExts...))
	tool, args := k.tool("read", "file"), sargs("path", file)
	result := ok(scode(w, file))
	switch w.IntN(3) {
	case 0:
		tool, args = k.tool("run", "command"), sargs("command", "cat "+file)
	case 1:
		result = failed(sname(w, k.t.missing, file))
	}
	return Case{
		System: k.system("You are a coding agent.", "You maintain the back end of "+w.name()+"."),
		Moves: seq(
			k.asks(file, "Explain how "+file+" decides when to give up.", "Fix the off-by-one error in "+file+"."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves { return k.say(call(tool, args, result)) }),
		),
	}
}

// A number drawn anew for each call makes it look new; it is the same request.
func stuckFreshNonce(w *words) Case {
	k, thing, subject, fail := newSkit(w), pick(w, sThings...), w.name(), sfault(w)
	tool, key, clock := k.tool(pick(w, "find", "fetch", "lookup", "price"), thing), pick(w, "request_id", "nonce", "idempotency_key", "trace_id", "timestamp"), sclock(w, 7e9)
	fresh := func() string {
		switch {
		case key == "timestamp":
			return clock()
		case w.chance(50):
			return w.hex(16)
		}
		return fmt.Sprintf("%s-%s-4%s-%s", w.hex(8), w.hex(4), w.hex(3), w.hex(12))
	}
	result := ok(srender(w)("customer", subject, "matches", 0, "note", ssentence(w)))
	if w.chance(50) {
		result = fail(pick(w, pick(w, k.t.denied...), pick(w, k.t.invalid...), sname(w, k.t.missing, subject)))
	}
	return Case{
		System: k.system("You serve an ordering system. Give every call a fresh "+key+".", "You work on the "+thing+" desk."),
		Moves: seq(
			k.asks(subject, "Get me the "+thing+" of "+subject+".", subject+" asks where the "+thing+" is. Find it."),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				return k.say(call(tool, sargs(key, fresh(), "customer", subject), result))
			}),
		),
	}
}

// The answer carries a clock, a process or a counter and is the same else.
func stuckVolatileResult(w *words) Case {
	k, thing, subject := newSkit(w), pick(w, sThings...), w.name()
	render, changing, body := srender(w), svolatile(w), ""
	if w.chance(50) {
		body = "\n" + sbulk(w)
	}
	note, lead := ssentence(w), w.chance(50)
	tool, args := k.tool(pick(w, "get", "inspect", "read", "show"), thing), sargs("name", subject, "view", w.word())
	return Case{
		System: k.system("You keep the "+thing+" records.", "You are an operations agent."),
		Moves: seq(
			k.asks(subject, "Does the "+thing+" of "+subject+" look right?", "Tell me what the "+thing+" of "+subject+" says."),
			k.prior(sData),
			k.loop(k.rounds(), func(int) Moves {
				kv := []any{thing, subject, "note", note}
				if lead {
					kv = append(changing(), kv...)
				} else {
					kv = append(kv, changing()...)
				}
				return k.say(call(tool, args, ok(render(kv...)+body)))
			}),
		),
	}
}

// Every reply makes the same call two to four times.
func stuckTwiceInOneReply(w *words) Case {
	k, city, fail := newSkit(w), pick(w, sCities...), sfault(w)
	tool := k.tool(pick(w, "find", "search", "get"), pick(w, "connection", "slot", "room", "price"))
	args, n := sargs("place", city, "date", smoment(w).Format("2006-01-02"), "for", sperson(w)), w.between(2, 4)
	result := fail(pick(w, pick(w, k.t.down...), pick(w, k.t.invalid...)))
	if w.chance(40) {
		result = ok(sbulk(w))
	}
	return Case{
		System: k.system("You plan journeys.", "You book rooms and trains. You may call several tools at once."),
		Moves: seq(
			k.asks(city, "I have to be in "+city+" next week, arrange it.", "Find something good in "+city+"."),
			k.prior(sBrowsing),
			k.loop(k.rounds(), func(int) Moves {
				same := make([]Moves, n)
				for i := range same {
					same[i] = call(tool, args, result)
				}
				return k.say(together(same...))
			}),
		),
	}
}

// Every reply makes the same two or three calls and learns the same from them.
func stuckSamePairInOneReply(w *words) Case {
	k, subject := newSkit(w), w.name()
	var tools, args []string
	var results []haltd.ToolResult
	for range w.between(2, 3) {
		thing := pick(w, sThings...)
		tools = append(tools, k.tool(pick(w, "get", "read", "load"), thing))
		args = append(args, sargs("of", subject, "part", w.word()))
		results = append(results, ok(pick(w, sbulk(w), srender(w)(thing, w.between(10, 9000), "of", subject, "by", sperson(w)))))
	}
	return Case{
		System: k.system("You are a data analyst.", "You check the figures of "+w.name()+"."),
		Moves: seq(
			k.asks(subject, "Do the figures of "+subject+" agree with each other?"),
			k.prior(sData),
			k.loop(k.rounds(), func(int) Moves {
				calls := make([]Moves, len(tools))
				for i := range calls {
					calls[i] = call(tools[i], args[i], results[i])
				}
				return k.say(together(calls...))
			}),
		),
	}
}

// stestRun is a command and the output of a failing test run in the language
// of a file; only the duration changes.
func stestRun(w *words, file string) (command string, run func() string) {
	test, line, others := sident(w), w.between(10, 600), w.between(1, 25)
	got, want, passed := w.between(1, 400), w.between(401, 900), w.between(2, 90)
	names := w.several(others)
	list := func(format string) string {
		return slines(others, func(i int) string { return fmt.Sprintf(format, names[i]) })
	}
	secs := func() string { return fmt.Sprintf("%d.%02d", w.IntN(30), w.IntN(100)) }
	switch {
	case strings.HasSuffix(file, ".py"):
		return "pytest -v tests/test_" + w.word() + ".py", func() string {
			return fmt.Sprintf("%s\ntest_%s FAILED\n\n=== FAILURES ===\n%s:%d: AssertionError: assert %d == %d\n%s\n1 failed, %d passed in %ss", list("test_%s PASSED"), test, file, line, got, want, strings.Repeat("-", 40), passed, secs())
		}
	case strings.HasSuffix(file, ".go"):
		return "go test -v ./" + w.word() + "/...", func() string {
			return fmt.Sprintf("%s\n--- FAIL: Test_%s (%ss)\n    %s:%d: got %d, want %d\nFAIL\nFAIL\texample/%s\t%ss", list("--- PASS: Test_%s (0.00s)"), test, secs(), file, line, got, want, names[0], secs())
		}
	case strings.HasSuffix(file, ".java"):
		return "mvn test -Dtest=" + w.name() + "Test", func() string {
			return fmt.Sprintf("%s\n[ERROR] %s:%d expected:<%d> but was:<%d>\n[ERROR] Tests run: %d, Failures: 1, Errors: 0, Time elapsed: %s s\n[INFO] BUILD FAILURE", list("[INFO] Running %sTest"), file, line, want, got, passed, secs())
		}
	}
	return "npm test -- " + w.word(), func() string {
		return fmt.Sprintf("%s\n  x %s\n\n  Expected: %d\n  Received: %d\n      at %s:%d:%d\n\nTests: 1 failed, %d passed\nTime: %s s", list("  ok %s"), test, want, got, file, line, got%40, passed, secs())
	}
}

// Tests are run again and again although nothing was edited.
func stuckTestsWithoutAnEdit(w *words) Case {
	k := newSkit(w)
	command, run := stestRun(w, sfileName(w))
	tool := pick(w, k.tool("run", "tests"), "bash", "shell", "execute")
	args := sargs(pick(w, "command", "cmd"), command)
	marked := w.chance(50)
	return Case{
		System: k.system("You are a maintainer of a code base.", "You are a coding agent. Run the tests before you finish."),
		Moves: seq(
			k.asks(w.word(), "Make the tests of "+sident(w)+" green.", "One test is red since yesterday. Fix it."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				return k.say(call(tool, args, haltd.ToolResult{Text: run(), Error: marked}))
			}),
		),
	}
}

// The same edit does not match, and is tried again, at times after a look at
// the file.
func stuckEditDoesNotApply(w *words) Case {
	k, file, fail := newSkit(w), sfileName(w), sfault(w)
	edit, read, text, old := k.tool(pick(w, "edit", "replace", "patch"), "file"), k.tool("read", "file"), scode(w, file), "return "+sident(w)+"("+w.word()+")"
	args := sargs("path", file, "old_str", old, "new_str", "return "+sident(w)+"()")
	message := pick(w, "No replacement was made: old_str did not appear verbatim in "+file+".", "String to replace not found in file.", "Hunk #1 FAILED at "+fmt.Sprint(w.between(3, 400))+". 1 out of 1 hunk failed.")
	looks := pick(w, 0, 2, 3)
	return Case{
		System: k.system("You are a coding agent.", "You change source files with tools."),
		Moves: seq(
			k.asks(file, "Use the new helper in "+file+".", "Rename the call in "+file+"."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(i int) Moves {
				if looks > 0 && i%looks == looks-1 {
					return k.say(call(read, sargs("path", file), ok(text)))
				}
				return k.say(call(edit, args, fail(message)))
			}),
		),
	}
}

// The edit puts back what is there, and the same test fails the same way.
func stuckEditChangesNothing(w *words) Case {
	k, file := newSkit(w), sfileName(w)
	command, run := stestRun(w, file)
	edit, test := k.tool("edit", "file"), k.tool("run", "tests")
	line := "return " + sident(w) + "(" + w.word() + ")"
	done := pick(w, "The file "+file+" was written. 0 lines changed.", file+": old and new text are the same, nothing to do.", "OK (no differences)")
	return Case{
		System: k.system("You are a coding agent.", "You repair failing builds."),
		Moves: seq(
			k.asks(file, "The test for "+file+" fails. Repair it.", "Get the build green again; I suspect "+file+"."),
			k.prior(sCoding),
			k.loop(k.between(13, 22), func(int) Moves {
				return seq(k.say(call(edit, sargs("path", file, "old", line, "new", line), ok(done))), k.say(call(test, sargs("command", command), failed(run()))))
			}),
		),
	}
}
