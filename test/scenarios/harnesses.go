package scenarios

import (
	"fmt"
	"strings"
)

// enveloped is a text as an MCP server wraps it.
func enveloped(i int, text string) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":false,"_meta":{"requestId":"%08x-41d2"}}`, text, 0x5c1f0000+i*7919)
}

// fireHarnesses are loops that what a harness or a server adds to every result
// hides.
func fireHarnesses() []Case {
	work := []struct{ path, says string }{{"README.md", "A store for seeds and bulbs."}, {"go.mod", "module example.com/seeds"}, {"main.go", "package main calls run and exits."}}
	counted := func(i int, text string) string { return fmt.Sprintf("%s\n[turn %d of 90]", text, i) }
	prior := each(len(work), func(i int) Moves {
		return call("read_file", fmt.Sprintf(`{"path":%q}`, work[i].path), ok(counted(i+1, work[i].says)))
	})
	return []Case{
		{
			Name: "same-answer-under-a-count-of-turns", Evidence: "EVIDENCE 9 agents nobody tuned for (the harness adds [turn 7 of 90] to every result)", Want: kill(14),
			System: "You are a coding agent.",
			Moves: seq(user("Find out why the seeds do not load."), prior, loop(), each(20, func(i int) Moves {
				return call("run", `{"command":"seeds load"}`, ok(counted(i+4, "seeds: cannot open catalogue.db: no such file")))
			})),
		},
		{
			Name: "same-failure-in-envelopes", Evidence: "EVIDENCE 9 agents nobody tuned for (results of MCP servers passed on as they are)", Want: kill(16),
			System: "You run a browser for the user.",
			Moves: seq(user("Download the notice from the portal."), loop(), each(20, func(i int) Moves {
				return seq(call("fill", fmt.Sprintf(`{"field":"code","value":"%d"}`, 100000+i*7919%899999), ok(enveloped(i, "Error: the code has expired. Request a new one."))))
			})),
		},
		{
			Name: "numbers-guessed-and-not-found", Evidence: "EVIDENCE 9 agents nobody tuned for (the error is an object)", Want: kill(14),
			System: "You help customers of a shop.",
			Moves: seq(user("Where is my order? I have lost the number."), loop(), each(20, func(i int) Moves {
				number := 34_000 + i*i*37%991
				return call("get_order", fmt.Sprintf(`{"order_id":"SO-%d"}`, number), ok(fmt.Sprintf(`{"error":{"code":"ORDER_NOT_FOUND","message":"No order with id SO-%d"},"request_id":"45c4f7be%04x"}`, number, i*977)))
			})),
		},
		{
			Name: "same-page-whatever-the-offset", Evidence: "EVIDENCE 9 agents nobody tuned for (a list that always begins at its start)", Want: kill(16),
			System: "You are a stock keeper's agent.",
			Moves: seq(user("Sum up the whole stock."), loop(), each(22, func(i int) Moves {
				return call("list_stock", fmt.Sprintf(`{"offset":%d,"count":11}`, 11*i), ok(soldOut))
			})),
		},
	}
}

// quietHarnesses are healthy agents that such additions made look stuck, and
// work that is the same each time until it is done.
func quietHarnesses() []Case {
	left := 136_951
	packages := strings.Fields("sharp ws express prettier pino eslint uuid dotenv vitest knex zod rollup")
	return []Case{
		{
			Name: "rows-changed-in-batches", Evidence: "EVIDENCE 9 agents nobody tuned for (as much done as the limit allows, until nothing is left)", Want: mayWarn,
			System: "You are a database agent.",
			Moves: seq(user("Anonymise the e-mail column of contacts in batches of 5000, so that locks stay short, until nothing is left."), each(27, func(i int) Moves {
				left -= 5000
				batch := call("execute_sql", `{"sql":"UPDATE contacts SET email = md5(email) WHERE id IN (SELECT id FROM contacts WHERE email LIKE '%@%' LIMIT 5000)"}`, ok("UPDATE 5000"))
				if i%6 < 5 {
					return batch
				}
				return seq(batch, call("execute_sql", `{"sql":"SELECT count(*) FROM contacts WHERE email LIKE '%@%'"}`, ok(fmt.Sprint(left))))
			}), says("All rows are anonymised.")),
		},
		{
			Name: "packages-raised-one-by-one-with-tests", Evidence: "EVIDENCE 9 agents nobody tuned for (a check that comes out the same after each step of a list)", Want: mayWarn,
			System: "You keep dependencies fresh.",
			Moves: seq(user("Raise the outdated packages one by one and run the tests after each."),
				call("bash", `{"command":"npm outdated"}`, ok("Package  Current  Latest\n"+strings.Join(packages, "\n"))),
				over(packages, func(p string) Moves {
					return seq(call("bash", fmt.Sprintf(`{"command":"npm install %s@latest"}`, p), ok("changed 1 package")), call("bash", `{"command":"npm test --silent"}`, ok("Tests: 370 passed, 370 total")))
				}), says("All packages are raised and the tests pass.")),
		},
		{
			Name: "ids-probed-one-after-the-other", Evidence: "EVIDENCE 9 agents nobody tuned for (most of them are not there)", Want: mayWarn,
			System: "You take stock of an old system.",
			Moves: seq(user("The old API has no list. Probe the asset ids from 3317 on and note those that exist."), each(45, func(i int) Moves {
				if i%11 == 7 {
					return call("get_asset", fmt.Sprintf(`{"id":%d}`, 3317+i), ok(fmt.Sprintf(`{"id":%d,"name":"asset of %s"}`, 3317+i, packages[i/11])))
				}
				return call("get_asset", fmt.Sprintf(`{"id":%d}`, 3317+i), ok(`{"error":"not_found"}`))
			}), says("Four of them exist.")),
		},
		{
			Name: "hosts-scanned-one-after-the-other", Evidence: "EVIDENCE 9 agents nobody tuned for (what comes back differs by the host's address alone)", Want: mayWarn,
			System: "You run an inventory that the owner of the network has ordered.",
			Moves: seq(user("Which hosts of 10.113.91.0/24 have ssh open?"), each(40, func(i int) Moves {
				host := fmt.Sprintf("10.113.91.%d", i+1)
				return call("bash", fmt.Sprintf(`{"command":"nmap -p22 -Pn %s"}`, host), ok(fmt.Sprintf("Starting Nmap 7.94 ( https://nmap.org )\nNmap scan report for %s\nHost is up (0.00%02ds latency).\n\nPORT   STATE  SERVICE\n22/tcp closed ssh\n\nNmap done: 1 IP address (1 host up) scanned in 0.%02d seconds", host, 11+i*7%80, 13+i*5%80)))
			}), says("None of the first forty.")),
		},
	}
}
