package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

// checks are steps that differ from each other and bring different results.
func checks(i int) Moves {
	files := []string{"handlers", "routes", "models", "views", "tasks", "signals", "admin", "urls", "forms", "tests", "apps", "utils", "cache", "mail"}
	f := files[i%len(files)]
	return seq(
		call("read_file", fmt.Sprintf(`{"path":"shop/%s.py","from":%d}`, f, 10*i), ok(fmt.Sprintf("def %s_%d(request):\n    return render(request, 'page_%d.html', {'total': %d})\n", f, i, i, 17*i+3))),
		call("bash", fmt.Sprintf(`{"command":"python -m pyflakes shop/%s.py && wc -l shop/%s.py # pass %d"}`, f, f, i), ok(fmt.Sprintf("%d shop/%s.py", 120+7*i, f))),
		call("grep", fmt.Sprintf(`{"pattern":"import %s_%d"}`, f, i), ok(fmt.Sprintf("shop/%s.py:%d:from .%s import view_%d", f, i+2, f, i))),
	)
}

func fireRefusals() []Case {
	return []Case{
		{
			Name: "submission-refused", Evidence: "EVIDENCE 3 hopping after each refusal (a returning refusal)", Want: kill(33).as(haltd.FamilyRefusal),
			System: "You solve a programming task and call submit when it is done.",
			Moves: seq(
				user("Fix the shop so that the hidden checks pass."),
				loop(),
				each(9, func(i int) Moves {
					return seq(checks(i), call("submit", `{"summary":"All checks should pass now."}`,
						failed("Submission rejected: check 'currency rounding' does not pass. You may continue to work.")))
				}),
			),
		},
		{
			Name: "harness-refuses-to-finish", Evidence: "EVIDENCE 3 hook-injected user turns (a returning refusal)", Want: kill(33).as(haltd.FamilyRefusal),
			Missed: "the steps between bring news, which outweighs what does not change",
			System: "You write reports. Call finish when the report is complete.",
			Moves: seq(
				user("Write a report about the shop's code."),
				loop(),
				each(9, func(i int) Moves {
					return seq(checks(i),
						call("finish", fmt.Sprintf(`{"note":"report complete, draft %d"}`, i), ok("noted")),
						user("Your report cannot be accepted: the section on accessibility is missing from report.md. Finish only when every section is there."))
				}),
			),
		},
		{
			Name: "guessing-the-answer", Evidence: "EVIDENCE 3 the same error with varied arguments (guessing)", Want: kill(33),
			System: "You solve puzzles with tools; check_answer tells whether you are right.",
			Moves: seq(
				user("In which year was the bridge on the photo opened?"),
				loop(),
				each(9, func(i int) Moves {
					return seq(checks(i), call("check_answer", fmt.Sprintf(`{"answer":"%d"}`, 1874+i%4), ok("Incorrect. Try another answer.")))
				}),
			),
		},
		{
			Name: "card-declined-each-time", Evidence: "EVIDENCE 3 hopping to another tool after each refusal", Want: kill(27).as(haltd.FamilyRefusal),
			System: "You buy spare parts for a workshop.",
			Moves: seq(
				user("Order forty brake pads."),
				loop(),
				each(10, func(i int) Moves {
					shops := []string{"Teilehaus", "Autoplus", "Brems & Co", "Motorwelt", "Garage24", "Pads Direct", "Parts4U", "Ersatzteil König", "Bremsenprofi", "Lagerhalle", "Nord Teile", "Süd Teile"}
					return seq(
						call("compare_prices", fmt.Sprintf(`{"shop":%q,"article":"brake pad %d"}`, shops[i], i), ok(fmt.Sprintf("%s: %d.%02d EUR for 40, delivery in %d days", shops[i], 300+9*i, i*7, 2+i%4))),
						call("fill_basket", fmt.Sprintf(`{"shop":%q,"quantity":40}`, shops[i]), ok(fmt.Sprintf("basket %d filled at %s", 4400+i, shops[i]))),
						call("pay", `{"method":"company card"}`, failed("Payment declined: the card limit for this month is reached")),
					)
				}),
			),
		},
		{
			Name: "no-such-compiler", Evidence: "EVIDENCE 3 the same error with volatile error text (the shell counts its lines)", Want: kill(20).as(haltd.FamilyRefusal),
			Missed: "the steps between bring news, which outweighs what does not change",
			System: "You are a coding agent with a shell.",
			Moves: seq(
				user("Reproduce the crash of the tokeniser."),
				loop(),
				each(8, func(i int) Moves {
					return seq(checks(i), call("bash", `{"command":"javac Crash.java && java Crash"}`,
						failed(fmt.Sprintf("/bin/bash: line %d: javac: command not found", 2114+61*i))))
				}),
			),
		},
	}
}
