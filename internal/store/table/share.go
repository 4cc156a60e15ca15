package table

import "github.com/haltd/haltd"

// Missing is what a ledger lacks of what is known to be spent.
func Missing(spent haltd.Spending, l haltd.Ledger) haltd.Spending {
	rest := spent.Sub(l.Spent).Sub(l.Held)
	return haltd.Spending{Cost: max(rest.Cost, 0), Tokens: max(rest.Tokens, 0)}
}

// Fits reports whether a share may be written in place of what the node has
// written before. One that does not grow always may.
func Fits(sh *haltd.Share, written haltd.Share, before, after haltd.Ledger, othersAlone bool) bool {
	was, is := before.Spent.Add(before.Held), after.Spent.Add(after.Held)
	within := func(total, limit int64) bool { return limit <= 0 || total <= limit }
	if within(int64(is.Cost), int64(sh.Limit.Cost)) && within(is.Tokens, sh.Limit.Tokens) || is.Cost <= was.Cost && is.Tokens <= was.Tokens {
		return true
	}
	was = was.Sub(written.Held) // what the node itself holds is in nobody's way
	left := func(total, limit int64) bool { return limit <= 0 || total < limit }
	return sh.Alone && !othersAlone && left(int64(was.Cost), int64(sh.Limit.Cost)) && left(was.Tokens, sh.Limit.Tokens)
}
