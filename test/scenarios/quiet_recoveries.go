package scenarios

import (
	"fmt"
	"strings"
	"time"
)

func quietRecoveries() []Case {
	const (
		shares = "Enumerate the shares of every server in the training network with anonymous access and report which of them can be listed."
		pages  = "Visit the pages that the servers of the training network show in a browser and report which answer without a password."
	)
	return []Case{
		{
			Name: "five-empty-replies-then-recovery", Evidence: "EVIDENCE 4.6 long productive turns (five empty replies, then recovery)", Want: mayWarn, System: "You are an autonomous agent.",
			Moves: seq(
				user("Write a haiku into haiku.txt."),
				call("read_file", `{"path":"haiku.txt"}`, ok("(empty file)")),
				rep(5, says(""), user("Your reply was empty. Please use a tool.")),
				call("write_file", `{"path":"haiku.txt","content":"old pond\na frog leaps in\nwater's sound"}`, ok("written 38 bytes")),
				says("The haiku is in haiku.txt."),
			),
		},
		{
			Name: "worker-gives-up-and-its-leader-gets-on", Evidence: "EVIDENCE 4.6 long productive turns (a worker of a team tries in vain, its leader goes on)", Want: mayWarn, Ledger: true, System: "You work in a team that tests how well a network is protected.",
			Moves: seq(
				in("lead", user("Find out what the training network shows to a stranger."), call("perform_task", fmt.Sprintf(`{"executor":"shell","task":%q}`, shares), ok("The executor could not find a tool that lists shares."))),
				in("worker-1", user("Your planner asks for this:\n"+shares), each(16, func(i int) Moves {
					flags := []string{"--list", "-L", "shares --all", "-N -L", "enum --users", "--depth 2", "-U guest", "session --null", "rid --brute", "--anonymous"}
					return call("execute_command", fmt.Sprintf(`{"command":"smbtool %s //srv%d"}`, flags[i%len(flags)], i*7%13), failed("bash: smbtool: command not found"))
				}), says("I could not find a tool that lists shares.")),
				in("lead", call("perform_task", fmt.Sprintf(`{"executor":"shell","task":%q}`, pages), ok("Three pages answer without a password."))),
				in("worker-2", user("Your planner asks for this:\n"+pages), over([]string{"login|asks for a name", "status|shows a temperature of 21 degrees", "admin|is forbidden", "printer|lists four documents", "camera|shows a corridor"}, func(s string) Moves {
					page, shows, _ := strings.Cut(s, "|")
					return call("execute_command", fmt.Sprintf(`{"command":"curl -s http://srv/%s"}`, page), ok("The page "+shows+"."))
				}), says("Three pages answer without a password: status, printer and camera.")),
				in("lead", says("A stranger sees three pages: a temperature, four printed documents and a corridor.")),
			),
		},
		{
			Name: "benchmark-three-times", Evidence: "EVIDENCE 4.7 the same command (a benchmark run three times on purpose)", Want: quiet, System: "You measure performance. Run every benchmark three times.",
			Moves: seq(
				user("Is the new hash faster?"),
				each(3, func(i int) Moves {
					return every(30*time.Second, call("bash", `{"command":"./bench --hash new"}`, ok(fmt.Sprintf("new: %d ns/op, 0 allocations", 118+3*i))))
				}),
				each(3, func(i int) Moves {
					return every(30*time.Second, call("bash", `{"command":"./bench --hash old"}`, ok(fmt.Sprintf("old: %d ns/op, 2 allocations", 171+2*i))))
				}),
				says("Yes, by about 30 %."),
			),
		},
		{
			Name: "benchmark-with-equal-output", Evidence: "EVIDENCE 4.7 the same command (a benchmark run three times on purpose)", Want: mayWarn, System: "You check that results can be reproduced.",
			Moves: seq(
				user("Run the simulation three times with seed 7 and tell me whether the results agree."),
				rep(3, call("simulate", `{"seed":7,"steps":1000}`, ok("mean 4.127, variance 0.933, steps 1000"))),
				says("All three runs agree: mean 4.127, variance 0.933."),
			),
		},
		{
			Name: "list-and-read-to-the-end", Evidence: "EVIDENCE 4.5 opening exploration (a list/read cycle that ends in the answer at the ninth step)", Want: quiet, System: "You search an archive.",
			Moves: seq(
				user("Who painted the ceiling of the town hall?"),
				over([]string{"1890|Accounts of the mason.", "1891|Letters about the roof beams.", "1892|A quarrel over windows.", "1893|Contract with the painter Emil Ranft for the ceiling."}, func(s string) Moves {
					return seq(
						call("list_years", `{}`, ok("1890 1891 1892 1893")),
						call("read_year", fmt.Sprintf(`{"year":%s}`, s[:4]), ok(s[5:])),
					)
				}),
				says("Emil Ranft, by the contract of 1893."),
			),
		},
		{
			Name: "failing-edit-three-times", Evidence: "EVIDENCE 4.3 edit → test (the same edit fails three times, then works)", Want: mayWarn, System: "You are a coding agent.",
			Moves: seq(
				user("Correct the spelling of 'recieve' in the manual."),
				rep(3, call("replace", `{"file":"manual.md","old":"recieve  ","new":"receive "}`, failed("old text not found in manual.md"))),
				call("grep", `{"pattern":"recieve","file":"manual.md"}`, ok("88: you will recieve a letter")),
				call("replace", `{"file":"manual.md","old":"recieve a letter","new":"receive a letter"}`, ok("1 replacement")),
				says("Corrected in line 88."),
			),
		},
		{
			Name: "sql-errors-lead-to-the-query", Evidence: "EVIDENCE 4.3 edit → test (five wrong queries, each with its own error)", Want: quiet, System: "You write SQL.",
			Moves: seq(
				user("Which customer bought most?"),
				call("query", `{"sql":"SELECT customer, SUM(total) FROM orders"}`, failed(`column "customer" does not exist; did you mean "customer_id"?`)),
				call("query", `{"sql":"SELECT customer_id, SUM(total) FROM orders"}`, failed(`column "orders.customer_id" must appear in the GROUP BY clause`)),
				call("query", `{"sql":"SELECT customer_id, SUM(total) FROM orders GROUP BY 1 ORDER BY sum DESC LIMIT 1"}`, ok("customer_id | sum\n4711 | 88120.50")),
				call("query", `{"sql":"SELECT name FROM customer WHERE id = 4711"}`, failed(`relation "customer" does not exist; there is "customers"`)),
				call("query", `{"sql":"SELECT name FROM customers WHERE id = 4711"}`, ok("name\nHarbour Bakery")),
				says("Harbour Bakery, with 88,120.50."),
			),
		},
		{
			Name: "flaky-test-run-again", Evidence: "EVIDENCE 4.7 the same command (a flaky test is run again)", Want: mayWarn, System: "You are a release engineer.",
			Moves: seq(
				user("Is the end-to-end test flaky?"),
				rep(2, call("bash", `{"command":"make e2e"}`, failed("e2e: login page did not load within 10s\nmake: *** [e2e] Error 1"))),
				call("bash", `{"command":"make e2e"}`, ok("e2e: 41 passed")),
				call("bash", `{"command":"make e2e"}`, failed("e2e: login page did not load within 10s\nmake: *** [e2e] Error 1")),
				call("bash", `{"command":"make e2e"}`, ok("e2e: 41 passed")),
				says("Yes: it failed three times out of five."),
			),
		},
		{
			Name: "refused-twice-then-accepted", Evidence: "EVIDENCE 4.3 edit → test (a submission is refused, corrected, accepted)", Want: quiet, System: "You solve tasks and submit.",
			Moves: seq(
				user("Write the function and submit."),
				call("write_file", `{"path":"f.py","content":"def f(x): return x"}`, ok("written")),
				call("submit", `{}`, failed("Submission rejected: 3 of 5 checks fail.")),
				call("write_file", `{"path":"f.py","content":"def f(x): return x * 2"}`, ok("written")),
				call("submit", `{}`, failed("Submission rejected: 1 of 5 checks fail.")),
				call("write_file", `{"path":"f.py","content":"def f(x): return 0 if x is None else x * 2"}`, ok("written")),
				call("submit", `{}`, ok("Submission accepted.")),
				says("Accepted."),
			),
		},
		{
			Name: "reminders-from-the-harness", Evidence: "EVIDENCE 4.6 long productive turns (the harness adds the same reminder)", Want: quiet, System: "You are a coding agent.",
			Moves: seq(
				user("Document all endpoints."),
				over([]string{"login", "logout", "orders", "basket", "search", "refunds", "vouchers", "reviews", "wishlist", "profile"}, func(e string) Moves {
					return seq(
						call("read_file", fmt.Sprintf(`{"path":"api/%s.ts"}`, e), ok(fmt.Sprintf("router.post('/%s', %sHandler) // %d lines", e, e, 31*len(e)))),
						system("Reminder: keep the documentation in plain English."),
						call("write_file", fmt.Sprintf(`{"path":"docs/%s.md","content":"POST /%s\n\nHandled by %sHandler."}`, e, e, e), ok("")),
					)
				}),
				says("Ten endpoints are documented."),
			),
		},
		{
			Name: "progress-hidden-in-one-digit", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number (in a long answer)", Want: mayWarn, System: "You watch a data migration.",
			Moves: seq(
				user("Watch the migration."),
				each(20, func(i int) Moves {
					return call("bash", `{"command":"psql -c 'select * from migration'"}`, ok(fmt.Sprintf(" name | host | phase | table | rows | errors\n------+------+-------+-------+------+-------\n main | db-west-2 | copy | payments | %d | 0\n(1 row)", 880000+9137*i)))
				}),
				says("The rows are being copied."),
			),
		},
	}
}
