package scenarios

import (
	"fmt"
	"strings"
	"time"
)

// skit is what one draw keeps throughout: its language, how its tools are
// named, how much the agent says, and its pace.
type skit struct {
	*words
	t       *stongue
	english bool
	tool    func(verb, noun string) string
	manner  int // says nothing, the same, or other words before each call
	phrase  string
	rest    time.Duration // 0 is the usual pace
	past    []func() Moves
}

// newSkit draws one; most are English.
func newSkit(w *words) *skit {
	k := &skit{words: w, t: &sEnglish, english: true, tool: stools(w), manner: w.IntN(3)}
	if w.chance(40) {
		k.t, k.english = &sOthers[w.IntN(len(sOthers))], false
	}
	if w.chance(60) {
		k.rest = time.Duration(w.between(1, 20)) * time.Second
	}
	k.phrase = k.narration()
	return k
}

// stools draws how tools are named.
func stools(w *words) func(verb, noun string) string {
	style, server := w.IntN(5), w.word()
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return func(verb, noun string) string {
		switch style {
		case 0:
			return verb + title(noun)
		case 1:
			return "mcp__" + server + "__" + verb + "_" + noun
		case 2:
			return title(verb) + title(noun)
		case 3:
			return noun + "-" + verb
		}
		return verb + "_" + noun
	}
}

// narration is what an agent says before it acts, in ever other words.
func (k *skit) narration() string {
	return sglue(k.words, k.t.open, k.t.body, k.t.tail)
}

// sglue takes one of each and puts them in a row.
func sglue(w *words, lists ...[]string) string {
	var parts []string
	for _, l := range lists {
		if s := pick(w, l...); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "。 ", "。")
}

// say puts the agent's words before a call.
func (k *skit) say(ms Moves) Moves {
	switch k.manner {
	case 1:
		return saying(k.phrase, ms)
	case 2:
		return saying(k.narration(), ms)
	}
	return ms
}

// sayNew puts words before a step that is new.
func (k *skit) sayNew(ms Moves) Moves {
	if k.manner == 0 {
		return ms
	}
	parts := strings.Split(ms[0].Turn.Calls[0].Arguments, `"`)
	if len(parts) < 4 {
		return ms
	}
	return saying(sname(k.words, k.t.look, parts[3]), ms)
}

// asks is the task: one of the English ones, or what can be said of anything
// in another language.
func (k *skit) asks(about string, english ...string) Moves { return user(k.task(about, english...)) }

func (k *skit) task(about string, english ...string) string {
	if k.english && len(english) > 0 {
		return pick(k.words, english...)
	}
	return sname(k.words, k.t.task, about)
}

func (k *skit) system(english ...string) string {
	if k.english && len(english) > 0 && k.chance(80) {
		return pick(k.words, english...)
	}
	return sname(k.words, k.t.system, k.name())
}

// paced sets pauses about the pace of this draw.
func (k *skit) paced(parts ...Moves) Moves {
	return change(seq(parts...), func(m *Move) {
		if k.rest > 0 && m.Wait == 0 {
			m.Wait = k.rest + time.Duration(k.IntN(900))*time.Millisecond
		}
	})
}

// rounds is how long a loop lasts.
func (k *skit) rounds() int { return k.between(24, 45) }

// loop plays n rounds of the loop at the pace of this draw.
func (k *skit) loop(n int, f func(i int) Moves) Moves {
	return seq(loop(), k.paced(each(n, f)))
}

// The kinds of healthy work that may come before a loop.
const (
	sCoding = iota
	sOffice
	sBrowsing
	sData
)

// prior is healthy work of a kind: every step is new and brings something.
func (k *skit) prior(kind int) Moves {
	n := 0
	if k.chance(70) {
		n = k.between(1, 15)
	}
	return k.work(kind, n)
}

// work is n healthy steps.
func (k *skit) work(kind, n int) Moves {
	if k.past == nil {
		k.past = k.steps(kind)
	}
	return k.paced(each(n, func(int) Moves { return k.sayNew(pick(k.words, k.past...)()) }))
}

// reading is n steps that look at code and change nothing.
func (k *skit) reading(n int) Moves {
	looks := k.codingSteps()[:3]
	return k.paced(each(n, func(int) Moves { return k.sayNew(pick(k.words, looks...)()) }))
}

func (k *skit) steps(kind int) []func() Moves {
	w := k.words
	switch kind {
	case sCoding:
		return k.codingSteps()
	case sOffice:
		mail, doc, who := k.tool("search", "mail"), k.tool("open", "document"), k.tool("find", "contact")
		return []func() Moves{
			func() Moves {
				return call(mail, sargs("query", w.word()+" "+pick(w, sThings...)), ok(srecords(w, w.between(2, 9))))
			},
			func() Moves { return call(doc, sargs("id", w.hex(10)), ok(sparagraph(w, w.between(6, 18)))) },
			func() Moves {
				s := sperson(w)
				return call(who, sargs("name", s), ok(sargs("name", s, "city", pick(w, sCities...), "phone", w.between(1e6, 9e6))))
			},
		}
	case sBrowsing:
		open, search := k.tool("open", "page"), k.tool("search", "web")
		return []func() Moves{
			func() Moves { return call(open, sargs("url", "https://"+ssite(w)+"/"+w.word()), ok(spage(w))) },
			func() Moves { return call(search, sargs("q", w.word()+" "+w.word()), ok(shits(w, w.between(3, 8)))) },
		}
	}
	query, describe := k.tool("run", "query"), k.tool("describe", "table")
	return []func() Moves{
		func() Moves {
			return call(query, sargs("sql", fmt.Sprintf("SELECT * FROM %s WHERE %s > %d", w.word(), w.word(), w.IntN(900))), ok(stable(w, w.between(3, 25))))
		},
		func() Moves {
			return call(describe, sargs("table", w.word()), ok(slines(w.between(4, 14), func(int) string { return w.word() + " " + pick(w, "text", "bigint", "date", "numeric(10,2)") })))
		},
	}
}

func (k *skit) codingSteps() []func() Moves {
	w := k.words
	read, grep, list, edit := k.tool("read", "file"), k.tool("grep", "code"), k.tool("list", "folder"), k.tool("edit", "file")
	key := pick(w, "path", "file", "file_path", "target")
	return []func() Moves{
		func() Moves {
			f := sfileName(w)
			return call(read, sargs(key, f), ok(scode(w, f)))
		},
		func() Moves {
			return call(list, sargs(key, pick(w, sFolder...)+"/"+w.word()), ok(slisting(w, w.between(4, 30))))
		},
		func() Moves {
			s := sident(w)
			return call(grep, sargs("pattern", s), ok(slines(w.between(1, 8), func(int) string {
				return fmt.Sprintf("%s:%d: %s(%s)", sfileName(w), w.between(1, 900), s, w.word())
			})))
		},
		func() Moves {
			f := sfileName(w)
			return call(edit, sargs(key, f, "old", sident(w), "new", sident(w)), ok(fmt.Sprintf("%s: 1 replacement on line %d", f, w.between(2, 700))))
		},
	}
}

// shits is a list of search results.
func shits(w *words, n int) string {
	return slines(n, func(i int) string {
		return fmt.Sprintf("%d. %s %s - https://%s/%s\n   %s", i+1, w.name(), pick(w, sThings...), ssite(w), w.word(), ssentence(w))
	})
}
