package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckEffects() []Family {
	return []Family{
		{"stuck-same-patch-again", true, stuckSamePatchAgain},
		{"stuck-same-message-sent-again", true, stuckSameMessageSentAgain},
		{"stuck-plan-written-again", true, stuckPlanWrittenAgain},
		{"stuck-todo-list-rewritten", true, stuckTodoListRewritten},
		{"stuck-same-note-saved-again", true, stuckSameNoteSavedAgain},
		{"stuck-row-inserted-again", true, stuckRowInsertedAgain},
	}
}

// The same patch is applied again and again, and each time it is applied.
func stuckSamePatchAgain(w *words) Case {
	k, file := newSkit(w), sfileName(w)
	tool, line := k.tool("apply", "patch"), w.between(5, 400)
	lines := slines(w.between(1, 12), func(int) string { return "+    " + sident(w) + "(" + w.word() + ")" })
	patch := fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -%d,3 +%d,9 @@\n %s\n%s", file, file, line, line, sident(w)+"()", lines)
	done := pick(w, "Patch applied.", "Success. Updated the following files:\nM "+file, "Hunk #1 succeeded at %d.", "applied to "+file+" (%d lines now)")
	return Case{
		System: k.system("You are a coding agent.", "You apply patches."),
		Moves: seq(
			k.asks(file, "Call the new helpers from "+file+".", "Add the missing lines to "+file+"."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(i int) Moves {
				text := done
				if strings.Contains(text, "%d") {
					text = fmt.Sprintf(text, line+10*i)
				}
				return k.say(call(tool, sargs("patch", patch), ok(text)))
			}),
		),
	}
}

// The same message goes out over and over; each has a new number.
func stuckSameMessageSentAgain(w *words) Case {
	k, who, render, clock := newSkit(w), sperson(w), srender(w), sclock(w, 9e9)
	tool, text := k.tool("send", pick(w, "message", "mail", "sms")), sparagraph(w, w.between(1, 5))
	greet, reworded := pick(w, k.t.thanks...), w.chance(30)
	timed := w.chance(50)
	return Case{
		System: k.system("You write to customers.", "You are the secretary of "+sperson(w)+"."),
		Moves: seq(
			k.asks(who, "Write to "+who+" that the delivery is late.", "Remind "+who+" of the meeting."),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				if reworded {
					greet = pick(w, k.t.thanks...)
				}
				kv := []any{"status", "sent", "message_id", w.hex(12)}
				if timed {
					kv = append(kv, "at", clock())
				}
				return k.say(call(tool, sargs("to", who, "text", text+" "+greet), ok(render(kv...))))
			}),
		),
	}
}

// The plan is written again in other words, and never begun.
func stuckPlanWrittenAgain(w *words) Case {
	k, subject, saved := newSkit(w), w.name(), w.chance(70)
	tool, key := k.tool(pick(w, "write", "save", "update"), "plan"), pick(w, "plan", "content", "steps")
	verbs := [][]string{sl("Read|Study|Go through|Look into|Examine"), sl("Collect|Gather|Compile|Bring together|List"), sl("Compare|Weigh|Set side by side|Contrast|Rate"), sl("Write|Draft|Compose|Put down|Prepare"), sl("Review|Check|Verify|Go over|Proofread")}
	things := some(w, len(verbs), sThings)
	plan := func() string {
		return slines(len(verbs), func(i int) string {
			return fmt.Sprintf("%d. %s the %s of %s%s", i+1, pick(w, verbs[i]...), things[i], subject, pick(w, "", " first", " with care", " in detail", " as needed", "."))
		})
	}
	answered := pick(w, "Plan saved.", "The plan has been updated. Now carry it out.", "ok")
	return Case{
		System: k.system("You plan before you act.", "You are an agent that keeps a plan and carries it out."),
		Moves: seq(
			k.asks(subject, "Compare the offers for "+subject+" and write a recommendation."),
			k.loop(k.rounds(), func(int) Moves {
				if saved {
					return k.say(call(tool, sargs(key, plan()), ok(answered)))
				}
				return answer(k.narration()+"\n\n"+plan(), pick(w, k.t.remind[:1]...))
			}),
		),
	}
}

// The list of things to do is rewritten all the time; nothing on it is ever
// done.
func stuckTodoListRewritten(w *words) Case {
	k, items := newSkit(w), make([]string, w.between(4, 9))
	for i := range items {
		items[i] = pick(w, "Check", "Write", "Fix", "Rename", "Test", "Move") + " " + pick(w, sThings...) + " " + w.word()
	}
	tool, shuffled := k.tool(pick(w, "write", "update", "set"), pick(w, "todos", "tasks", "list")), w.chance(50)
	words := sl("pending|in_progress|pending|pending")
	return Case{
		System: k.system("You are a coding agent. Keep a todo list.", "You keep track of your work in a list."),
		Moves: seq(
			k.asks(w.name(), "Clean up the module "+w.word()+".", "Prepare the release."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(i int) Moves {
				list := items
				if shuffled {
					list = some(w, len(items), items)
				}
				var todos []map[string]string
				for j, s := range list {
					todos = append(todos, map[string]string{"content": s, "status": words[(i+j)%len(words)]})
				}
				return k.say(call(tool, sargs("todos", todos), ok(pick(w, "Todos have been modified successfully. Ensure that you continue to use the todo list.", "Todos have been modified successfully. Ensure that you continue to use the todo list.", "Todo list updated."))))
			}),
		),
	}
}

// One fact is saved in the memory again and again.
func stuckSameNoteSavedAgain(w *words) Case {
	k, render := newSkit(w), srender(w)
	tool, who := k.tool(pick(w, "save", "add", "store"), pick(w, "memory", "note", "fact")), sperson(w)
	fact, city := pick(w, sThings...), pick(w, sCities...)
	wordings := []string{"%[1]s lives in %[2]s and asks about the %[3]s.", "The user %[1]s, from %[2]s, is interested in the %[3]s.", "%[1]s (%[2]s): %[3]s.", "Interest of %[1]s in %[2]s: the %[3]s.", "The %[3]s matters to %[1]s, who lives in %[2]s."}
	reworded := w.chance(60)
	return Case{
		System: k.system("You keep what you learn about people in your memory.", "You are a personal assistant with a memory."),
		Moves: seq(
			k.asks(who, "I am "+who+" from "+city+". What about my "+fact+"?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				wording := wordings[0]
				if reworded {
					wording = pick(w, wordings...)
				}
				return k.say(call(tool, sargs("text", fmt.Sprintf(wording, who, city, fact)), ok(render("stored", true, "id", w.hex(8)))))
			}),
		),
	}
}

// The same row is entered over and over; the number of the row grows.
func stuckRowInsertedAgain(w *words) Case {
	k, thing, who, n := newSkit(w), pick(w, sThings...), sperson(w), w.between(10, 9000)
	tool, render := k.tool(pick(w, "add", "insert", "create"), pick(w, "row", "record", "entry")), srender(w)
	args := sargs("table", thing+"s", "name", who, "city", pick(w, sCities...), "amount", w.between(1, 900))
	return Case{
		System: k.system("You keep tables.", "You enter "+thing+"s."),
		Moves: seq(
			k.asks(who, "Enter the "+thing+" of "+who+".", "Please add one "+thing+" for "+who+"."),
			k.prior(sData),
			k.loop(k.rounds(), func(i int) Moves {
				return k.say(call(tool, args, ok(render("inserted", 1, "row", n+i))))
			}),
		),
	}
}
