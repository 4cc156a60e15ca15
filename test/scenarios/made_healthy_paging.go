package scenarios

import (
	"fmt"
	"strings"
)

func hPaging() []Family {
	return []Family{
		// Every page brings other records; only the cursor tells the calls apart.
		{Name: "page-by-cursor", Make: hPageCursor},
		// Every page of a table brings other rows.
		{Name: "page-by-number", Make: hPageNumber},
		// A long file is read piece by piece.
		{Name: "page-file-by-offset", Make: hPageOffset},
		// The same scroll again and again shows more and more of a long page.
		{Name: "page-scroll-down", Make: hPageScroll},
		// A scanned book: most pages have text, some are blank.
		{Name: "page-scanned-book", Make: hPageBook},
		// The search halves what is left with each step.
		{Name: "page-bisect", Make: hPageBisect},
		// "next" without arguments walks through a feed of new items.
		{Name: "page-next-without-arguments", Make: hPageNext},
		// The folders of a tree are listed one after the other; many are empty.
		{Name: "page-folder-tree", Make: hPageTree},
	}
}

func hPageCursor(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("list orders", "list members", "get messages", "list events", "scan items"), k.key("cursor", "page_token", "after", "next")
	size, cursor := w.between(3, 14), ""
	task := k.tr("Count all entries and tell me which one is the oldest.", "Zähle alle Einträge und nenne den ältesten.", "Cuenta todas las entradas y dime la más antigua.", "Compte toutes les entrées et donne-moi la plus ancienne.", "Conte todas as entradas e diga a mais antiga.", "统计所有条目，并告诉我最早的一条。", "全件を数えて、最も古いものを教えてください。", "Посчитай все записи и назови самую старую.")
	n := w.between(18, 45)
	return k.play("You analyse the data of a shop through its API.", k.errands(3), user(task), each(n, func(i int) Moves {
		args, next := hArgs{"limit", size}, w.hex(16)
		if i > 0 {
			args = append(args, key, cursor)
		}
		cursor = next
		var items []hArgs
		for _, id := range hIDs(w, size) {
			items = append(items, hArgs{"id", id, "name", k.person(w), "city", k.city(), "total", w.between(1, 9999)})
		}
		rest := hArgs{"items", hRaw(hList(items)), "next", next, "has_more", i < n-1}
		return k.do("", tool, args, ok(rest.json()))
	}), k.end(fmt.Sprintf("%d × %d = %d.", n, size, n*size)))
}

func hPageNumber(w *words) Case {
	k := hNew(w)
	tool, what := k.tool("search catalogue", "list invoices", "query register"), pick(w, hNouns...)
	cols := append([]string{"id"}, w.several(w.between(2, 4))...)
	n := w.between(12, 40)
	return k.play("You maintain registers.", k.errands(3), user("Go through the whole register of "+what+"s and find entries with odd values."), each(n, func(i int) Moves {
		var rows [][]string
		for j := range w.between(8, 25) {
			row := []string{fmt.Sprint(1000 + 25*i + j)}
			for range cols[1:] {
				row = append(row, pick(w, w.word(), fmt.Sprint(w.between(1, 9000)), pick(w, hColours...)))
			}
			rows = append(rows, row)
		}
		return k.do(fmt.Sprintf("page %d", i+1), tool, hArgs{"query", what, "page", i + 1, "per_page", 25}, ok(fmt.Sprintf("Page %d of %d\n", i+1, n)+k.table(cols, rows)))
	}), k.end("I found three odd entries; all have negative stock."))
}

func hPageOffset(w *words) Case {
	k := hNew(w)
	path, size := hPath(w, k.ending), pick(w, 20, 30, 40, 50, 60)
	tool, key := k.tool("read file", "view", "open file"), k.key("offset", "start_line", "from")
	n := w.between(10, 32)
	return k.play("You are a coding agent.", user("Read all of "+path+" and list the places where locks are taken."), k.prior(8), each(n, func(i int) Moves {
		return k.do(fmt.Sprintf("line %d and on", i*size+1), tool, hArgs{"path", path, key, i*size + 1, "limit", size}, ok(hNumbered(k.code(size), i*size+1)))
	}), k.end(fmt.Sprintf("Locks are taken in lines %d, %d and %d.", w.between(1, size), w.between(size, 2*size), w.between(2*size, n*size))))
}

func hPageScroll(w *words) Case {
	k := hAbroad(w)
	tool, height := k.tool("scroll", "page down", "scroll down"), w.between(8, 24)
	args := pick(w, hArgs{}, hArgs{"direction", "down", "amount", 3}, hArgs{"direction", "down"})
	var page []string
	title := k.sentence()
	for range height + 900 {
		page = append(page, k.sentence())
	}
	at := 0
	view := func() string { return title + "\n" + strings.Join(page[at:at+height], "\n") }
	task := k.tr("Read the whole article and summarise it.", "Lies den ganzen Artikel und fasse ihn zusammen.", "Lee todo el artículo y resúmelo.", "Lis tout l'article et résume-le.", "Leia o artigo inteiro e resuma.", "请读完整篇文章并总结。", "記事を最後まで読んで要約してください。", "Прочитай всю статью и перескажи кратко.")
	return k.play("You read web pages in a browser.", user(task), k.do("", k.tool("open url", "navigate"), hArgs{"url", "https://" + w.word() + ".example/" + w.word()}, ok(view())),
		each(w.between(12, 36), func(int) Moves {
			at = min(at+w.between(max(2, height/3), height), 900)
			return k.do("", tool, args, ok(view()))
		}), k.end(k.prose(3)))
}

func hPageBook(w *words) Case {
	k := hAbroad(w)
	tool, book := k.tool("read page", "ocr page", "get scan"), w.name()
	blank := k.tr("(this page is blank)", "(leere Seite)", "(página en blanco)", "(page blanche)", "(página em branco)", "（空白页）", "（空白ページ）", "(пустая страница)")
	from, n := w.between(1, 200), w.between(18, 45)
	task := k.tr("Read pages %d to %d of \"%s\" and list all places named there.", "Lies die Seiten %d bis %d von „%s“ und liste alle Orte auf.", "Lee las páginas %d a %d de «%s» y anota los lugares.", "Lis les pages %d à %d de « %s » et note les lieux.", "Leia as páginas %d a %d de «%s» e anote os lugares.", "读第%d到第%d页《%s》，列出所有地名。", "%dページから%dページまで『%s』を読み、地名を挙げてください。", "Прочитай страницы %d–%d книги «%s» и выпиши все места.")
	return k.play("You work in an archive of scanned books.", user(fmt.Sprintf(task, from, from+n-1, book)), each(n, func(i int) Moves {
		text := blank
		if w.chance(72) {
			text = k.prose(w.between(6, 22))
		}
		return k.do(fmt.Sprint(from+i), tool, hArgs{"book", book, "page", from + i}, ok(text))
	}), k.end(hJoin(some(w, 6, k.cities))))
}

func hPageBisect(w *words) Case {
	k := hNew(w)
	left := w.between(500, 9000)
	test := pick(w, "make test", hCommands[k.ending][0])
	var ms Moves
	for steps := 12; left > 0; steps-- {
		left /= 2
		bad := w.chance(50)
		result, mark := "ok", "good"
		if bad {
			result, mark = "FAIL: "+hSymbol(w), "bad"
		}
		code := map[bool]int{true: 1}[bad]
		ms = append(ms, k.sh("", test, result, code)...)
		ms = append(ms, k.sh("", "git bisect "+mark, fmt.Sprintf("Bisecting: %d revisions left to test after this (roughly %d steps)\n[%s] %s", left, max(0, steps-1), w.hex(40), hSentence(w)), 0)...)
	}
	return k.play("You are a coding agent with a shell.", user("Find the commit that broke "+test+"."), k.prior(8), k.sh("", "git bisect start HEAD v1."+fmt.Sprint(w.IntN(40)), "status: waiting for both good and bad commits", 0), ms,
		k.sh("", "git bisect log | tail -1", "# first bad commit: ["+w.hex(40)+"] "+hSentence(w), 0), k.end("Found it."))
}

func hPageNext(w *words) Case {
	k := hAbroad(w)
	tool := k.tool("next item", "read next", "pop task", "next message")
	task := k.tr("Read the whole feed and tell me what concerns us.", "Lies den ganzen Feed und sag mir, was uns betrifft.", "Lee todo y dime qué nos afecta.", "Lis tout le fil et dis-moi ce qui nous concerne.", "Leia tudo e diga o que nos diz respeito.", "看完所有消息，告诉我哪些与我们有关。", "すべて読んで、私たちに関係するものを教えてください。", "Прочитай всю ленту и скажи, что касается нас.")
	n := w.between(20, 55)
	return k.play("You read feeds for a press office.", user(task), each(n, func(i int) Moves {
		return k.do("", tool, hArgs{}, ok(k.record(hArgs{"left", n - i - 1, "author", k.person(w), "text", k.prose(w.between(1, 5))})))
	}), k.do("", tool, hArgs{}, ok(k.nothing())), k.end(k.sentence()))
}

func hPageTree(w *words) Case {
	k := hNew(w)
	tool, root := k.tool("list directory", "list folder", "ls"), "/"+w.word()
	empty := pick(w, "[]", "(empty)", "", "0 entries")
	dirs := hUnique(w.between(16, 40), func() string {
		return root + "/" + pick(w, hNouns...) + "/" + w.word() + pick(w, "", "/"+w.word())
	})
	return k.play("You tidy file servers.", user("List every folder under "+root+" and tell me which are empty."), k.do(root, k.tool("find folders", "tree"), hArgs{"path", root}, ok(strings.Join(dirs, "\n"))),
		over(dirs, func(d string) Moves {
			text := empty
			if w.chance(40) {
				text = k.listing(w.several(w.between(1, 20)))
			}
			return k.do(d, tool, hArgs{"path", d}, ok(text))
		}), k.end("More than half of the folders are empty; the list follows."))
}
