package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckChatter() []Family {
	return []Family{
		{"stuck-thanks-and-thanks", true, stuckThanksAndThanks},
		{"stuck-continue-and-the-same-conclusion", true, stuckContinueAndTheSameConclusion},
		{"stuck-blocked-please-advise", true, stuckBlockedPleaseAdvise},
		{"stuck-empty-replies", true, stuckEmptyReplies},
		{"stuck-wants-another-format", true, stuckWantsAnotherFormat},
		{"stuck-over-to-you", true, stuckOverToYou},
		{"stuck-promises-to-begin", true, stuckPromisesToBegin},
		{"stuck-ledger-says-progress", true, stuckLedgerSaysProgress},
		{"stuck-team-keeps-agreeing", true, stuckTeamKeepsAgreeing},
		{"stuck-ready-for-the-next-task", true, stuckReadyForTheNextTask},
	}
}

// begun is a short exchange that settles something, before talk goes in circles.
func (k *skit) begun(about string) Moves {
	return seq(k.asks(about), k.work(sOffice, k.between(0, 5)), says(sname(k.words, k.t.settle, about)))
}

// Two agents thank each other; the matter itself is closed.
func stuckThanksAndThanks(w *words) Case {
	k, subject := newSkit(w), w.name()
	them, us := sperson(w), sperson(w)
	remarks := []string{""}
	if k.english {
		for range w.between(2, 6) {
			remarks = append(remarks, fmt.Sprintf(pick(w, "The %s of %s is in good hands.", "It is a relief that the %s for %s is settled.", "I look forward to the next %s from %s.", "Give my regards to all who work on the %s at %s.", "What a fine %s it was, thanks to %s!"), pick(w, sThings...), w.name()))
		}
	}
	long, named := w.chance(50), w.chance(50)
	say := func(first, second []string, to string) string {
		text := sglue(w, first, remarks)
		if long {
			text = sglue(w, first, remarks, second)
		}
		if named {
			text = to + ": " + text
		}
		return text
	}
	return Case{
		System: k.system("You are the agent of a seller and talk to the agent of a buyer.", "You are one of two agents who settle an order."),
		Moves: seq(
			k.begun(subject),
			k.loop(k.rounds(), func(int) Moves {
				return seq(user(say(k.t.thanks, k.t.welcome, us)), says(say(k.t.welcome, k.t.thanks, them)))
			}),
		),
	}
}

// It is told to continue and gives the same conclusion in other words.
func stuckContinueAndTheSameConclusion(w *words) Case {
	k, subject := newSkit(w), w.name()
	prod, varied := pick(w, k.t.remind...), w.chance(40)
	value := fmt.Sprintf("%d.%02d", w.between(1, 9000), w.IntN(100))
	return Case{
		System: k.system("You are an analyst.", "You work until you are told to stop."),
		Moves: seq(
			k.begun(subject),
			k.loop(k.rounds(), func(int) Moves {
				if varied {
					prod = pick(w, k.t.remind...)
				}
				text := strings.ReplaceAll(strings.Join(some(w, w.between(1, 2), k.t.settle), " "), "%s", subject)
				return seq(user(prod), says(sglue(w, k.t.open, []string{text + " (" + value + ")"})))
			}),
		),
	}
}

// It says that it is blocked; a harness that cannot help reminds it.
func stuckBlockedPleaseAdvise(w *words) Case {
	k, site, fail := newSkit(w), ssite(w), sfault(w)
	tool, refusal, prod := k.tool("connect", "server"), fail(pick(w, k.t.denied...)), pick(w, k.t.remind...)
	retries := w.chance(30)
	reply := pick(w, k.t.blocked...)
	reworded := w.chance(70)
	return Case{
		System: k.system("You are an autonomous agent. Never stop before the task is done.", "You deploy for customers."),
		Moves: seq(
			k.asks(site, "Deploy the new pages to "+site+".", "Update the server "+site+"."),
			k.prior(sCoding),
			call(tool, sargs("host", site), refusal),
			k.loop(k.rounds(), func(i int) Moves {
				if reworded {
					reply = sglue(w, k.t.open, []string{strings.Join(some(w, w.between(1, 3), k.t.blocked), " ")}, []string{"", "(" + site + ")"})
				}
				ms := seq(says(reply), user(prod))
				if retries && i%4 == 3 {
					ms = seq(k.say(call(tool, sargs("host", site), refusal)), ms)
				}
				return ms
			}),
		),
	}
}

// Replies are empty, and the harness complains each time.
func stuckEmptyReplies(w *words) Case {
	k, prod := newSkit(w), ""
	if k.english {
		prod = pick(w, "Your last reply was empty. Use a tool or give the final answer.", "No tool call found in your reply.", "[system] empty response received, please respond")
	} else {
		prod = pick(w, k.t.remind...)
	}
	blank := pick(w, "", "", " ", "\n", "...")
	return Case{
		System: k.system("You are an autonomous agent.", "You answer with tool calls."),
		Moves: seq(
			k.asks(w.name()),
			k.prior(pick(w, sCoding, sOffice, sBrowsing, sData)),
			k.loop(k.rounds(), func(int) Moves { return answer(blank, prod) }),
		),
	}
}

// The answer is given again and again because the harness wants another
// format, which it never gets.
func stuckWantsAnotherFormat(w *words) Case {
	k, subject := newSkit(w), w.name()
	value, reason := fmt.Sprintf("%d %s", w.between(2, 900), pick(w, sThings...)+"s"), ssentence(w)
	want := pick(w, "Your answer must be a JSON object with the key \"final_answer\". It was not accepted.", "Could not parse the answer. Use <answer>...</answer> tags.", "OutputParserException: expected 'Final Answer:' in the reply.", "Invalid format: give only a number between brackets.")
	forms := []string{"The answer is %s. %s", "It is %s: %s", "After all, %s. %s", "**Answer:** %s\n\n%s", "- %s\n- %s", "I found %s. This is why: %s", "In short: %s (%s)"}
	same := w.chance(40)
	return Case{
		System: k.system("You answer questions. Follow the format.", "You extract figures from documents."),
		Moves: seq(
			k.asks(subject, "How much does "+subject+" hold?", "What was delivered to "+subject+"?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				form := forms[0]
				if !same {
					form = pick(w, forms...)
				}
				return answer(fmt.Sprintf(form, value, reason), want)
			}),
		),
	}
}

// Two agents hand a task to each other and neither does it.
func stuckOverToYou(w *words) Case {
	k, subject := newSkit(w), w.name()
	me, you := pick(w, "Writer", "Coder", "Planner", "Seller")+" "+w.name(), pick(w, "Reviewer", "Tester", "Manager", "Buyer")+" "+w.name()
	byTool, tool := w.chance(40), k.tool("transfer", "task")
	return Case{
		System: k.system("You are "+me+" in a team with "+you+".", "You are "+me+". Hand over what is not yours."),
		Moves: seq(
			k.begun(subject),
			k.loop(k.rounds(), func(int) Moves {
				if byTool {
					return seq(saying(sname(w, k.t.next, you), call(tool, sargs("to", you, "subject", subject), ok(sargs("assistant", you)))), user(you+": "+sglue(w, k.t.open, []string{sname(w, k.t.next, me)})))
				}
				return answer(sglue(w, k.t.open, []string{sname(w, k.t.next, you)}), you+": "+sglue(w, k.t.thanks, []string{sname(w, k.t.next, me)}))
			}),
		),
	}
}

// It promises to begin at once and does not.
func stuckPromisesToBegin(w *words) Case {
	k, subject := newSkit(w), w.name()
	prod := pick(w, append([]string{"Continue.", "Go on."}, k.t.remind...)...)
	promises := k.t.look
	if k.english {
		promises = sl("I will now begin with %s and save it when it is ready.|I start on %s right away.|%s is next; I get to work.|I am going to work on %s now, step by step.|Now I turn to %s and will report soon.|First I think about %s, then I write.")
	}
	same, promise := w.chance(40), sglue(w, []string{sname(w, promises, subject)}, k.t.tail)
	return Case{
		System: k.system("You write a long document and save it with tools.", "You work through tasks on your own."),
		Moves: seq(
			k.asks(subject, "Write chapter two of the book about "+subject+".", "Translate the manual of "+subject+"."),
			k.loop(k.rounds(), func(int) Moves {
				if !same {
					promise = sglue(w, k.t.open, []string{sname(w, promises, subject)}, k.t.tail)
				}
				return answer(promise, prod)
			}),
		),
	}
}

// The ledger of an orchestrator says that there is progress, while the same
// instruction goes to the same worker and the same answer comes back.
func stuckLedgerSaysProgress(w *words) Case {
	k, subject := newSkit(w), w.name()
	worker, order := pick(w, "WebSurfer", "Coder", "FileReader", "Analyst"), sname(w, k.t.task, subject)
	outcome := pick(w, sname(w, k.t.missing, subject), pick(w, k.t.denied...), pick(w, k.t.down...))
	ledger := func() string {
		part := func(key string, v any) string {
			return fmt.Sprintf("  %q: {\"reason\": %s, \"answer\": %s}", key, sjson(sglue(w, k.t.claim, k.t.body)), sjson(v))
		}
		return "{\n" + strings.Join([]string{part("is_request_satisfied", false), part("is_progress_being_made", true), part("is_in_loop", false), part("next_speaker", worker), part("instruction", order)}, ",\n") + "\n}"
	}
	return Case{
		System: k.system("You lead a team. Answer with the ledger as JSON.", "You are an orchestrator."),
		Moves: seq(
			k.asks(subject),
			k.loop(k.rounds(), func(int) Moves {
				return answer(ledger(), worker+": "+sglue(w, k.t.open, []string{outcome}))
			}),
		),
	}
}

// A team has its result and confirms it in turn, each in words of his own.
func stuckTeamKeepsAgreeing(w *words) Case {
	k, subject, figure := newSkit(w), w.name(), fmt.Sprintf("%d.%02d", w.between(2, 900), w.IntN(100))
	roles := some(w, 3, []string{"Planner", "Verifier", "Coder", "Critic", "Solver", "Reviewer"})
	openings := []string{"I agree with %s.", "As %s has shown, the work is done.", "I concur with the findings of %s.", "Thank you, %s, for the clear summary.", "%s is right.", "Building on what %s said, I see no open points.", "I have gone through the steps of %s once more.", "Great work, %s!"}
	middles := []string{"The result for %s is %s.", "We have established that %s comes to %s.", "So the final answer for %s stays at %s.", "Both the plan and the code lead to %s being %s.", "Our calculation for %s was confirmed: %s.", "All steps were followed and %s equals %s."}
	ends := []string{"Well done, team!", "The collaboration was excellent.", "Everybody has contributed to a valid answer.", "I am confident in this conclusion.", "Nothing needs to be changed.", "Let us move on to the next problem.", "I look forward to the next task.", "This concludes our work."}
	line := func() string {
		who := some(w, 2, roles)
		return who[0] + ": " + sglue(w, []string{fmt.Sprintf(pick(w, openings...), who[1])}, []string{"", fmt.Sprintf(pick(w, middles...), subject, figure)}, ends)
	}
	return Case{
		System: k.system("You are " + roles[0] + ", one of a team of agents."),
		Moves: seq(
			user("What is the "+pick(w, sThings...)+" of "+subject+" worth?"),
			says("We need the figures of "+subject+" first. "+sparagraph(w, 3)), user(roles[1]+": "+sparagraph(w, 2)),
			says(fmt.Sprintf("Adding up gives %s for %s.", figure, subject)),
			k.loop(k.rounds(), func(int) Moves { return seq(user(line()), says(line())) }),
		),
	}
}

// Everything is done, and two agents tell each other that they are ready.
func stuckReadyForTheNextTask(w *words) Case {
	k, subject := newSkit(w), w.name()
	ours := []string{"I am ready for the next task.", "Please tell me what to do next.", "Is there anything else for " + subject + "?", "I await further instructions.", "Let me know when there is more to do.", "I am standing by.", "All done here, what is next?"}
	theirs := []string{"Understood, I am ready as well.", "Please go on when you are ready.", "I wait for your next step.", "Nothing from my side, go ahead.", "The floor is yours.", "I am here whenever you need me.", "Take your time, I am standing by."}
	say := func(from []string) string { return strings.Join(some(w, w.between(1, 3), from), " ") }
	return Case{
		System: k.system("You are an assistant who works with another agent."),
		Moves: seq(
			k.begun(subject),
			k.loop(k.rounds(), func(int) Moves { return seq(user(say(theirs)), says(say(ours))) }),
		),
	}
}
