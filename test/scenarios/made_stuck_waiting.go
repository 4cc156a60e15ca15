package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

func madeStuckWaiting() []Family {
	return []Family{
		{"stuck-hanging-job-polled", true, stuckHangingJobPolled},
		{"stuck-lock-never-goes", true, stuckLockNeverGoes},
		{"stuck-log-does-not-grow", true, stuckLogDoesNotGrow},
		{"stuck-submit-refused", true, stuckSubmitRefused},
		{"stuck-harness-refuses-the-end", true, stuckHarnessRefusesTheEnd},
		{"stuck-steps-are-counted", true, stuckStepsAreCounted},
		{"stuck-time-left-in-the-result", true, stuckTimeLeftInTheResult},
	}
}

// A job has hung for hours and is polled every few seconds; only the clock of
// the answer moves.
func stuckHangingJobPolled(w *words) Case {
	k, render, job := newSkit(w), srender(w), fmt.Sprintf("%s-%d", w.word(), w.between(10, 9999))
	rest := time.Duration(w.between(1, 4)) * time.Second
	since := smoment(w)
	clock, beat := sclockFrom(w, since.Add(time.Duration(w.between(3, 40))*time.Hour), rest), since.Format(time.RFC3339)
	tool, state := k.tool(pick(w, "get", "poll", "check"), pick(w, "job", "run", "task")), pick(w, "running", "queued", "starting", "stalled")
	polled := every(rest, each(w.between(60, 110), func(int) Moves {
		return k.say(call(tool, sargs("id", job), ok(render("id", job, "state", state, "progress", 0, "last_heartbeat", beat, "now", clock()))))
	}))
	return Case{
		System: k.system("You run jobs.", "You watch over the batch system of "+w.name()+"."),
		Moves: seq(
			k.asks(job, "Tell me when "+job+" is through.", "Start "+job+" and report its result."),
			k.prior(sData),
			loop(), polled,
		),
	}
}

// A lock file that a dead process has left is looked at every few seconds.
func stuckLockNeverGoes(w *words) Case {
	k, file, pid := newSkit(w), "/var/lock/"+w.word()+".lock", w.between(300, 60000)
	rest := time.Duration(w.between(1, 4)) * time.Second
	since := smoment(w)
	clock, timed := sclockFrom(w, since.Add(time.Duration(w.between(5, 90))*time.Hour), rest), w.chance(60)
	command := fmt.Sprintf(pick(w, "sleep %[1]d; %[3]sls -l %[2]s; ps -p $(cat %[2]s)", "sleep %[1]d && %[3]sls -l %[2]s && cat %[2]s | xargs ps -p", "%[3]sls -l %[2]s; ps -p %[4]d; sleep %[1]d"),
		int(rest.Seconds()), file, map[bool]string{true: "date; "}[timed], pid)
	tool := pick(w, "bash", "shell", k.tool("run", "command"))
	dead := fmt.Sprintf("-rw-r--r-- 1 root root 6 %s %s\n    PID TTY          TIME CMD", since.Format("Jan _2 15:04"), file)
	looks := every(rest, each(w.between(60, 100), func(int) Moves {
		text := dead
		if timed {
			text = clock() + "\n" + dead
		}
		return k.say(call(tool, sargs("command", command), ok(text)))
	}))
	return Case{
		System: k.system("You operate servers.", "You install packages on the hosts of "+w.name()+"."),
		Moves: seq(
			k.asks(file, "Install "+w.word()+" as soon as the lock is free.", "Run the update once "+file+" is gone."),
			k.prior(sCoding),
			loop(), looks,
		),
	}
}

// The end of a log is read every few seconds, and no line has come since.
func stuckLogDoesNotGrow(w *words) Case {
	k, file, rest := newSkit(w), "/var/log/"+w.word()+".log", time.Duration(w.between(1, 4))*time.Second
	tool, text, waits := k.tool("tail", "log"), slog(w, w.between(5, 30)), w.chance(40)
	text += "\n" + pick(w, "FATAL worker crashed, shutting down", "terminated by signal 9", "ERROR out of memory, exiting", "panic: no space left on device")
	return Case{
		System: k.system("You watch services.", "You restart what has stopped and report."),
		Moves: seq(
			k.asks(file, "Tell me when the import in "+file+" is finished.", "Watch "+file+" until it says done."),
			k.prior(sData),
			loop(),
			every(rest, each(w.between(30, 50), func(int) Moves {
				ms := k.say(call(tool, sargs("file", file, "lines", 30), ok(text)))
				if waits {
					ms = seq(ms, call(k.tool("wait", "seconds"), sargs("seconds", int(rest.Seconds())), ok("ok")))
				}
				return ms
			})),
		),
	}
}

// verifying are n looks between two refusals: new ones for a few rounds, then
// the same ones again.
func (k *skit) verifying(n int) func(round int) Moves {
	fresh, known := k.between(1, 3), k.reading(n)
	return func(round int) Moves {
		if round < fresh {
			return k.reading(n)
		}
		return join(known)
	}
}

// A submission is refused with the same words; checks that change nothing
// come between.
func stuckSubmitRefused(w *words) Case {
	k, fail, n := newSkit(w), sfault(w), w.between(4, 8)
	between, tool := k.verifying(n), k.tool(pick(w, "submit", "finish", "deliver"), pick(w, "solution", "task", "order"))
	refusal := fail(pick(w, "Submission rejected: the check '"+w.word()+" "+w.word()+"' does not pass.", "Not accepted. 1 of "+fmt.Sprint(w.between(3, 40))+" hidden tests fails: "+sident(w), pick(w, k.t.invalid...)))
	round := func(i int) Moves {
		return seq(between(i), k.say(call(tool, sargs("summary", k.claims()), refusal)))
	}
	return Case{
		System: k.system("You solve a task and submit it when it is done.", "You are a coding agent. Call "+tool+" at the end."),
		Moves: seq(
			k.asks(w.name(), "Make the hidden checks of "+w.name()+" pass.", "Repair "+sident(w)+" and submit."),
			k.prior(sCoding),
			k.paced(round(0)),
			k.loop(w.between(6, 9), func(i int) Moves { return round(i + 1) }),
		),
	}
}

// The harness refuses the end in a message of its own, always for the same
// want, which the steps between do nothing about.
func stuckHarnessRefusesTheEnd(w *words) Case {
	k, n, section := newSkit(w), w.between(3, 6), w.name()
	between := k.verifying(n)
	refusal := pick(w, "Your work cannot be accepted: the section "+section+" is missing. Finish only when every section is there.", "Stop hook feedback:\n["+w.word()+".sh]: "+section+" must be signed before stopping", pick(w, k.t.invalid...)+" ("+section+")")
	round := func(i int) Moves {
		return seq(between(i), answer(k.claims()+" "+sname(w, k.t.settle, section), refusal))
	}
	return Case{
		System: k.system("You write reports.", "You work until the report is accepted."),
		Moves: seq(
			k.asks(section, "Write the report about "+w.name()+" with all sections."),
			k.prior(sCoding),
			k.paced(round(0)),
			k.loop(w.between(7, 10), func(i int) Moves { return round(i + 1) }),
		),
	}
}

// A message that counts the steps comes after each result, while the same
// call fails.
func stuckStepsAreCounted(w *words) Case {
	k, thing, fail, limit := newSkit(w), pick(w, sThings...), sfault(w), pick(w, 60, 100, 200)
	tool, subject := k.tool(pick(w, "open", "load", "update"), thing), w.name()
	args := sargs("name", subject, "part", w.word())
	result := fail(pick(w, pick(w, k.t.denied...), pick(w, k.t.invalid...), pick(w, k.t.down...)))
	left, wording := w.between(600, 3000), pick(w, "Step {n} of {all}.", "Time left: {left} s", "[{n}/{all}] Continue. {left} s remain.", "You have used {n} of {all} actions; budget left: {left}.")
	guided := w.chance(40)
	return Case{
		System: k.system("You work with a budget of steps.", "You are an autonomous agent with a limit."),
		Moves: seq(
			k.asks(subject, "Correct the "+thing+" of "+subject+"."),
			k.loop(k.rounds(), func(i int) Moves {
				left -= w.between(3, 9)
				text := strings.NewReplacer("{n}", fmt.Sprint(i+1), "{all}", fmt.Sprint(limit), "{left}", fmt.Sprint(left)).Replace(wording)
				if guided {
					text += " " + pick(w, k.t.remind...)
				}
				return seq(k.say(call(tool, args, result)), user(text))
			}),
		),
	}
}

// The result itself says how much time is left, and else the same.
func stuckTimeLeftInTheResult(w *words) Case {
	k, left, tokens := newSkit(w), w.between(900, 5000), w.between(20000, 190000)
	command, run := stestRun(w, sfileName(w))
	tool, marked, other := pick(w, "bash", k.tool("run", "command")), w.chance(50), w.chance(40)
	wording := pick(w, "Remaining time: %d s", "<system-reminder>%d seconds left</system-reminder>", "(budget: %d s)")
	return Case{
		System: k.system("You are a coding agent with a time limit.", "You repair builds within the hour."),
		Moves: seq(
			k.asks(w.name(), "Make "+command+" pass.", "Get the failing test green."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				left, tokens = left-w.between(5, 20), tokens-w.between(100, 900)
				text := run() + "\n" + fmt.Sprintf(wording, left)
				if other {
					text += fmt.Sprintf("\nTokens left: %d", tokens)
				}
				return k.say(call(tool, sargs("command", command), haltd.ToolResult{Text: text, Error: marked}))
			}),
		),
	}
}
