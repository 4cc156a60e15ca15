package detection

import "slices"

// fillsUp reports answers of one act with parts of a whole, 31/32, and beside them another
// number that never went down of late, rose three times and is less than one that stays:
// 14 of 32 pods are new. What rises with every call, or by the clock, may count no more
// than that.
func (c *comparison) fillsUp(i int) bool {
	const times = 3
	r := &c.rounds[i]
	if r.outcome == failed || r.manner < commanded || r.shares.n == 0 || !recently(c.all[i].coreAgo) {
		return false
	}
	clocks := c.clocks(i)
	var most float64 // of the numbers that stay
	var rose, fell [len(amounts{}.first)]int
	stays := [len(rose)]bool{true, true, true, true}
	at := i
	for ago := c.all[at].coreAgo; ago > 0 && i-at < near && at-ago >= c.since; ago = c.all[at].coreAgo {
		now, before := &c.rounds[at].told, &c.rounds[at-ago].told
		if now.n != before.n {
			return false
		}
		for k := range min(now.n, len(rose)) {
			switch step := now.first[k] - before.first[k]; {
			case step > 0:
				rose[k]++
			case step < 0:
				fell[k]++
			}
			stays[k] = stays[k] && now.first[k] == before.first[k]
		}
		at -= ago
	}
	for k := range min(r.told.n, len(rose)) {
		if stays[k] {
			most = max(most, r.told.first[k])
		}
	}
	for k := range min(r.told.n, len(rose)) {
		if rose[k] >= times && fell[k] == 0 && !clocks[k] && r.told.first[k] < most {
			return true
		}
	}
	return false
}

// fills reports an answer in which a part of a whole is larger than the last time
// the same was asked, or done with other numbers, and was not smaller of late: what is
// waited for gets on. Two steps down in a row of what is asked are a way, too.
func (c *comparison) fills(i int) bool {
	const steps = 4
	var ups, downs [len(amounts{}.first)]int
	last := [len(ups)]int8{}
	clocks, told := c.clocks(i), c.rounds[i].told.first
	shares, same := c.rounds[i].shares.first, true
	for n := range steps {
		ago := c.all[i].coreAgo
		if of := c.all[i].shapeAgo; of > 0 && (ago == 0 || of < ago) {
			ago, same = of, false
		}
		if !recently(ago) {
			break
		}
		step, _ := stepOf(&c.rounds[i-ago].shares, &c.rounds[i].shares)
		for k, d := range step {
			if n == 0 && !c.passes(i-ago, i, k) {
				last[k] = d
			}
			if d > 0 {
				ups[k]++
			} else if d < 0 {
				downs[k]++
			}
		}
		i -= ago
	}
	for k, d := range last {
		if at := slices.Index(told[:], shares[k]); at >= 0 && clocks[at] {
			continue
		}
		if d > 0 && downs[k] == 0 || same && d < 0 && ups[k] == 0 && downs[k] > 1 {
			return true
		}
	}
	return false
}

// passes reports whether a share went on in what came back for other acts in
// between, too, part of the way or all of it: how much of its memory the agent has used, not what was asked.
func (c *comparison) passes(from, to, k int) bool {
	a, b := c.rounds[from].shares.first[k], c.rounds[to].shares.first[k]
	for j := from + 1; j < to; j++ {
		between := &c.rounds[j].shares
		if k >= between.n || between.n != c.rounds[to].shares.n {
			continue
		}
		if at := between.first[k]; at == b || at > min(a, b) && at < max(a, b) {
			return true
		}
	}
	return false
}
