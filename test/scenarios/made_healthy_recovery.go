package scenarios

import (
	"fmt"
	"strings"
)

func hRecoveries() []Family {
	return []Family{
		// A validation error comes three or four times, then the fields are right.
		{Name: "recover-validation", Make: hRecoverValidation},
		// An argument has the wrong name a few times; the schema is read and it works.
		{Name: "recover-argument-name", Make: hRecoverArgument},
		// The same edit fails three times; then the file is read and the edit fits.
		{Name: "recover-failing-edit", Make: hRecoverEdit},
		// Up to six wrong queries, each with another fix, then the right one.
		{Name: "recover-wrong-sql", Make: hRecoverSQL},
		// List, read, list, read: the answer is in the last document.
		{Name: "recover-list-read-cycle", Make: hRecoverCycle},
		// Each module needs one miss before the right path is known; the work goes on.
		{Name: "recover-miss-then-hit", Make: hRecoverMisses},
		// A reply is empty or malformed a few times, and then the work is done.
		{Name: "recover-malformed-replies", Make: hRecoverMalformed},
		// Submissions are refused with fewer and fewer failing checks.
		{Name: "recover-submissions", Make: hRecoverSubmissions},
		// Passwords of test accounts: the first ones are outdated, the work then goes on.
		{Name: "recover-other-credentials", Make: hRecoverOther},
	}
}

// onward is n rounds of later work that shows that the trouble is over.
func (k *hKit) onward(lo, hi int) Moves {
	return each(k.between(lo, hi), func(int) Moves {
		p := hPath(k.words, k.ending)
		switch k.IntN(3) {
		case 0:
			return k.do(p, k.tool("read file", "view"), hArgs{"path", p}, ok(k.code(k.between(8, 30))))
		case 1:
			return k.sh(p, "wc -l "+p, fmt.Sprintf("%d %s", k.between(9, 900), p), 0)
		}
		return k.do(p, k.tool("write file", "save"), hArgs{"path", p, "content", k.code(k.between(3, 12))}, ok(k.key("ok", "written")))
	})
}

func hRecoverValidation(w *words) Case {
	k := hAbroad(w)
	tool, field := k.tool("create customer", "book appointment", "add product", "register"), pick(w, "birthday", "start_date", "valid_from", "due_on", "member_since")
	bad := pick(w, fmt.Sprintf("ValidationError: %s must be a date in the form YYYY-MM-DD", field), hArgs{"error", "invalid_field", "field", field, "message", "value is not allowed"}.json(), fmt.Sprintf("422 Unprocessable Entity: %s is required", field), k.tr(field+" is invalid", field+" ist ungültig", field+" no es válido", field+" n'est pas valide", field+" é inválido", field+"无效", field+"が無効です", field+": недопустимое значение"))
	who := k.person(w)
	task := k.tr("Register %s.", "Trage %s ein.", "Registra a %s.", "Inscris %s.", "Registe %s.", "登记%s。", "%sさんを登録してください。", "Зарегистрируй: %s.")
	same := w.chance(50)
	value := w.word()
	return k.play("You register people.", k.errands(5), user(fmt.Sprintf(task, who)), each(w.between(3, 4), func(int) Moves {
		if !same {
			value = w.word()
		}
		return k.do(who, tool, hArgs{"name", who, field, value}, failed(bad))
	}), k.do(field, k.tool("get schema", "describe form"), hArgs{"of", field}, ok(k.record(hArgs{"field", field, "form", "YYYY-MM-DD", "example", "1987-04-12"}))),
		k.do(who, tool, hArgs{"name", who, field, "1990-02-03"}, ok(k.record(hArgs{"id", hID(w), "name", who}))), k.end(""), k.errands(5))
}

func hRecoverArgument(w *words) Case {
	k := hNew(w)
	tool := k.tool("search issues", "list releases", "project news", "read changelog")
	wrong := some(w, w.between(3, 5), hSplit("query|q|name|project|path|filter|term|repository|slug|text"))
	right := wrong[0]
	bad := pick(w, "TypeError: unexpected keyword argument", "InputValidationError: an unexpected parameter was provided", "Error: Invalid arguments for tool "+tool)
	return k.play("You are an assistant with tools.", user("What is new in the project "+k.server+"?"), k.prior(10), over(wrong[1:], func(a string) Moves {
		return k.do("", tool, hArgs{a, k.server}, failed(bad))
	}), k.do("", k.tool("help", "describe tool"), hArgs{"tool", tool}, ok(hArgs{"name", tool, "parameters", hArgs{right, "string"}}.json())),
		k.do("", tool, hArgs{right, k.server}, ok(hProse(w, w.between(3, 12)))), k.onward(2, 10), k.end(hSentence(w)))
}

func hRecoverEdit(w *words) Case {
	k := hNew(w)
	path := hPath(w, k.ending)
	edit, old := k.tool("str replace", "edit file", "replace"), w.word()+"  ("+w.word()+")"
	bad := pick(w, "No match found for replacement in "+path, "Error: old_string not found", "String to replace not found in file.")
	same := w.chance(60)
	return k.play("You are a coding agent.", user("Correct the spelling in "+path+"."), k.prior(10), each(w.between(3, 4), func(int) Moves {
		if !same {
			old = w.word() + " " + w.word()
		}
		return k.do(path, edit, hArgs{"path", path, "old_string", old, "new_string", "receive"}, failed(bad))
	}), k.do(path, k.tool("read file", "view"), hArgs{"path", path}, ok(hNumbered(k.code(w.between(15, 50)), 1))),
		k.do(path, edit, hArgs{"path", path, "old_string", w.word(), "new_string", "receive"}, ok("The file "+path+" has been updated.")), k.onward(3, 15), k.end("The spelling is right now."))
}

func hRecoverSQL(w *words) Case {
	k := hNew(w)
	tool, t, c := k.tool("query", "run sql"), w.word(), w.word()
	wrong := [][2]string{
		{"SELECT name, SUM(total) FROM " + t, `column "name" does not exist`},
		{fmt.Sprintf("SELECT %s, SUM(total) FROM %s", c, t), fmt.Sprintf(`column "%s.%s" must appear in the GROUP BY clause or be used in an aggregate function`, t, c)},
		{fmt.Sprintf("SELECT %s, SUM(total) FROM %s GROUP BY 1 ORDER BY total", c, t), fmt.Sprintf(`column "%s.total" must appear in the GROUP BY clause or be used in an aggregate function`, t)},
		{fmt.Sprintf("SELECT %s, SUM(total) FROM %s JOIN items USING (id) GROUP BY 1", c, t), `relation "items" does not exist`},
		{fmt.Sprintf("SELECT %s, SUM(total) FROM %s JOIN %s_items ON id = parent GROUP BY 1", c, t, t), `column reference "id" is ambiguous`},
		{fmt.Sprintf("SELECT %s, SUM(total) FROM %s WHERE date_trunc('month', day) = '2026-02' GROUP BY 1", c, t), `invalid input syntax for type timestamp: "2026-02"`},
	}
	skip := w.IntN(3)
	return k.play("You write SQL.", k.errands(3), user("Which "+pick(w, hNouns...)+" sold best last month?"), over(wrong[skip:], func(q [2]string) Moves {
		return k.do("", tool, hArgs{k.key("sql", "query"), q[0]}, failed("ERROR:  "+q[1]))
	}), k.do("", tool, hArgs{k.key("sql", "query"), fmt.Sprintf("SELECT %s, SUM(total) FROM %s WHERE day >= '2026-02-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 5", c, t)}, ok(k.table([]string{c, "sum"}, [][]string{{w.word(), fmt.Sprint(w.between(100, 9999))}, {w.word(), fmt.Sprint(w.between(10, 99))}}))),
		each(w.between(1, 9), func(int) Moves {
			return k.do("", tool, hArgs{k.key("sql", "query"), fmt.Sprintf("SELECT * FROM %s WHERE %s = '%s' LIMIT 1", t, c, w.word())}, ok(k.table([]string{"id", c, "total"}, [][]string{{hID(w), w.word(), fmt.Sprint(w.between(1, 999))}})))
		}), k.end("The first one did, by far."))
}

func hRecoverCycle(w *words) Case {
	k := hAbroad(w)
	names := w.several(w.between(6, 14))
	list, read := k.tool("list documents", "ls", "get index"), k.tool("read document", "open", "get file")
	index, painter := strings.Join(names, "\n"), k.person(w)
	found := k.tr("Contract with %s for the painting of the ceiling.", "Vertrag mit %s über das Deckengemälde.", "Contrato con %s para pintar el techo.", "Contrat avec %s pour la peinture du plafond.", "Contrato com %s para pintar o teto.", "与%s签订的天花板绘画合同。", "天井画について%sと結んだ契約。", "Договор о росписи потолка: %s.")
	task := k.tr("Who painted the ceiling of the town hall in %s?", "Wer hat die Decke des Rathauses in %s gemalt?", "¿Quién pintó el techo del ayuntamiento de %s?", "Qui a peint le plafond de la mairie de %s ?", "Quem pintou o teto da câmara de %s?", "%s市政厅的天花板是谁画的？", "%s市庁舎の天井を描いたのは誰ですか。", "Кто расписал потолок ратуши в городе %s?")
	return k.play("You search an archive.", k.errands(3), user(fmt.Sprintf(task, k.city())), each(len(names), func(i int) Moves {
		text := k.prose(w.between(3, 16))
		if i == len(names)-1 {
			text += "\n" + fmt.Sprintf(found, painter)
		}
		return seq(k.do("", list, hArgs{}, ok(index)), k.do(names[i], read, hArgs{k.key("name", "path"), names[i]}, ok(text)))
	}), k.end(painter+"."))
}

func hRecoverMisses(w *words) Case {
	k := hNew(w)
	libs := w.several(w.between(8, 16))
	return k.play("You are a coding agent with a shell.", user("Move the build of the vendored libraries to CMake: "+hJoin(libs)), k.prior(4), over(libs, func(l string) Moves {
		return seq(k.sh(l, "cat vendor/"+l+"/CMakeLists.txt", "cat: vendor/"+l+"/CMakeLists.txt: No such file or directory", 1),
			k.sh("", "cat vendor/"+l+"/Makefile", fmt.Sprintf("OBJS = %s.o %s.o\nlib%s.a: $(OBJS)\n\tar rcs $@ $^", w.word(), w.word(), l), 0),
			k.sh("", fmt.Sprintf("printf 'add_library(%s %s.c)' > vendor/%s/CMakeLists.txt && cmake --build build --target %s | tail -1", l, w.word(), l, l), "[100%] Built target "+l, 0))
	}), k.end("All libraries build with CMake."))
}

func hRecoverMalformed(w *words) Case {
	k := hNew(w).plain()
	again := pick(w, "Your reply could not be parsed. Use the given format.", "Invalid format: no action found. Please try again.", "No tool call found in your reply.")
	return k.play("You are an autonomous agent. Reply in the given format.", user("Write a poem about the "+pick(w, hNouns...)+" into poem.txt."), k.onward(1, 8), each(w.between(2, 4), func(int) Moves {
		return answer(pick(w, "I will now write the poem: ", "Here it is. ", "The poem follows. ")+hSentence(w), again)
	}), k.do("poem.txt", k.tool("write file", "save"), hArgs{"path", "poem.txt", "content", hProse(w, 4)}, ok("written")), k.onward(2, 12), k.end("The poem is in poem.txt."))
}

func hRecoverSubmissions(w *words) Case {
	k := hNew(w)
	left, path := w.between(6, 14), "solution."+k.ending
	total := left + w.between(1, 9)
	var ms Moves
	for left > 0 {
		ms = append(ms, k.do(path, k.tool("write file", "edit file"), hArgs{"path", path, "content", k.code(w.between(5, 25))}, ok(k.key("ok", "written")))...)
		ms = append(ms, k.do("", k.tool("submit", "run grader"), hArgs{}, failed(fmt.Sprintf("Submission rejected: %d of %d checks fail.", left, total)))...)
		left -= w.between(0, 2)
	}
	return k.play("You solve tasks and submit.", user("Write the function "+hSymbol(w)+" and submit it."), k.prior(5), ms, k.do(path, k.tool("write file", "edit file"), hArgs{"path", path, "content", k.code(12)}, ok(k.key("ok", "written"))),
		k.do("", k.tool("submit", "run grader"), hArgs{}, ok("Submission accepted.")), k.end("Accepted."))
}

func hRecoverOther(w *words) Case {
	k := hNew(w)
	tool := k.tool("login", "connect", "open session")
	accounts, bad := w.several(w.between(3, 6)), pick(w, "401 Unauthorized: the password of this test account has expired", "Login failed: account disabled", "FATAL: password authentication failed")
	return k.play("You test a web shop with its list of test accounts. Some are outdated; take the next one then.", user("Log in with one of the test accounts ("+hJoin(accounts)+") and check the basket."), k.prior(6), over(accounts[1:], func(a string) Moves {
		return k.do(a, tool, hArgs{"user", a, "password", a + "-test"}, failed(bad))
	}), k.do(accounts[0], tool, hArgs{"user", accounts[0], "password", accounts[0] + "-test"}, ok("session "+w.hex(12))), each(w.between(3, 14), func(int) Moves {
		p := w.word()
		return k.do(p, k.tool("open page", "get page"), hArgs{"path", "/" + p}, ok(k.page(p, w.between(5, 25))))
	}), k.end("The basket works."))
}
