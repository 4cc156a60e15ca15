package excerpt

import (
	"cmp"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// span is a secret in a text.
type span struct {
	from, to int
	what     string
}

// shape is how one kind of secret looks.
type shape struct {
	what string
	// hints are texts in lower case of which each match has one: a look for
	// them is cheaper than the pattern. A pattern that begins with plain
	// letters needs none.
	hints []string
	// pattern matches it. Its first group that took part is the secret,
	// without groups all of it is.
	pattern *regexp.Regexp
	// is tells a secret from what only looks like one, by the match and the
	// secret in it; nil when the pattern does.
	is func(text string, start, from, to int) bool
}

const (
	// What is too long for a word.
	plain   = `[A-Za-z0-9]{20,}`
	pemName = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`
	// A line break, or one as JSON writes it, once or more often escaped.
	lineBreak = `(?:\r?\n|(?:\\+r)?\\+n)`
	// What names a secret in files, environments, queries and programs.
	name = `(?:password|passwd|passphrase|passcode|[_-]pass|pwd|secret|(?:api|access|account|auth|encryption|private|signing|subscription)[_-]?key|token|credential|[_-]auth)[a-z0-9_.-]*`
	// A value without quotes, and what follows when it is a name itself.
	bare = `((?:[^\s"'&;]*[:=][ \t]+)*[^\s"'&;]+)`
)

var named = []string{"passw", "passp", "passc", "_pass", "-pass", "pwd", "secret", "key", "token", "credential", "_auth", "-auth"}

// shapes are the known ones. Where two begin together, the first names what is
// taken out.
var shapes = slices.Concat(
	[]shape{
		// A block that was cut before its end, or after its beginning, still
		// holds most of the key.
		{what: "private key", pattern: regexp.MustCompile(`-----BEGIN ` + pemName + `(?s:.*?)(?:-----END ` + pemName + `|\z)`)},
		{what: "private key", hints: []string{"-----end "}, pattern: regexp.MustCompile(`(?:[A-Za-z0-9+/=]+[ \t]*` + lineBreak + `[ \t]*)+-----END ` + pemName)},
	},
	keys(
		`sk-(?:ant|proj|or|svcacct|admin)-[\w-]{8,}`, // Anthropic, OpenAI, OpenRouter
		`AIza[\w-]{30,}`, `AQ\.[\w-]{30,}`, `ya29\.[\w.-]{20,}`, `GOCSPX-[\w-]{20,}`, // Google
		`xai-`+plain, `gsk_`+plain, `hf_`+plain, `r8_`+plain, `pplx-`+plain, `fw_`+plain, `nvapi-[\w-]{20,}`, `tgp_v1_[\w-]{20,}`,
		`haltd_[\w-]{40,}`, `whsec_[\w+/=-]{16,}`,
		`gh[opusr]_`+plain, `github_pat_\w{20,}`, `gl(?:pat|dt|rt|ptt|soat|cbt|ft)-[\w.-]{16,}`,
		`xox[a-z]-[\w-]{10,}`, `xapp-[\w-]{10,}`, `hooks\.slack\.com/\w+/[\w/-]+`,
		`A(?:KIA|SIA)[A-Z0-9]{16}`, `sk_(?:live|test)_\w{10,}`, `rk_(?:live|test)_\w{10,}`, `SG\.[\w-]{16,}\.[\w-]{16,}`,
		`npm_`+plain, `pypi-[\w-]{30,}`,
	),
	[]shape{
		{what: "key", pattern: regexp.MustCompile(`sk-[\w-]{16,}`), is: plainKey},
		{what: "token", pattern: regexp.MustCompile(`eyJ[\w-]{10,}(?:\.[\w-]*)*`)}, // a JWT
		{what: "token", hints: []string{"authorization"}, pattern: regexp.MustCompile(`(?i)authorization\\*["']?[ \t]*[:=]\s*\\*["']?(?:[a-z]+[ \t]+)?` + bare)},
		{what: "token", hints: []string{"bearer"}, pattern: regexp.MustCompile(`(?i)bearer\s+\\*["']?([\w.~+/=-]{8,})`)},
		{what: "token", hints: []string{"basic"}, pattern: regexp.MustCompile(`(?i)basic\s+([a-z0-9+/]{6,}={0,2})`), is: basic},
		{what: "token", hints: []string{"cookie"}, pattern: regexp.MustCompile(`(?i)cookie\\*["']?[ \t]*[:=][ \t]*\\*["']?([^\r\n"']+)`)},
		{what: "password", pattern: regexp.MustCompile(`://([^\s/?#"'<>\\]+)@`)}, // in a URL
		{what: "password", hints: named, is: telling, pattern: regexp.MustCompile(`(?is)` + name + "\\\\*[\"'`]?[ \\t]*(?:=>|:=|==?|:)[ \\t]*" +
			`(?:\\+"((?:[^"\\]|\\[^"])+)|"((?:[^"\\]|\\.)+)|\\*'((?:[^'\\]|\\.)+)|` + bare + `)`)},
		{what: "password", hints: []string{"--"}, pattern: regexp.MustCompile(`(?i)--[a-z0-9-]*` + name + `[ \t]+\\*["']?` + bare)}, // an option of a command
		{what: "password", hints: []string{"-u"}, pattern: regexp.MustCompile(`-(?:u|-user)[ \t]+\\*["']?([^\s"':]+:[^\s"']+)`)},
		{what: "password", hints: []string{"</"}, pattern: regexp.MustCompile(`(?i)<[^<>\s]*` + name + `[^<>]*>([^<]+)`)}, // in XML
		{what: "e-mail", hints: []string{"@"}, pattern: regexp.MustCompile(`[\pL\pN._%+'-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,}`)},
	},
)

// keys are the shapes of keys that tell themselves by how they begin.
func keys(patterns ...string) []shape {
	list := make([]shape, len(patterns))
	for i, p := range patterns {
		list[i] = shape{what: "key", pattern: regexp.MustCompile(p)}
	}
	return list
}

// shortest is how long a secret that is known must be, to be looked for: what
// is shorter stands in every other word.
const shortest = 8

// find answers the secrets of a text in their order, none touching another.
func find(text string, known []string) []span {
	var found []span
	for _, secret := range known {
		if len(secret) < shortest {
			continue
		}
		for at := 0; ; {
			i := strings.Index(text[at:], secret)
			if i < 0 {
				break
			}
			found = append(found, span{at + i, at + i + len(secret), "key"})
			at += i + len(secret)
		}
	}
	lower := strings.ToLower(text)
	for i := range shapes {
		found = shapes[i].find(text, lower, found)
	}
	found = cards(text, found)
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return merge(found)
}

func (s *shape) find(text, lower string, found []span) []span {
	if s.hints != nil && !slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
		return found
	}
	for _, m := range s.pattern.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[0], m[1]
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				from, to = m[i], m[i+1]
				break
			}
		}
		if s.is == nil || s.is(text, m[0], from, to) {
			found = append(found, span{from, to, s.what})
		}
	}
	return found
}

// merge joins spans that overlap, under the name of the one that begins first.
func merge(sorted []span) []span {
	var merged []span
	for _, s := range sorted {
		if n := len(merged); n > 0 && s.from < merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// plainKey tells sk-… from the end of a word such as risk-averse or from
// sk-learn: it stands by itself, or holds what is no word.
func plainKey(text string, _, from, to int) bool {
	run, longest, mixed := 0, 0, false
	for i := from + len("sk-"); i < to; i++ {
		c := text[i]
		mixed = mixed || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
		if run++; c == '-' || c == '_' {
			run = 0
		}
		longest = max(longest, run)
	}
	const noWord = 20
	return mixed && (longest >= noWord || begins(text, from))
}

// begins reports whether no word goes on at a place; JSON writes a line break
// as \n, which is no letter.
func begins(text string, at int) bool {
	if at == 0 || !inWord(rune(text[at-1])) {
		return true
	}
	return strings.IndexByte("=:/", text[at-1]) >= 0 || at > 1 && text[at-2] == '\\' && strings.IndexByte("nrt", text[at-1]) >= 0
}

// basic reports user and password as HTTP writes them.
func basic(text string, _, from, to int) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text[from:to], "="))
	return err == nil && strings.Contains(string(plain), ":")
}

// telling leaves out what stands in the place of a value, and numbers of
// tokens.
func telling(text string, start, from, to int) bool {
	value := strings.ToLower(strings.Trim(text[from:to], ",.()[]{}<>"))
	switch value {
	case "", "null", "nil", "none", "true", "false", "undefined":
		return false
	}
	number := strings.Trim(value, "0123456789.") == ""
	return !number || !strings.Contains(strings.ToLower(text[start:from]), "token")
}
