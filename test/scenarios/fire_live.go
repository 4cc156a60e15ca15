package scenarios

import (
	"fmt"
	"strings"
	"time"
)

// fireLive are runaways that a gateway with the switch on let go on for too
// long. Most of them hide behind something that changes of itself: a number, a
// clock, an id, the words around an act.
func fireLive() []Case {
	return join(liveReads(), liveVolatile(), liveRestated(), livePages(), liveCycles(), liveOneShots())
}

// liveReads read the same file: its name says status, wait or poll, which
// makes nobody a poller.
func liveReads() []Case {
	files := []struct{ word, task, path, text string }{
		{"status", "Why does an order that was paid stay in state pending?", "services/orders/order_status.py", orderStatusFile},
		{"wait", "The worker hangs at shutdown now and then. Find out why.", "internal/worker/wait_group.go", waitGroupFile},
		{"poll", "Make the interval of the mail poller configurable.", "src/mail/poll_inbox.ts", pollInboxFile},
	}
	var cases []Case
	for _, f := range files {
		cases = append(cases, Case{
			Name: "reads-a-file-named-" + f.word, Evidence: "EVIDENCE 3 identical call and result (a file whose name says " + f.word + ")", Want: kill(10),
			System: "You are a coding agent. Read files with read_file and edit them with edit_file.",
			Moves: seq(
				user(f.task),
				call("list_dir", `{"path":"."}`, ok("README.md\ndocs/\ninternal/\nservices/\nsrc/\ntests/")),
				loop(),
				rep(12, call("read_file", fmt.Sprintf(`{"path":%q}`, f.path), ok(f.text))),
			),
		})
	}
	return append(cases, Case{
		Name: "deploy-key-is-refused", Evidence: "EVIDENCE 3 identical call and result (a failure)", Want: kill(6),
		System: "You release software from a shell.",
		Moves: seq(
			user("Push the tag v3.8.1 to the release mirror."),
			call("bash", `{"command":"git tag v3.8.1 && git remote -v"}`, ok("mirror\tgit@mirror.example:release/core.git (fetch)\nmirror\tgit@mirror.example:release/core.git (push)")),
			loop(),
			rep(12, call("bash", `{"command":"git push mirror v3.8.1"}`, failed("git@mirror.example: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\nexit code: 128"))),
		),
	})
}

const orderStatusFile = `from enum import Enum

from .events import publish
from .models import Order


class OrderStatus(str, Enum):
    PENDING = "pending"
    PAID = "paid"
    SHIPPED = "shipped"
    CANCELLED = "cancelled"


ALLOWED = {
    OrderStatus.PENDING: {OrderStatus.PAID, OrderStatus.CANCELLED},
    OrderStatus.PAID: {OrderStatus.SHIPPED},
    OrderStatus.SHIPPED: set(),
    OrderStatus.CANCELLED: set(),
}


def advance(order: Order, to: OrderStatus) -> None:
    if to not in ALLOWED[order.status]:
        raise ValueError(f"{order.status} cannot become {to}")
    order.status = to
    order.save(update_fields=["status"])
    publish("order.status", order_id=order.id, status=to)
`

const waitGroupFile = `package worker

import (
	"context"
	"errors"
	"sync"
)

// group runs functions and waits for all of them.
type group struct {
	wg     sync.WaitGroup
	cancel context.CancelFunc
	once   sync.Once
	err    error
}

func (g *group) run(ctx context.Context, f func(context.Context) error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(ctx); err != nil && !errors.Is(err, context.Canceled) {
			g.once.Do(func() { g.err = err; g.cancel() })
		}
	}()
}

func (g *group) wait() error {
	g.wg.Wait()
	return g.err
}
`

const pollInboxFile = `import { connect } from "./imap";
import { enqueue } from "../queue";

const INTERVAL_MS = 30_000;

export async function pollInbox(account: Account, signal: AbortSignal) {
  const client = await connect(account);
  let last = await client.highestUid();
  while (!signal.aborted) {
    await sleep(INTERVAL_MS, signal);
    for (const message of await client.since(last)) {
      enqueue("incoming", { account: account.id, uid: message.uid });
      last = Math.max(last, message.uid);
    }
  }
  await client.close();
}

function sleep(ms: number, signal: AbortSignal) {
  return new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(); });
  });
}
`

// token is an id as services make them up: the same for the same number.
func token(n, digits int) string {
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	return fmt.Sprintf("%016x", x)[:digits]
}

// liveVolatile do one thing over and over while something in the call or in
// the answer changes of itself.
func liveVolatile() []Case {
	return []Case{
		{
			Name: "random-request-id-in-the-call", Evidence: "EVIDENCE 3 the same error with varied arguments (an idempotency key)", Want: kill(8),
			System: "You pay suppliers with the treasury tools. Give every request an id of its own.",
			Moves: seq(
				user("Pay invoice 2026-118 of Halvorsen Marine, 18,240.00 NOK."),
				call("get_invoice", `{"number":"2026-118"}`, ok(`{"number":"2026-118","supplier":"Halvorsen Marine AS","iban":"NO9386011117947","amount":"18240.00","currency":"NOK","due":"2026-03-09"}`)),
				loop(),
				each(16, func(i int) Moves {
					return call("create_payment", fmt.Sprintf(`{"request_id":"%s-%s-4%s-a%s-%s","iban":"NO9386011117947","amount":"18240.00","currency":"NOK","reference":"2026-118"}`,
						token(i, 8), token(i+100, 4), token(i+200, 3), token(i+300, 3), token(i+400, 12)),
						failed(`{"error":{"code":"DEBTOR_ACCOUNT_BLOCKED","message":"The debtor account is blocked for outgoing payments. Contact your relationship manager."}}`))
				}),
			),
		},
		{
			Name: "pid-duration-and-request-id-change", Evidence: "EVIDENCE 3 the same error with volatile error text (pid, duration, request id)", Want: kill(8),
			System: "You run jobs on a build cluster.",
			Moves: seq(
				user("Build the arm64 image of the gateway."),
				loop(),
				each(16, func(i int) Moves {
					return call("run_job", `{"job":"image-arm64","ref":"main","args":["--push"]}`, failed(fmt.Sprintf(
						"[runner pid=%d] request req_%s accepted\n[runner pid=%d] pulling registry.example/base/arm64:12 ... denied\nError response from daemon: pull access denied for base/arm64, repository does not exist or may require 'docker login'\njob failed after %d.%03ds (pid %d, request req_%s)\nexit status 1",
						20418+137*i, token(i, 16), 20418+137*i, 2+i%5, (i*271)%1000, 20418+137*i, token(i, 16))))
				}),
			),
		},
		{
			Name: "reads-past-the-end", Evidence: "EVIDENCE 3 the same target with drifting arguments (offsets past the end of a file)", Want: kill(14),
			System: "You are a coding agent. Read long files in parts.",
			Moves: seq(
				user("Where is the licence key checked? It should be somewhere in legacy/main.c."),
				each(4, func(i int) Moves { return cFile(1+200*i, 200) }),
				loop(),
				each(24, func(i int) Moves {
					return call("Read", fmt.Sprintf(`{"file_path":"legacy/main.c","offset":%d,"limit":200}`, 801+200*i),
						ok(fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The file has 793 lines.</system-reminder>", 801+200*i)))
				}),
			),
		},
		{
			Name: "harness-counts-the-steps", Evidence: "EVIDENCE 3 hook-injected user turns (a counter after each failure)", Want: kill(8),
			System: "You are an autonomous agent in a sandbox. You have 100 steps.",
			Moves: seq(
				user("Download the data set and compute the mean of column 3."),
				loop(),
				each(60, func(i int) Moves {
					return seq(
						call("execute", `{"code":"import pandas as pd\ndf = pd.read_csv('https://data.example/set.csv')\nprint(df.iloc[:, 2].mean())"}`,
							failed("Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\n  File \"/usr/lib/python3.12/urllib/request.py\", line 1347, in do_open\n    raise URLError(err)\nurllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>")),
						user(fmt.Sprintf("Step %d of 100. You have %d steps left. Continue with the task, or call submit when it is done.", i+1, 99-i)),
					)
				}),
				says("I try once more."),
			),
		},
		{
			Name: "guessed-ids-one-error", Evidence: "EVIDENCE 3 the same error with varied arguments (guessed ids)", Want: kill(14),
			System: "You help the personnel department.",
			Moves: seq(
				user("How many days of holiday has Ingrid Solheim left?"),
				loop(),
				over([]string{"1001", "solheim", "ingrid.solheim", "EMP-1001", "E1001", "ISOLHEIM", "emp_solheim", "SOL-1", "0001", "isolheim01", "NO-1001", "ingrid", "S1001",
					"solheim.i", "HR-2201", "EMP-0417", "10010", "ingrids", "is-417", "EMP-2201"}, func(id string) Moves {
					return call("get_employee", fmt.Sprintf(`{"employee_id":%q,"fields":["leave_balance"]}`, id),
						failed(`{"status":404,"code":"EMPLOYEE_NOT_FOUND","message":"There is no employee with the given id.","docs":"https://hr.example/docs/errors#EMPLOYEE_NOT_FOUND"}`))
				}),
			),
		},
	}
}

// cFile is a part of a C file as a reading tool shows it.
func cFile(from, lines int) Moves {
	var b strings.Builder
	for n := from; n < min(from+lines, 794); n += 4 {
		fmt.Fprintf(&b, "%6d\tstatic int step_%s(struct ctx *c) {\n%6d\t    if (c->state != %d)\n%6d\t        return fail(c, \"%s\");\n%6d\t}\n", n, token(n, 5), n+1, n%37, n+2, token(7*n, 8), n+3)
	}
	return call("Read", fmt.Sprintf(`{"file_path":"legacy/main.c","offset":%d,"limit":%d}`, from, lines), ok(b.String()))
}

// liveOneShots is a client that asks the same again as soon as it is answered.
func liveOneShots() []Case {
	return []Case{
		{
			Name: "one-shot-every-three-seconds", Evidence: "EVIDENCE 3 identical call and result (a client that forgets each reply)", Want: kill(8), Unnamed: true, Ledger: true,
			System: "You route incoming mail. Answer with JSON.",
			Moves: seq(loop(), every(3*time.Second, rep(20,
				forget("Which team does this mail belong to?\n\nSubject: Broken link on the page about returns\n\nHello, the link \"Print a label\" on your page about returns leads to an empty page. Can you send me a label? Kind regards, D. Novak"),
				says(`{"team":"returns","confidence":0.93,"reason":"The sender asks for a return label."}`),
			))),
		},
	}
}

// liveRestated say or plan the same in other words.
func liveRestated() []Case {
	return []Case{
		{
			Name: "plan-in-other-words", Evidence: "EVIDENCE 3 the same target with drifting arguments (a plan that is written again and again)", Want: kill(24),
			System: "You are a coding agent. Plan with update_plan, then carry the plan out.",
			Moves: seq(
				user("Move the billing service from REST to gRPC."),
				call("list_dir", `{"path":"billing"}`, ok("Dockerfile\napi/\ninvoice/\nmain.go\nmain_test.go\nstore/")),
				call("read_file", `{"path":"billing/main.go"}`, ok("package main\n\nfunc main() {\n\tmux := http.NewServeMux()\n\tapi.Routes(mux, store.Open())\n\tlog.Fatal(http.ListenAndServe(\":8080\", mux))\n}\n")),
				loop(),
				each(26, func(i int) Moves {
					return saying(planOpenings[i%len(planOpenings)], call("update_plan", fmt.Sprintf(`{"steps":[%q,%q,%q,%q]}`,
						planStudy[i%len(planStudy)], planProto[(i*3+i/7)%len(planProto)], planServer[(i*2+i/6)%len(planServer)], planTests[(i+i/5)%len(planTests)]),
						ok("Plan updated. Proceed with the first step.")))
				}),
			),
		},
		{
			Name: "thanks-without-end", Evidence: "EVIDENCE 3 two agents thanking each other", Want: kill(16),
			System: "You are the booking agent of a conference centre. You talk to the customer's agent.",
			Moves: seq(
				user("We need the hall for 120 people on 11 June, with lunch."),
				answer("The hall is free on 11 June. With lunch for 120 people it is 6,840 euros. Shall I book it?", "Yes, please book it in the name of Kestrel Robotics."),
				says("It is booked: hall A, 11 June, 120 people, lunch at noon, 6,840 euros, in the name of Kestrel Robotics. The confirmation number is KR-2291."),
				loop(),
				each(28, func(i int) Moves {
					theirs := []string{"Thank you so much for your help!", "That is very kind, thank you again.", "Thanks a lot, we really appreciate it.", "Wonderful, thank you. Have a lovely day!", "Thank you, you too!"}
					ours := []string{"You are very welcome! We look forward to having you here.", "It was my pleasure. Have a wonderful day!", "Thank you as well. We are happy to help.", "You're welcome! Please get in touch any time.",
						"Thank you, and all the best for your event!", "My pleasure. Take care!", "Likewise, have a great day!"}
					return seq(user(theirs[i%len(theirs)]), says(ours[i%len(ours)]))
				}),
			),
		},
	}
}

// The sentences of a plan that says the same every time.
var (
	planOpenings = []string{"Let me set up a plan for the migration.", "I should structure this work first.", "Before I start, I will write down the steps.", "The plan can be clearer; I revise it.",
		"I will refine the plan a little.", "Let me reorganise the steps.", "A better breakdown will help.", "I want to restate the plan more precisely."}
	planStudy = []string{"Read the existing REST handlers in api/", "Go through the current HTTP endpoints", "Review what the REST API offers today", "Take stock of the handlers under api/", "Understand the present routes and their payloads",
		"Examine the endpoints that exist now", "Look at how api/ serves requests today"}
	planProto = []string{"Define the service in a .proto file", "Write protobuf messages for the invoices", "Create the proto definitions", "Specify the gRPC interface in protobuf", "Draft billing.proto with all messages",
		"Describe requests and responses as protobuf", "Put the contract into a proto file", "Model the API in protobuf"}
	planServer = []string{"Implement the gRPC server on top of store/", "Build a server that answers the gRPC calls", "Write the gRPC handlers", "Code the service implementation", "Add a gRPC server and wire it to the store",
		"Replace the mux by a gRPC server", "Serve the new interface from main.go"}
	planTests = []string{"Adapt main_test.go and run the tests", "Update the tests and check that they pass", "Test the new service", "Verify the migration with tests", "Run all tests against the gRPC server",
		"Port the tests to gRPC"}
)

// livePages click the same again while the page around it changes of itself.
func livePages() []Case {
	goals := []string{"Click the button Continue to proceed to payment", "Proceed to the payment page by clicking Continue", "Press Continue in order to get to the payment step", "Go on to payment via the Continue button",
		"Advance the checkout by clicking on Continue", "Use the Continue button to move to the next page", "Try to continue with the checkout", "Continue the order by selecting the button again"}
	seen := []string{"Failed - The page did not change after the click", "Unknown - The payment page does not seem to be open yet", "Failed - I am still on the page with the address", "Failed - Clicking Continue had no visible effect",
		"Unknown - The checkout still shows the address form"}
	return []Case{
		{
			Name: "clock-and-visitors-on-the-page", Evidence: "EVIDENCE 3 identical call and result (a page with a clock and a counter)", Want: kill(12),
			System: "You use a browser through snapshots of its pages.",
			Moves: seq(
				user("Reserve two tickets for the late show on Saturday."),
				call("browser_navigate", `{"url":"https://kino.example/programme"}`, ok("Page URL: https://kino.example/programme\nPage Title: Programme\n- heading \"Programme\" [level=1] [ref=e3]\n- link \"Late show, Saturday 22:45\" [ref=e12]\n- link \"Matinee, Sunday 11:00\" [ref=e14]")),
				call("browser_click", `{"element":"Late show, Saturday 22:45","ref":"e12"}`, ok(showPage(0))),
				loop(),
				each(22, func(i int) Moves {
					return call("browser_click", `{"element":"Reserve","ref":"e41"}`, ok(showPage(i+1)))
				}),
			),
		},
		{
			Name: "page-comes-as-a-message", Evidence: "EVIDENCE 3 identical call and result (a browser agent whose tools answer nothing)", Want: kill(14),
			System: "You are a browser agent. You get the state of the browser after each action and answer with AgentOutput.",
			Moves: seq(
				user("Your ultimate task is: order the blue kettle to the address in my profile."),
				user(checkoutPage(0)),
				loop(),
				each(26, func(i int) Moves {
					return seq(
						call("AgentOutput", fmt.Sprintf(`{"current_state":{"evaluation_previous_goal":%q,"memory":"The blue kettle is in the basket. Address is filled in. Step %d.","next_goal":%q},"action":[{"click_element_by_index":{"index":23}}]}`,
							seen[i%len(seen)], i+1, goals[i%len(goals)]), ok("")),
						user(checkoutPage(i+1)),
					)
				}),
				says("I continue."),
			),
		},
	}
}

// showPage is a page that has a clock and counts its visitors.
func showPage(i int) string {
	at, visitors := 14*3600+3*60+21+4*i, 1204+(i*17)%23
	lines := []string{
		"Page URL: https://kino.example/shows/8812", "Page Title: Late show, Saturday 22:45", "Page Snapshot:",
		"- banner [ref=e1]:", "  - link \"Kino am Hafen\" [ref=e2]", "  - navigation [ref=e4]:", "    - link \"Programme\" [ref=e5]", "    - link \"Vouchers\" [ref=e6]", "    - link \"Sign in\" [ref=e7]",
		fmt.Sprintf("  - text: It is %02d:%02d:%02d", at/3600, at/60%60, at%60),
		"- main [ref=e20]:", "  - heading \"Late show, Saturday 22:45\" [level=1] [ref=e21]", "  - img \"Poster of The Long Tide\" [ref=e22]",
		"  - paragraph [ref=e23]: A crew of six is stranded on a lightship. Original version with subtitles, 118 minutes.",
		"  - text: Hall 2, row and seat are free to choose", "  - spinbutton \"Number of tickets\" [ref=e37]: \"2\"", "  - checkbox \"I accept the terms of the house\" [ref=e39]", "  - button \"Reserve\" [ref=e41]",
		"  - text: Reservations are held until 30 minutes before the show.",
		"- contentinfo [ref=e60]:", fmt.Sprintf("  - text: %d,%03d people are looking at this programme", visitors/1000, visitors%1000), "  - link \"Imprint\" [ref=e62]", "  - link \"Privacy\" [ref=e63]",
	}
	return strings.Join(lines, "\n")
}

// checkoutPage is the state of the browser as the agent's harness tells it.
func checkoutPage(i int) string {
	return fmt.Sprintf(`[Task history memory ends]
[Current state starts here]
Current url: https://shop.example/checkout/address
Available tabs:
[TabInfo(page_id=0, url='https://shop.example/checkout/address', title='Checkout')]
Interactive elements from top layer of the current page inside the viewport:
[Start of page]
[3]<a aria-label='Home'>shop.example</a>
[5]<input type='search' placeholder='Search for articles'/>
[8]<a>Basket (1)</a>
Delivery address
[12]<input name='name' value='Maren Ode'/>
[14]<input name='street' value='Lindenweg 4'/>
[16]<input name='zip' value='24103'/>
[18]<input name='city' value='Kiel'/>
[20]<select name='country'>Germany</select>
Please confirm that this is your address.
[21]<input type='checkbox' name='confirm'/>
[23]<button type='submit'>Continue</button>
[25]<a>Back to the basket</a>
[27]<a>Terms</a>
[End of page]
Current step: %d/100
Current date and time: 2026-03-02 09:%02d`, i+1, i*4/60)
}

// liveCycles go round.
func liveCycles() []Case {
	return []Case{
		{
			Name: "search-and-read-in-turns", Evidence: "EVIDENCE 3 cycles of 2", Want: kill(12),
			System: "You are a coding agent.",
			Moves: seq(
				user("Rename the option retries to attempts everywhere."),
				loop(),
				rep(12,
					call("grep", `{"pattern":"retries","path":"src"}`, ok("src/client/options.rs:14:    pub retries: u32,\nsrc/client/options.rs:31:            retries: 3,\nsrc/client/send.rs:52:    for attempt in 0..options.retries {\nsrc/cli/flags.rs:88:    #[arg(long, default_value_t = 3)]\nsrc/cli/flags.rs:89:    pub retries: u32,\n")),
					call("read_file", `{"path":"src/client/options.rs"}`, ok("use std::time::Duration;\n\n/// Options of a client.\n#[derive(Clone, Debug)]\npub struct Options {\n    pub base: String,\n    pub timeout: Duration,\n    pub user_agent: String,\n\n    /// How often a request is sent again.\n    pub retries: u32,\n}\n\nimpl Default for Options {\n    fn default() -> Self {\n        Self {\n            base: \"https://api.example\".into(),\n            timeout: Duration::from_secs(20),\n            user_agent: \"client/2\".into(),\n            retries: 3,\n        }\n    }\n}\n")),
				),
			),
		},
		{
			Name: "three-tools-in-turns", Evidence: "EVIDENCE 3 cycles of 3", Want: kill(16),
			System: "You analyse incidents with the monitoring tools.",
			Moves: seq(
				user("Why was the checkout slow last night?"),
				loop(),
				rep(11,
					call("list_alerts", `{"service":"checkout","from":"2026-03-01T20:00:00Z","to":"2026-03-02T04:00:00Z"}`, ok(`{"alerts":[{"id":"al-771","name":"p99 latency above 2 s","from":"2026-03-01T23:14:00Z","to":"2026-03-01T23:52:00Z"},{"id":"al-772","name":"error rate above 1 %","from":"2026-03-01T23:20:00Z","to":"2026-03-01T23:41:00Z"}]}`)),
					call("query_metric", `{"metric":"checkout_latency_p99","from":"2026-03-01T23:00:00Z","to":"2026-03-02T00:00:00Z","step":"10m"}`, ok(`{"values":[["23:00",0.41],["23:10",0.97],["23:20",3.88],["23:30",4.12],["23:40",2.61],["23:50",0.52]]}`)),
					call("search_logs", `{"service":"checkout","level":"error","from":"2026-03-01T23:10:00Z","limit":3}`, ok("2026-03-01T23:17:08Z checkout-5c9 ERROR tax-service: deadline exceeded after 2000ms\n2026-03-01T23:17:09Z checkout-5c9 ERROR tax-service: deadline exceeded after 2000ms\n2026-03-01T23:17:11Z checkout-77a ERROR tax-service: deadline exceeded after 2000ms")),
				),
			),
		},
		{
			Name: "four-queries-from-the-start", Evidence: "EVIDENCE 3 cycles (of four queries whose rows come in another order)", Want: kill(28),
			System: "You are an analyst with a SQL tool.",
			Moves: seq(
				user("Which depot causes the most late deliveries, and why?"),
				loop(),
				each(9, func(i int) Moves {
					return seq(
						call("sql", `{"query":"SELECT depot, count(*) FROM delivery WHERE late GROUP BY depot"}`, ok(shuffled(4*i, "depot | count", depotRows))),
						call("sql", `{"query":"SELECT carrier, count(*) FROM delivery WHERE late AND depot = 'Tampere' GROUP BY carrier"}`, ok(shuffled(4*i+1, "carrier | count", carrierRows))),
						call("sql", `{"query":"SELECT reason, count(*) FROM delay WHERE depot = 'Tampere' GROUP BY reason"}`, ok(shuffled(4*i+2, "reason | count", reasonRows))),
						call("sql", `{"query":"SELECT name, shift, staffed FROM dock WHERE depot = 'Tampere'"}`, ok(shuffled(4*i+3, "name | shift | staffed", dockRows))),
					)
				}),
			),
		},
	}
}

var (
	depotRows   = []string{"Tampere | 412", "Oulu | 130", "Turku | 96", "Lahti | 71", "Kuopio | 55", "Vaasa | 31", "Pori | 28", "Joensuu | 17"}
	carrierRows = []string{"Nordfreight | 201", "Posti | 88", "Kaukokiito | 79", "DB Schenker | 44"}
	reasonRows  = []string{"dock not free | 178", "driver missing | 92", "papers incomplete | 61", "road closed | 49", "vehicle broken | 32"}
	dockRows    = []string{"D1 | night | false", "D2 | night | true", "D3 | day | true", "D4 | day | false", "D5 | night | false", "D6 | day | true"}
)

// shuffled is a table whose rows come in another order each time, as they do
// where a query asks for none.
func shuffled(n int, head string, rows []string) string {
	order := append([]string(nil), rows...)
	for i := len(order) - 1; i > 0; i-- {
		j := (n*7 + i*5 + n*n) % (i + 1)
		order[i], order[j] = order[j], order[i]
	}
	return fmt.Sprintf("%s\n%s\n(%d rows)", head, strings.Join(order, "\n"), len(order))
}
