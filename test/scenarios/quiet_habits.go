package scenarios

import "fmt"

func quietHabits() []Case {
	parts := []string{"axle", "brake", "chain", "dynamo", "engine", "fender", "gear", "handle", "ignition", "jack", "kickstand", "lamp"}
	work := func(i int) Moves {
		p := parts[i%len(parts)]
		return seq(
			call("read_file", fmt.Sprintf(`{"path":"parts/%s_%d.py"}`, p, i), ok(fmt.Sprintf("class %s%d:\n    weight = %d\n    price = %d\n", p, i, 5*i+1, 90+7*i))),
			call("edit_file", fmt.Sprintf(`{"path":"parts/%s_%d.py","from":"price = %d","to":"price = %d"}`, p, i, 90+7*i, 95+7*i), ok("edited")),
		)
	}
	return []Case{
		{
			Name: "git-status-now-and-then", Evidence: "EVIDENCE 4.7 the same command far apart (git status)", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Raise all prices by five."),
				each(4, func(i int) Moves {
					return seq(call("bash", `{"command":"git status --short"}`, ok("")), work(3*i), work(3*i+1), work(3*i+2),
						call("bash", fmt.Sprintf(`{"command":"git commit -qam 'Raise prices, part %d'"}`, i+1), ok("")))
				}),
				says("All prices are raised."),
			),
		},
		{
			Name: "clean-tree-after-each-commit", Evidence: "EVIDENCE 4.7 the same command far apart (git status after each commit)", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Raise the price of each part in a commit of its own."),
				each(6, func(i int) Moves {
					return seq(work(i),
						call("bash", fmt.Sprintf(`{"command":"git commit -qam 'Raise the price of %s'"}`, parts[i]), ok(fmt.Sprintf("[main 4f%02d] Raise the price of %s", i, parts[i]))),
						call("bash", `{"command":"git status"}`, ok("On branch main\nnothing to commit, working tree clean")))
				}),
				says("Six commits."),
			),
		},
		{
			Name: "where-am-i", Evidence: "EVIDENCE 4.7 the same command far apart (pwd)", Want: quiet,
			System: "You are a shell agent.",
			Moves: seq(
				user("Check the weights of all parts."),
				each(4, func(i int) Moves {
					return seq(call("bash", `{"command":"pwd && ls"}`, ok("/home/build/bike\nparts\nREADME\n")), work(4*i), work(4*i+1), work(4*i+2), work(4*i+3))
				}),
				says("All weights are plausible."),
			),
		},
		{
			Name: "memory-recalled-before-answers", Evidence: "EVIDENCE 4.10 repeated read-only recall", Want: quiet,
			System: "You are a personal assistant. Recall what you know of the person before you answer.",
			Moves: over([]string{"What should I cook tonight?", "And for dessert?", "Which wine goes with it?", "Write a shopping list.", "How long does the roast take?", "Who is coming again?"}, func(q string) Moves {
				return seq(user(q),
					call("recall", `{"about":"food"}`, ok("Vegetarian. Dislikes coriander. Guests on Friday: Noor, Jan.")),
					says("For \""+q+"\" I suggest something without coriander: "+fmt.Sprintf("idea %d, a %s made of chestnuts.", len(q), q[:5])))
			}),
		},
		{
			Name: "readme-read-again", Evidence: "EVIDENCE 4.10 repeated read-only recall", Want: quiet,
			System: "You are a coding agent.",
			Moves: seq(
				user("Follow the style guide in STYLE.md and raise all prices."),
				each(4, func(i int) Moves {
					return seq(call("read_file", `{"path":"STYLE.md"}`, ok("Prices are integers. Names are nouns. No abbreviations.")), work(5*i), work(5*i+1), work(5*i+2))
				}),
				says("Done in the style of the guide."),
			),
		},
		{
			Name: "todo-read-between-steps", Evidence: "EVIDENCE 4.10 repeated read-only recall (a to-do list)", Want: quiet,
			System: "You are a coding agent with a to-do list.",
			Moves: seq(
				user("Raise all prices; keep a to-do list."),
				each(6, func(i int) Moves {
					return seq(call("todo_read", `{}`, ok("[ ] raise prices\n[ ] run tests\n[ ] write changelog")), work(2*i), work(2*i+1))
				}),
				says("Prices are raised."),
			),
		},
		{
			Name: "time-of-day", Evidence: "EVIDENCE 4.11 tools whose arguments are empty", Want: quiet,
			System: "You control the lights of a greenhouse.",
			Moves: seq(
				user("Dim the lights step by step until sunset."),
				each(10, func(i int) Moves {
					return seq(call("get_light", `{}`, ok(fmt.Sprintf(`{"lux":%d}`, 9000-700*i))), call("set_dimmer", fmt.Sprintf(`{"percent":%d}`, 100-9*i), ok("ok")))
				}),
				says("The lights are off."),
			),
		},
		{
			Name: "screenshots-between-clicks", Evidence: "EVIDENCE 4.11 tools whose arguments are empty (screenshots)", Want: quiet,
			System: "You operate a desktop.",
			Moves: seq(
				user("Create the user accounts of the new colleagues."),
				over(parts[:9], func(p string) Moves {
					return seq(
						call("screenshot", `{}`, ok("form: name [____] role [____] saved users: "+p)),
						call("type_text", fmt.Sprintf(`{"field":"name","text":"%s"}`, p), ok("")),
						call("click", `{"button":"Save"}`, ok("user "+p+" saved")),
					)
				}),
				says("All accounts exist."),
			),
		},
		{
			Name: "tabs-listed-thrice", Evidence: "EVIDENCE 4.11 tools whose arguments are empty", Want: quiet,
			System: "You use a browser.",
			Moves: seq(
				user("Compare the prices on my open tabs."),
				call("list_tabs", `{}`, ok("1 Lamp A\n2 Lamp B\n3 Lamp C")),
				call("read_tab", `{"tab":1}`, ok("Lamp A costs 39 euros, oak, in stock.")),
				call("list_tabs", `{}`, ok("1 Lamp A\n2 Lamp B\n3 Lamp C")),
				call("read_tab", `{"tab":2}`, ok("Lamp B costs 52 euros, brass, two weeks.")),
				call("list_tabs", `{}`, ok("1 Lamp A\n2 Lamp B\n3 Lamp C")),
				call("read_tab", `{"tab":3}`, ok("Lamp C costs 44 euros, paper, in stock.")),
				says("Lamp A is the cheapest."),
			),
		},
		{
			Name: "ripgrep-is-not-there", Evidence: "EVIDENCE 4.6 long productive turns (another command does what the missing one would)", Want: mayWarn,
			System: "You are a coding agent with a shell.",
			Moves: seq(
				user("Where are the feature flags read?"),
				over([]string{"flagEnabled", "loadFlags", "FLAG_PREFIX", "flag_cache", "overrideFlag", "defaultFlags"}, func(name string) Moves {
					return seq(
						call("bash", fmt.Sprintf(`{"command":"rg -n %s"}`, name), failed("bash: rg: command not found")),
						call("bash", fmt.Sprintf(`{"command":"grep -rn %s src"}`, name), ok(fmt.Sprintf("src/%s/reader.ts:%d: return %s(env, tenant)", name, 7*len(name), name))),
					)
				}),
				says("They are read in six places."),
			),
		},
		{
			Name: "shell-misses-now-and-then", Evidence: "EVIDENCE 4.6 long productive turns (one tool for everything, which fails now and then)", Want: quiet,
			System: "You are a coding agent with a shell.",
			Moves: seq(
				user("Move the build of the vendored libraries to CMake."),
				each(9, func(i int) Moves {
					libs := []string{"zstd", "curl", "lua", "sqlite", "expat", "pcre", "brotli", "snappy", "libuv"}
					lib := libs[i]
					return seq(
						call("bash", fmt.Sprintf(`{"command":"cat vendor/%s/CMakeLists.txt"}`, lib), failed(fmt.Sprintf("cat: vendor/%s/CMakeLists.txt: No such file or directory", lib))),
						call("bash", fmt.Sprintf(`{"command":"cat vendor/%s/Makefile"}`, lib), ok(fmt.Sprintf("OBJS = %s_core.o %s_io%d.o\nlib%s.a: $(OBJS)\n\tar rcs $@ $^\nVERSION = %d.%d", lib, lib, i, lib, i+1, 3*i))),
						call("bash", fmt.Sprintf(`{"command":"printf 'add_library(%s %s_core.c %s_io%d.c)' > vendor/%s/CMakeLists.txt"}`, lib, lib, lib, i, lib), ok("")),
						call("bash", fmt.Sprintf(`{"command":"cmake --build build --target %s | tail -2"}`, lib), ok(fmt.Sprintf("[%d%%] Linking C static library lib%s.a\n[100%%] Built target %s", 60+3*i, lib, lib))),
					)
				}),
				says("Nine libraries build with CMake."),
			),
		},
		{
			Name: "file-not-read-yet", Evidence: "EVIDENCE 4.4 batch work over many files (the editor wants each to be read first)", Want: mayWarn,
			System: "You are a coding agent.",
			Moves: seq(
				user("Rename Meter to Gauge in all modules."),
				over([]string{"boiler", "pump", "valve", "turbine", "filter", "burner", "tank", "chiller", "sensor", "relay"}, func(name string) Moves {
					edit := fmt.Sprintf(`{"file_path":"/plant/%s.ts","old_string":"Meter","new_string":"Gauge"}`, name)
					return seq(
						call("Edit", edit, failed("File has not been read yet. Read it first before writing to it.")),
						call("Read", fmt.Sprintf(`{"file_path":"/plant/%s.ts"}`, name), ok(fmt.Sprintf("1 import { Meter } from './meter'\n2 export class %sView extends Meter {\n3   unit = '%s-%d'\n4 }", name, name, 7*len(name)))),
						call("Edit", edit, ok(fmt.Sprintf("The file /plant/%s.ts has been updated.", name))),
					)
				}),
				says("Ten modules are renamed."),
			),
		},
	}
}
