package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestShow(t *testing.T) {
	want := os.Getenv("SHOW")
	if want == "" {
		t.Skip()
	}
	for _, f := range Families() {
		if !strings.HasPrefix(f.Name, want) {
			continue
		}
		n := 1
		if v := os.Getenv("N"); v != "" {
			n = int(v[0] - 48)
		}
		c := f.Draw(n)
		rs, before := c.Requests()
		fmt.Println("=====", c.Name, "before", before, "unnamed", c.Unnamed, "SYSTEM", c.System)
		for _, r := range rs {
			n := r.New
			for _, e := range n {
				if e.Message != nil {
					fmt.Printf("      user: %.220q\n", e.Message.Text)
				} else if e.Results {
					for _, x := range e.Turn.Results {
						fmt.Printf("      => %.260q\n", x.Text)
					}
				}
			}
			if r.Turn != nil {
				fmt.Printf("%3d [%s] t=%v %.160q", r.Number, r.Session, r.At, r.Turn.Text)
				for _, x := range r.Turn.Calls {
					fmt.Printf(" CALL %s %.200s", x.Name, x.Arguments)
				}
				fmt.Println()
			}
			if r.Number > before+9 && before > 0 || r.Number > 46 {
				break
			}
		}
	}
}
