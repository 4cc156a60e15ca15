package detection

import "strings"

// volatileRun is the end of the volatile token that starts at i, or 0:
// addresses (0x7f…), UUIDs, clock times, ISO dates and date-times,
// durations in one word (3.2s), epoch seconds, and ids of calls.
func volatileRun(text string, i int) int {
	b := text[i]
	switch {
	case b == '0' && i+2 < len(text) && text[i+1]|0x20 == 'x' && isHex(text[i+2]):
		return runOf(text, i+2, isHex)
	case isHex(b):
		if uuidAt(text, i) {
			return i + uuidLen
		}
	}
	if isDigit(b) {
		return volatileNumber(text, i)
	}
	return callID(text, i)
}

// volatileNumber is volatileRun at a digit. How many there are says what they
// can begin.
func volatileNumber(text string, i int) int {
	d := endOfDigits(text, i)
	switch d - i {
	case 4:
		if end := timestamp(text, i); end > 0 {
			return end
		}
	case 2:
		if end := clock(text, i); end > 0 {
			return zone(text, end)
		}
	case 1:
		if end := stopwatch(text, i); end > 0 {
			return end
		}
	}
	if d < len(text) && (text[d] == '.' || isWord[text[d]]) {
		if end := duration(text, i); end > 0 {
			return end
		}
	}
	return epoch(text, i, d)
}

func endOfDigits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func runOf(text string, i int, in func(byte) bool) int {
	for i < len(text) && in(text[i]) {
		i++
	}
	return i
}

const uuidLen = 36

// uuidAt reports whether a UUID stands at i.
func uuidAt(text string, i int) bool {
	if len(text)-i < uuidLen || text[i+8] != '-' {
		return false
	}
	for k := range uuidLen {
		b := text[i+k]
		switch k {
		case 8, 13, 18, 23:
			if b != '-' {
				return false
			}
		default:
			if !isHex(b) {
				return false
			}
		}
	}
	return i+uuidLen == len(text) || !isWord[text[i+uuidLen]]
}

// isoDate is the end of the date (2024-01-15, 2024/01/15) at i, or 0.
func isoDate(text string, i int) int {
	if len(text)-i < 10 || !digits(text[i:i+4]) {
		return 0
	}
	sep := text[i+4]
	if sep != '-' && sep != '/' || text[i+7] != sep || !digits(text[i+5:i+7]) || !digits(text[i+8:i+10]) {
		return 0
	}
	if i+10 < len(text) && isDigit(text[i+10]) {
		return 0
	}
	return i + 10
}

// clock is the end of the time (10:30, 10:30:00.5) at i, or 0. It takes two
// digits for the hour, so that a line number such as 12:3 is none.
func clock(text string, i int) int {
	if len(text)-i < 5 || !digits(text[i:i+2]) || text[i+2] != ':' || !digits(text[i+3:i+5]) {
		return 0
	}
	end := i + 5
	if end+3 <= len(text) && text[end] == ':' && digits(text[end+1:end+3]) {
		end += 3
		if end+1 < len(text) && (text[end] == '.' || text[end] == ',') && isDigit(text[end+1]) {
			end = endOfDigits(text, end+1)
		}
	}
	if end < len(text) && isDigit(text[end]) {
		return 0
	}
	return end
}

// stopwatch is the end of the minutes and seconds, or hours, minutes and seconds
// (1:48, 2:05:33) at i, or 0. A column behind a line (12:3:40) is none.
func stopwatch(text string, i int) int {
	const seconds = 4
	if i > 0 && (text[i-1] == ':' || text[i-1] == '.' || text[i-1] == '-') || len(text)-i < seconds || text[i+1] != ':' || text[i+2] > '5' || !digits(text[i+2:i+seconds]) {
		return 0
	}
	end := i + seconds
	if end+3 <= len(text) && text[end] == ':' && digits(text[end+1:end+3]) {
		end += 3
	}
	if end < len(text) && (isWord[text[end]] || text[end] == ':') {
		return 0
	}
	return end
}

// zone skips Z or ±hh:mm after a time.
func zone(text string, i int) int {
	if i < len(text) && text[i]|0x20 == 'z' && (i+1 == len(text) || !isWord[text[i+1]]) {
		return i + 1
	}
	if i+2 < len(text) && (text[i] == '+' || text[i] == '-') && digits(text[i+1:i+3]) {
		if end := i + 6; end <= len(text) && text[i+3] == ':' && digits(text[i+4:i+6]) {
			return end
		}
		if end := i + 5; end <= len(text) && digits(text[i+3:i+5]) {
			return end
		}
	}
	return i
}

func digits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// duration reads 12ms, 3.2s, 2m30s and the like.
func duration(text string, i int) int {
	d := decimal(text, i)
	end := runOf(text, d, func(b byte) bool { return isWord[b] })
	if end == d {
		return 0
	}
	if !isUnit(text[d:end]) {
		end = age(text, i)
	}
	if end == 0 || isMeasure(text, i, end) {
		return 0
	}
	return end
}

// age is the end of a time at i as tools write it: 11m, 5d, 2h30m, 0m0.839s; or 0.
func age(text string, i int) int {
	for d := endOfDigits(text, i); ; d = decimal(text, i) {
		if d == i || d == len(text) || strings.IndexByte("dhms", text[d]) < 0 {
			return 0
		}
		if i = d + 1; i == len(text) || !isWord[text[i]] {
			return i
		}
	}
}

// isMeasure reports a time that means something: a rate (118 ns/op), or what
// is left of a countdown.
func isMeasure(text string, start, end int) bool {
	if end < len(text) && text[end] == '/' {
		return true
	}
	after := strings.TrimLeft(text[end:min(len(text), end+12)], " ")
	before := strings.TrimRight(strings.ToLower(text[max(0, start-12):start]), " :=")
	return strings.HasPrefix(after, "left") || strings.HasPrefix(after, "remain") ||
		strings.HasSuffix(before, "eta") || strings.HasSuffix(before, "left") || strings.HasSuffix(before, "remaining")
}

func decimal(text string, i int) int {
	d := endOfDigits(text, i)
	if d+1 < len(text) && text[d] == '.' && isDigit(text[d+1]) {
		d = endOfDigits(text, d+1)
	}
	return d
}

func isUnit(s string) bool {
	switch s {
	case "s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds",
		"min", "mins", "minute", "minutes", "milliseconds", "microseconds":
		return true
	}
	return false
}

// epoch reads seconds or milliseconds since 1970 of this age (2017 to 2036).
// d is the end of the digits.
func epoch(text string, i, d int) int {
	n := d - i
	if n != 10 && n != 13 || text[i] != '1' && text[i] != '2' || text[i] == '1' && text[i+1] < '5' || text[i] == '2' && text[i+1] > '0' {
		return 0
	}
	d = decimal(text, i)
	if d < len(text) && isWord[text[d]] {
		return 0
	}
	return d
}

// callID reads ids that providers make: call_…, toolu_…, and so on.
func callID(text string, i int) int {
	switch text[i] {
	case 'c':
		switch {
		case i+1 == len(text):
		case text[i+1] == 'a':
			return idAfter("call_", text, i)
		case text[i+1] == 'h':
			return idAfter("chatcmpl-", text, i)
		}
	case 't':
		return idAfter("toolu_", text, i)
	case 'r':
		return idAfter("req_", text, i)
	case 'm':
		return idAfter("msg_", text, i)
	}
	return 0
}

// idAfter is the end of the id with a prefix at i: eight characters or more,
// a digit among them; or 0.
func idAfter(prefix, text string, i int) int {
	const enough = 8
	start := i + len(prefix)
	if len(text) < start+enough || text[i:start] != prefix {
		return 0
	}
	end := runOf(text, start, func(b byte) bool { return isWord[b] })
	if end-start >= enough && strings.ContainsAny(text[start:end], "0123456789") {
		return end
	}
	return 0
}
