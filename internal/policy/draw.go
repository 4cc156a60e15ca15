package policy

import "time"

// Draw asks a bucket for some of its tokens.
type Draw struct {
	Key   string // names the bucket
	Limit Limit
	Cost  int64
}

// Terms is a draw as whole numbers below 2^53, for who keeps buckets where
// there is no Limit. With owed as the time until the bucket is full, in
// microseconds and parts of one (units of which make a microsecond):
//
//	a draw passes when owed <= room;
//	taking it adds cost to max(full, now), returning it takes cost away.
//
// Units of 0 limit nothing.
type Terms struct {
	Units            int64
	CostUS, CostPart int64
	RoomUS, RoomPart int64
}

// Terms are those of the draw.
func (d Draw) Terms() Terms {
	l := d.Limit
	if l.units == 0 {
		return Terms{}
	}
	cost := l.cost(max(d.Cost, -d.Cost))
	room := l.depth.minus(l.cost(d.Cost), l.units)
	return Terms{int64(l.units), int64(cost.us), int64(cost.part), int64(room.us), int64(room.part)}
}

// Claim is all that one request asks of buckets and counters, in one step.
type Claim struct {
	Draws   []Draw // taken all together, or none where one is refused
	Shadows []Draw // taken each by itself, where its bucket has it
	Hits    []Hit  // counted
}

// Hit counts one more request under a key, for a time that every hit renews.
type Hit struct {
	Key    string
	Window time.Duration
}

// Answer is what became of a claim.
type Answer struct {
	Refused int             // the first of the draws that is refused; -1 where all were taken
	Wait    time.Duration   // for that draw
	Shadows []time.Duration // how long each would have to wait; 0 where it was taken
	Counts  []int           // of each hit
}
