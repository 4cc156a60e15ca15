package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// series is one line of a chart.
type series struct {
	Name   string  `json:"name"`
	Points []point `json:"points"`
}

// point is what was measured at one place.
type point struct {
	At    float64 `json:"at"`
	Value float64 `json:"value"`
}

// value is what was measured at a place.
func (s series) value(at float64) (v float64, ok bool) {
	i := slices.IndexFunc(s.Points, func(p point) bool { return p.At == at })
	if i < 0 {
		return 0, false
	}
	return s.Points[i].Value, true
}

// chart is some lines over the same axis.
type chart struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Log   bool     `json:"log,omitempty"` // of the values; they begin at zero otherwise
	Lines []series `json:"lines"`
	Limit float64  `json:"limit,omitempty"` // drawn across; 0 for none
}

// The size of a chart and of what is around its lines, in pixels.
const (
	chartWidth, chartHeight = 530.0, 330.0
	leftEdge, rightEdge     = 66.0, 164.0
	topEdge, bottomEdge     = 62.0, 52.0
	labelHeight             = 15.0
)

// The picture has a background of its own, so that it is read in light and dark.
const (
	paper, ink, faint, grid = "#ffffff", "#24292f", "#57606a", "#d8dee4"
	warning                 = "#cf222e"
)

var colours = []string{"#0969da", "#6e7781", "#bc4c00", "#1a7f37"}

// axis turns values into pixels.
type axis struct {
	log      bool
	min, max float64
	from, to float64
}

func (a axis) pixel(v float64) float64 {
	lo, hi := a.min, a.max
	if a.log {
		v, lo, hi = math.Log10(max(v, a.min)), math.Log10(lo), math.Log10(hi)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// newAxis is one on which all values have a place and whose ends are ticks; a
// linear one begins at zero.
func newAxis(log bool, values []float64, from, to float64) (a axis, ticks []float64) {
	highest := slices.Max(values)
	if !log {
		step := niceStep(max(highest, 1e-9) / 5)
		n := math.Ceil(highest/step - 1e-9)
		for i := range int(max(n, 1)) + 1 {
			ticks = append(ticks, float64(i)*step)
		}
		return axis{false, 0, ticks[len(ticks)-1], from, to}, ticks
	}
	low := math.Floor(math.Log10(slices.Min(values)) + 1e-9)
	high := max(math.Ceil(math.Log10(highest)-1e-9), low+1)
	for e := low; e <= high; e++ {
		ticks = append(ticks, math.Pow(10, e))
	}
	return axis{true, ticks[0], ticks[len(ticks)-1], from, to}, ticks
}

// niceStep is 1, 2 or 5 times a power of ten, and not less than least.
func niceStep(least float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(least)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= least*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

// svg draws the charts of a question side by side.
func (q *question) svg() string {
	var b strings.Builder
	width := chartWidth * float64(len(q.Charts))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">`+"\n", width, chartHeight)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(q.Title))
	fmt.Fprintf(&b, `<rect width="%g" height="%g" rx="6" fill="%s"/>`+"\n", width, chartHeight, paper)
	text(&b, 16, 24, "start", ink, 15, q.Title)
	for i, c := range q.Charts {
		fmt.Fprintf(&b, `<g transform="translate(%g 0)">`+"\n", chartWidth*float64(i))
		q.draw(&b, c)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (q *question) draw(b *strings.Builder, c chart) {
	var places, values []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			places, values = append(places, p.At), append(values, p.Value)
		}
	}
	if len(places) == 0 {
		return
	}
	if c.Limit > 0 {
		values = append(values, c.Limit)
	}
	right, bottom := chartWidth-rightEdge, chartHeight-bottomEdge
	x, across := newAxis(q.Log, places, leftEdge, right)
	y, up := newAxis(c.Log, values, bottom, topEdge)
	text(b, 16, topEdge-16, "start", faint, 12, c.Title+", "+c.Unit)
	for _, v := range up {
		line(b, leftEdge, y.pixel(v), right, y.pixel(v), grid, "")
		text(b, leftEdge-8, y.pixel(v)+4, "end", faint, 11, figure(v))
	}
	for _, v := range across {
		line(b, x.pixel(v), bottom, x.pixel(v), bottom+4, faint, "")
		text(b, x.pixel(v), bottom+18, "middle", faint, 11, short(v))
	}
	line(b, leftEdge, bottom, right, bottom, faint, "")
	text(b, (leftEdge+right)/2, bottom+38, "middle", faint, 12, q.Axis)

	var labels []label
	if c.Limit > 0 {
		line(b, leftEdge, y.pixel(c.Limit), right, y.pixel(c.Limit), warning, "5 4")
		labels = append(labels, label{y.pixel(c.Limit), warning, "limit " + figure(c.Limit)})
	}
	for i, l := range c.Lines {
		if len(l.Points) == 0 {
			continue
		}
		colour := colours[i%len(colours)]
		var path []string
		for _, p := range l.Points {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x.pixel(p.At), y.pixel(p.Value)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.2" fill="%s"/>`+"\n", x.pixel(p.At), y.pixel(p.Value), colour)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-linejoin="round"/>`+"\n", strings.Join(path, " "), colour)
		labels = append(labels, label{y.pixel(l.Points[len(l.Points)-1].Value), colour, l.Name})
	}
	spread := slices.Clone(labels)
	spreadLabels(spread)
	for _, l := range spread {
		text(b, right+8, l.y+4, "start", l.colour, 12, l.text)
	}
}

// label stands at the end of a line.
type label struct {
	y            float64
	colour, text string
}

// spreadLabels moves labels apart that would cover each other.
func spreadLabels(all []label) {
	slices.SortStableFunc(all, func(a, b label) int { return int(math.Copysign(1, a.y-b.y)) })
	for range 50 {
		for i := 1; i < len(all); i++ {
			if short := labelHeight - (all[i].y - all[i-1].y); short > 0 {
				all[i-1].y -= short / 2
				all[i].y += short / 2
			}
		}
	}
}

func line(b *strings.Builder, x1, y1, x2, y2 float64, colour, dashes string) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"`, x1, y1, x2, y2, colour)
	if dashes != "" {
		fmt.Fprintf(b, ` stroke-dasharray="%s"`, dashes)
	}
	b.WriteString("/>\n")
}

func text(b *strings.Builder, x, y float64, anchor, colour string, size int, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, colour, size, html.EscapeString(s))
}

// short is a number below an axis, where there is little room.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return figure(v/1e6) + "M"
	case v >= 1e5:
		return figure(v/1e3) + "k"
	}
	return figure(v)
}

// figure is a number as people write it, with three digits at least where
// there are that many to tell.
func figure(v float64) string {
	decimals := 0
	if v != math.Trunc(v) && math.Abs(v) < 100 {
		decimals = 1
		if math.Abs(v) < 10 {
			decimals = 2
		}
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest = strings.TrimRight(rest, "0"); rest != "" {
		return whole + "." + rest
	}
	return whole
}
