package scenarios

import (
	"fmt"
	"strings"

	"github.com/haltd/haltd"
)

func fireCommands() []Case {
	const react = "Answer with Thought: and Action: lines. You get an Observation: for each action."
	return []Case{
		{
			Name: "react-same-action", Evidence: "EVIDENCE 3 identical call and result (a text-command agent)", Want: kill(8), System: react,
			Moves: seq(
				user("Question: Which river flows through the birthplace of Ilse Aichinger's twin sister?"),
				loop(),
				rep(11, answer("Thought: I need to find the sister first.\nAction: Search[Helga Aichinger birthplace river]",
					"Observation: Could not find [Helga Aichinger birthplace river]. Similar: []")),
			),
		},
		{
			Name: "react-other-thoughts", Evidence: "EVIDENCE 3 identical call and result (a text-command agent that rephrases)", Want: kill(9), System: react,
			Moves: seq(
				user("Put a clean mug into the coffee machine."),
				loop(),
				each(12, func(i int) Moves {
					thoughts := []string{"I should pick up the mug.", "The mug must be on the counter.", "First I take the mug.", "It did not work; the mug is still there.",
						"Maybe now.", "I will grab it.", "The task needs a mug in hand.", "Let me take the mug from the counter.", "I try to lift the mug.", "Taking the mug is the right step.", "Once more.", "I need this mug."}
					return answer("Thought: "+thoughts[i]+"\nAction: take mug 1 from countertop 2", "Observation: Nothing happens.")
				}),
			),
		},
		{
			Name: "fenced-command-fails", Evidence: "EVIDENCE 3 the same error (a text-command agent with fenced blocks)", Want: kill(8),
			System: "Reply with one bash block. You get its output.",
			Moves: seq(
				user("Count the unique visitors in access.log."),
				loop(),
				rep(11, answer("I count the distinct addresses.\n\n```bash\nawk '{print $1}' logs/access.log | sort -u | wc -l\n```",
					"<returncode>2</returncode>\n<output>\nawk: cannot open \"logs/access.log\" (No such file or directory)\n</output>")),
			),
		},
		{
			Name: "text-game-back-and-forth", Evidence: "EVIDENCE 3 cycles of 2 (a text-command agent)", Want: kill(14),
			System: "You play a text adventure. Answer with one command.",
			Moves: seq(
				user("You are in the hall. Exits: north, east. Find the lamp."),
				loop(),
				rep(9,
					answer("Action: go north", "You are in the library. Shelves line the walls. Exits: south."),
					answer("Action: go south", "You are in the hall. Exits: north, east."),
				),
			),
		},
		{
			Name: "json-command-other-arguments", Evidence: "EVIDENCE 3 the same error with varied arguments (a text-command agent)", Want: kill(11),
			System: "Answer with a JSON command in a code block.",
			Moves: seq(
				user("Find the owner of the domain harbour-lights.example."),
				loop(),
				each(14, func(i int) Moves {
					return answer(fmt.Sprintf("```json\n{\"command\":\"whois\",\"args\":{\"domain\":\"harbour-lights.example\",\"server\":\"whois%d.registry.example\"}}\n```", i+1),
						"Error: command whois failed: the network is unreachable from this sandbox")
				}),
			),
		},
		{
			Name: "time-limit-after-a-long-script", Evidence: "EVIDENCE 3 the same error with varied arguments (the answer quotes the whole script)", Want: kill(8).as(haltd.FamilyFutile),
			System: "Reply with one bash block. You get its output.",
			Moves: seq(
				user("How many tokens has the corpus?"),
				loop(),
				over([]string{"parquet", "arrow", "json", "csv", "shards", "mirror", "torrent", "snapshot", "archive", "delta", "index"}, func(source string) Moves {
					script := "python3 - <<'EOF'\n" + strings.Repeat(fmt.Sprintf("part = load_%s(part)\n", source), 16) + "EOF"
					return answer("I read the "+source+" version.\n\n```bash\n"+script+"\n```",
						"The last command <command>"+script+"</command> timed out and was killed.\nIt printed:\n<output>\n</output>\nUse another command, one that needs no input.")
				}),
			),
		},
		{
			Name: "told-that-it-is-the-same", Evidence: "EVIDENCE 3 varied queries with the same result (the harness remarks on it)", Want: warn(5).as(haltd.FamilyFutile),
			System: "Reply with one python block. You get what it prints.",
			Moves: seq(
				user("How many tiles does the mason need?"),
				loop(),
				each(7, func(i int) Moves {
					code := []string{"print(rows * columns)", "print(columns * rows)", "tiles = rows * columns\nprint(tiles)", "tiles = columns * rows\nprint(tiles)",
						"print(int(rows * columns))", "print(int(columns * rows))", "tiles = int(rows * columns)\nprint(tiles)"}[i]
					printed := "The mason needs 412 tiles"
					if i > 0 {
						printed += "\nThis is what you had before, please try another way."
					}
					return answer("Let me compute it.\n\n```python\n"+code+"\n```", printed)
				}),
			),
		},
	}
}
