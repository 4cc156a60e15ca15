package redis

import (
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/servers"
)

// outcomes are what an inspection says, by outcome.
func outcomes(t *testing.T, url string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, c := range Inspect(t.Context(), url) {
		said[c.Outcome] += c.Message + "\n"
		if c.Outcome != haltd.DiagnosisOK && c.Fix == "" {
			t.Errorf("%q says not what to do", c.Message)
		}
		if strings.Contains(c.Message+c.Fix, "sesame") {
			t.Errorf("%q shows the password", c.Message)
		}
	}
	return said
}

func TestInspectAHealthyServer(t *testing.T) {
	said := outcomes(t, server.URL)
	if said[haltd.DiagnosisProblem]+said[haltd.DiagnosisNotice] != "" {
		t.Errorf("complaints: %v", said)
	}
	for _, want := range []string{"answers after", "has version", "may run its scripts", "The clock of Redis differs"} {
		if !strings.Contains(said[haltd.DiagnosisOK], want) {
			t.Errorf("%q is not said of a healthy server:\n%s", want, said[haltd.DiagnosisOK])
		}
	}
	s := connect(t)
	c, err := s.connected()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := c.Do(t.Context(), c.B().Keys().Pattern(Prefix+"b:*").Build()).AsStrSlice()
	if err != nil || len(keys) > 0 && strings.Contains(strings.Join(keys, " "), s.key("b", "doctor")) {
		t.Errorf("left behind: %q, %v", keys, err)
	}
}

func TestInspectServersThatAreBroken(t *testing.T) {
	s := connect(t)
	c, err := s.connected()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), c.B().Arbitrary("ACL", "SETUSER", "ann", "on", ">sesame", "~other:*", "+@all").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	cut := servers.NewProxy(t, server.Address)
	cut.Cut(true)
	for _, tc := range []struct{ name, url, want string }{
		{"nobody there", "redis://" + cut.Address, "does not answer"},
		{"a wrong password", "redis://ann:sesame-no@" + server.Address, "does not let haltd in"},
		{"keys of others", "redis://ann:sesame@" + server.Address, "What a call needs cannot be done"},
		{"no URL", "http://x", "is not the URL of a Redis"},
	} {
		if said := outcomes(t, tc.url); !strings.Contains(said[haltd.DiagnosisProblem], tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, said, tc.want)
		}
	}
	i := &inspection{}
	i.server(map[string]string{"redis_version": "6.0.16", "redis_mode": "cluster", "role": "slave", "maxmemory": "1000", "maxmemory_policy": "noeviction"})
	if len(i.checks) != 4 {
		t.Errorf("an old replica of a cluster that is full: %+v", i.checks)
	}
}
