package detection

// shifts reports a state that has another of the words it knows where one was, and was
// never like this: one step more of a job "succeeded". In another order it has the same
// words, and what alternates has been like this before.
func (c *comparison) shifts(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if !recently(s.coreAgo) || r.manner < commanded || r.outcome != neutral || r.short() || s.resultAgo > 0 || s.newTells > 0 {
		return false
	}
	for j := max(c.since, i-far); j < i; j++ {
		if o := &c.rounds[j]; o.core == r.core && (o.bagged != r.bagged || o.bag == r.bag) {
			return false
		}
	}
	return true
}
