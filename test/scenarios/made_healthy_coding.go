package scenarios

import (
	"fmt"
	"strings"
)

func hCoding() []Family {
	return []Family{
		// One stubborn test: every edit is another attempt, the last one works.
		{Name: "code-stubborn-test", Make: hCodeStubborn},
		// Each build stops at another error, until it stops at none.
		{Name: "code-one-compile-error-after-another", Make: hCodeCompile},
		// A flaky test is run again a few times to learn how flaky it is.
		{Name: "code-flaky-test", Make: hCodeFlaky},
		// Benchmarks are run three to five times on purpose.
		{Name: "code-benchmark-repeated", Make: hCodeBenchmark},
		// The number of failing tests falls from run to run.
		{Name: "code-fewer-failures", Make: hCodeFewer},
		// One lint warning after the other is fixed; the command stays the same.
		{Name: "code-lint-warnings", Make: hCodeLint},
		// Module by module: read, edit, test with the same green line.
		{Name: "code-module-by-module", Make: hCodeModules},
		// Prints are put into the program until the cause shows.
		{Name: "code-debug-by-printing", Make: hCodePrints},
		// Packages are raised one by one; the installer always says the same.
		{Name: "code-packages-raised", Make: hCodePackages},
		// A review: one file of the change after the other, a comment for some.
		{Name: "code-review-file-by-file", Make: hCodeReview},
	}
}

func hCodeStubborn(w *words) Case {
	k := hNew(w)
	path, test := hPath(w, k.ending), hSymbol(w)
	run := pick(w, "make test", hCommands[k.ending][0])
	why := fmt.Sprintf("expected %d, got %d", w.between(10, 99), w.between(100, 999))
	total := w.between(20, 90)
	fail := func() string { return hTestRun(w, k.shape, []string{test}, func(string) string { return why }, total) }
	same, still := w.chance(50), fail()
	return k.play("You are a coding agent.", user("Make "+test+" pass."), k.prior(12), k.do(path, k.tool("read file", "view"), hArgs{"path", path}, ok(hNumbered(k.code(w.between(20, 60)), 1))),
		each(w.between(4, 12), func(int) Moves {
			if !same {
				still = fail()
			}
			return seq(
				k.do(path, k.tool("edit file", "apply patch"), hArgs{"path", path, "old", strings.TrimSpace(k.code(2)), "new", k.code(w.between(2, 8))}, ok(k.key("edited", "ok", "The file has been updated."))),
				k.sh("the test", run, still, 1))
		}),
		k.do(path, k.tool("edit file", "apply patch"), hArgs{"path", path, "old", strings.TrimSpace(k.code(1)), "new", k.code(3)}, ok(k.key("edited", "ok", "The file has been updated."))),
		k.sh("the test", run, hTestRun(w, k.shape, nil, nil, total), 0), k.end(test+" passes now."))
}

func hCodeCompile(w *words) Case {
	k := hNew(w)
	build := pick(w, "make", hCommands[k.ending][1])
	return k.play("You are a coding agent.", user("The upgrade of "+w.word()+" broke the build. Repair it."), k.prior(8), each(w.between(8, 22), func(int) Moves {
		path, name := hPath(w, k.ending), w.word()
		what := pick(w, "undefined: "+name, "cannot use "+name+" as string value", "missing argument in call to "+name, name+" is not exported by "+w.word(), "type "+name+" has no field "+w.word())
		return seq(k.sh("", build, fmt.Sprintf("%s:%d:%d: error: %s", path, w.between(1, 400), w.between(1, 60), what), 1),
			k.do(path, k.tool("edit file", "str replace"), hArgs{"path", path, "old", name, "new", w.word()}, ok(k.key("edited", "ok", "done"))))
	}), k.sh("", build, pick(w, "", "build finished"), 0), k.end("The build is green again."))
}

func hCodeFlaky(w *words) Case {
	k := hNew(w)
	test := hSymbol(w)
	run := pick(w, "make e2e TEST=", hCommands[k.ending][0]+" --filter ") + test
	fails, passes := hTestRun(w, k.shape, []string{test}, func(string) string { return "timeout waiting for " + w.word() }, 1), "1 passed"
	return k.play("You are a release engineer.", user("Is "+test+" flaky? Run it a few times; then find out why."), k.prior(8), each(w.between(5, 9), func(i int) Moves {
		if i > 1 && w.chance(45) {
			return every(k.secs(5, 40), k.sh("", run, passes, 0))
		}
		return every(k.secs(5, 40), k.sh("", run, fails, 1))
	}), k.prior(10), k.end("It is flaky: it depends on the order in which two workers start."))
}

func hCodeBenchmark(w *words) Case {
	k := hNew(w)
	n := w.between(3, 5)
	equal := w.chance(30)
	return k.play(fmt.Sprintf("You measure performance. Run every benchmark %d times.", n), user("Which of the "+w.word()+" variants is the fastest?"), k.prior(6), over(w.several(w.between(2, 6)), func(v string) Moves {
		base := w.between(100, 9000)
		return each(n, func(i int) Moves {
			ns := base + w.IntN(base/20)
			if equal {
				ns = base
			}
			return every(k.secs(10, 60), k.sh(fmt.Sprintf("%s, run %d", v, i+1), "./bench --variant "+v, fmt.Sprintf("%s: %d ns/op, %d allocs/op", v, ns, len(v)), 0))
		})
	}), k.end("The first variant is the fastest by far."))
}

func hCodeFewer(w *words) Case {
	k := hNew(w)
	failing := hUnique(w.between(10, 24), func() string { return hSymbol(w) })
	total := len(failing) + w.between(10, 200)
	run := pick(w, "make check", hCommands[k.ending][0])
	var ms Moves
	for len(failing) > 0 {
		path := hPath(w, k.ending)
		ms = append(ms, k.sh("", run, hTestRun(w, k.shape, failing, func(t string) string { return "expected " + t + " to return " + fmt.Sprint(len(t)) }, total), 1)...)
		ms = append(ms, k.do(failing[0], k.tool("edit file", "write file"), hArgs{"path", path, "content", k.code(w.between(3, 15))}, ok(k.key("ok", "written", "updated")))...)
		failing = failing[min(len(failing), w.between(1, 2)):]
	}
	return k.play("You are a coding agent.", user("Port the module to the new API; all tests must pass."), k.prior(8), ms, k.sh("", run, hTestRun(w, k.shape, nil, nil, total), 0), k.end("All tests pass."))
}

func hCodeLint(w *words) Case {
	k := hNew(w)
	lint := pick(w, "make lint", hCommands[k.ending][2])
	var warnings []string
	for range w.between(10, 28) {
		warnings = append(warnings, fmt.Sprintf("%s:%d:%d %s '%s'", hPath(w, k.ending), w.between(1, 500), w.between(1, 80), pick(w, "unused variable", "shadowed name", "line too long near", "missing comment on"), w.word()))
	}
	return k.play("You are a coding agent.", user("Fix all lint warnings, one at a time, and check after each."), k.prior(5), each(len(warnings), func(i int) Moves {
		path, _, _ := strings.Cut(warnings[i], ":")
		return seq(k.sh("", lint, strings.Join(warnings[i:], "\n"), 1), k.do(path, k.tool("edit file", "fix"), hArgs{"path", path, "old", w.word(), "new", w.word()}, ok(k.key("edited", "ok"))))
	}), k.sh("", lint, "", 0), k.end("No warnings are left."))
}

func hCodeModules(w *words) Case {
	k := hNew(w)
	green := pick(w, "PASS", "ok", "All checks passed.", "0 failures")
	mods := w.several(w.between(8, 18))
	return k.play("You are a coding agent.", user("Add a timeout to every client: "+hJoin(mods)), k.prior(6), over(mods, func(m string) Moves {
		path := "clients/" + m + "." + k.ending
		return seq(k.do(m, k.tool("read file", "view"), hArgs{"path", path}, ok(k.code(w.between(10, 45)))),
			k.do("", k.tool("edit file", "str replace"), hArgs{"path", path, "old", "connect(" + w.word() + ")", "new", "connect(" + w.word() + ", timeout)"}, ok(k.key("edited", "ok", "The file has been updated."))),
			k.sh("", "make test-client NAME="+m, green, 0))
	}), k.end(fmt.Sprintf("All %d clients have a timeout.", len(mods))))
}

func hCodePrints(w *words) Case {
	k := hNew(w)
	path, run := hPath(w, k.ending), "./run.sh "+w.word()+".json"
	crash := fmt.Sprintf("panic: %s is empty\n\tat %s:%d", w.word(), path, w.between(1, 300))
	return k.play("You are a coding agent.", user("Find out why "+run+" crashes."), k.prior(8), each(w.between(5, 12), func(int) Moves {
		v := w.word()
		return seq(k.do(v, k.tool("edit file", "insert line"), hArgs{"path", path, "line", w.between(1, 300), "text", "print(" + v + ")"}, ok(k.key("inserted", "ok"))),
			k.sh("", run, fmt.Sprintf("%s = %s\n%s", v, pick(w, w.word(), fmt.Sprint(w.between(0, 900)), "nil"), crash), 2))
	}), k.do("", k.tool("edit file", "insert line"), hArgs{"path", path, "line", w.between(1, 300), "text", "if len(rows) == 0 { return }"}, ok(k.key("inserted", "ok"))),
		k.sh("", run, hProse(w, 2), 0), k.end("The cause was an empty list."))
}

func hCodePackages(w *words) Case {
	k := hNew(w)
	says := pick(w, fmt.Sprintf("up to date, audited %d packages in 1s\n\nfound 0 vulnerabilities", w.between(200, 2000)), "Resolving dependencies... done", "")
	green := pick(w, "Tests: all passed", "ok", fmt.Sprintf("%d passing", w.between(50, 400)))
	old := w.several(w.between(10, 24))
	return k.play("You keep dependencies fresh.", user("Raise the outdated packages one by one and run the tests after each."), k.prior(4), k.sh("", "npm outdated", "Package Current Latest\n"+strings.Join(old, "\n"), 1), over(old, func(p string) Moves {
		return seq(k.sh(p, fmt.Sprintf("npm install %s@%d.%d.%d", p, w.IntN(9), w.IntN(20), w.IntN(9)), says, 0), k.sh("", "npm test --silent", green, 0))
	}), k.end("All packages are raised and the tests pass."))
}

func hCodeReview(w *words) Case {
	k := hAbroad(w)
	done, pr := k.ack(), w.between(10, 9000)
	files := k.paths(w.between(12, 30))
	task := k.tr("Review pull request %d file by file.", "Prüfe den Pull Request %d Datei für Datei.", "Revisa el pull request %d archivo por archivo.", "Relis la pull request %d fichier par fichier.", "Reveja o pull request %d ficheiro a ficheiro.", "逐个文件审查拉取请求%d。", "プルリクエスト%dをファイルごとにレビューしてください。", "Проверь пул-реквест %d файл за файлом.")
	return k.play("You review code.", user(fmt.Sprintf(task, pr)), k.do("", k.tool("list files", "pr files"), hArgs{"pr", pr}, ok(strings.Join(files, "\n"))), over(files, func(f string) Moves {
		ms := k.do(f, k.tool("get diff", "read diff"), hArgs{"pr", pr, "file", f}, ok(fmt.Sprintf("@@ -%d,6 +%d,9 @@\n", w.between(1, 90), w.between(1, 90))+"+"+strings.ReplaceAll(strings.TrimSpace(k.code(w.between(5, 30))), "\n", "\n+")))
		if w.chance(55) {
			ms = seq(ms, k.do("", k.tool("add comment", "post review comment"), hArgs{"pr", pr, "file", f, "line", w.between(1, 90), "body", k.sentence()}, ok(done)))
		}
		return ms
	}), k.end(k.sentence()))
}
