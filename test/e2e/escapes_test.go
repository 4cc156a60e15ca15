package e2e

import (
	"strings"
	"testing"
)

// Ways around haltd that an agent can try, each held by a test of the binary;
// docs/threat-model.md lists them.
func TestEscapes(t *testing.T) {
	s := newStage(t, "")
	for _, sc := range []scenario{
		{"Names that differ only in case are refused", namesInAnotherCase},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.test(t, s) })
	}
}

// A server that reads names in whatever case would take `Messages` for the
// conversation that haltd has read in `messages`.
func namesInAnotherCase(t *testing.T, s *stage) {
	a := s.agent(t)
	for body, says := range map[string]string{
		`{"model":"echo","messages":[{"role":"user","content":"hi"}],"Messages":[{"role":"user","content":"loop"}]}`: `"messages" and "Messages"`,
		`{"model":"echo","messages":[{"role":"user","Content":"hi"}]}`:                                               `"Content" is "content"`,
	} {
		got := a.do("POST", "/agents/"+a.id+"/openai/v1/chat/completions", body, nil)
		if got.status != 400 || !strings.Contains(got.denied.Message, says) {
			t.Errorf("%s: %d %s; want 400 that says %s", body, got.status, got.body, says)
		}
	}
	if n := s.forwarded(a); n != 0 {
		t.Errorf("%d of them were forwarded", n)
	}
}
