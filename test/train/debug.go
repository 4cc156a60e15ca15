package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/haltd/haltd/detect"
)

// DEBUG=run prints nonzero 4-window features per step
func (d *data) debug(name string) {
	cat := detect.Catalog()
	for _, r := range d.runs {
		if !strings.HasPrefix(r.name, name) {
			continue
		}
		fmt.Println("RUN", r.name, r.label.Group)
		for t, th := range r.threads {
			fmt.Println(" thread", t)
			for _, s := range th {
				fmt.Printf("%4d ", s.step)
				for i, f := range cat {
					if (strings.HasSuffix(f.Name, "_4") || !strings.ContainsAny(f.Name, "0123456789")) && s.x[i] != 0 {
						fmt.Printf("%s=%.2f ", strings.TrimSuffix(f.Name, "_4"), s.x[i])
					}
				}
				fmt.Println()
			}
		}
	}
	os.Exit(0)
}
