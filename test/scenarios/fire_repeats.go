package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

func fireRepeats() []Case {
	return []Case{
		{
			Name: "read-missing-file", Evidence: "EVIDENCE 3 identical call and result", Want: kill(6).as(haltd.FamilyRepeat),
			System: "You are a Linux administrator with shell access.",
			Moves: seq(
				user("Tell me which DNS servers this host uses."),
				loop(),
				rep(9, call("read_file", `{"path":"/etc/resolver/main.conf"}`, failed("ENOENT: no such file or directory, open '/etc/resolver/main.conf'"))),
			),
		},
		{
			Name: "same-customer-looked-up", Evidence: "EVIDENCE 3 identical call and result, 1,850 turns", Want: kill(10),
			System: "You answer support requests with the CRM tools.",
			Moves: seq(
				user("Has Ms Okafor renewed her plan?"),
				loop(),
				rep(13, saying("Let me look at the customer's record.", call("crm_get_customer", `{"id":"cus_88121","fields":["plan","owner"]}`,
					ok(`{"id":"cus_88121","name":"Adaeze Okafor","plan":"Team","owner":"north-region","seats":14}`)))),
			),
		},
		{
			Name: "same-patch-applied", Evidence: "EVIDENCE 3 successful side effects repeated (10,943 identical patches)", Want: kill(10),
			System: "You are a coding agent. Edit files with apply_patch.",
			Moves: seq(
				user("Make the retry limit in src/http/client.ts configurable."),
				call("read_file", `{"path":"src/http/client.ts"}`, ok("export class Client {\n  private retries = 3;\n  constructor(readonly base: string) {}\n}\n")),
				loop(),
				rep(13, call("apply_patch", `{"patch":"*** Update File: src/http/client.ts\n@@\n-  private retries = 3;\n+  private retries: number;\n-  constructor(readonly base: string) {}\n+  constructor(readonly base: string, retries = 3) { this.retries = retries; }\n"}`,
					ok("Success. Updated the following files:\nM src/http/client.ts"))),
			),
		},
		{
			Name: "same-mail-sent", Evidence: "EVIDENCE 3 successful side effects repeated", Want: kill(10),
			System: "You schedule viewings for a letting agency.",
			Moves: seq(
				user("Invite Mr Lindqvist to the viewing on Thursday."),
				loop(),
				each(13, func(i int) Moves {
					return call("send_email", `{"to":"per.lindqvist@example.org","subject":"Viewing on Thursday","body":"Dear Mr Lindqvist,\nyou are welcome to see the flat on Thursday at five."}`,
						ok(fmt.Sprintf(`{"queued":true,"message_id":"5f0c1d%02x-71aa-4c0e-9b1e-6d2f00c4a1%02x","at":"2026-03-02T09:%02d:11Z"}`, i+16, i+32, i)))
				}),
			),
		},
		{
			Name: "duplicates-in-one-reply", Evidence: "EVIDENCE 3 duplicates inside one reply", Want: kill(8),
			System: "You plan trips with the booking tools.",
			Moves: seq(
				user("Find a night train from Vienna to Venice on 4 July."),
				loop(),
				rep(10, together(
					call("search_trains", `{"from":"Wien Hbf","to":"Venezia SL","date":"2026-07-04"}`, failed("timetable backend: operator OEBB is not available for this route")),
					call("search_trains", `{"from":"Wien Hbf","to":"Venezia SL","date":"2026-07-04"}`, failed("timetable backend: operator OEBB is not available for this route")),
					call("search_trains", `{"from":"Wien Hbf","to":"Venezia SL","date":"2026-07-04"}`, failed("timetable backend: operator OEBB is not available for this route")),
				)),
			),
		},
		{
			Name: "same-pair-in-every-reply", Evidence: "EVIDENCE 3 duplicates inside one reply", Want: kill(11),
			System: "You are a data analyst.",
			Moves: seq(
				user("Is the churn figure in the board deck right?"),
				loop(),
				rep(14, together(
					call("get_metric", `{"name":"churn","period":"2025-Q4"}`, ok(`{"metric":"churn","value":0.031}`)),
					call("get_slide", `{"deck":"board-2026-01","page":12}`, ok("Churn: 3.1 % (previous quarter 3.4 %)")),
				)),
			),
		},
		{
			Name: "no-argument-tool-fails", Evidence: "EVIDENCE 3 identical call and result (a tool without arguments)", Want: kill(7).as(haltd.FamilyRepeat),
			Missed: "a refused connection is taken for something to wait for",
			System: "You drive a desktop through accessibility tools.",
			Moves: seq(
				user("Open the spreadsheet of the March budget."),
				loop(),
				rep(10, call("list_windows", `{}`, failed("accessibility bus: connection refused"))),
			),
		},
		{
			Name: "productive-then-stuck", Evidence: "EVIDENCE 3 identical call and result (after a healthy beginning)", Want: kill(8),
			System: "You are a coding agent working in a Rust repository.",
			Moves: seq(
				user("Where is the session token refreshed? Fix the off-by-one in its expiry."),
				call("bash", `{"command":"ls"}`, ok("Cargo.toml\nREADME.md\nsrc\ntests\n")),
				call("bash", `{"command":"ls src"}`, ok("auth.rs\nconfig.rs\nlib.rs\nmain.rs\nstore.rs\n")),
				call("bash", `{"command":"cat src/auth.rs"}`, ok("pub fn expires(issued: u64, ttl: u64) -> u64 {\n    issued + ttl + 1\n}\n\npub fn valid(now: u64, expiry: u64) -> bool {\n    now <= expiry\n}\n")),
				call("bash", `{"command":"cat src/store.rs"}`, ok("use std::collections::HashMap;\n\npub struct Store {\n    tokens: HashMap<String, u64>,\n}\n")),
				call("bash", `{"command":"cat tests/expiry.rs"}`, ok("#[test]\nfn expires_exactly() {\n    assert_eq!(auth::expires(100, 60), 160);\n}\n")),
				loop(),
				rep(11, call("bash", `{"command":"rg -n 'fn refresh_token' src tests"}`, failed("exit status 1"))),
			),
		},
		{
			Name: "tests-run-without-an-edit", Evidence: "EVIDENCE 3 identical call and result (durations change)", Want: kill(8),
			System: "You are a Python maintainer.",
			Moves: seq(
				user("Make the invoice tests green."),
				loop(),
				each(11, func(i int) Moves {
					return call("run", `{"cmd":"pytest -q tests/test_invoice.py"}`, failed(fmt.Sprintf(
						"F.\n=== FAILURES ===\ntests/test_invoice.py:41: AssertionError: assert Decimal('119.00') == Decimal('118.99')\n1 failed, 1 passed in %d.%02ds\nexit code: 1", 1+i%3, (i*37)%100)))
				}),
			),
		},
		{
			Name: "says-it-anew-each-time", Evidence: "EVIDENCE 3 identical call and result (with other words around it)", Want: kill(8),
			System: "You help bookkeepers.",
			Moves: seq(
				user("Post the March rent of 1,450 euros."),
				loop(),
				each(11, func(i int) Moves {
					words := []string{
						"I'll post the rent now.", "The ledger did not take it; trying once more.", "Perhaps it was a glitch. Posting again.",
						"I will repeat the entry with care.", "Once more with the same figures.", "The entry is balanced, so it ought to work.",
						"Let me submit that entry.", "Trying the posting a further time.", "Here is the posting again.", "I am sure it is right; posting.", "Again.",
					}
					return saying(words[i], call("post_entry", `{"debit":"4210","credit":"1200","amount":"1450.00","text":"Rent March"}`,
						failed(`{"error":"period_closed","message":"The period 2026-03 is closed for account 4210"}`)))
				}),
			),
		},
		{
			Name: "scrolls-without-end", Evidence: "EVIDENCE 3 identical call and result (a page that has no end)", Want: kill(9),
			Missed: "a scroll whose answer does not show where it led is given patience",
			System: "You use a browser.",
			Moves: seq(
				user("Find the first post of this feed."),
				call("goto", `{"url":"https://feed.example/all"}`, ok("Navigated to https://feed.example/all")),
				loop(),
				rep(14, call("scroll", `{"direction":"down","pixels":1000}`, ok("Scrolled down by 1000 pixels"))),
			),
		},
	}
}
