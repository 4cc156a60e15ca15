package scenarios

import (
	"fmt"
	"strings"
)

func hResearch() []Family {
	return []Family{
		// The hits overlap, but each query brings pages that are new.
		{Name: "research-overlapping-hits", Make: hResearchOverlap},
		// Search, open, note; with another source each time.
		{Name: "research-search-open-note", Make: hResearchNotes},
		// Abstracts are sorted one by one, with the same acknowledgement.
		{Name: "research-screening-abstracts", Make: hResearchScreening},
		// Claims are checked one by one against sources.
		{Name: "research-fact-check", Make: hResearchFacts},
		// Six searches find nothing, the seventh does; then the code is read.
		{Name: "explore-greps-then-hit", Make: hExploreGreps},
		// A long walk through a repository: listings, files, searches.
		{Name: "explore-repository", Make: hExploreRepository},
		// git status between the steps, always clean or always short.
		{Name: "explore-status-between-steps", Make: hExploreStatus},
		// One file is read again after each change, and is another one each time.
		{Name: "explore-file-read-again", Make: hExploreAgain},
		// Many similar queries with small results, some of them empty.
		{Name: "data-sql-exploration", Make: hDataSQL},
		// Cells of a notebook; plots always answer alike.
		{Name: "data-notebook-plots", Make: hDataNotebook},
		// A sweep over parameters with a score for each.
		{Name: "data-parameter-sweep", Make: hDataSweep},
		// Column after column is checked, and most are clean.
		{Name: "data-columns-checked", Make: hDataColumns},
	}
}

func hResearchOverlap(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("web search", "search", "find papers"), k.key("query", "q")
	topic := k.city() + " " + pick(w, hNouns...)
	pool := hUnique(160, func() string { return w.word() })
	at := 0
	task := k.tr("Collect everything about %s.", "Sammle alles über %s.", "Reúne todo sobre %s.", "Rassemble tout sur %s.", "Reúna tudo sobre %s.", "收集关于%s的一切资料。", "%sについてすべて集めてください。", "Собери всё о теме: %s.")
	hit := func(s string) string {
		return fmt.Sprintf("https://%s.example/%s — %s", s, pool[len(s)%9], topic+" "+s)
	}
	return k.play("You do research. Be thorough.", user(fmt.Sprintf(task, topic)), each(w.between(12, 32), func(int) Moves {
		var hits []string
		for i := range 8 {
			s := pool[min(at+i, len(pool)-1)]
			hits = append(hits, hit(s)+"\n   "+pool[(at+i)%160]+" "+k.sentence())
		}
		at += w.between(2, 4)
		return k.do("", tool, hArgs{key, topic + " " + w.word()}, ok(strings.Join(hits, "\n")))
	}), k.end(k.prose(4)))
}

func hResearchNotes(w *words) Case {
	k := hAbroad(w)
	topic, saved := k.sentence(), k.ack()
	task := k.tr("Write a report: ", "Schreibe einen Bericht: ", "Escribe un informe: ", "Écris un rapport : ", "Escreva um relatório: ", "写一份报告：", "報告書を書いてください：", "Напиши отчёт: ")
	return k.play("You are a researcher with a browser and a notebook.", user(task+topic), each(w.between(6, 15), func(int) Moves {
		q, url := w.word()+" "+pick(w, hNouns...), "https://"+w.word()+".example/"+w.word()
		return seq(k.do(q, k.tool("search", "web search"), hArgs{"q", q}, ok(url+"\n"+k.sentence()+"\nhttps://"+w.word()+".example\n"+k.sentence())),
			k.do("", k.tool("open", "fetch page"), hArgs{"url", url}, ok(k.page(q, w.between(8, 40)))),
			k.do("", k.tool("note", "append notes"), hArgs{"text", k.prose(2)}, ok(saved)))
	}), k.end(k.prose(6)))
}

func hResearchScreening(w *words) Case {
	k := hNew(w)
	ids, done := hIDs(w, w.between(14, 30)), k.ack()
	get, mark := k.tool("get abstract", "read abstract"), k.tool("mark paper", "set decision")
	return k.play("You screen papers for a review.", user("Decide for each paper whether it belongs into the review on "+pick(w, hNouns...)+"s."), k.do("", k.tool("list papers", "queue"), hArgs{}, ok(hJoin(ids))), over(ids, func(id string) Moves {
		return seq(k.do(id, get, hArgs{"id", id}, ok(hProse(w, w.between(4, 12)))), k.do("", mark, hArgs{"id", id, "decision", pick(w, "exclude", "exclude", "include"), "reason", hSentence(w)}, ok(done)))
	}), k.end("The screening is finished."))
}

func hResearchFacts(w *words) Case {
	k := hAbroad(w)
	claims := hUnique(w.between(8, 18), k.sentence)
	tool, none := k.tool("search news", "lookup source", "find evidence"), k.nothing()
	task := k.tr("Check these claims:\n", "Prüfe diese Behauptungen:\n", "Comprueba estas afirmaciones:\n", "Vérifie ces affirmations :\n", "Verifique estas afirmações:\n", "核实这些说法：\n", "次の主張を確認してください：\n", "Проверь эти утверждения:\n")
	return k.play("You check facts. Use at least two sources for each claim.", user(task+strings.Join(claims, "\n")), over(claims, func(c string) Moves {
		return each(2, func(i int) Moves {
			text := none
			if w.chance(65) {
				text = k.prose(w.between(3, 10))
			}
			return k.do(c, tool, hArgs{"claim", c, "source", pick(w, "archive", "press", "register") + fmt.Sprint(i)}, ok(text))
		})
	}), k.end(k.prose(3)))
}

func hExploreGreps(w *words) Case {
	k := hNew(w)
	none, tool := pick(w, "", "No matches found", "No files found"), k.tool("grep", "search code", "ripgrep")
	path, name := hPath(w, k.ending), hSymbol(w)
	return k.play("You are a coding agent.", user("Where is the "+pick(w, hTopics...)+" limit enforced?"), k.prior(8), each(w.between(3, 6), func(int) Moves {
		p := pick(w, hSymbol(w), "MAX_"+strings.ToUpper(w.word()), w.word()+"Limit", "limit.*"+w.word())
		return k.do(p, tool, hArgs{k.key("pattern", "query", "regex"), p}, ok(none))
	}), k.do(name, tool, hArgs{k.key("pattern", "query", "regex"), name}, ok(fmt.Sprintf("%s:%d: %s(%s)", path, w.between(1, 400), name, w.word()))),
		k.do(path, k.tool("read file", "view"), hArgs{"path", path}, ok(hNumbered(k.code(w.between(20, 60)), 1))), k.prior(10), k.end("In "+path+", by "+name+"."))
}

func hExploreRepository(w *words) Case {
	k := hNew(w)
	read, none := k.tool("read file", "view", "open file"), pick(w, "", "No matches found")
	files := k.paths(w.between(20, 45))
	return k.play("You are a coding agent.", user("Explain how this repository handles "+pick(w, hTopics...)+"."), over(files, func(f string) Moves {
		ms := k.do(f, read, hArgs{"path", f}, ok(hNumbered(k.code(w.between(10, 55)), 1)))
		switch w.IntN(6) {
		case 0:
			return seq(k.sh(f, "ls "+f[:strings.LastIndex(f, "/")], k.listing(w.several(w.between(2, 18))), 0), ms)
		case 1:
			name := w.word()
			return seq(ms, k.sh(name, "grep -rn "+name+" .", pick(w, none, hGrep(w, k.ending, name, w.between(1, 12))), 0))
		}
		return ms
	}), k.end(hProse(w, 6)))
}

func hExploreStatus(w *words) Case {
	k := hNew(w)
	status, clean := pick(w, "git status", "git status --short", "pwd && ls", "git branch --show-current"), ""
	switch status {
	case "git status":
		clean = "On branch main\nnothing to commit, working tree clean"
	case "pwd && ls":
		clean = "/home/" + w.word() + "\n" + strings.Join(w.several(w.between(4, 14)), "\n")
	case "git branch --show-current":
		clean = w.word()
	}
	return k.play("You are a coding agent.", user("Translate the comments of all modules into English, a commit for each."), each(w.between(6, 14), func(int) Moves {
		p := hPath(w, k.ending)
		return seq(k.sh("", status, clean, 0), k.do(p, k.tool("read file", "view"), hArgs{"path", p}, ok(k.code(w.between(10, 40)))),
			k.do("", k.tool("write file", "edit file"), hArgs{"path", p, "content", k.code(w.between(6, 20))}, ok(k.key("ok", "updated"))),
			k.sh("", "git commit -qam 'Translate "+p+"'", "", 0))
	}), k.end("All comments are in English."))
}

func hExploreAgain(w *words) Case {
	k := hNew(w)
	path := hPath(w, pick(w, k.ending, "yaml", "sql"))
	lines := strings.Split(k.code(w.between(25, 60)), "\n")
	read := k.tool("read file", "view", "cat")
	return k.play("You are a coding agent. Read a file again after every change.", user("Clean up "+path+" step by step."), k.prior(8), each(w.between(10, 24), func(int) Moves {
		i := w.IntN(len(lines))
		old, fresh := lines[i], strings.TrimSpace(k.code(1))+" // "+w.word()
		lines[i] = fresh
		return seq(k.do(path, k.tool("edit file", "replace line"), hArgs{"path", path, "line", i + 1, "old", old, "new", fresh}, ok(k.key("ok", "edited", "Successfully edited"))),
			k.do("", read, hArgs{"path", path}, ok(hNumbered(strings.Join(lines, "\n"), 1))))
	}), k.end(path+" is clean."))
}

func hDataSQL(w *words) Case {
	k := hNew(w)
	tool, tables := k.tool("query", "run sql", "bigquery"), w.several(w.between(2, 5))
	cols := w.several(8)
	return k.play("You are a data analyst with read access to a warehouse.", user("Why did the "+pick(w, hNouns...)+" revenue fall in "+pick(w, hMonths...)+"?"), each(w.between(18, 45), func(int) Moves {
		a, b := pick(w, cols...), pick(w, cols...)
		sql := fmt.Sprintf("SELECT %s, %s(%s) FROM %s WHERE %s %s %d GROUP BY 1 ORDER BY 2 DESC LIMIT %d", a, pick(w, "sum", "count", "avg", "max"), b, pick(w, tables...), pick(w, cols...), pick(w, ">", "<", "="), w.between(1, 500), w.between(3, 20))
		var rows [][]string
		if w.chance(78) {
			for range w.between(1, 9) {
				rows = append(rows, []string{w.word(), fmt.Sprint(w.between(1, 99999))})
			}
		}
		return k.do(a, tool, hArgs{k.key("sql", "query"), sql}, ok(k.table([]string{a, b}, rows)))
	}), k.end(hProse(w, 3)))
}

func hDataNotebook(w *words) Case {
	k := hNew(w)
	tool, plot := k.tool("run cell", "execute code", "python"), pick(w, "<Figure size 640x480 with 1 Axes>", "[image]", "")
	return k.play("You work in a notebook.", user("Analyse "+w.word()+".csv and plot every column against the target."), each(w.between(15, 40), func(i int) Moves {
		col := w.word()
		if i%3 == 2 {
			return k.do(col, tool, hArgs{"code", "df['" + col + "'].describe()"}, ok(fmt.Sprintf("count %d\nmean %.3f\nstd %.3f\nmin %d\nmax %d", w.between(100, 9999), 90*w.Float64(), 9*w.Float64(), w.IntN(9), w.between(99, 900))))
		}
		return k.do(col, tool, hArgs{"code", "df.plot." + pick(w, "scatter", "line", "hexbin") + "(x='" + col + "', y='target')"}, ok(plot))
	}), k.end("The plots are ready; two columns matter."))
}

func hDataSweep(w *words) Case {
	k := hNew(w)
	names := w.several(3)
	return k.play("You tune models.", user("Find good values for "+hJoin(names)+"."), k.prior(5), every(k.secs(5, 60), each(w.between(16, 45), func(int) Moves {
		a, b, c := w.between(1, 64), w.Float64(), pick(w, "adam", "sgd", "lion")
		return k.sh("", fmt.Sprintf("python train.py --%s %d --%s %.3f --%s %s", names[0], a, names[1], b, names[2], c), fmt.Sprintf("score=%.4f time=%ds", w.Float64(), w.between(3, 50)), 0)
	})), k.end("The best score was at the third setting."))
}

func hDataColumns(w *words) Case {
	k := hAbroad(w)
	cols, clean := w.several(w.between(18, 45)), pick(w, "0 nulls, 0 duplicates", `{"issues":[]}`, "OK", k.nothing())
	tool := k.tool("check column", "validate column", "profile column")
	task := k.tr("Check all columns: ", "Prüfe alle Spalten: ", "Revisa todas las columnas: ", "Vérifie toutes les colonnes : ", "Verifique todas as colunas: ", "检查所有列：", "すべての列を確認してください：", "Проверь все столбцы: ")
	return k.play("You check the quality of data.", user(task+hJoin(cols)), over(cols, func(c string) Moves {
		if w.chance(12) {
			return k.do(c, tool, hArgs{"table", k.server, "column", c}, ok(fmt.Sprintf("%d nulls, first in row %d", w.between(1, 400), w.between(1, 9999))))
		}
		return k.do(c, tool, hArgs{"table", k.server, "column", c}, ok(clean))
	}), k.end(k.sentence()))
}
