package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// hArgs are the arguments of a call or the fields of a record: keys and values
// in turn.
type hArgs []any

// json writes the pairs as an object, in their order.
func (a hArgs) json() string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(a); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(hQuote(a[i]) + ":" + hQuote(a[i+1]))
	}
	b.WriteByte('}')
	return b.String()
}

// python writes the pairs as keyword arguments.
func (a hArgs) python() string {
	var parts []string
	for i := 0; i+1 < len(a); i += 2 {
		parts = append(parts, fmt.Sprintf("%v=%s", a[i], hQuote(a[i+1])))
	}
	return strings.Join(parts, ", ")
}

// hRaw is JSON that is already written.
type hRaw string

// hQuote is a value as JSON.
func hQuote(v any) string {
	switch v := v.(type) {
	case hRaw:
		return string(v)
	case hArgs:
		return v.json()
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// hList is a JSON list of objects.
func hList(items []hArgs) string {
	var parts []string
	for _, a := range items {
		parts = append(parts, a.json())
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// hUnique are n different texts of a source that may repeat itself.
func hUnique(n int, source func() string) []string {
	seen := map[string]bool{}
	var out []string
	for try := 0; len(out) < n; try++ {
		s := source()
		if try > 20*n {
			s = fmt.Sprintf("%s %d", s, try)
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

var (
	hNouns      = strings.Fields("harbour bridge archive boiler garden ledger market tunnel orchard vessel library engine meadow quarry turbine warehouse school theatre canal furnace workshop museum station reservoir bakery printer cable satellite glacier lantern mill brewery ferry clinic dairy foundry greenhouse observatory parcel invoice contract sensor pipeline schedule")
	hAdjectives = strings.Fields("old narrow quiet northern copper wooden public seasonal expensive early heavy modern rural distant flooded empty crowded restored private digital portable regional temporary green rusty reliable fragile annual shallow steep")
	hVerbs      = strings.Fields("replaced inspected sold described repaired moved measured painted closed opened praised delayed financed documented flooded surveyed extended cleaned rented insured compared connected visited designed")
	hGerunds    = strings.Fields("loading parsing storing sending checking merging indexing rotating flushing syncing resolving fetching compacting scheduling draining validating")
	hMonths     = strings.Fields("January February March April May June July August September October November December")
	hTopics     = strings.Fields("billing search login export upload pricing routing caching reporting scheduling inventory shipping payroll booking messaging metering licensing translation indexing archiving")
	hLevels     = strings.Fields("INFO INFO INFO DEBUG DEBUG WARN")
	hColours    = strings.Fields("red blue green amber violet grey ivory teal brown silver")
)

// hSentence is an English sentence that no other draw has.
func hSentence(w *words) string {
	noun, adj, verb := pick(w, hNouns...), pick(w, hAdjectives...), pick(w, hVerbs...)
	switch w.IntN(7) {
	case 0:
		return fmt.Sprintf("The %s %s in %s was %s in %s %d.", adj, noun, w.name(), verb, pick(w, hMonths...), w.between(1870, 2025))
	case 1:
		return fmt.Sprintf("According to %s %s, the %s costs %d a year and needs %d people.", w.name(), w.name(), noun, w.between(200, 90000), w.between(2, 80))
	case 2:
		return fmt.Sprintf("%s %s %d of the %s %ss near %s.", w.name(), verb, w.between(2, 60), adj, noun, w.name())
	case 3:
		return fmt.Sprintf("Nobody had %s the %s before the %s of %s came to %s.", verb, noun, pick(w, hNouns...), w.name(), w.name())
	case 4:
		return fmt.Sprintf("It takes %d days to get from the %s to the %s %s, mostly because of %s.", w.between(2, 40), noun, adj, pick(w, hNouns...), w.word())
	case 5:
		return fmt.Sprintf("Since %d the %s of %s has been %s by the %s company.", w.between(1900, 2024), noun, w.name(), verb, w.name())
	}
	return fmt.Sprintf("The %s %s is %s than the one in %s, but its %s holds only %d litres.", adj, noun, pick(w, "cheaper", "older", "taller", "safer", "slower"), w.name(), pick(w, hNouns...), w.between(5, 900))
}

// hProse is n English sentences in paragraphs.
func hProse(w *words, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(hSentence(w))
		if i == n-1 {
			break
		}
		b.WriteString(pick(w, " ", " ", "\n", "\n\n"))
	}
	return b.String()
}

// hID is an identifier such as systems give.
func hID(w *words) string {
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf("%s-%d", strings.ToUpper(w.word()[:3]), w.between(1000, 99999))
	case 1:
		return w.hex(8)
	case 2:
		return fmt.Sprint(w.between(10000, 9999999))
	}
	return pick(w, "job", "run", "task", "itm", "rec", "obj") + "_" + w.hex(10)
}

// hIDs are n identifiers of one kind.
func hIDs(w *words, n int) []string {
	prefix := pick(w, strings.ToUpper(w.word()[:3])+"-", pick(w, "ord", "doc", "rec", "usr", "itm")+"_", "#", "")
	long := w.chance(40)
	return hUnique(n, func() string {
		if long {
			return prefix + w.hex(12)
		}
		return prefix + fmt.Sprint(w.between(10000, 99999))
	})
}

// hClock is a time of day that begins somewhere and can be moved on.
func hClock(w *words) time.Time {
	return time.Date(2026, time.Month(w.between(1, 12)), w.between(1, 28), w.between(0, 23), w.between(0, 59), w.between(0, 59), 0, time.UTC)
}

// hDates are n days in a row, in one format.
func hDates(w *words, n int) []string {
	layout := pick(w, "2006-01-02", "2006-01-02", "02.01.2006", "Jan 2, 2006", "2 January 2006", "2006/01/02")
	day := hClock(w)
	var out []string
	for i := range n {
		out = append(out, day.AddDate(0, 0, i).Format(layout))
	}
	return out
}

// hLogger writes the log of one program.
type hLogger struct {
	*words
	units  []string
	layout string
	at     time.Time
}

func hNewLogger(w *words) *hLogger {
	layout := pick(w, "2006-01-02 15:04:05", "15:04:05.000", "2006-01-02T15:04:05Z", "Jan _2 15:04:05")
	return &hLogger{w, w.several(4), layout, hClock(w)}
}

// lines are the next n lines.
func (l *hLogger) lines(n int) []string {
	var lines []string
	for range n {
		l.at = l.at.Add(time.Duration(l.between(100, 9000)) * time.Millisecond)
		lines = append(lines, fmt.Sprintf("%s %s [%s] %s %s %s=%d took %dms", l.at.Format(l.layout), pick(l.words, hLevels...), pick(l.words, l.units...),
			pick(l.words, hGerunds...), pick(l.words, hNouns...), pick(l.words, "id", "count", "rows", "seq"), l.between(1, 99999), l.between(1, 900)))
	}
	return lines
}

// hListing is a folder as a shell shows it.
func hListing(w *words, long bool, names []string) string {
	var b strings.Builder
	if long {
		fmt.Fprintf(&b, "total %d\n", w.between(8, 900))
	}
	for _, name := range names {
		if long {
			fmt.Fprintf(&b, "-rw-r--r-- 1 %s %s %7d %s %2d %02d:%02d ", "build", "build", w.between(80, 900000), pick(w, hMonths...)[:3], w.between(1, 28), w.between(0, 23), w.between(0, 59))
		}
		b.WriteString(name + "\n")
	}
	return b.String()
}

// hTable is a table in one of the shapes that tools give.
func hTable(shape int, cols []string, rows [][]string) string {
	var b strings.Builder
	switch shape % 4 {
	case 0:
		b.WriteString(" " + strings.Join(cols, " | ") + "\n" + strings.Repeat("-", 12*len(cols)) + "\n")
		for _, r := range rows {
			b.WriteString(" " + strings.Join(r, " | ") + "\n")
		}
		fmt.Fprintf(&b, "(%d rows)\n", len(rows))
	case 1:
		b.WriteString("| " + strings.Join(cols, " | ") + " |\n|" + strings.Repeat("---|", len(cols)) + "\n")
		for _, r := range rows {
			b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		}
	case 2:
		b.WriteString(strings.Join(cols, ",") + "\n")
		for _, r := range rows {
			b.WriteString(strings.Join(r, ",") + "\n")
		}
	default:
		var items []hArgs
		for _, r := range rows {
			var item hArgs
			for i, c := range cols {
				item = append(item, c, r[i])
			}
			items = append(items, item)
		}
		return hList(items)
	}
	return b.String()
}

// hJoin lists items in a sentence.
func hJoin(items []string) string { return strings.Join(items, ", ") }
