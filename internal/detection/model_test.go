package detection

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

func TestTheBinaryCarriesWeightsOfItsOwnFeatures(t *testing.T) {
	m := CurrentModel()
	if m.Version != FeaturesVersion {
		t.Errorf("weights of features version %d, the code has %d", m.Version, FeaturesVersion)
	}
	if k := haltd.DefaultPolicy().KillSwitch; m.WarnAt != k.WarnAt/100 || m.KillAt != k.KillAt/100 {
		t.Errorf("lines at %v and %v, want those that the settings name: %v and %v %%", m.WarnAt, m.KillAt, k.WarnAt, k.KillAt)
	}
	if len(m.Weights) == 0 {
		t.Error("no feature has a weight")
	}
	if c := certainty(m.start); c > .1 {
		t.Errorf("a conversation that has just begun is stuck with a certainty of %v", c)
	}
	for _, f := range Catalog() {
		if w := m.Weights[f.Name]; float64(f.Direction)*w < 0 {
			t.Errorf("%s weighs %v against its direction", f.Name, w)
		}
	}
}

func TestCatalogNamesEveryFeatureOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Catalog() {
		if f.Name == "" || f.Doc == "" || seen[f.Name] {
			t.Errorf("feature %+v has no name or text of its own", f)
		}
		if (f.Family == "") && f.Direction > 0 {
			t.Errorf("%s speaks for a stall of no family", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) != int(featureCount) {
		t.Errorf("%d features are named, there are %d", len(seen), featureCount)
	}
}

func TestParseModel(t *testing.T) {
	weights := func(version int, warn, kill float64, feature string) string {
		return fmt.Sprintf(`{"features_version":%d,"warn_at":%v,"kill_at":%v,"bias":-3,"weights":{%q:1}}`, version, warn, kill, feature)
	}
	for _, c := range []struct{ name, text, want string }{
		{"these features", weights(FeaturesVersion, .5, .9, "since_news"), ""},
		{"features from before", weights(FeaturesVersion-1, .5, .9, "since_news"), "features version"},
		{"features to come", weights(FeaturesVersion+1, .5, .9, "since_news"), "features version"},
		{"a feature that there is not", weights(FeaturesVersion, .5, .9, "since_then"), `"since_then"`},
		{"a warn line above the kill line", weights(FeaturesVersion, .9, .5, "since_news"), "warn_at"},
		{"a kill line that cannot be reached", weights(FeaturesVersion, .5, 1, "since_news"), "kill_at"},
		{"no lines", fmt.Sprintf(`{"features_version":%d}`, FeaturesVersion), "warn_at"},
		{"no version", `{"warn_at":0.5,"kill_at":0.9}`, "features version 0"},
		{"no JSON", `weights`, "reading the weights"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parseModel([]byte(c.text))
			switch {
			case c.want == "" && (err != nil || m == nil):
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one that names %s", err, c.want)
			}
		})
	}
	if b, err := json.Marshal(CurrentModel()); err != nil {
		t.Error(err)
	} else if again, err := parseModel(b); err != nil || again.weights != CurrentModel().weights {
		t.Errorf("weights that are written and read again differ (%v)", err)
	}
}

// drawnFeatures are features as rounds might have them, and some that no
// round has.
func drawnFeatures(t *rapid.T) *Features {
	x := begun
	for range rapid.IntRange(0, 40).Draw(t, "set") {
		x[rapid.IntRange(0, int(featureCount)-1).Draw(t, "feature")] = rapid.Float32Range(0, 3).Draw(t, "value")
	}
	return &x
}

func TestReasonsAddUpToTheCertainty(t *testing.T) {
	m := CurrentModel()
	rapid.Check(t, func(t *rapid.T) {
		x := drawnFeatures(t)
		z := m.logOdds(x)
		want := int(math.Round(100 * float64(certainty(z))))
		rs := m.reasons(x)
		if len(rs) == 0 {
			if z > m.start && want > 0 && len(m.byReason(x)) > 0 {
				t.Fatalf("a certainty of %d %% has no reason", want)
			}
			return
		}
		sum := 0
		for _, r := range rs {
			sum += r.Points
			if r.Name == "" || r.Text == "" {
				t.Fatalf("reason %+v does not say what it is", r)
			}
		}
		if sum != want {
			t.Fatalf("reasons add up to %d, the certainty is %d: %+v", sum, want, rs)
		}
		if len(rs) > mostReasons+1 {
			t.Fatalf("%d reasons, want %d and the rest together", len(rs), mostReasons)
		}
	})
}

// A signal explains itself wherever an agent's own lines lie.
func TestReasonsOfEverySignal(t *testing.T) {
	for _, warn := range []float64{1, 5, 50} {
		k := newTalk(t, "Please do the task.")
		k.set.WarnAt = warn
		for i := range 3 {
			k.does("read", fmt.Sprintf(`{"path":"f%d"}`, i), fresh(i))
		}
		for range 6 {
			k.does("read", `{"path":"x"}`, "Error: permission denied") // each request is checked
		}
		if s := k.last.Signals[0]; s.WarnAt != warn || s.KillAt != 95 || s.Certainty != k.last.Certainty {
			t.Errorf("lines at %v and %v, certainty %v of %v", s.WarnAt, s.KillAt, s.Certainty, k.last.Certainty)
		}
	}
}

func TestLines(t *testing.T) {
	loop := func(set func(*Settings)) *talk {
		k := newTalkWith(t, plainSettings(), "Please do the task.")
		set(&k.set)
		for range 12 {
			k.does("read", `{"path":"x"}`, "Error: permission denied")
		}
		return k
	}
	first := func(k *talk, l haltd.Level) int {
		for i, v := range k.levels {
			if v >= l {
				return i
			}
		}
		return math.MaxInt
	}
	plain := loop(func(*Settings) {})
	early := loop(func(s *Settings) { s.WarnAt, s.KillAt = 10, 60 })
	late := loop(func(s *Settings) { s.WarnAt, s.KillAt = 80, 99.9 })
	for _, l := range []haltd.Level{haltd.LevelWarn, haltd.LevelKill} {
		if !(first(early, l) < first(plain, l) && first(plain, l) < first(late, l)) {
			t.Errorf("%v at rounds %d, %d and %d with lower, own and higher lines; want them one after the other", l, first(early, l), first(plain, l), first(late, l))
		}
	}
	for _, k := range []*talk{plain, early} {
		if w, kill := first(k, haltd.LevelWarn), first(k, haltd.LevelKill); kill <= w {
			t.Errorf("killed at round %d, warned at %d: nothing is killed out of the blue", kill, w)
		}
	}
}
