package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// The vocabulary of the stuck families; invented words come between.
var (
	sThings = strings.Fields("invoice ledger shipment booking ticket report roster contract guarantee catalogue voucher parcel permit survey recipe timetable budget register licence payroll refund quote consignment lease audit mandate")
	sParts  = strings.Fields("parser cache router session token queue worker scheduler index schema migration adapter broker webhook exporter importer renderer loader registry throttle notifier mailer planner resolver tracker buffer cursor merger")
	sVerbs  = strings.Fields("checks sorts moves stores counts copies merges rejects confirms renews prints weighs measures opens closes repairs covers delays exceeds replaces")
	sTraits = strings.Fields("green narrow annual frozen local spare weekly steep quiet early formal rough shared second northern hollow regional modern wooden late")
	sCities = strings.Fields("Lisbon Graz Oslo Turin Ghent Porto Bremen Lyon Tartu Malmo Cork Gdansk Seville Basel Utrecht Brno Nantes Leeds Aarhus Trieste Recife Osaka Quito Perth Tunis")
	sPeople = strings.Fields("Ana Ben Cleo Dev Eli Femke Gero Hana Ines Jonas Kiri Luca Mira Noor Ola Pavel Quinn Rosa Sven Tove Uma Vera Wim Yara Zeno")
	sExts   = strings.Fields("go py ts java")
	sFolder = strings.Fields("src lib app internal core pkg server services modules backend tools jobs")
)

func sperson(w *words) string { return pick(w, sPeople...) + " " + w.name() }

func sident(w *words) string { return pick(w, sParts...) + "_" + w.word() }

// sfileName is the path of a source file that no other draw has.
func sfileName(w *words) string {
	return pick(w, sFolder...) + "/" + pick(w, sParts...) + "/" + w.word() + "." + pick(w, sExts...)
}

func ssite(w *words) string { return w.word() + "-" + pick(w, sThings...) + ".example" }

// sjson is a value as JSON on one line.
func sjson(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// sargs is a JSON object with its keys in the order given.
func sargs(kv ...any) string {
	parts := make([]string, 0, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		parts = append(parts, sjson(kv[i])+":"+sjson(kv[i+1]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// ssentence says something about invented things.
func ssentence(w *words) string {
	a, b, c := pick(w, sThings...), pick(w, sTraits...), pick(w, sThings...)
	v, n, city, who := pick(w, sVerbs...), w.name(), pick(w, sCities...), sperson(w)
	switch w.IntN(9) {
	case 0:
		return fmt.Sprintf("The %s %s of %s %s the %s.", b, a, n, v, c)
	case 1:
		return fmt.Sprintf("In %s, %s %s every %s %s before noon.", city, who, v, b, a)
	case 2:
		return fmt.Sprintf("%s opened its %s office in %s with %d people.", n, b, city, w.between(3, 900))
	case 3:
		return fmt.Sprintf("One %s costs %d.%02d euros unless the %s %s it.", a, w.between(2, 400), w.IntN(100), c, v)
	case 4:
		return fmt.Sprintf("According to %s, the %s was %s in %d.", who, a, b, w.between(1950, 2025))
	case 5:
		return fmt.Sprintf("Each %s at %s has one %s %s and some %s.", a, n, b, c, pick(w, sParts...))
	case 6:
		return fmt.Sprintf("%s and %s agreed on the %s %s after %d weeks.", who, n, b, a, w.between(2, 40))
	case 7:
		return fmt.Sprintf("No %s may leave %s while the %s %s the %s.", a, city, n, v, c)
	}
	return fmt.Sprintf("Page %d describes how the %s %s %s a %s.", w.between(2, 300), b, a, v, w.word())
}

func sparagraph(w *words, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = ssentence(w)
	}
	return strings.Join(out, " ")
}

// slines joins n lines.
func slines(n int, line func(i int) string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = line(i)
	}
	return strings.Join(out, "\n")
}

// spage is the text of a web page.
func spage(w *words) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s | %s\nHome  %s  %s  %s  Contact\n\n", w.name(), pick(w, sThings...), w.name(), w.name(), w.name(), w.name())
	for range w.between(3, 7) {
		fmt.Fprintf(&b, "## %s %s\n%s\n%s\n\n", w.name(), pick(w, sThings...), sparagraph(w, w.between(2, 4)), sparagraph(w, w.between(1, 3)))
	}
	for range w.between(2, 9) {
		fmt.Fprintf(&b, "- [%s %s](/%s/%d)\n", w.name(), pick(w, sThings...), w.word(), w.between(10, 9000))
	}
	fmt.Fprintf(&b, "\n(c) %s, %s. All rights reserved.", w.name(), pick(w, sCities...))
	return b.String()
}

// scode is the text of a source file, in the language of its name.
func scode(w *words, file string) string {
	var b strings.Builder
	for range w.between(2, 9) {
		f, g, x, y := sident(w), sident(w), w.word(), w.word()
		switch {
		case strings.HasSuffix(file, ".py"):
			fmt.Fprintf(&b, "def %s(%s, %s=None):\n    \"\"\"%s\"\"\"\n    rows = %s(%s)\n    if not rows:\n        raise ValueError(%q)\n    return rows[%d:%d]\n\n", f, x, y, ssentence(w), g, x, w.word()+" is empty", w.IntN(9), w.between(10, 90))
		case strings.HasSuffix(file, ".go"):
			fmt.Fprintf(&b, "// %s\nfunc %s(%s string) (int, error) {\n\tn, err := %s(%s)\n\tif err != nil {\n\t\treturn 0, fmt.Errorf(\"%s: %%w\", err)\n\t}\n\treturn n + %d, nil\n}\n\n", ssentence(w), f, x, g, x, y, w.IntN(400))
		case strings.HasSuffix(file, ".java"):
			fmt.Fprintf(&b, "    // %s\n    static int %s(List<String> %s) {\n        int %s = %s(%s.size());\n        if (%s > %d) {\n            throw new IllegalStateException(\"%s\");\n        }\n        return %s;\n    }\n\n", ssentence(w), f, x, y, g, x, y, w.IntN(400), w.word(), y)
		default:
			fmt.Fprintf(&b, "/** %s */\nexport async function %s(%s: string) {\n  const %s = await %s(%s);\n  if (!%s.ok) throw new Error('%s');\n  return %s.items.slice(%d);\n}\n\n", ssentence(w), f, x, y, g, x, y, w.word(), y, w.IntN(50))
		}
	}
	return b.String()
}

// slog is a piece of a log, with times that belong to it.
func slog(w *words, n int) string {
	at := smoment(w)
	return slines(n, func(int) string {
		at = at.Add(time.Duration(w.between(40, 90000)) * time.Millisecond)
		return fmt.Sprintf("%s %-5s [%s] %s", at.Format("2006-01-02 15:04:05.000"), pick(w, "INFO", "INFO", "DEBUG", "WARN"), sident(w), ssentence(w))
	})
}

// stable is a table of records.
func stable(w *words, n int) string {
	head := w.several(3)
	return fmt.Sprintf("| id | %s | %s | %s |\n|---|---|---|---|\n", head[0], head[1], head[2]) + slines(n, func(int) string {
		return fmt.Sprintf("| %d | %s | %s | %d.%02d |", w.between(1000, 99999), sperson(w), pick(w, sCities...), w.between(1, 900), w.IntN(100))
	})
}

// srecords is a list of JSON objects.
func srecords(w *words, n int) string {
	key := w.word()
	return "[" + strings.ReplaceAll(slines(n, func(int) string {
		return sargs("id", w.hex(8), "name", sperson(w), key, w.between(1, 5000), "note", ssentence(w))
	}), "\n", ",\n ") + "]"
}

// slisting is what a folder holds.
func slisting(w *words, n int) string {
	return slines(n, func(int) string {
		return fmt.Sprintf("%s %7d %s.%s", pick(w, "-rw-r--r--", "-rw-rw-r--", "drwxr-xr-x"), w.between(80, 900000), w.word(), pick(w, "go", "py", "md", "yaml", "csv", "json", "txt"))
	})
}

// sbulk is a long result of any kind.
func sbulk(w *words) string {
	switch w.IntN(6) {
	case 0:
		return spage(w)
	case 1:
		return scode(w, sfileName(w))
	case 2:
		return slog(w, w.between(10, 50))
	case 3:
		return stable(w, w.between(8, 40))
	case 4:
		return srecords(w, w.between(5, 20))
	}
	return slisting(w, w.between(10, 50))
}

// srender draws a shape of results and gives them all that shape.
func srender(w *words) func(kv ...any) string {
	shape, root := w.IntN(6), w.word()
	line := func(format, between string, kv []any) string {
		parts := make([]string, 0, len(kv)/2)
		for i := 0; i+1 < len(kv); i += 2 {
			parts = append(parts, fmt.Sprintf(format, kv[i], kv[i+1]))
		}
		return strings.Join(parts, between)
	}
	return func(kv ...any) string {
		switch shape {
		case 0:
			return sargs(kv...)
		case 1:
			return strings.NewReplacer("{", "{\n  ", `,"`, ",\n  \"", "}", "\n}").Replace(sargs(kv...))
		case 2:
			return line("%[1]v: %[2]v", "\n", kv)
		case 3:
			return "<" + root + ">\n" + line("  <%[1]v>%[2]v</%[1]v>", "\n", kv) + "\n</" + root + ">"
		case 4:
			return line("%[1]v=%[2]v", " ", kv)
		}
		return "| field | value |\n|---|---|\n" + line("| %[1]v | %[2]v |", "\n", kv)
	}
}

// sfault draws a shape of errors, with or without the mark, and gives them
// all that shape.
func sfault(w *words) func(message string) haltd.ToolResult {
	shape, marked := w.IntN(7), w.chance(55)
	code, where := strings.ToUpper(w.word()), "/app/"+w.word()+"/tools.py"
	status, line := pick(w, 400, 403, 404, 409, 422, 500), w.between(20, 800)
	return func(message string) haltd.ToolResult {
		text := message
		switch shape {
		case 0:
			text = "Error: " + message
		case 1:
			text = sargs("error", json.RawMessage(sargs("code", code, "message", message)))
		case 2:
			text = sargs("success", false, "status", status, "detail", message)
		case 3:
			text = fmt.Sprintf("Traceback (most recent call last):\n  File \"%s\", line %d, in <module>\n    main()\n  File \"%s\", line %d, in main\n    raise ToolError(text)\nToolError: %s", where, line, where, line/2, message)
		case 4:
			text = "<error>" + message + "</error>"
		case 5:
			text = fmt.Sprintf("Exit code: 1\nOutput:\n%s", message)
		}
		return haltd.ToolResult{Text: text, Error: marked}
	}
}

func smoment(w *words) time.Time {
	return time.Date(2026, time.Month(w.between(1, 12)), w.between(1, 28), w.between(0, 23), w.IntN(60), w.IntN(60), 0, time.UTC)
}

// sclock draws a time and a way to write it, and moves on at every look.
func sclock(w *words, step time.Duration) func() string { return sclockFrom(w, smoment(w), step) }

func sclockFrom(w *words, at time.Time, step time.Duration) func() string {
	layout := pick(w, time.RFC3339, "15:04:05", "2006-01-02 15:04:05", "Mon Jan _2 15:04:05 UTC 2006", "02.01.2006 15:04:05", "3:04:05 PM")
	return func() string {
		at = at.Add(step)
		return at.Format(layout)
	}
}

// svolatile draws which fields of a result change although nothing happens:
// each look gives keys and values.
func svolatile(w *words) func() []any {
	clock, n := sclock(w, time.Duration(w.between(2, 9))*time.Second), w.between(3, 4000)
	kinds := some(w, w.between(1, 3), []int{0, 1, 2, 3, 4})
	keys := []string{pick(w, "pid", "process", "worker_pid"), pick(w, "took_ms", "duration", "elapsed_ms"), pick(w, "request_id", "trace", "correlation_id"),
		pick(w, "time", "generated_at", "timestamp", "served"), pick(w, "seq", "requests_served", "hit", "calls")}
	return func() []any {
		n++
		values := []any{w.between(1000, 65000), w.between(2, 2000), w.hex(w.between(8, 16)), clock(), n}
		var kv []any
		for _, k := range kinds {
			kv = append(kv, keys[k], values[k])
		}
		return kv
	}
}
