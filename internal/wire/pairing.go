package wire

import "github.com/haltd/haltd"

// pairing finds the call that a result answers. Results mostly come in the
// order of the calls of the newest round, so that is tried first; the indexes
// behind it are only filled when it fails, and keep the whole linear in the
// number of calls however a client mixes them up.
type pairing struct {
	next    int // the call whose result is due
	indexed int // calls that are in the indexes
	byID    map[string]int
	byName  map[string][]int
}

func (p *pairing) clear() {
	clear(p.byID)
	clear(p.byName)
	p.next, p.indexed = 0, 0
	if len(p.byID) > 1<<10 || len(p.byName) > 1<<10 {
		*p = pairing{}
	}
}

// find is the index of the call that result answers. first is the first call
// of the newest round. A call id finds its call in any round; without ids the
// first call of that name in the newest round that has no result yet is meant.
func (p *pairing) find(calls []openCall, first int, result *haltd.ToolResult) (int, bool) {
	p.next = max(p.next, first)
	if p.next < len(calls) && answers(result, &calls[p.next]) {
		p.next++
		return p.next - 1, true
	}
	p.index(calls)
	if i, ok := p.byID[result.CallID]; ok {
		p.next = i + 1
		return i, true
	}
	if result.Name == "" {
		return 0, false
	}
	waiting := p.byName[result.Name]
	for len(waiting) > 0 {
		i := waiting[0]
		waiting = waiting[1:]
		if i >= first && !calls[i].answered {
			p.byName[result.Name] = waiting
			return i, true
		}
	}
	p.byName[result.Name] = waiting
	return 0, false
}

func answers(result *haltd.ToolResult, call *openCall) bool {
	switch {
	case call.answered:
		return false
	case result.CallID != "" && call.ID != "":
		return result.CallID == call.ID
	}
	return result.Name == "" || result.Name == call.Name
}

// index adds the calls that came since it last ran. Of equal ids the newest
// counts: some clients start numbering anew in every round.
func (p *pairing) index(calls []openCall) {
	if p.byID == nil {
		p.byID, p.byName = map[string]int{}, map[string][]int{}
	}
	for ; p.indexed < len(calls); p.indexed++ {
		call := &calls[p.indexed]
		if call.ID != "" {
			p.byID[call.ID] = p.indexed
		} else {
			p.byName[call.Name] = append(p.byName[call.Name], p.indexed)
		}
	}
}
