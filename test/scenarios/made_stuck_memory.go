package scenarios

import (
	"fmt"
	"strings"
	"time"
)

func madeStuckMemory() []Family {
	return []Family{
		{"stuck-history-in-one-message", true, stuckHistoryInOneMessage},
		{"stuck-compacted-again-and-again", true, stuckCompactedAgainAndAgain},
		{"stuck-oldest-messages-dropped", true, stuckOldestMessagesDropped},
		{"stuck-one-shot-prompt", true, stuckOneShotPrompt},
		{"stuck-snapshot-of-the-state", true, stuckSnapshotOfTheState},
		{"stuck-fresh-worker-fails-alike", true, stuckFreshWorkerFailsAlike},
	}
}

// An agent without a memory writes its history into one message, and does
// what it did before.
func stuckHistoryInOneMessage(w *words) Case {
	k, thing, place := newSkit(w), w.name(), w.name()
	verb, refusal := pick(w, "MOVE", "CARRY", "LOAD", "SEND"), pick(w, pick(w, k.t.denied...), sname(w, k.t.missing, thing), "refused: the aisle is blocked by "+w.name())
	n := pick(w, 1, 1, 2, 3)
	acts := make([]string, n)
	for i := range acts {
		acts[i] = fmt.Sprintf("%s %s TO %s", verb, thing, place)
		if i > 0 {
			acts[i] += " VIA " + w.name()
		}
	}
	begun := w.between(0, 6)
	moves := stateless(begun+k.rounds(), k.task(place, "Bring "+thing+" to "+place+"."), func(i int) (string, string) {
		if i < begun {
			return "LOOK " + w.word(), ssentence(w)
		}
		return acts[i%n], refusal
	})
	return Case{
		System: k.system("You control a robot. Answer with one command.", "You answer with one command and nothing else."),
		Ledger: true,
		Moves:  seq(k.paced(moves[:2*begun]), loop(), k.paced(moves[2*begun:])),
	}
}

// The conversation is compacted every few rounds; after each summary the same
// steps begin again and fail again.
func stuckCompactedAgainAndAgain(w *words) Case {
	k, file, n := newSkit(w), sfileName(w), w.between(3, 6)
	command, run := stestRun(w, file)
	known := k.reading(n - 1)
	heads := []string{"This session is being continued from a previous conversation that ran out of context.", "Summary of the conversation so far:", "The earlier messages were compacted."}
	task := k.task(file, "Make the test of "+file+" pass.")
	summary := func(i int) string {
		return fmt.Sprintf("%s (part %d)\nTask: %s\n%s %s failed. %s", pick(w, heads...), i+2, task, k.claims(), command, k.narration())
	}
	return Case{
		System: k.system("You are a coding agent."),
		Ledger: true,
		Moves: seq(
			user(task),
			k.prior(sCoding),
			k.loop(k.between(30, 48)/n, func(i int) Moves {
				return seq(join(known), k.say(call("bash", sargs("command", command), failed(run()))), forget(summary(i)))
			}),
			says(k.narration()),
		),
	}
}

// The client keeps only the newest messages, and the same call fails on.
func stuckOldestMessagesDropped(w *words) Case {
	k, fail, port := newSkit(w), sfault(w), "/dev/tty"+strings.ToUpper(w.word()[:3])+fmt.Sprint(w.IntN(9))
	tool, size := k.tool(pick(w, "flash", "open", "read"), "device"), 2*w.between(2, 6)
	result := fail(pick(w, pick(w, k.t.denied...), sname(w, k.t.missing, port)))
	varied := w.chance(50)
	return Case{
		System: k.system("You look after small machines.", "You program boards."),
		Ledger: true,
		Moves: seq(
			k.asks(port, "Flash the board at "+port+".", "Read the sensor at "+port+"."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				speed := 9600
				if varied {
					speed = pick(w, 4800, 9600, 19200, 38400, 57600, 115200)
				}
				return seq(k.say(call(tool, sargs("port", port, "speed", speed), result)), keep(size))
			}),
		),
	}
}

// squestion is a prompt that needs no history, and the answer to it.
func squestion(k *skit) (prompt, reply string) {
	w := k.words
	if !k.english {
		about := w.name()
		return sname(w, k.t.task, about), sname(w, k.t.settle, about)
	}
	names := []string{sperson(w), sperson(w), sperson(w)}
	text := sparagraph(w, w.between(1, 12))
	switch w.IntN(4) {
	case 0:
		if w.chance(50) {
			return "Is this message urgent? Answer with one word.\n" + text, pick(w, "yes", "no")
		}
		return "Label the mail as invoice, complaint or other:\n" + text, pick(w, "invoice", "other", "complaint")
	case 1:
		for _, n := range names {
			text += fmt.Sprintf(" %s has signed the %s.", n, pick(w, sThings...))
		}
		return "Extract who has signed, as JSON:\n" + text, sargs("signed", names)
	case 2:
		part := w.name() + " " + pick(w, "pump", "valve", "sensor", "engine")
		return fmt.Sprintf("Alarm: %s reports %d degrees, the limit is %d. What is to be done?", part, w.between(90, 200), w.between(40, 89)), fmt.Sprintf("Close the bypass, check %s and call %s if the temperature does not fall.", part, names[0])
	}
	return "Translate the last sentence into German and shorten it:\n" + text, "Die Antwort von " + names[1] + " liegt vor, " + names[2] + " prüft sie."
}

// Exactly the same prompt is sent at the pace of a loop, and the same answer
// comes; there is no history at all.
func stuckOneShotPrompt(w *words) Case {
	k, rest := newSkit(w), time.Duration(w.between(1, 20))*time.Second
	prompt, reply := squestion(k)
	return Case{
		System:  k.system("You answer one question at a time.", "You are a service that handles one message per request."),
		Unnamed: true, Ledger: true,
		Moves: seq(loop(), every(rest, rep(w.between(26, 45), forget(prompt), says(reply)))),
	}
}

// Each prompt shows only the goal and the state; the state stays as it is,
// and so does the answer.
func stuckSnapshotOfTheState(w *words) Case {
	k, app := newSkit(w), w.name()
	goal, stuck := k.task(app, "Open the settings of "+app+" and accept the terms."), sscreen(w, app)
	act := pick(w, "click(%d)", "tap %d", `{"action":"click","index":%d}`, "Action: press %d")
	at, worded := w.between(0, 9), w.chance(40)
	show := func(screen string) Moves { return forget("Goal: " + goal + "\nScreen:\n" + screen) }
	return Case{
		System: k.system("You see the screen as text and answer with one action.", "You operate an app. One action each time."),
		Ledger: true,
		Moves: seq(
			k.paced(each(w.between(0, 8), func(int) Moves { return seq(show(sscreen(w, app)), says(fmt.Sprintf(act, w.between(0, 30)))) })),
			k.loop(k.rounds(), func(int) Moves {
				text := fmt.Sprintf(act, at)
				if worded {
					text = k.narration() + "\n" + text
				}
				return seq(show(stuck), says(text))
			}),
		),
	}
}

// Each worker that a leader starts tries what the last one failed at, and
// fails in the same way.
func stuckFreshWorkerFailsAlike(w *words) Case {
	k, fail, file, steps := newSkit(w), sfault(w), sfileName(w), w.between(3, 6)
	lead, order := k.tool("start", pick(w, "worker", "agent", "subtask")), k.task(file, "Build "+file+" and report the result.")
	known, tool := k.reading(steps-2), k.tool("build", "target")
	refusal := fail(pick(w, pick(w, k.t.denied...), pick(w, k.t.down...), sname(w, k.t.missing, file)))
	worker := func(i int) Moves {
		return in(fmt.Sprintf("worker-%d", i+1), user(order), join(known), k.say(call(tool, sargs("target", file), refusal)), says(sglue(w, k.t.blocked, k.t.tail)))
	}
	begin := func(i int) Moves {
		return in("lead", k.say(call(lead, sargs("name", fmt.Sprintf("worker-%d", i+1), "instruction", order), ok(fmt.Sprintf("worker-%d: %s", i+1, refusal.Text)))))
	}
	return Case{
		System: k.system("You are part of a team: a leader starts workers and workers report.", "You work in a team of agents."),
		Ledger: true,
		Moves: seq(
			in("lead", user(order)), begin(0), worker(0),
			k.loop(k.between(36, 48)/(steps+1), func(i int) Moves { return seq(begin(i+1), worker(i+1)) }),
		),
	}
}
