package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text with a line end is still one text when it is read again.
func TestLines(t *testing.T) {
	for _, c := range []struct{ list, want []string }{
		{nil, nil},
		{[]string{"200 OK"}, []string{"200 OK"}},
		{[]string{"500: try\nlater", "502"}, []string{"500: try later", "502"}},
	} {
		if diff := cmp.Diff(c.want, FromLines(Lines(c.list))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.list, diff)
		}
	}
}
