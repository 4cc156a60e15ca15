package policy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

var baseIdentity = Identity{
	Agent: "billing", Policy: "agent-tools", Method: "POST", Path: "/v1/tools/search",
	Query: "b=2&a=1", BodyHash: []byte("body"), Descriptors: map[string]string{"jwt:org_id": "7", "header:x-tool-name": "search"},
}

func TestFingerprint(t *testing.T) {
	key := NewFingerprintKey([]byte("secret"))
	base := baseIdentity.Fingerprint(key)
	for _, c := range []struct {
		name   string
		change func(*Identity)
		same   bool
	}{
		{"order of the query", func(r *Identity) { r.Query = "a=1&b=2" }, true},
		{"spelling of the query", func(r *Identity) { r.Query = "b=%32&a=1" }, true},
		{"case of the method", func(r *Identity) { r.Method = "post" }, true},
		{"another method", func(r *Identity) { r.Method = "GET" }, false},
		{"another path", func(r *Identity) { r.Path = "/v1/tools/searcha" }, false},
		{"another query", func(r *Identity) { r.Query = "b=2&a=2" }, false},
		{"another body", func(r *Identity) { r.BodyHash = []byte("other") }, false},
		{"no body", func(r *Identity) { r.BodyHash = nil }, false},
		{"another descriptor", func(r *Identity) { r.Descriptors = map[string]string{"jwt:org_id": "8"} }, false},
		{"another agent", func(r *Identity) { r.Agent = "support" }, false},
		{"another policy", func(r *Identity) { r.Policy = "other" }, false},
		{"text moved between fields", func(r *Identity) { r.Agent, r.Policy = "billinga", "gent-tools" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := baseIdentity
			c.change(&r)
			if got := r.Fingerprint(key) == base; got != c.same {
				t.Errorf("same fingerprint: %v, want %v", got, c.same)
			}
		})
	}
	if baseIdentity.Fingerprint(NewFingerprintKey([]byte("other"))) == base {
		t.Error("another key gives the same fingerprint")
	}
}

// Nodes of several versions share counters, so that a fingerprint is the same in all.
func TestFingerprintStaysTheSame(t *testing.T) {
	r := Identity{
		Agent: "billing-bot", Policy: "tools", Method: "post", Path: "/v1/tools", Query: "b=2&a=%31", BodyHash: []byte{0, 1, 2, 255},
		Descriptors: map[string]string{"user": "u1", "header:x": ""},
	}
	key := NewFingerprintKey([]byte("key"))
	if got, want := r.Fingerprint(key).String(), "2e9ca10cf8cea0a9a2b24f00af5282d1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { r.Fingerprint(key) }); n > 10 {
		t.Errorf("%.0f allocations", n)
	}
}

func TestFingerprintIgnoresQueryOrder(t *testing.T) {
	key := NewFingerprintKey(nil)
	rapid.Check(t, func(t *rapid.T) {
		params := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}=[a-z0-9]{0,3}`), 1, 6).Draw(t, "params")
		shuffled := rapid.Permutation(params).Draw(t, "shuffled")
		join := func(ps []string) string {
			s := ps[0]
			for _, p := range ps[1:] {
				s += "&" + p
			}
			return s
		}
		a, b := Identity{Query: join(params)}, Identity{Query: join(shuffled)}
		if a.Fingerprint(key) != b.Fingerprint(key) {
			t.Fatalf("%q and %q differ", a.Query, b.Query)
		}
	})
}

func TestLoopCounterRefreshesItsWindow(t *testing.T) {
	var c LoopCounter
	window := 60 * time.Second
	for i, hit := range []struct{ after, want int }{{0, 1}, {50, 2}, {100, 3}, {159, 4}, {220, 1}} {
		if c = c.Hit(time.Unix(0, 0).Add(time.Duration(hit.after)*time.Second), window); c.Count != hit.want {
			t.Fatalf("hit %d at %d s counts %d, want %d", i+1, hit.after, c.Count, hit.want)
		}
	}
}

func TestLoopDecide(t *testing.T) {
	block := func(a LoopAction) LoopDetection {
		return LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 4, Action: a}
	}
	for _, c := range []struct {
		name  string
		block LoopDetection
		count int
		want  LoopDecision
	}{
		{"below the threshold", block(LoopReject), 3, LoopDecision{}},
		{"reject", block(LoopReject), 4, LoopDecision{Detected: true, Action: LoopReject, RetryAfter: time.Minute}},
		{"throttle", block(LoopThrottle), 4, LoopDecision{Detected: true, Action: LoopThrottle, Delay: 400 * time.Millisecond}},
		{"throttle is capped", block(LoopThrottle), 301, LoopDecision{Detected: true, Action: LoopThrottle, Delay: 30 * time.Second}},
		{"throttle does not overflow", block(LoopThrottle), 1 << 62, LoopDecision{Detected: true, Action: LoopThrottle, Delay: 30 * time.Second}},
		{"warn", block(LoopWarn), 9, LoopDecision{Detected: true, Action: LoopWarn}},
		{"a counter that failed lets pass", block(LoopReject), 0, LoopDecision{}},
		{"disabled", LoopDetection{Threshold: 2, Action: LoopReject}, 9, LoopDecision{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.block.Decide(c.count)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoopDetectionBlock(t *testing.T) {
	for _, c := range []struct {
		name, block string
		want        LoopDetection
		code        string
	}{
		{"the example of the document", `{"enabled": true, "window_seconds": 60, "threshold_identical_requests": 4, "action": "reject", "similarity": "exact"}`,
			LoopDetection{true, 60, 4, LoopReject, "exact"}, ""},
		{"the example of a policy", `{"enabled": true, "window_seconds": 45, "threshold_identical_requests": 4, "action": "throttle"}`,
			LoopDetection{true, 45, 4, LoopThrottle, "exact"}, ""},
		{"reject is the default", `{"enabled": true, "window_seconds": 1, "threshold_identical_requests": 2}`,
			LoopDetection{true, 1, 2, LoopReject, "exact"}, ""},
		{"disabled needs nothing", `{"enabled": false}`, LoopDetection{Action: LoopReject, Similarity: "exact"}, ""},
		{"no window", `{"enabled": true, "threshold_identical_requests": 2}`, LoopDetection{}, haltd.CodeInvalid},
		{"a threshold of one", `{"enabled": true, "window_seconds": 1, "threshold_identical_requests": 1}`, LoopDetection{}, haltd.CodeInvalid},
		{"an unknown action", `{"enabled": true, "window_seconds": 1, "threshold_identical_requests": 2, "action": "block"}`, LoopDetection{}, haltd.CodeInvalid},
		{"an unknown similarity", `{"enabled": true, "window_seconds": 1, "threshold_identical_requests": 2, "similarity": "fuzzy"}`, LoopDetection{}, haltd.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l LoopDetection
			if err := json.Unmarshal([]byte(c.block), &l); err != nil {
				t.Fatal(err)
			}
			got, err := l.Checked()
			if haltd.ErrorCode(err) != c.code {
				t.Fatalf("error %v, want code %q", err, c.code)
			}
			if err == nil && got != c.want {
				t.Errorf("block %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestShadowCountsApart(t *testing.T) {
	p := RequestPolicy{ID: "r", Loop: &LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 4}}
	shadow := p
	shadow.Shadow = true
	key := NewFingerprintKey(nil)
	if p.Hit(baseIdentity, key).Key == shadow.Hit(baseIdentity, key).Key {
		t.Error("shadow and enforced counters have the same key")
	}
}
