package scenarios

import "github.com/haltd/haltd"

func fireCycles() []Case {
	return []Case{
		{
			Name: "list-and-open", Evidence: "EVIDENCE 3 cycles of 2", Want: kill(12).as(haltd.FamilyCycle),
			System: "You look after a document archive.",
			Moves: seq(
				user("Which contract with Brightwater ends first?"),
				loop(),
				rep(8,
					call("list_folder", `{"folder":"contracts/brightwater"}`, ok("index.md\narchive/\nframework-2021.pdf")),
					call("open_document", `{"path":"contracts/brightwater/index.md"}`, ok("# Brightwater\nSee archive/ for all contracts.")),
				),
			),
		},
		{
			Name: "open-click-back", Evidence: "EVIDENCE 3 cycles of 3", Want: kill(15),
			System: "You use a browser.",
			Moves: seq(
				user("Book the cheapest slot at the tennis hall."),
				loop(),
				rep(7,
					call("navigate", `{"url":"https://hall.example/slots"}`, ok("Slots — choose a court. [Court 1] [Court 2] [My account]")),
					call("click", `{"element":"Court 1"}`, ok("Please sign in to see prices. [Sign in] [Back]")),
					call("click", `{"element":"Back"}`, ok("Home — welcome to the hall. [Slots] [Opening hours]")),
				),
			),
		},
		{
			Name: "failing-edit-and-read", Evidence: "EVIDENCE 3 cycles of 2 (an edit that does not match)", Want: kill(10),
			System: "You are a coding agent.",
			Moves: seq(
				user("Rename the flag --fast to --quick in cli.py."),
				loop(),
				rep(7,
					call("read_file", `{"path":"cli.py"}`, ok("import argparse\n\np = argparse.ArgumentParser()\np.add_argument('--fast', action='store_true')\n")),
					call("str_replace", `{"path":"cli.py","old":"p.add_argument(\"--fast\", action=\"store_true\")","new":"p.add_argument(\"--quick\", action=\"store_true\")"}`,
						failed("No replacement was performed, old did not appear verbatim in cli.py.")),
				),
			),
		},
		{
			Name: "lager-bestellung-kreis", Evidence: "EVIDENCE 3 cycles of 2 or 3 (four steps, in German)", Want: kill(20),
			System: "Du arbeitest im Warenwirtschaftssystem.",
			Moves: seq(
				user("Bestelle Dichtungen nach, wenn weniger als 50 Stück da sind."),
				loop(),
				rep(6,
					call("bestand", `{"artikel":"DI-204"}`, ok(`{"artikel":"DI-204","menge":12,"lagerort":"R7"}`)),
					call("lieferant", `{"artikel":"DI-204"}`, ok(`{"lieferant":"Hofer Dichtungstechnik","mindestmenge":200}`)),
					call("konditionen", `{"lieferant":"Hofer Dichtungstechnik"}`, ok(`{"zahlungsziel":30,"rabatt":null}`)),
					call("freigabe", `{"artikel":"DI-204","menge":200}`, ok(`{"freigabe":"offen","zuständig":"Einkauf"}`)),
				),
			),
		},
		{
			Name: "screenshot-and-click", Evidence: "EVIDENCE 3 cycles of 2 (the same command flips between two states)", Want: kill(14),
			System: "You operate a mobile phone through screenshots.",
			Moves: seq(
				user("Turn on dark mode."),
				loop(),
				rep(9,
					saying("The display menu is closed; I open it.", call("tap", `{"x":410,"y":903}`, ok("The panel 'Display' is open."))),
					saying("The display menu is open; I tap the header.", call("tap", `{"x":410,"y":180}`, ok("The panel 'Display' is closed."))),
				),
			),
		},
	}
}
