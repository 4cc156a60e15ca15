//go:build pictures

package browser

import (
	"os"
	"testing"
)

// TestLookAtFamilies draws an incident of every family, as a desktop and as a
// phone shows it, in the folder that HALTD_PICTURES names.
func TestLookAtFamilies(t *testing.T) {
	folder := os.Getenv("HALTD_PICTURES")
	if folder == "" {
		t.Fatal("HALTD_PICTURES names no folder for the pictures")
	}
	n := start(t, "defaults: {kill_switch: {similarity: warn}}\n")
	for _, f := range families() {
		i := n.runs(t, f)
		drawIn(t, n, folder, "family-"+f.name, "/incidents/"+i.ID, desktop)
		drawIn(t, n, folder, "family-"+f.name+"-phone", "/incidents/"+i.ID, phone)
	}
}
