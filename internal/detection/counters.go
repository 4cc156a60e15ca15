package detection

import (
	"slices"
	"strings"
)

// Numbers that change by themselves, by what stands around them.

// changesByItself reports whether what stands around the number that was read says so.
func (s *scanner) changesByItself() bool {
	text, prev := s.text, s.prev
	return beforeUnit(text, s.start, s.end) || inBrackets(text, s.start, s.end) || countsLines(text, prev) || afterClock(text, s.start, prev) ||
		mayCount(text, prev) && (afterProcessName(text, prev) || afterTally(text, s.start, s.end, prev))
}

// beforeUnit reports a number that a unit of time follows: "0.1 seconds".
func beforeUnit(text string, start, i int) bool {
	if i >= len(text) || text[i] != ' ' {
		return false
	}
	end := i + 1
	for end < len(text) && isWord[text[end]] {
		end++
	}
	if end > i+1 && text[end-1] == 'B' && strings.HasPrefix(text[end:], "/s") {
		return true // 3358 KB/s: how fast it went this time
	}
	return isUnit(text[i+1:end]) && !isMeasure(text, start, end)
}

// inBrackets reports the number of a process as a system's log writes it:
// importer[20101]:
func inBrackets(text string, start, end int) bool {
	return start > 1 && text[start-1] == '[' && isWord[text[start-2]] && strings.HasPrefix(text[end:], "]:")
}

// countsLines reports whether the number after prev is how many lines a shell
// has read so far ("/bin/bash: line 27424: javac: command not found"): every
// command moves it on. A script's own line ("deploy.sh: line 12") stays.
func countsLines(text string, prev before) bool {
	if prev.end == 0 || text[prev.start:prev.end] != "line" {
		return false
	}
	before, ok := strings.CutSuffix(text[:prev.start], "sh: ")
	before = strings.TrimSuffix(before, "ba")
	return ok && (before == "" || before[len(before)-1] == '/' || before[len(before)-1] <= ' ')
}

// afterClock reports whether a number is one that goes on by itself: a running
// number such as #628, the t=1178 of a device.
func afterClock(text string, start int, prev before) bool {
	if start > 0 && text[start-1] == '#' && (start < 2 || !isWord[text[start-2]]) {
		return true
	}
	if prev.end == 0 || start-prev.end > 2 {
		return false
	}
	name := text[prev.start:prev.end]
	return prev.end < start && text[prev.end] == '=' && (name == "t" || name == "ts")
}

// afterProcessName reports whether the word before a number says that it names
// a process, a message, a revision, a frame or a duration (took_ms, valid_s),
// which change by themselves.
func afterProcessName(text string, prev before) bool {
	if !prev.word || prev.end == 0 {
		return false
	}
	name := text[prev.start:prev.end]
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		name = name[i+1:] // worker_pid
		if name == "s" || name == "sec" {
			return true // valid_s
		}
	}
	return slices.Contains(processNames, name)
}

var processNames = []string{"pid", "PID", "pgid", "PGID", "ppid", "PPID", "seq", "ms", "rev", "sek", "мс", "сек", "frame", "stamp", "uptime", "elapsed", "session", "conn", "connection"}

// mayCount reports a word before a number that may be one of those that
// afterProcessName and afterTally look for, by how it ends: few words do.
func mayCount(text string, prev before) bool {
	return prev.word && prev.end > prev.start+1 && countersEnd[endKey(text[prev.end-2], text[prev.end-1])]
}

// countersEnd has the last two bytes of those words.
var countersEnd = func() (t [endKeys]bool) {
	add := func(name string) { t[endKey(name[len(name)-2], name[len(name)-1])] = true }
	for _, list := range phraseFile[tallies] {
		for _, name := range list {
			add(name)
		}
	}
	for _, name := range processNames {
		add(name)
	}
	add("_s")
	add("_sec")
	return t
}()

// endKey is the place of two bytes in countersEnd, capitals made small.
func endKey(a, b byte) int { return (int(a|0x20)*37 + int(b|0x20)) % endKeys }

const endKeys = 1 << 10

// afterTally reports whether the word before a number says that it counts the
// attempts: "turn 7", "check_no": 5. One that says how many there are to be ("try
// 3 of 5") counts down to an end.
func afterTally(text string, start, end int, prev before) bool {
	return prev.word && prev.end > 0 && start-prev.end <= 3 && tallyWords[hashWord(text[prev.start:prev.end], false)] && wholeAt(text, end) == ""
}

// isShare reports a number that is part of a whole: 54 %, 3/20, 3 of 20. Steps,
// turns and attempts are counted, whatever comes of them.
func isShare(text string, s *scanner) bool {
	i := s.end
	if i < len(text) && text[i] == ' ' {
		i++
	}
	if i < len(text) && text[i] == '%' {
		return true
	}
	whole := wholeAt(text, s.end)
	return whole != "" && (s.start == 0 || text[s.start-1] != '/') && numberOf(text[s.start:s.end]) <= numberOf(whole) &&
		!(s.prev.word && keySays(text[s.prev.start:s.prev.end])&turns != 0)
}

// wholeAt is the number of which the one that ends at i is a part; "" where none
// follows.
func wholeAt(text string, i int) string {
	if i == len(text) || text[i] != '/' && !(text[i] == ' ' && i+1 < len(text) && (text[i+1] == 'o' || text[i+1] == '/')) {
		return ""
	}
	mark := "/"
	if text[i] == ' ' {
		mark = " / "
		if text[i+1] == 'o' {
			mark = " of "
			if i+2 < len(text) && text[i+2] == 'u' {
				mark = " out of "
			}
		}
	}
	rest, ok := strings.CutPrefix(text[i:], mark)
	if !ok {
		return ""
	}
	return rest[:endOfDigits(rest, 0)]
}
