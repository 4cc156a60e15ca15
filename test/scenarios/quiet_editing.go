package scenarios

import "fmt"

func quietEditing() []Case {
	return []Case{
		{
			Name: "fewer-failures-each-time", Evidence: "EVIDENCE 4.3 edit → test → edit → test", Want: quiet,
			System: "You are a coding agent in a Go repository.",
			Moves: seq(
				user("Make all tests of package ledger pass."),
				each(9, func(i int) Moves {
					return seq(
						call("edit", fmt.Sprintf(`{"file":"ledger/entry.go","line":%d,"text":"if e.Amount == %d { return ErrZero }"}`, 12+3*i, i), ok("edited")),
						call("bash", `{"command":"go test ./ledger"}`, failed(fmt.Sprintf("--- FAIL: TestBalance\n    %d of 10 cases fail\nFAIL\texit status 1", 9-i))),
					)
				}),
				call("edit", `{"file":"ledger/sum.go","line":4,"text":"return total, nil"}`, ok("edited")),
				call("bash", `{"command":"go test ./ledger"}`, ok("ok  \tledger\t0.31s")),
				says("All tests pass."),
			),
		},
		{
			Name: "same-failure-different-edits", Evidence: "EVIDENCE 4.3 edit → test → edit → test (the failure stays for a while)", Want: mayWarn,
			System: "You are a coding agent in a Java repository.",
			Moves: seq(
				user("Fix the flaky date parser."),
				over([]string{"LocalDate.parse(s.trim())", "LocalDate.parse(s, ISO_DATE)", "LocalDate.parse(s.replace('/', '-'))", "formatter.withLocale(ROOT).parse(s, LocalDate::from)", "LocalDate.from(lenient.parse(s))"}, func(code string) Moves {
					return seq(
						call("edit", fmt.Sprintf(`{"file":"DateParser.java","replace":"return ...","with":"return %s;"}`, code), ok("The file was updated.")),
						call("bash", `{"command":"mvn -q test -Dtest=DateParserTest"}`, failed("Tests run: 4, Failures: 1\nDateParserTest.twoDigitYear expected:<2026-01-02> but was:<0026-01-02>")),
					)
				}),
				call("edit", `{"file":"DateParser.java","replace":"return ...","with":"return year < 100 ? date.plusYears(2000) : date;"}`, ok("The file was updated.")),
				call("bash", `{"command":"mvn -q test -Dtest=DateParserTest"}`, ok("Tests run: 4, Failures: 0")),
				says("Two-digit years are now read as 20xx."),
			),
		},
		{
			Name: "compiler-errors-move-on", Evidence: "EVIDENCE 4.3 edit → test (compiler errors)", Want: quiet,
			System: "You port a C++ project.",
			Moves: seq(
				user("Make it compile with the new compiler."),
				each(12, func(i int) Moves {
					files := []string{"mesh", "light", "shader", "scene", "camera", "texture"}
					return seq(
						call("compile", `{"target":"render"}`, failed(fmt.Sprintf("%s.cpp:%d:9: error: use of undeclared identifier 'tmp_%d'\n1 error generated.", files[i%6], 20+13*i, i))),
						call("replace", fmt.Sprintf(`{"file":"%s.cpp","from":"tmp_%d","to":"buffer_%d"}`, files[i%6], i, i), ok("1 replacement")),
					)
				}),
				call("compile", `{"target":"render"}`, ok("[100%] Built target render")),
				says("It compiles."),
			),
		},
		{
			Name: "styling-by-screenshots", Evidence: "EVIDENCE 4.3 edit → test (a page is looked at after each change)", Want: quiet,
			System: "You are a web designer with a browser.",
			Moves: seq(
				user("Align the cards of the pricing page."),
				each(8, func(i int) Moves {
					return seq(
						call("write_file", fmt.Sprintf(`{"path":"pricing.css","content":".card { margin: %dpx; flex: 1 1 %d0%%; }"}`, 4*i, i+1), ok("")),
						call("screenshot", `{"page":"pricing"}`, ok(fmt.Sprintf("three cards, left edge at %d, gap %d", 100+8*i, 4*i))),
					)
				}),
				says("The cards are aligned."),
			),
		},
		{
			Name: "lint-clean-after-each-edit", Evidence: "EVIDENCE 4.3 edit → test (the check passes every time)", Want: quiet,
			System: "You modernise Python code.",
			Moves: seq(
				user("Add type hints to all modules of package geo, and lint after each."),
				over([]string{"area", "bounds", "circle", "distance", "ellipse", "frame", "grid", "hull", "index", "join"}, func(module string) Moves {
					return seq(
						call("edit_file", fmt.Sprintf(`{"path":"geo/%s.py","patch":"-def %s(x):\n+def %s(x: Shape) -> float:\n"}`, module, module, module), ok("OK")),
						call("bash", `{"command":"ruff check geo"}`, ok("All checks passed!")),
					)
				}),
				says("Ten modules have type hints now."),
			),
		},
		{
			Name: "script-fails-further-down", Evidence: "EVIDENCE 4.3 edit → test → edit → test (the script's line number moves)", Want: quiet,
			System: "You are a release engineer.",
			Moves: seq(
				user("Make setup.sh run through on the new image."),
				each(9, func(i int) Moves {
					return seq(
						call("bash", `{"command":"./setup.sh"}`, failed(fmt.Sprintf("./setup.sh: line %d: unbound variable", 14+11*i))),
						call("edit", fmt.Sprintf(`{"file":"setup.sh","line":%d,"text":"export STEP_%d_DIR=/opt/step%d"}`, 14+11*i, i, i), ok("edited")),
					)
				}),
				call("bash", `{"command":"./setup.sh"}`, ok("setup complete")),
				says("It runs through."),
			),
		},
	}
}
