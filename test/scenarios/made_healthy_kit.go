package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// How an agent of one draw makes its calls.
const (
	hNative = iota
	hReact  // Thought, Action, Action Input
	hTags   // <tool_call>
	hPython // a block of code
	hObject // a reply that is one JSON object
	hManners
)

// hKit is what all of one draw has in common: the language of its people, the
// shape of its calls and results, how much it says and how fast it works.
type hKit struct {
	*words
	*hTongue
	tongue int
	manner int
	talk   int // how much is said before a call
	spell  int // how tool names are written
	shape  int // of tables, pages and test runs
	header int // what the harness puts on each result; 0 for nothing
	shell  int // how the shell's output is wrapped
	ending string
	server string // before tool names
	bash   string
	cmdKey string
	lead   string
	step   int
	limit  int
	clock  time.Time
	pace   time.Duration
	long   bool
	chosen map[string]string // names of tools and keys, which stay the same
}

// hNew is a kit in English; hAbroad is one in any language.
func hNew(w *words) *hKit {
	k := &hKit{words: w, hTongue: &hTongues[hEnglish], talk: w.IntN(5), spell: w.IntN(4), shape: w.IntN(12), shell: w.IntN(4), ending: pick(w, hEndings...),
		server: w.word(), limit: 10 * w.between(8, 30), clock: hClock(w), long: w.chance(50), chosen: map[string]string{}}
	if w.chance(16) {
		k.manner = w.between(1, hManners-1)
	}
	if k.manner != hNative && w.chance(50) || w.chance(6) {
		k.header = w.between(1, 3)
	}
	if w.chance(60) {
		k.pace = time.Duration(w.between(1, 20)) * time.Second
	}
	k.bash, k.cmdKey = pick(w, "bash", "Bash", "run_command", "shell", "execute", "terminal"), pick(w, "command", "cmd", "command", "script")
	k.lead = pick(w, k.leads...)
	return k
}

func hAbroad(w *words) *hKit {
	k := hNew(w)
	if w.chance(55) {
		k.tongue = w.between(hGerman, hRussian)
		k.hTongue = &hTongues[k.tongue]
		k.lead = pick(w, k.leads...)
	}
	return k
}

// plain makes the kit one without native calls, with a header on its results
// in most draws.
func (k *hKit) plain() *hKit {
	k.manner, k.header = k.between(1, hManners-1), k.IntN(4)
	return k
}

// tr is the text in the kit's language, in the order of the constants;
// English where there is none.
func (k *hKit) tr(texts ...string) string {
	if k.tongue < len(texts) && texts[k.tongue] != "" {
		return texts[k.tongue]
	}
	return texts[0]
}

func (k *hKit) sentence() string { return k.hTongue.sentence(k.words) }

// prose is n sentences.
func (k *hKit) prose(n int) string {
	glue := k.glue
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(glue)
		}
		if i%5 == 4 {
			b.WriteString("\n")
		}
		b.WriteString(k.sentence())
	}
	return b.String()
}

func (k *hKit) people(n int) []string {
	return hUnique(n, func() string { return k.person(k.words) })
}

func (k *hKit) city() string { return pick(k.words, k.cities...) }

// key is one of the names, the same in all of the draw.
func (k *hKit) key(names ...string) string {
	all := strings.Join(names, "|")
	if _, known := k.chosen[all]; !known {
		k.chosen[all] = pick(k.words, names...)
	}
	return k.chosen[all]
}

// tool is the name of a tool: one of the phrases in the kit's spelling.
func (k *hKit) tool(phrases ...string) string {
	parts := strings.Fields(k.key(phrases...))
	switch k.spell {
	case 1:
		for i := 1; i < len(parts); i++ {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
		return strings.Join(parts, "")
	case 2:
		return "mcp__" + k.server + "__" + strings.Join(parts, "_")
	}
	return strings.Join(parts, "_")
}

// ack and nothing are an acknowledgement and an empty answer; one call gives
// one wording.
func (k *hKit) ack() string {
	if k.chance(35) {
		return pick(k.words, `{"status":"ok"}`, `{"success":true}`, `{"ok":true,"error":null}`, `{"result":"accepted"}`, `{"code":0,"message":"success","data":null}`, "<response><status>OK</status></response>", "200 OK")
	}
	return pick(k.words, k.acks...)
}

func (k *hKit) nothing() string {
	if k.chance(35) {
		return pick(k.words, `{"results":[],"total":0}`, `{"items":[]}`, `{"data":[],"has_more":false}`, `{"count":0,"entries":[]}`, "<results/>")
	}
	return pick(k.words, k.none...)
}

// about is what is said before a step.
func (k *hKit) about(what string) string {
	if what == "" {
		return ""
	}
	switch k.talk {
	case 1:
		return fmt.Sprintf(k.lead, what)
	case 2, 3:
		return fmt.Sprintf(pick(k.words, k.leads...), what)
	case 4:
		return fmt.Sprintf(pick(k.words, k.leads...), what) + k.glue + pick(k.words, k.thoughts...)
	}
	return ""
}

// do is one call and its result, in the kit's manner. what is the thing that
// the step is about.
func (k *hKit) do(what, tool string, args hArgs, result haltd.ToolResult) Moves {
	k.step++
	words := k.about(what)
	result.Text = k.headed(result.Text)
	if k.manner == hNative {
		return saying(words, call(tool, args.json(), result))
	}
	if words != "" {
		words += "\n"
	}
	switch k.manner {
	case hReact:
		if words != "" {
			words = "Thought: " + words
		}
		return answer(words+"Action: "+tool+"\nAction Input: "+args.json(), "Observation: "+result.Text)
	case hTags:
		return answer(words+"<tool_call>\n"+hArgs{"name", tool, "arguments", args}.json()+"\n</tool_call>", "<tool_response>\n"+result.Text+"\n</tool_response>")
	case hPython:
		return answer(words+"```python\nprint("+tool+"("+args.python()+"))\n```", "Execution output:\n"+result.Text)
	}
	return answer(hArgs{"thought", strings.TrimSpace(words), "tool", tool, "args", args}.json(), "Result of "+tool+":\n"+result.Text)
}

// headed puts the header of the harness before a result.
func (k *hKit) headed(text string) string {
	k.clock = k.clock.Add(time.Duration(k.between(3, 15)) * time.Second)
	switch k.header {
	case 1:
		return fmt.Sprintf("[Step %d of %d]\n%s", k.step, k.limit, text)
	case 2:
		return fmt.Sprintf("(%s)\n%s", k.clock.Format("2006-01-02 15:04:05"), text)
	case 3:
		return fmt.Sprintf("%s\n\nRemaining steps: %d", text, k.limit-k.step)
	}
	return text
}

// sh is a command of the shell and its output; code is its exit status.
func (k *hKit) sh(what, command, output string, code int) Moves {
	text := output
	switch k.shell {
	case 1:
		text = hArgs{"stdout", output, "stderr", "", "exit_code", code}.json()
	case 2:
		text = fmt.Sprintf("Exit code: %d\nWall time: %d.%d seconds\nOutput:\n%s", code, k.IntN(3), k.IntN(10), output)
	case 3:
		if code != 0 {
			text = fmt.Sprintf("%s\n[exit status %d]", output, code)
		}
	}
	if k.manner != hNative && k.manner != hObject {
		k.step++
		words := k.about(what)
		return answer(strings.TrimSpace(words+"\n\n```bash\n"+command+"\n```"), k.headed(fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s\n</output>", code, output)))
	}
	return k.do(what, k.bash, hArgs{k.cmdKey, command}, haltd.ToolResult{Text: text, Error: code != 0 && k.shell == 0})
}

// end is the agent's last word.
func (k *hKit) end(text string) Moves {
	if text == "" {
		text = pick(k.words, k.done...)
	}
	return says(text)
}

// play makes the case: calls without a pause of their own get the kit's pace.
func (k *hKit) play(system string, parts ...Moves) Case {
	ms := seq(parts...)
	if k.pace > 0 {
		change(ms, func(m *Move) {
			if m.Wait == 0 {
				m.Wait = max(time.Second, k.pace/2+time.Duration(k.Int64N(int64(k.pace))))
			}
		})
	}
	return Case{System: system, Moves: ms}
}

// secs is a pause of so many seconds.
func (k *hKit) secs(lo, hi int) time.Duration {
	return time.Duration(k.between(lo, hi)) * time.Second
}

// table is rows under columns in the kit's shape.
func (k *hKit) table(cols []string, rows [][]string) string { return hTable(k.shape, cols, rows) }

func (k *hKit) page(title string, n int) string { return hPage(k.words, k.shape, title, n) }

func (k *hKit) code(n int) string { return hCode(k.words, k.ending, n) }

func (k *hKit) paths(n int) []string { return hPaths(k.words, n, k.ending) }

func (k *hKit) listing(names []string) string { return hListing(k.words, k.long, names) }

// prior is up to n rounds of other work in the shell, or none at all.
func (k *hKit) prior(n int) Moves {
	if k.chance(45) {
		return nil
	}
	return each(k.between(1, n), func(int) Moves {
		p := hPath(k.words, k.ending)
		switch k.IntN(6) {
		case 0:
			return k.sh(p, "ls "+p[:strings.LastIndex(p, "/")], k.listing(k.several(k.between(3, 18))), 0)
		case 1:
			return k.sh(p, "cat "+p, k.code(k.between(8, 40)), 0)
		case 2:
			name := k.word()
			return k.sh(name, "grep -rn "+name+" .", hGrep(k.words, k.ending, name, k.between(1, 9)), 0)
		case 3:
			return k.sh(p, fmt.Sprintf("sed -n %d,%dp %s", k.between(1, 40), k.between(60, 99), p), k.code(k.between(10, 30)), 0)
		case 4:
			return k.sh(p, "git log --oneline -8 -- "+p, hGitLog(k.words, k.between(2, 8)), 0)
		}
		return k.sh(p, "wc -l "+p, fmt.Sprintf("%d %s", k.between(20, 2000), p), 0)
	})
}

// chores are up to n rounds of looking around on a server, or none at all.
func (k *hKit) chores(n int) Moves {
	if k.chance(45) {
		return nil
	}
	return each(k.between(1, n), func(int) Moves {
		unit := k.word()
		switch k.IntN(5) {
		case 0:
			return k.sh("", "df -h /"+pick(k.words, "", "var", "srv", "home"), fmt.Sprintf("Filesystem  Size  Used Avail Use%% Mounted on\n/dev/sda%d   %dG   %dG   %dG  %d%% /", k.between(1, 9), k.between(40, 900), k.between(5, 40), k.between(5, 90), k.between(10, 95)), 0)
		case 1:
			return k.sh(unit, "systemctl status "+unit, fmt.Sprintf("● %s.service - %s daemon\n   Active: active (running) since %s\n Main PID: %d\n   Memory: %dM", unit, k.name(), hClock(k.words).Format(time.ANSIC), k.between(200, 40000), k.between(4, 900)), 0)
		case 2:
			return k.sh(unit, fmt.Sprintf("journalctl -u %s -n %d", unit, k.between(10, 40)), strings.Join(hNewLogger(k.words).lines(k.between(10, 30)), "\n"), 0)
		case 3:
			return k.sh("", "uptime", fmt.Sprintf(" up %d days, load average: 0.%02d, 0.%02d, 0.%02d", k.between(1, 400), k.IntN(99), k.IntN(99), k.IntN(99)), 0)
		}
		return k.sh(unit, "ls /etc/"+unit, k.listing(k.several(k.between(2, 14))), 0)
	})
}

// errands are up to n earlier requests of a person, each with its answer, or
// none at all.
func (k *hKit) errands(n int) Moves {
	if k.chance(45) {
		return nil
	}
	tool, key := k.tool("search notes", "look up", "ask archive", "find document"), k.key("query", "q", "text")
	return each(k.between(1, n), func(int) Moves {
		who, what := k.person(k.words), k.city()
		ask := k.tr("What do we know about %s in %s?", "Was wissen wir über %s in %s?", "¿Qué sabemos de %s en %s?", "Que savons-nous de %s à %s ?", "O que sabemos de %s em %s?", "我们对%s在%s的情况了解多少？", "%sさんの%sでの件について何が分かりますか。", "Что мы знаем о человеке по имени %s, город %s?")
		known := k.sentence()
		return seq(user(fmt.Sprintf(ask, who, what)), k.do(who, tool, hArgs{key, who + " " + what}, ok(who+", "+what+"\n"+known+k.glue+k.prose(k.between(1, 6)))), says(who+", "+what+": "+known))
	})
}

// hGrep are n hits for a pattern.
func hGrep(w *words, ending, pattern string, n int) string {
	var lines []string
	for range n {
		lines = append(lines, fmt.Sprintf("%s:%d:%s%s(%s, %d)", hPath(w, ending), w.between(3, 900), pick(w, "\t", "  ", "    return "), pattern, w.word(), w.IntN(100)))
	}
	return strings.Join(lines, "\n")
}

// hGitLog is a history of n commits.
func hGitLog(w *words, n int) string {
	var lines []string
	for range n {
		lines = append(lines, fmt.Sprintf("%s %s %s of the %s %s", w.hex(7), pick(w, "Fix", "Add", "Drop", "Rename", "Document"), w.word(), pick(w, hAdjectives...), pick(w, hNouns...)))
	}
	return strings.Join(lines, "\n")
}

// hMixed puts the moves of b between those of a at random, each in its order.
func hMixed(w *words, a, b []Moves) Moves {
	a, b = slices.Clone(a), slices.Clone(b)
	var all Moves
	for len(a)+len(b) > 0 {
		if w.IntN(len(a)+len(b)) < len(a) {
			all, a = append(all, a[0]...), a[1:]
		} else {
			all, b = append(all, b[0]...), b[1:]
		}
	}
	return all
}

// record is some fields in the kit's shape.
func (k *hKit) record(f hArgs) string {
	var lines []string
	for i := 0; i+1 < len(f); i += 2 {
		switch k.shape % 4 {
		case 1:
			lines = append(lines, fmt.Sprintf("%v: %v", f[i], f[i+1]))
		case 2:
			lines = append(lines, fmt.Sprintf("<%v>%v</%v>", f[i], f[i+1], f[i]))
		}
	}
	switch k.shape % 4 {
	case 1:
		return strings.Join(lines, "\n")
	case 2:
		return "<record>" + strings.Join(lines, "") + "</record>"
	}
	return f.json()
}
