package scenarios

import "fmt"

func quietTransport() []Case {
	limited, broken, lost := Fault{Status: 429, Marked: true}, Fault{Status: 500, Marked: true}, Fault{}
	steps := func(i int) Moves {
		birds := []string{"wren", "swift", "heron", "finch", "rook", "tern", "crane", "dove", "eagle", "gull"}
		return call("count_birds", fmt.Sprintf(`{"kind":%q}`, birds[i]), ok(fmt.Sprintf("%d %ss seen near lake %d", 11*i+2, birds[i], i)))
	}
	return []Case{
		{
			Name: "retried-after-429", Evidence: "EVIDENCE 4.8 SDK retries after 429", Want: quiet, System: "You count birds.",
			Moves: seq(user("How many birds are there?"), despite([]Fault{limited, limited}, each(6, steps)), says("There are many.")),
		},
		{
			Name: "retried-after-500", Evidence: "EVIDENCE 4.8 SDK retries after 5xx", Want: quiet, System: "You count birds.",
			Moves: seq(user("How many birds are there this spring?"), despite([]Fault{broken, broken, broken}, each(5, steps)), says("There are some.")),
		},
		{
			Name: "sent-again-after-503", Evidence: "EVIDENCE 4.8 retries after 5xx (a client that does not mark them)", Want: quiet, System: "You count birds.",
			Moves: seq(user("How many birds were there in May?"), despite([]Fault{{Status: 503}, {Status: 503}, {Status: 529}, {Status: 503}}, each(6, steps)), says("Fewer than now.")),
		},
		{
			Name: "connection-lost", Evidence: "EVIDENCE 4.8 retries after a lost connection", Want: quiet, System: "You count birds.",
			Moves: seq(user("How many birds were there in June?"), despite([]Fault{lost, lost}, each(6, steps)), says("More than in May.")),
		},
		{
			Name: "one-question-many-failures", Evidence: "EVIDENCE 4.8 SDK retries after 429/5xx (without tools)", Want: quiet, System: "You are a poet.",
			Moves: seq(user("Write a line about rain."), despite([]Fault{limited, broken, limited, broken, limited, broken, limited, broken}, says("Rain writes its name on every roof."))),
		},
	}
}
