package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"os"
	"sort"
)

func (d *data) dump(path string) error {
	f, _ := os.Create(path + ".bin")
	b := bufio.NewWriter(f)
	g, _ := os.Create(path + ".jsonl")
	e := json.NewEncoder(g)
	for _, r := range d.runs {
		onset, stop := r.bounds()
		var ts []string
		for t := range r.threads {
			ts = append(ts, t)
		}
		sort.Strings(ts)
		for k, t := range ts {
			for i := range r.threads[t] {
				s := &r.threads[t][i]
				binary.Write(b, binary.LittleEndian, s.x[:])
				e.Encode(map[string]any{"run": r.name, "fold": r.fold(), "source": r.source, "fam": r.family, "label": r.label.Group, "read": r.label.Read, "conf": r.label.Confidence, "onset": onset, "stop": stop, "thread": k, "step": s.step, "solved": r.label.Solved})
			}
		}
	}
	b.Flush()
	f.Close()
	g.Close()
	return nil
}
