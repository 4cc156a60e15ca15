package main

import (
	"fmt"
	"os"
	"strings"
)

// Between these lines of a document the tables of the newest run stand, and
// between the others those of the newest run with peers.
const (
	docsBegin, docsEnd   = "<!-- written by make bench -->\n", "<!-- end of make bench -->\n"
	peersBegin, peersEnd = "<!-- written by make bench with peers -->\n", "<!-- end of make bench with peers -->\n"
)

// writeDocs puts the tables of a run into a document.
func (rep *report) writeDocs(path string) error {
	begin, end := docsBegin, docsEnd
	if len(rep.peers) > 0 {
		begin, end = peersBegin, peersEnd
	}
	return writeBetween(path, begin, end, rep.markdown())
}

// writeBetween puts a text between two lines of a document.
func writeBetween(path, begin, end, text string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	before, rest, found := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the tables: it must have the lines %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

func (rep *report) markdown() string {
	var b strings.Builder
	b.WriteString("| calls | reply | body | load | target | requests/s | p50 ms | p99 ms | p99.9 ms | first byte ms | allocations | CPU µs | RSS MB | CPU / ReverseProxy |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rep.Rows {
		fmt.Fprintf(&b, "| %s | %s | %d KB | %s | %s | %.0f | %.3f | %.3f | %.3f | %.3f | %s | %s | %s | %s |\n", r.Kind, r.reply(), r.BodyBytes>>10, r.load(), r.Target,
			r.PerSecond, r.P50, r.P99, r.P999, r.FirstByte, orDash(r.Allocations, 0), orDash(r.CPU, 0), orDash(r.ResidentMB, 0), r.Ratio)
	}
	if len(rep.Operations) > 0 {
		b.WriteString(operationsTable(rep.Operations))
	}
	b.WriteString(rep.peersTable())
	if rep.Haltd == nil {
		return b.String()
	}
	if rep.rate() > 0 {
		rep.Haltd.writeOverhead(&b)
	}
	fmt.Fprintf(&b, "\n%d requests to haltd, all allowed%s, %d events; %.0f MB at its highest.\n", rep.Haltd.Sent, rep.Haltd.warnings(), rep.Haltd.Recorded, rep.Haltd.PeakMB)
	return b.String()
}

// writeOverhead tells of the loads at a fixed rate.
func (h *haltdReport) writeOverhead(b *strings.Builder) {
	b.WriteString("\nWhat `haltd_overhead_seconds` says, in ms:\n\n| calls | reply | body | load | p50 | p99 |\n|---|---|---|---|---|---|\n")
	for _, a := range h.Added {
		if a.Rate > 0 {
			fmt.Fprintf(b, "| %s | %s | %d KB | %s | %s | %s |\n", a.Kind, a.reply(), a.BodyBytes>>10, a.load(), a.OwnP50, a.OwnP99)
		}
	}
}
