package scenarios

import "fmt"

func fireMemory() []Case {
	const brief = "You are a build engineer."
	failing := call("make", `{"target":"firmware"}`, failed("make: *** No rule to make target 'firmware'.  Stop."))
	return []Case{
		{
			Name: "history-as-text", Evidence: "EVIDENCE 3 identical call and result (a stateless agent)", Want: kill(10), Ledger: true,
			System: "You control a warehouse robot. Answer with one command.",
			Moves: seq(loop(), stateless(13, "Bring pallet 7 to gate 3.", func(int) (string, string) {
				return "MOVE pallet 7 TO gate 3", "refused: the aisle is blocked by pallet 9"
			})),
		},
		{
			Name: "history-as-text-with-steps-numbered", Evidence: "EVIDENCE 3 the same error with varied arguments (a stateless agent)", Want: kill(13), Ledger: true,
			System: "You fix spreadsheets. Answer with one command.",
			Moves: seq(loop(), stateless(16, "Sum the column Amount into cell F40.", func(i int) (string, string) {
				return fmt.Sprintf("SET F40 =SUM(F2:F%d)", 39-i%5), fmt.Sprintf("step %d: error, the sheet is protected", i+1)
			})),
		},
		{
			Name: "history-as-text-and-no-session", Evidence: "EVIDENCE 3 identical call and result (a stateless agent that names no session)", Want: kill(12), Unnamed: true, Retold: true, Ledger: true,
			System: "You are in a house and answer with one thought and one action.",
			Moves: seq(loop(), stateless(16, "You are in the middle of a room. You see a cabinet 1, a cabinet 2, a coffee machine 1, a drawer 1, a fridge 1, a garbage can 1, a microwave 1, a shelf 1 and a sink 1. Your task is to put a clean mug into the coffee machine.", func(i int) (string, string) {
				return "Thought: the mug may be in " + []string{"the second cabinet", "cabinet 2, which is closed", "that cabinet"}[i%3] + ".\nAction: open cabinet 2", "Nothing happens."
			})),
		},
		{
			Name: "snapshot-of-the-screen", Evidence: "EVIDENCE 3 identical call and result (a stateless agent that sends only the state)", Want: kill(13), Ledger: true,
			System: "You see the screen as text and answer with one action.",
			Moves: seq(
				forget("Goal: accept the cookie banner and open the menu.\nScreen: home page, not yet loaded"), says("wait"),
				loop(),
				rep(16, forget("Goal: accept the cookie banner and open the menu.\nScreen: [banner: We value your privacy] [Accept] [Settings]"), says("click(Accept)")),
			),
		},
		{
			Name: "compaction-loop", Evidence: "EVIDENCE 3 compaction loops", Want: kill(20), Ledger: true, System: brief,
			Moves: seq(
				user("Build the firmware image."),
				loop(),
				each(8, func(i int) Moves {
					return seq(
						call("list_targets", `{}`, ok("all clean install test")),
						failing,
						call("read_file", `{"path":"Makefile"}`, ok("all: test\n\ntest:\n\tctest\n")),
						forget(fmt.Sprintf("Summary of the conversation so far (part %d): the user wants a firmware image. The targets were listed, make firmware failed because there is no such rule, the Makefile was read. Next: list the targets and build the firmware.", i+1)),
					)
				}),
				says("I am still trying to build the firmware."),
			),
		},
		{
			Name: "compacted-every-third-round", Evidence: "EVIDENCE 3 compaction loops (the failing call goes on)", Want: kill(14), Ledger: true, System: brief,
			Moves: seq(
				user("Build the firmware image."),
				loop(),
				each(6, func(i int) Moves {
					return seq(failing, failing, failing, forget(fmt.Sprintf("This session continues an earlier one that ran out of room (%d). The firmware must be built with make; the last attempts failed.", i+2)))
				}),
				says("I will try make firmware again."),
			),
		},
		{
			Name: "sliding-window-of-history", Evidence: "EVIDENCE 3 identical call and result (the client drops its oldest messages)", Want: kill(10), Ledger: true, System: brief,
			Moves: seq(
				user("Flash the board."),
				loop(),
				rep(13, call("flash", `{"port":"/dev/ttyUSB0","image":"board.bin"}`, failed("could not open port /dev/ttyUSB0: Permission denied")), keep(4)),
			),
		},
		{
			Name: "previous-response-same-failure", Evidence: "EVIDENCE 3 identical call and result (previous_response_id)", Want: kill(12), Ledger: true, Chained: true,
			System: "You translate documents with tools.",
			Moves: seq(
				user("Translate contract.docx into Polish."),
				loop(),
				rep(15, call("open_document", `{"file":"contract.docx"}`, failed("The document is encrypted and needs a password."))),
			),
		},
		{
			Name: "previous-response-cycle", Evidence: "EVIDENCE 3 cycles of 2 (previous_response_id)", Want: kill(20), Ledger: true, Chained: true,
			System: "You keep an inventory.",
			Moves: seq(
				user("Which of the two pumps should be replaced?"),
				loop(),
				rep(12,
					call("pump_report", `{"pump":"north"}`, ok(`{"pump":"north","hours":8120,"state":"worn"}`)),
					call("pump_report", `{"pump":"south"}`, ok(`{"pump":"south","hours":8090,"state":"worn"}`)),
				),
			),
		},
	}
}
