package main

import (
	"math"
	"slices"

	"github.com/haltd/haltd/internal/detection"
)

// point is one step that counts in a fit.
type point struct {
	x       *detection.Features
	nonzero []uint8 // which features are not zero
	run     *run
	stuck   bool
	weight  float64
}

func pointOf(s *sample, r *run, stuck bool) point {
	p := point{x: &s.x, run: r, stuck: stuck}
	for k, v := range s.x {
		if v != 0 {
			p.nonzero = append(p.nonzero, uint8(k))
		}
	}
	return p
}

// features is how many there are.
var features = len(detection.Catalog())

// linear is a model while it is fitted.
type linear struct {
	bias float64
	w    []float64
}

func (m *linear) logOdds(x *detection.Features) float64 {
	z := m.bias
	for i, w := range m.w {
		z += w * float64(x[i])
	}
	return z
}

// hyper are the choices of a fit.
type hyper struct {
	l2    float64
	sharp float64 // how much the hardest steps of a run count more than the others
	outer int     // how often the steps are weighed anew
	inner int     // steps of descent each time
	off   []bool  // features that are left out
}

func defaults() hyper {
	return hyper{l2: .001, sharp: .5, outer: 3, inner: 150, off: make([]bool, features)}
}

// perSource bounds what one source counts: no benchmark outweighs the others
// by its size.
const perSource = 60

// weigh gives each run its weight in a fit: by how sure its label is, and
// less where its source has many.
func weigh(runs []*run) {
	times := map[string]float64{}
	for _, r := range runs {
		r.weight = labelWeight(r)
		times[r.kind()] += r.weight
	}
	for _, r := range runs {
		if n := times[r.kind()]; n > perSource {
			r.weight *= perSource / n
		}
	}
}

// kind is what the weight of a run is bounded with: its source and verdict;
// made-up behaviours are bounded by family.
func (r *run) kind() string {
	if r.family != "" {
		return r.family
	}
	return group(r.source) + "/" + r.label.Group
}

func labelWeight(r *run) float64 {
	l := r.label
	switch {
	case r.family != "":
		return .8
	case l.Read && l.Confidence < .6:
		return 0
	case l.Read && l.Group == "wasteful":
		return l.Confidence * .8
	case l.Read:
		return l.Confidence
	case l.Group == "stuck" || l.Group == "capped_chat":
		return .4
	case l.Group == "healthy":
		return .5
	case l.Group == "recovered":
		return .3
	}
	return 0
}

// points are the steps of runs that say something: those after the reader
// would have stopped a stuck run, and all before its repetition began; every
// step of the others.
func points(runs []*run) (ps []point) {
	for _, r := range runs {
		if r.weight == 0 {
			continue
		}
		stuck := r.label.Group == "stuck" || r.label.Group == "capped_chat"
		onset, stop := r.bounds()
		for _, thread := range r.threads {
			for i := range thread {
				s := &thread[i]
				switch {
				case !stuck && s.bounded:
					// What a worker tries in vain is bounded by who gave it its task: that
					// its run is not stuck says nothing of what it did.
				case !stuck || s.step < onset:
					ps = append(ps, pointOf(s, r, false))
				case s.step >= stop:
					ps = append(ps, pointOf(s, r, true))
				}
			}
		}
	}
	return ps
}

// bounds are the step at which the repetition begins and the one from which
// on the run should be stopped.
func (r *run) bounds() (onset, stop int) {
	l := r.label
	onset, stop = math.MaxInt, math.MaxInt
	if l.Onset != nil {
		onset, stop = *l.Onset, *l.Onset+5
	}
	if l.Stop != nil {
		stop = *l.Stop
		onset = min(onset, stop)
	} else if l.Confirm != nil {
		stop = *l.Confirm
		onset = min(onset, stop)
	}
	return onset, stop
}

// fit finds weights. A run is judged by its worst moment, so that the steps
// of a run are weighed anew by how near to a kill they are, some times over.
// It goes on from the weights given, if any.
func fit(runs []*run, h hyper, from *linear) *linear {
	weigh(runs)
	ps := points(runs)
	m := &linear{bias: -2, w: make([]float64, features)}
	if from != nil {
		m.bias = from.bias
		copy(m.w, from.w)
	}
	for range h.outer {
		spread(ps, m, h.sharp)
		descend(ps, m, h)
	}
	return m
}

// spread shares the weight of each run among its steps.
func spread(ps []point, m *linear, sharp float64) {
	type side struct {
		r     *run
		stuck bool
	}
	sums := map[side]float64{}
	for i := range ps {
		p := &ps[i]
		z := m.logOdds(p.x)
		if p.stuck {
			z = -z / 2 // a stuck run should be seen soon, not only once
		}
		p.weight = math.Exp(sharp * max(-12, min(12, z)))
		sums[side{p.run, p.stuck}] += p.weight
	}
	for i := range ps {
		p := &ps[i]
		p.weight *= p.run.weight / sums[side{p.run, p.stuck}]
		if !p.stuck && (p.run.label.Group == "stuck" || p.run.label.Group == "capped_chat") {
			p.weight *= .3 // what a stuck run did before says little
		}
	}
}

// descend takes steps of accelerated descent on the logistic loss, weights of
// features that may only count one way held to it.
func descend(ps []point, m *linear, h hyper) {
	catalog := detection.Catalog()
	total := 0.0
	for i := range ps {
		total += ps[i].weight
	}
	n := features + 1
	cur, prev, at := make([]float64, n), make([]float64, n), make([]float64, n)
	copy(cur, m.w)
	cur[features] = m.bias
	copy(prev, cur)
	grad := make([]float64, n)
	const rate = 1.2
	for k := range h.inner {
		momentum := float64(k) / float64(k+3)
		for i := range at {
			at[i] = cur[i] + momentum*(cur[i]-prev[i])
		}
		gradient(ps, at, grad, total)
		copy(prev, cur)
		for i := range cur {
			g := grad[i]
			if i < features {
				g += h.l2 * at[i]
			}
			v := at[i] - rate*g
			if i < features && (h.off[i] || v*float64(catalog[i].Direction) < 0) {
				v = 0
			}
			cur[i] = v
		}
	}
	copy(m.w, cur[:features])
	m.bias = cur[features]
}

func gradient(ps []point, at, grad []float64, total float64) {
	clear(grad)
	for i := range ps {
		p := &ps[i]
		z := at[features]
		for _, k := range p.nonzero {
			z += at[k] * float64(p.x[k])
		}
		e := 1 / (1 + math.Exp(-z))
		if p.stuck {
			e--
		}
		e *= p.weight / total
		for _, k := range p.nonzero {
			grad[k] += e * float64(p.x[k])
		}
		grad[features] += e
	}
}

// peak is how high the log-odds of a run rise, as a kill needs it: in two
// steps running, the first of which may be lower by slack, or in two steps with
// a few between; in more where the session was given its task.
func (m *linear) peak(r *run, slack float64) float64 {
	high := math.Inf(-1)
	for _, thread := range r.threads {
		z := make([]float64, len(thread))
		for i := range thread {
			z[i] = m.logOdds(&thread[i].x)
			if i > 0 {
				before := slices.Max(z[max(0, i-detection.Lately):i])
				reached := min(z[i], max(z[i-1]+slack, before))
				if thread[i].bounded {
					reached = min(reached, ofRank(z[:i+1], detection.BoundedRounds))
				}
				high = max(high, reached)
			}
		}
	}
	return high
}

// ofRank is the n-th largest of some values; the least that there is where there are fewer.
func ofRank(z []float64, n int) float64 {
	if len(z) < n {
		return math.Inf(-1)
	}
	sorted := slices.Sorted(slices.Values(z))
	return sorted[len(sorted)-n]
}

// lasts reports whether the log-odds of a run stay near the kill line, as package
// detection adds them up.
func (m *linear) lasts(r *run, at bounds) bool {
	const n = detection.Lasting
	for _, thread := range r.threads {
		z := make([]float64, len(thread))
		for i := range thread {
			z[i] = min(at.kill, m.logOdds(&thread[i].x))
			if i+1 < n || z[i] < at.warn || thread[i].bounded {
				continue
			}
			sum := 0.0
			for _, v := range z[i+1-n : i+1] {
				sum += v
			}
			if detection.AddsUp(float32(sum), float32(at.warn), float32(at.kill)) {
				return true
			}
		}
	}
	return false
}

// quantile is the value above which the given share of the values lies.
func quantile(values []float64, share float64) float64 {
	v := slices.Clone(values)
	slices.Sort(v)
	i := len(v) - 1 - int(share*float64(len(v)))
	return v[max(0, i)] + 1e-9
}
