package scenarios

import "fmt"

func quietExploration() []Case {
	rooms := []string{"kitchen", "cellar", "attic", "garage", "study", "pantry", "porch", "hall", "loft", "nursery"}
	return []Case{
		{
			Name: "ten-files-at-once", Evidence: "EVIDENCE 4.5 parallel fan-out", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Summarise the rooms of the game."),
				together(apiece(rooms, func(room string) Moves {
					return call("read_file", fmt.Sprintf(`{"path":"rooms/%s.yaml"}`, room), ok(fmt.Sprintf("name: %s\nexits: [%d]\nitems: %s-key", room, len(room), room)))
				})...),
				together(apiece(rooms[:6], func(room string) Moves {
					return call("read_file", fmt.Sprintf(`{"path":"scripts/%s.lua"}`, room), ok(fmt.Sprintf("function enter_%s() light(%d) end", room, 3*len(room))))
				})...),
				says("There are ten rooms, each with a key."),
			),
		},
		{
			Name: "opening-exploration", Evidence: "EVIDENCE 4.5 opening exploration", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Where are the access rights checked?"),
				call("ls", `{"path":"."}`, ok("README.md\ncmd\ninternal\npkg\n")),
				call("ls", `{"path":"internal"}`, ok("auth\ndb\nhttp\n")),
				call("ls", `{"path":"internal/auth"}`, ok("acl.go\nacl_test.go\ntoken.go\n")),
				call("ls", `{"path":"pkg"}`, ok("clock\nids\n")),
				call("grep", `{"pattern":"Allow("}`, ok("internal/auth/acl.go:14:func (a *ACL) Allow(who, what string) bool {\ninternal/http/guard.go:31:\tif !acl.Allow(user, r.URL.Path) {")),
				call("read", `{"path":"internal/auth/acl.go"}`, ok("package auth\n\n// ACL says who may do what.\ntype ACL struct{ rules map[string][]string }\n")),
				call("read", `{"path":"internal/http/guard.go"}`, ok("package http\n\nfunc guard(next Handler) Handler {\n\treturn func(w Writer, r *Request) {\n")),
				says("In internal/http/guard.go, by auth.ACL.Allow."),
			),
		},
		{
			Name: "sub-agents-with-one-prompt", Evidence: "EVIDENCE 4.5 parallel fan-out (sub-agents)", Want: quiet,
			System: "You are a research assistant. Report in one paragraph.",
			Moves: each(6, func(i int) Moves {
				return in(rooms[i],
					user("Find out how people lit the "+rooms[i]+" before electricity."),
					call("search", fmt.Sprintf(`{"q":"historic lighting %s"}`, rooms[i]), ok(fmt.Sprintf("In the %s, %d kinds of lamps were used: %s lamps, rushlights, candles.", rooms[i], i+2, rooms[i]))),
					says(fmt.Sprintf("In the %s people used %d kinds of lamps; the %s lamp was the commonest.", rooms[i], i+2, rooms[i])),
				)
			}),
		},
		{
			Name: "hundred-different-calls", Evidence: "EVIDENCE 4.6 long productive turns (100 different calls under one user message)", Want: quiet,
			System: "You are an archivist.",
			Moves: seq(
				user("Catalogue the hundred letters of the estate."),
				each(100, func(i int) Moves {
					from := []string{"Ada", "Bruno", "Carla", "Dario", "Elsa", "Fritz", "Greta"}
					return call("read_letter", fmt.Sprintf(`{"number":%d}`, i+1), ok(fmt.Sprintf("%d May %d. Dear %s, the %s of house %d is being repaired, and uncle paid %d crowns. Yours, %s",
						1+i%30, 1880+i/3, from[i%7], rooms[i%10], 3*i+1, 17*i+4, from[(i+3)%7])))
				}),
				says("The catalogue has a hundred entries."),
			),
		},
		{
			Name: "forty-five-mixed-steps", Evidence: "EVIDENCE 4.6 long productive turns", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Split the game's world file into one module per room."),
				each(15, func(i int) Moves {
					room := fmt.Sprintf("%s%d", rooms[i%10], i/10)
					return seq(
						call("read_file", fmt.Sprintf(`{"path":"world.lua","from":%d,"to":%d}`, 50*i, 50*i+49), ok(fmt.Sprintf("-- %s\nlocal %s = room(%d)\n%s.exits = {%d, %d}\n", room, room, i, room, i+1, i+2))),
						call("write_file", fmt.Sprintf(`{"path":"rooms/%s.lua","content":"return room(%d, {%d, %d})\n"}`, room, i, i+1, i+2), ok("")),
						call("bash", fmt.Sprintf(`{"command":"luac -p rooms/%s.lua && wc -c rooms/%s.lua"}`, room, room), ok(fmt.Sprintf("%d rooms/%s.lua", 40+3*i, room))),
					)
				}),
				says("Fifteen modules are written."),
			),
		},
		{
			Name: "loss-falls", Evidence: "EVIDENCE 4.6 long productive turns (one script with other parameters)", Want: quiet,
			System: "You tune models.",
			Moves: seq(
				user("Find a good learning rate."),
				each(18, func(i int) Moves {
					return call("train", fmt.Sprintf(`{"lr":0.%04d}`, 5+9*i), ok(fmt.Sprintf("epoch 1: loss 0.%d\nepoch 2: loss 0.%d", 900-21*i, 700-17*i)))
				}),
				says("A learning rate of 0.0158 gives the lowest loss."),
			),
		},
	}
}

// apiece is one move for each item, to be made together.
func apiece(items []string, f func(string) Moves) []Moves {
	var all []Moves
	for _, item := range items {
		all = append(all, f(item))
	}
	return all
}
