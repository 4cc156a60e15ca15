package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestWhatIsGeneratedIsFresh(t *testing.T) {
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := fill(string(text), parts())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("%s is stale, run make reference (-want +got):\n%s", name, diff)
		}
		all.Write(text)
	}
	for name, part := range parts() {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no file has a mark for the %s", name)
		}
	}
}

func TestAFileWithoutMarksIsRefused(t *testing.T) {
	for _, text := range []string{"", "# settings: of nobody\n# settings end\n"} {
		if _, err := fill(text, parts()); err == nil {
			t.Errorf("%q was filled", text)
		}
	}
}

// wider is the policy with one setting more.
type wider struct {
	KillSwitch struct {
		haltd.KillSwitch
		Patience int `json:"patience" preset:"3" minimum:"1" maximum:"9" doc:"How long haltd waits."`
	} `json:"kill_switch" merge:"each"`
	haltd.Policy
}

func TestANewSettingIsInSampleAndReference(t *testing.T) {
	if got, want := sample[wider]("  "), "    # How long haltd waits. Takes 1 to 9.\n    patience: 3\n"; !strings.Contains(got, want) {
		t.Errorf("the sample\n%s\nhas no\n%s", got, want)
	}
	if got, want := reference[wider]("defaults"), "| `patience` | `3` | How long haltd waits. Takes 1 to 9. |\n"; !strings.Contains(got, want) {
		t.Errorf("the reference\n%s\nhas no\n%s", got, want)
	}
}
