package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// node is a running haltd before a fake provider.
type node struct{ *harness.Node }

// allowInternal lets alerts go to this machine.
const allowInternal = "alerts: {allow_internal: [127.0.0.1]}\n"

// start runs a haltd with more configuration.
func start(t *testing.T, more string) *node {
	t.Helper()
	return startIn(t, t.TempDir(), more)
}

// startIn runs a haltd in a folder, on the record that may be there.
func startIn(t *testing.T, folder, more string) *node {
	t.Helper()
	_, upstream := harness.Provider(t, harness.Scripted)
	return run(t, harness.New(t, folder), upstream, more)
}

// run starts a haltd before the provider at upstream. The dashboard shows its
// data directory by a name that is the same everywhere.
func run(t *testing.T, n *harness.Node, upstream, more string) *node {
	t.Helper()
	needDashboard(t)
	n.Config.DataDir = "./data"
	n.Config.Write(t, fmt.Sprintf("providers: {openai: {base_url: %q}}\n", upstream)+more)
	n.Run(t)
	return &node{n}
}

// link is a one-time link, as haltd sign-in prints it.
func (n *node) link(t *testing.T) string {
	t.Helper()
	out, errs, code := n.CLI(t, "sign-in")
	found := harness.SignInLink.FindString(out)
	if found == "" {
		t.Fatalf("haltd sign-in: exit %d, %s%s", code, out, errs)
	}
	return found
}

// standing is whether an agent may call, as the API says.
type standing struct {
	Active        bool    `json:"active"`
	DeactivatedBy *string `json:"deactivated_by"`
	Standing      struct {
		GraceUntil *time.Time `json:"grace_until"`
		Incident   string     `json:"incident"`
	} `json:"standing"`
	Policy struct {
		KillSwitch struct {
			Enabled    bool    `json:"enabled"`
			WindowSize int     `json:"window_size"`
			Threshold  float64 `json:"threshold"`
			WarnAt     float64 `json:"warn_at"`
			KillAt     float64 `json:"kill_at"`
		} `json:"kill_switch"`
	} `json:"policy"`
}

func (n *node) standing(t *testing.T, agent string) (s standing) {
	t.Helper()
	n.Must(t, "GET", "/v1/agents/"+agent, nil, &s)
	return s
}

// incident is one as the API tells of it.
type incident struct {
	ID       string `json:"id"`
	Agent    string `json:"agent"`
	Status   string `json:"status"`
	Sentence string `json:"sentence"`
	Note     string `json:"note"`
	Detector string `json:"detector"`
	Verdict  struct {
		Certainty float64        `json:"certainty"`
		Signals   []haltd.Signal `json:"signals"`
	} `json:"verdict"`
}

// family is the pattern that the detector that decided saw.
func (i *incident) family() haltd.Family {
	for _, s := range i.Verdict.Signals {
		if string(s.Detector) == i.Detector {
			return s.Family
		}
	}
	return ""
}

func (n *node) incident(t *testing.T, id string) (i incident) {
	t.Helper()
	n.Must(t, "GET", "/v1/incidents/"+id, nil, &i)
	return i
}
