package pricing

import (
	"regexp"
	"slices"
	"strings"
)

// names are prices by canonical model name.
type names map[string]Price

// maxTails bounds how often a name is shortened; a fine-tune's id takes the
// most, five.
const maxTails = 8

// find tries the name as it is, under its provider and without the prefixes
// that routers put in front; then again without each part at its end that
// does not change the price. Parts that do (mini, pro, turbo, a generation's
// number) are never dropped: gpt-4o is no gpt-4, and o3-pro costs ten times
// o3.
func (n names) find(provider, model string) (Price, bool) {
	model = canonical(model)
	for tails, ok := 0, true; ok && tails <= maxTails; tails++ {
		if p, ok := n[provider+"/"+model]; ok {
			return p, true
		}
		for name, more := model, true; more; _, name, more = strings.Cut(name, "/") {
			if p, ok := n[name]; ok {
				return p, true
			}
		}
		model, ok = withoutTail(model)
	}
	return Price{}, false
}

// exact finds a name as it is, under its provider or without.
func (n names) exact(provider, model string) (Price, bool) {
	model = canonical(model)
	if p, ok := n[provider+"/"+model]; ok {
		return p, true
	}
	p, ok := n[model]
	return p, ok
}

// canonical writes Claude's versions with dashes, as Anthropic does;
// routers write claude-sonnet-4.5.
func canonical(model string) string {
	if i := strings.LastIndexByte(model, '/') + 1; strings.HasPrefix(model[i:], "claude-") {
		return model[:i] + strings.ReplaceAll(model[i:], ".", "-")
	}
	return model
}

// A tail is a last part of a name that says when, how or where a model runs,
// but not which model it is.
var (
	dashTail = regexp.MustCompile(`-(?:` + strings.Join([]string{
		`20\d\d-?[01]\d-?[0-3]\d`,    // 2024-08-06, 20250929
		`(?:0[1-9]|1[0-2])-20\d\d`,   // 09-2025
		`(?:0[1-9]|1[0-2])-?[0-3]\d`, // 05-20, 0709
		`2\d(?:0[1-9]|1[0-2])`,       // 2411
		`00\d`,                       // 001
		`latest|preview|exp|beta`,    // the stage of a release
		`instruct|chat|customtools`,  // how it is talked to
		`thinking|reasoning`,         // the same model, thinking longer
		`minimal|low|high|xhigh`,     // reasoning effort as part of the name
	}, `|`) + `)$`)
	// variantTail is :nitro, @20250929 or a part of a fine-tune's id. It
	// comes second, for it would take the model of a fine-tune too:
	// ft:gpt-4o-2024-08-06.
	variantTail = regexp.MustCompile(`[:@][^/:@]*$`)
)

func withoutTail(model string) (shorter string, ok bool) {
	at := dashTail.FindStringIndex(model)
	if at == nil {
		at = variantTail.FindStringIndex(model)
	}
	if at == nil || at[0] == 0 {
		return "", false
	}
	return model[:at[0]], true
}

// pattern is an override for every name that text matches.
type pattern struct {
	text  string
	price Price
}

// sortPatterns puts the pattern with the most literal text first, so that
// the most specific one wins.
func sortPatterns(ps []pattern) {
	literal := func(p pattern) int { return len(p.text) - strings.Count(p.text, "*") }
	slices.SortFunc(ps, func(a, b pattern) int {
		if d := literal(b) - literal(a); d != 0 {
			return d
		}
		return strings.Compare(a.text, b.text)
	})
}

// match reports whether text fits pattern, in which * stands for any text.
func match(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return text == pattern
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}
