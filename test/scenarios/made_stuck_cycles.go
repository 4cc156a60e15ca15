package scenarios

import (
	"fmt"
	"strings"

	"github.com/haltd/haltd"
)

func madeStuckCycles() []Family {
	return []Family{
		{"stuck-cycle-of-calls", true, stuckCycleOfCalls},
		{"stuck-list-and-read", true, stuckListAndRead},
		{"stuck-open-and-close", true, stuckOpenAndClose},
		{"stuck-edit-and-undo", true, stuckEditAndUndo},
		{"stuck-toggles-a-setting", true, stuckTogglesASetting},
		{"stuck-two-versions-of-a-file", true, stuckTwoVersionsOfAFile},
		{"stuck-half-a-line-to-and-fro", true, stuckHalfALineToAndFro},
	}
}

// Two to five calls in the same order, with the same results each time.
func stuckCycleOfCalls(w *words) Case {
	k, subject, fail := newSkit(w), w.name(), sfault(w)
	n := w.between(2, 5)
	verbs := some(w, n, strings.Fields("get check list find read compare load rate"))
	var tools, args []string
	var results []haltd.ToolResult
	for i := range n {
		thing := pick(w, sThings...)
		tools, args = append(tools, k.tool(verbs[i], thing)), append(args, sargs("of", subject, pick(w, "part", "kind", "field"), w.word()))
		result := ok(pick(w, sbulk(w), srender(w)(thing, w.between(10, 9000), "of", subject, "state", pick(w, "open", "draft", "unclear"))))
		if w.chance(20) {
			result = fail(pick(w, k.t.denied...))
		}
		results = append(results, result)
	}
	return Case{
		System: k.system("You work in a merchandise system.", "You are a clerk of "+w.name()+" and decide with the tools you have."),
		Moves: seq(
			k.asks(subject, "Decide whether "+subject+" gets the order.", "Is "+subject+" fit to be approved?"),
			k.prior(pick(w, sOffice, sData)),
			k.loop(max(6, k.rounds()/n)*n, func(i int) Moves { return k.say(call(tools[i%n], args[i%n], results[i%n])) }),
		),
	}
}

// A folder is listed and its files are read, then all over again.
func stuckListAndRead(w *words) Case {
	k, folder, n := newSkit(w), pick(w, sFolder...)+"/"+w.word(), w.between(1, 3)
	list, read, listing := k.tool("list", pick(w, "folder", "directory", "files")), k.tool(pick(w, "read", "open", "show"), "file"), slisting(w, w.between(6, 30))
	files, texts := make([]string, n), make([]string, n)
	for i := range files {
		files[i] = folder + "/" + w.word() + "." + pick(w, sExts...)
		texts[i] = scode(w, files[i])
		listing += fmt.Sprintf("\n-rw-r--r-- %7d %s", len(texts[i]), files[i][len(folder)+1:])
	}
	return Case{
		System: k.system("You look after an archive.", "You are a code reviewer."),
		Moves: seq(
			k.asks(folder, "What in "+folder+" still uses "+sident(w)+"?", "Describe what "+folder+" is for."),
			k.prior(sCoding),
			k.loop(k.between(26, 44)/(n+1), func(int) Moves {
				return seq(k.say(call(list, sargs("path", folder), ok(listing))), each(n, func(i int) Moves {
					return k.say(call(read, sargs("path", files[i]), ok(texts[i])))
				}))
			}),
		),
	}
}

// Something is opened and closed with nothing done between; each opening has
// a new number.
func stuckOpenAndClose(w *words) Case {
	k, thing, name := newSkit(w), pick(w, "connection", "window", "document", "session", "panel", "dialog"), w.name()
	open, closing, render := k.tool("open", thing), k.tool("close", thing), srender(w)
	numbered, look := w.chance(60), w.chance(30)
	body, handle := sbulk(w), w.hex(6)
	return Case{
		System: k.system("You operate a desktop through tools.", "You administer the systems of "+w.name()+"."),
		Moves: seq(
			k.asks(name, "Export what is in the "+thing+" "+name+".", "Change the title in the "+thing+" "+name+"."),
			k.prior(sData),
			k.loop(k.between(13, 21), func(int) Moves {
				if numbered {
					handle = w.hex(6)
				}
				text := render("handle", handle, thing, name, "state", "open")
				if look {
					text += "\n" + body
				}
				return seq(k.say(call(open, sargs("name", name), ok(text))),
					k.say(call(closing, sargs("handle", handle), ok(render("handle", handle, "state", "closed")))))
			}),
		),
	}
}

// An edit is made, undone and made again; the answer shows the file.
func stuckEditAndUndo(w *words) Case {
	k, file := newSkit(w), sfileName(w)
	edit, undo := k.tool("edit", "file"), k.tool("undo", "edit")
	before := scode(w, file)
	old := before[strings.Index(before, "return"):]
	old = old[:strings.Index(old, "\n")]
	made := "return " + sident(w) + "(" + w.word() + ")" + strings.Repeat(";", strings.Count(old, ";"))
	after := strings.Replace(before, old, made, 1)
	byUndo := w.chance(50)
	return Case{
		System: k.system("You are a coding agent.", "You change source files; each answer shows the file as it is now."),
		Moves: seq(
			k.asks(file, "The return value in "+file+" is wrong. Correct it.", "Clean up "+file+"."),
			k.prior(sCoding),
			k.loop(k.between(13, 21), func(int) Moves {
				there := call(edit, sargs("path", file, "old", old, "new", made), ok("Edited "+file+":\n"+after))
				back := call(undo, sargs("path", file), ok("Reverted "+file+":\n"+before))
				if !byUndo {
					back = call(edit, sargs("path", file, "old", made, "new", old), ok("Edited "+file+":\n"+before))
				}
				return seq(k.say(there), k.say(back))
			}),
		),
	}
}

// A setting is switched on and off and on.
func stuckTogglesASetting(w *words) Case {
	k, setting, render := newSkit(w), w.word()+"."+pick(w, sParts...), srender(w)
	set, probe := k.tool(pick(w, "set", "update", "change"), pick(w, "setting", "option", "flag")), k.tool("run", "check")
	values := pick(w, []any{true, false}, []any{"on", "off"}, []any{30, 60}, []any{"strict", "lenient"})
	check := sfault(w)(fmt.Sprintf("%s: %s", w.word(), pick(w, k.t.down...)))
	probing := w.chance(60)
	return Case{
		System: k.system("You administer the service "+w.name()+".", "You operate a fleet of machines."),
		Moves: seq(
			k.asks(setting, "The exports fail since the update. I think it is "+setting+".", "Find the right value of "+setting+"."),
			k.prior(sData),
			k.loop(k.between(26, 44)/(1+map[bool]int{true: 1}[probing]), func(i int) Moves {
				v := values[i%2]
				ms := k.say(call(set, sargs("key", setting, "value", v), ok(render("key", setting, "value", v, "saved", true))))
				if probing {
					ms = seq(ms, k.say(call(probe, sargs("target", setting[:strings.Index(setting, ".")]), check)))
				}
				return ms
			}),
		),
	}
}

// The whole file is written in two versions by turns; the check says the same
// of both.
func stuckTwoVersionsOfAFile(w *words) Case {
	k, file, fail := newSkit(w), sfileName(w), sfault(w)
	write, check := k.tool("write", "file"), k.tool(pick(w, "run", "start"), pick(w, "check", "build", "linter"))
	versions := []string{scode(w, file), scode(w, file)}
	if w.chance(60) {
		versions[1] = strings.ReplaceAll(versions[0], "return", "return "+pick(w, "0 +", "1 +", "-")) + "\n"
	}
	message := fmt.Sprintf("%s:%d: %s", file, w.between(1, 40), pick(w, "undefined: "+sident(w), "type mismatch: expected "+w.name()+", found "+w.name(), "unexpected end of input", "cannot import name "+sident(w)))
	return Case{
		System: k.system("You are a coding agent. Write whole files.", "You repair builds."),
		Moves: seq(
			k.asks(file, "Make "+file+" build.", "The build breaks in "+file+". Fix that."),
			k.prior(sCoding),
			k.loop(k.between(13, 21), func(i int) Moves {
				return seq(k.say(call(write, sargs("path", file, "content", versions[i%2]), ok(fmt.Sprintf("%d bytes written to %s", len(versions[i%2]), file)))),
					k.say(call(check, sargs("target", file), fail(message))))
			}),
		),
	}
}

// One line goes to and fro between two wordings with a comment that is new
// each time; the same assertion fails.
func stuckHalfALineToAndFro(w *words) Case {
	k, file := newSkit(w), sfileName(w)
	command, run := stestRun(w, file)
	edit := k.tool(pick(w, "edit", "patch", "update"), "file")
	name, mark, commented := sident(w), "  // ", w.chance(50)
	if strings.HasSuffix(file, ".py") {
		mark = "  # "
	}
	sides := []string{"limit = " + name + " + 1", "limit = " + name}
	last := sides[1]
	remarks := []string{"fixed", "adjusted", "corrected bound", "should work", "see test", "try", "final"}
	return Case{
		System: k.system("You are a coding agent.", "You fix failing tests."),
		Moves: seq(
			k.asks(file, "Why does the test of "+file+" fail? Fix it.", "Get the limit in "+file+" right."),
			k.prior(sCoding),
			k.loop(k.between(13, 21), func(i int) Moves {
				old, made := last, sides[i%2]
				if commented {
					made += mark + remarks[i%len(remarks)]
				}
				last = made
				return seq(k.say(call(edit, sargs("path", file, "old", old, "new", made), ok("1 line changed in "+file))),
					k.say(call("bash", sargs("command", command), haltd.ToolResult{Text: run(), Error: true})))
			}),
		),
	}
}
