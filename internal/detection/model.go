package detection

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/haltd/haltd"
)

// Model turns features into the log-odds that a conversation is stuck: a
// weighted sum, nothing else. Its weights are fitted to labelled runs by
// make train.
type Model struct {
	// Version is that of the features the weights were fitted to.
	Version int    `json:"features_version"`
	Date    string `json:"date"`
	Origin  string `json:"origin"`
	// WarnAt and KillAt are the lines, as certainties from 0 to 1.
	WarnAt float64 `json:"warn_at"`
	KillAt float64 `json:"kill_at"`
	// Figures are how runs were judged whose sources the weights had never
	// seen.
	Figures map[string]string  `json:"figures"`
	Bias    float64            `json:"bias"`
	Weights map[string]float64 `json:"weights"`

	weights [featureCount]float32
	start   float32 // the log-odds of a conversation that has just begun
}

//go:embed weights.json
var weightsJSON []byte

// model is the one that the binary carries.
var model = func() *Model {
	m, err := parseModel(weightsJSON)
	if err != nil {
		panic(err) // part of the program; a test holds code and data together
	}
	return m
}()

// CurrentModel is the model that judges.
func CurrentModel() *Model { return model }

// parseModel reads weights. It refuses those of other features.
func parseModel(b []byte) (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("reading the weights: %w", err)
	}
	if m.Version != FeaturesVersion {
		return nil, fmt.Errorf("the weights are of features version %d, the code has %d: set features_version in internal/detection/weights.json and run make train", m.Version, FeaturesVersion)
	}
	if !(m.WarnAt > 0 && m.WarnAt < m.KillAt && m.KillAt < 1) {
		return nil, fmt.Errorf("the lines of the weights are %v and %v: expected 0 < warn_at < kill_at < 1", m.WarnAt, m.KillAt)
	}
	known := map[string]int{}
	for i, f := range Catalog() {
		known[f.Name] = i
	}
	for name, w := range m.Weights {
		i, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("the weights name a feature %q that the code does not have: run make train", name)
		}
		m.weights[i] = float32(w)
	}
	m.start = m.logOdds(&begun)
	return m, nil
}

// Fitted makes a model that was just fitted ready to judge.
func Fitted(m *Model) (*Model, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding the weights: %w", err)
	}
	return parseModel(b)
}

func (m *Model) logOdds(x *Features) float32 {
	z := float32(m.Bias)
	for i, w := range m.weights {
		z += w * x[i]
	}
	return z
}

// certainty makes log-odds a share from 0 to 1.
func certainty(logOdds float32) float32 { return float32(1 / (1 + math.Exp(-float64(logOdds)))) }

// logOdds is the other way round.
func logOdds(certainty float32) float32 {
	return float32(math.Log(float64(certainty) / (1 - float64(certainty))))
}

// mostReasons is how many reasons a verdict lists by themselves.
const mostReasons = 6

// others is the name of those that are not listed by themselves.
const others = "other"

// reasons shares the certainty among what speaks for it and against it, in
// proportion to the log-odds above those of a conversation that has just
// begun. The points add up to the certainty in percent.
func (m *Model) reasons(x *Features) []haltd.Contribution {
	z := m.logOdds(x)
	total := int(math.Round(100 * float64(certainty(z))))
	rise := z - m.start
	if total == 0 {
		return nil
	}
	if rise <= 0 {
		return []haltd.Contribution{{Name: "start", Text: "what is thought of any conversation that begins", Points: total}}
	}
	all := m.byReason(x)
	slices.SortStableFunc(all, func(a, b weighed) int {
		switch {
		case abs(a.odds) > abs(b.odds):
			return -1
		case abs(a.odds) < abs(b.odds):
			return 1
		}
		return 0
	})
	var rs []haltd.Contribution
	var rest float32
	for i, w := range all {
		if i >= mostReasons {
			rest += w.odds
			continue
		}
		if p := int(math.Round(float64(w.odds / rise * float32(total)))); p != 0 {
			rs = append(rs, haltd.Contribution{Name: w.name, Family: w.family, Text: w.text, Points: p})
		} else {
			rest += w.odds
		}
	}
	if p := int(math.Round(float64(rest / rise * float32(total)))); p != 0 {
		rs = append(rs, haltd.Contribution{Name: others, Text: "smaller reasons together", Points: p})
	}
	if len(rs) == 0 {
		return nil
	}
	sum := 0 // rounding goes to the largest
	for _, r := range rs {
		sum += r.Points
	}
	rs[0].Points += total - sum
	return rs
}

type weighed struct {
	name, text string
	family     haltd.Family
	odds       float32
}

// byReason adds up what the windows of one sign weigh.
func (m *Model) byReason(x *Features) (all []weighed) {
	for k := range signInfos {
		w := weighed{name: signInfos[k].name, text: signInfos[k].doc, family: signInfos[k].family}
		for n := range windows {
			i := k*len(windows) + n
			w.odds += m.weights[i] * (x[i] - begun[i])
		}
		if sign(k) == newsGood && w.odds > 0 {
			w.text, w.family = "answers bring nothing that was not seen before", haltd.FamilyFutile
		}
		if w.odds != 0 {
			all = append(all, w)
		}
	}
	for i, f := range Catalog()[int(signCount)*len(windows):] {
		i += int(signCount) * len(windows)
		if odds := m.weights[i] * (x[i] - begun[i]); odds != 0 {
			all = append(all, weighed{f.Name, f.Doc, f.Family, odds})
		}
	}
	return all
}

func abs(f float32) float32 { return max(f, -f) }

func itoa(n int) string { return strconv.Itoa(n) }
