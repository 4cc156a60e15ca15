package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// print writes tables for a person.
func (rep *report) print(out io.Writer) error {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\treply\tbody KB\tmean\tload\ttarget\treq/s\tp50 ms\tp99 ms\tp99.9 ms\tfirst byte ms\tallocs\tCPU µs/req\tRSS MB\tCPU / "+baseline+"\t")
	for i, r := range rep.Rows {
		if i > 0 && r.cell != rep.Rows[i-1].cell {
			fmt.Fprintln(w, strings.Repeat("\t", 15))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%s\t%s\t%.0f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%s\t%s\t%s\t\n", r.Kind, r.reply(), r.BodyBytes>>10, r.SentKB, r.load(), r.Target,
			r.PerSecond, r.P50, r.P99, r.P999, r.FirstByte, orDash(r.Allocations, 0), orDash(r.CPU, 0), orDash(r.ResidentMB, 0), r.Ratio)
	}
	_ = w.Flush() // a Builder takes everything
	if rep.Haltd != nil {
		rep.Haltd.print(&table)
	}
	if len(rep.Operations) > 0 {
		table.WriteString(operationsTable(rep.Operations))
	}
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
	}
	return nil
}

func (h *haltdReport) print(table *strings.Builder) {
	w := tabwriter.NewWriter(table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nLatency that haltd adds, ms: p50 and p99 over direct, and what haltd_overhead_seconds says")
	fmt.Fprintln(w, "calls\treply\tbody KB\tload\tp50\tp99\town p50\town p99\t")
	for _, a := range h.Added {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", a.Kind, a.reply(), a.BodyBytes>>10, a.load(), a.P50, a.P99, a.OwnP50, a.OwnP99)
	}
	fmt.Fprintf(w, "\nhaltd: %d requests sent, %d allowed%s, %d events recorded; memory at its highest %.0f MB\n",
		h.Sent, h.Decisions["allow"]+h.Decisions["warn"], h.warnings(), h.Recorded, h.PeakMB)
	_ = w.Flush()
}

// warnings goes on after how many requests were allowed, where there were any.
func (h *haltdReport) warnings() string {
	n := h.Decisions["warn"]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them with a warning", n)
}

// load is how a cell is loaded, in few letters.
func (c cell) load() string {
	if c.Rate > 0 {
		return fmt.Sprintf("%d/s", c.Rate)
	}
	return fmt.Sprintf("%d busy", c.Concurrency)
}

// String is the median and, where rounds differ, how far.
func (s *spread) String() string {
	if s == nil {
		return "–"
	}
	if s.Min == s.Max {
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max)
}

func orDash(v float64, decimals int) string {
	if v == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
