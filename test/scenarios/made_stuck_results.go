package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckResults() []Family {
	return []Family{
		{"stuck-same-hits", true, stuckSameHits},
		{"stuck-empty-lists", true, stuckEmptyLists},
		{"stuck-past-the-end", true, stuckPastTheEnd},
		{"stuck-empty-pages", true, stuckEmptyPages},
		{"stuck-same-figure-by-other-code", true, stuckSameFigureByOtherCode},
		{"stuck-research-from-the-start", true, stuckResearchFromTheStart},
		{"stuck-same-pages-again", true, stuckSamePagesAgain},
	}
}

// slookup is a query about a subject that no other draw has.
func slookup(w *words, subject string) string {
	return pick(w, "", "what is ", "how does ", "official ", "latest ") + subject + " " + pick(w, sThings...) + " " + w.word() + pick(w, "", " 2025", " pdf", " report", " site:"+w.word()+".example")
}

// sfound is a list of hits whose order and scores may be other each time, and
// where they lead.
func sfound(w *words, n, shape int) (list func() string, urls []string) {
	type hit struct{ title, url, text string }
	hits := make([]hit, n)
	for i := range hits {
		hits[i] = hit{w.name() + " " + pick(w, sThings...), "https://" + ssite(w) + "/" + w.word(), sparagraph(w, w.between(1, 3))}
		urls = append(urls, hits[i].url)
	}
	shuffled, scored := w.chance(60), w.chance(50)
	return func() string {
		if shuffled {
			hits = some(w, n, hits)
		}
		return slines(n, func(i int) string {
			h, score := hits[i], ""
			if scored {
				score = fmt.Sprintf("0.%02d", 90-4*i-w.IntN(4))
			}
			switch shape {
			case 0:
				return sargs("title", h.title, "url", h.url, "snippet", h.text, "score", score)
			case 1:
				return fmt.Sprintf("%d. %s %s\n   %s\n   %s", i+1, h.title, score, h.url, h.text)
			}
			return fmt.Sprintf("[%s](%s) %s - %s", h.title, h.url, score, h.text)
		})
	}, urls
}

// Whatever is asked, the same few hits come, none of which helps.
func stuckSameHits(w *words) Case {
	k, subject := newSkit(w), w.name()
	hits, _ := sfound(w, w.between(3, 8), w.IntN(3))
	tool, key := k.tool("search", pick(w, "web", "handbook", "documents", "wiki")), pick(w, "q", "query", "text")
	return Case{
		System: k.system("You answer from the handbook.", "You do research. Cite what you find."),
		Moves: seq(
			k.asks(subject, "When was "+subject+" founded, and by whom?", "How long is the notice period at "+subject+"?"),
			k.prior(sBrowsing),
			k.loop(k.rounds(), func(int) Moves { return k.say(call(tool, sargs(key, slookup(w, subject)), ok(hits()))) }),
		),
	}
}

// Made-up synonyms bring nothing, in the same empty form.
func stuckEmptyLists(w *words) Case {
	k, subject := newSkit(w), w.name()
	tool, key := k.tool("search", pick(w, "papers", "mail", "orders", "catalogue")), pick(w, "q", "query", "term")
	shape := w.IntN(5)
	empty := func(q string) string {
		switch shape {
		case 0:
			return sargs("query", q, "results", []string{}, "total", 0)
		case 1:
			return "[]"
		case 2:
			return fmt.Sprintf("No results for %q.", q)
		case 3:
			return sname(w, k.t.missing[:1], q)
		}
		return sargs("hits", []string{}, "next", nil)
	}
	return Case{
		System: k.system("You are a librarian.", "You find documents."),
		Moves: seq(
			k.asks(subject, "Find the paper of "+sperson(w)+" about "+subject+".", "Where did we put the "+subject+" documents?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				q := slookup(w, subject)
				return k.say(call(tool, sargs(key, q), ok(empty(q))))
			}),
		),
	}
}

// A file is read at ever larger offsets although the answer says that it has
// ended.
func stuckPastTheEnd(w *words) Case {
	k, file, step := newSkit(w), sfileName(w), pick(w, 50, 100, 200, 500)
	tool, from, lines, pages := k.tool("read", pick(w, "file", "lines", "document")), pick(w, "offset", "start", "from_line"), w.between(120, 900), w.between(1, 4)
	wording := pick(w, "Warning: offset %[2]d is past the end of the file (%[1]d lines).", "(end of file reached, %[1]d lines in total)", "EOF: the document has only %[1]d lines", "No content: line %[2]d does not exist, the last line is %[1]d")
	at := 0
	return Case{
		System: k.system("You review files.", "You read documents piece by piece."),
		Moves: seq(
			k.asks(file, "Find the second definition of "+sident(w)+" in "+file+".", "Read all of "+file+" and sum it up."),
			k.prior(sCoding),
			each(pages, func(int) Moves {
				at += step
				return k.sayNew(call(tool, sargs("path", file, from, at-step, "limit", step), ok(scode(w, file))))
			}),
			k.loop(k.rounds(), func(int) Moves {
				at += step
				text := strings.ReplaceAll(strings.ReplaceAll(wording, "%[1]d", fmt.Sprint(lines%step+pages*step-step)), "%[2]d", fmt.Sprint(at-step))
				return k.say(call(tool, sargs("path", file, from, at-step, "limit", step), ok(text)))
			}),
		),
	}
}

// Pages after the last are asked for, each as empty as the one before.
func stuckEmptyPages(w *words) Case {
	k, thing, size := newSkit(w), pick(w, sThings...), pick(w, 20, 50, 100)
	tool, page, full := k.tool("list", thing), pick(w, "page", "page_number", "p"), w.between(1, 5)
	echo := w.chance(50)
	return Case{
		System: k.system("You make inventories.", "You export data of "+w.name()+"."),
		Moves: seq(
			k.asks(thing, "How many "+thing+"s are there in all?", "Export every "+thing+"."),
			k.paced(each(full, func(i int) Moves {
				return call(tool, sargs(page, i+1, "size", size), ok(srecords(w, w.between(8, 25))))
			})),
			k.loop(k.rounds(), func(i int) Moves {
				kv := []any{"items", []string{}, "has_more", false}
				if echo {
					kv = append(kv, page, full+i+1)
				}
				return k.say(call(tool, sargs(page, full+i+1, "size", size), ok(sargs(kv...))))
			}),
		),
	}
}

// The same figure is computed over and over in other ways, though it is known.
func stuckSameFigureByOtherCode(w *words) Case {
	k, a, b := newSkit(w), w.word(), w.word()
	tool, figure := k.tool("run", pick(w, "python", "code", "cell")), fmt.Sprintf("0.%04d", w.IntN(9000))
	forms := []string{"df['%s'].corr(df['%s'])", "np.corrcoef(df.%s, df.%s)[0, 1]", "pearsonr(df.%s, df.%s)[0]", "df.cov().loc['%s', '%s'] / norm", "linregress(df.%s, df.%s).rvalue", "(z(df.%s) * z(df.%s)).mean()"}
	return Case{
		System: k.system("You are a statistician with a Python tool.", "You analyse data."),
		Moves: seq(
			k.asks(a+"/"+b, "Is the correlation of "+a+" and "+b+" above 0.9? Analyse until it is.", "Show that "+a+" follows from "+b+"."),
			k.prior(sData),
			k.loop(k.rounds(), func(int) Moves {
				v := w.word()
				code := fmt.Sprintf("%s = "+pick(w, forms...)+"\nprint(round(%s, 4))", v, a, b, v)
				if w.chance(40) {
					code = "# " + pick(w, "another way", "check", "verify again", "robust version", "by hand") + "\n" + code
				}
				return k.say(call(tool, sargs("code", code), ok(figure)))
			}),
		),
	}
}

// A chain of three to six queries is run to its end and then again from the
// first.
func stuckResearchFromTheStart(w *words) Case {
	k, subject, n := newSkit(w), w.name(), w.between(3, 6)
	tool, queries, lists := k.tool("search", "web"), make([]string, n), make([]func() string, n)
	shape := w.IntN(3)
	for i := range n {
		queries[i] = slookup(w, subject)
		lists[i], _ = sfound(w, w.between(3, 8), shape)
	}
	drift := w.chance(40)
	return Case{
		System: k.system("You are a researcher.", "You write briefings with sources."),
		Moves: seq(
			k.asks(subject, "Write a briefing about "+subject+".", "What is known about the owners of "+subject+"?"),
			k.prior(sBrowsing),
			k.paced(each(n, func(i int) Moves { return k.sayNew(call(tool, sargs("q", queries[i]), ok(lists[i]()))) })),
			k.loop((k.between(30, 45)/n)*n, func(i int) Moves {
				q := queries[i%n]
				if drift && i%3 == 0 {
					q += pick(w, " overview", " details", " again", " background", " facts")
				}
				return k.say(call(tool, sargs("q", q), ok(lists[i%n]())))
			}),
		),
	}
}

// A search and the same pages that it leads to, again and again.
func stuckSamePagesAgain(w *words) Case {
	k, subject, n := newSkit(w), w.name(), w.between(1, 3)
	search, open := k.tool("search", "web"), k.tool(pick(w, "open", "visit", "fetch"), "page")
	list, urls := sfound(w, w.between(3, 6), w.IntN(3))
	pages := make([]string, n)
	for i := range pages {
		pages[i] = spage(w)
	}
	fixed := slookup(w, subject)
	fresh := w.chance(50)
	return Case{
		System: k.system("You do research on the web.", "You compare offers."),
		Moves: seq(
			k.asks(subject, "What does "+subject+" cost this year?", "Who runs "+subject+"?"),
			k.prior(sBrowsing),
			k.loop(k.between(28, 45)/(n+1), func(int) Moves {
				q := fixed
				if fresh {
					q = slookup(w, subject)
				}
				return seq(k.say(call(search, sargs("q", q), ok(list()))), each(n, func(i int) Moves {
					return k.say(call(open, sargs("url", urls[i]), ok(pages[i])))
				}))
			}),
		),
	}
}
