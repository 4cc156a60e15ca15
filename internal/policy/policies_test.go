package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

const agentTools = `{
  "id": "agent-tools",
  "spec": {
    "selector": { "pathPrefix": "/v1/tools/" },
    "loop_detection": {
      "enabled": true,
      "window_seconds": 45,
      "threshold_identical_requests": 4,
      "action": "throttle"
    },
    "rules": [
      {
        "name": "base-rps",
        "limit_keys": ["jwt:org_id", "header:x-tool-name"],
        "algorithm": "token_bucket",
        "algorithm_config": { "rps": 20, "burst": 40 }
      }
    ]
  }
}`

func readDocument(t testing.TB) Document {
	t.Helper()
	var doc Document
	dec := json.NewDecoder(bytes.NewReader([]byte(agentTools)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func newSet(t testing.TB, docs ...Document) *Set {
	t.Helper()
	s, err := NewSet(docs, nil, secretVerifier(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFairvisorDocumentWorksAsWritten(t *testing.T) {
	s := newSet(t, readDocument(t))
	found := s.Match("POST", "localhost", "/v1/tools/search")
	if len(found) != 1 {
		t.Fatalf("%d policies match, want 1", len(found))
	}
	p := found[0]
	if p.ID != "agent-tools" || p.Shadow || p.Upstream != nil {
		t.Errorf("policy %s, shadow %v, upstream %v", p.ID, p.Shadow, p.Upstream)
	}
	want := &LoopDetection{Enabled: true, WindowSeconds: 45, Threshold: 4, Action: LoopThrottle, Similarity: "exact"}
	if diff := cmp.Diff(want, p.Loop); diff != "" {
		t.Errorf("loop detection (-want +got):\n%s", diff)
	}
	if len(p.Limits) != 1 || p.Limits[0].Name != "base-rps" {
		t.Fatalf("limits %+v", p.Limits)
	}
	l := p.Limits[0].Limit
	if ok, wait := l.Check(l.Take(Bucket{}, 40, noon), 1, noon); ok || wait != 50*time.Millisecond {
		t.Errorf("after the burst: %v, wait %v, want false, 50ms", ok, wait)
	}
	if found := s.Match("POST", "localhost", "/v1/chat/completions"); found != nil {
		t.Errorf("another path matches %v", found)
	}
}

func TestMatchKeepsTheOrderOfDocuments(t *testing.T) {
	selecting := func(id, prefix string) Document {
		return Document{ID: id, Spec: Spec{Selector: Selector{PathPrefix: prefix}}}
	}
	docs := []Document{selecting("wide", "/"), selecting("other", "/v2"), selecting("narrow", "/v1/tools")}
	s, err := NewSet(docs, &LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range s.Match("GET", "", "/v1/tools/search") {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]string{"wide", "narrow", "defaults"}, ids); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

func TestLoopDetectionThatIsOff(t *testing.T) {
	off := &LoopDetection{}
	doc := Document{ID: "p", Spec: Spec{Selector: Selector{PathPrefix: "/v1"}, LoopDetection: off}}
	s, err := NewSet([]Document{doc}, off, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := s.Match("GET", "", "/v1")
	if len(found) != 1 || found[0].Loop != nil {
		t.Errorf("policies %+v, want one without loop detection", found)
	}
}

func TestUpstream(t *testing.T) {
	at := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	s := newSet(t,
		Document{ID: "limits", Spec: Spec{Selector: Selector{PathPrefix: "/tools"}}},
		Document{ID: "search", Spec: Spec{Selector: Selector{PathPrefix: "/tools/search"}, Upstream: at("http://127.0.0.1:9001")}},
		Document{ID: "tools", Spec: Spec{Selector: Selector{PathPrefix: "/tools"}, Upstream: at("https://tools.example.com/base")}},
	)
	for path, want := range map[string]string{"/tools/search/x": "search", "/tools/x": "tools", "/v1/messages": ""} {
		got := ""
		if p, ok := s.Upstream("POST", "", path); ok {
			got = p.ID
		}
		if got != want {
			t.Errorf("Upstream(%s) = %q, want %q", path, got, want)
		}
	}
}

func TestNewSetNamesWhatIsWrong(t *testing.T) {
	rule := func(d *Document) *RateRule { return &d.Spec.Rules[0] }
	for _, c := range []struct {
		name   string
		change func(*Document)
		want   string // how the message begins
	}{
		{"no id", func(d *Document) { d.ID = " " }, "policies[0].id: expected a name"},
		{"id of the defaults", func(d *Document) { d.ID = "defaults" }, `policies[0].id: "defaults" is the name of the defaults`},
		{"mode", func(d *Document) { d.Spec.Mode = "observe" }, `policies[0].spec.mode: expected enforce or shadow, got "observe"`},
		{"selects nothing", func(d *Document) { d.Spec.Selector = Selector{Methods: []string{"GET"}} }, "policies[0].spec.selector: expected pathPrefix or pathExact"},
		{"relative prefix", func(d *Document) { d.Spec.Selector.PathPrefix = "v1/tools" }, "policies[0].spec.selector.pathPrefix: expected a path"},
		{"dot segments", func(d *Document) { d.Spec.Selector.PathExact = "/v1/../tools" }, "policies[0].spec.selector.pathExact: expected a path"},
		{"empty segments", func(d *Document) { d.Spec.Selector.PathPrefix = "//" }, "policies[0].spec.selector.pathPrefix: expected a path"},
		{"method", func(d *Document) { d.Spec.Selector.Methods = []string{"GET", ""} }, "policies[0].spec.selector.methods[1]: expected a method"},
		{"host with port", func(d *Document) { d.Spec.Selector.Hosts = []string{"localhost:80"} }, "policies[0].spec.selector.hosts[0]: expected a name"},
		{"host with scheme", func(d *Document) { d.Spec.Selector.Hosts = []string{"https://a.example"} }, "policies[0].spec.selector.hosts[0]: expected a name"},
		{"no host", func(d *Document) { d.Spec.Selector.Hosts = []string{""} }, "policies[0].spec.selector.hosts[0]: expected a name"},
		{"upstream without scheme", func(d *Document) { d.Spec.Upstream = &url.URL{Path: "tools.example.com"} }, "policies[0].spec.upstream: expected a URL"},
		{"upstream of another scheme", func(d *Document) { d.Spec.Upstream = &url.URL{Scheme: "ftp", Host: "a"} }, "policies[0].spec.upstream: expected a URL"},
		{"upstream with password", func(d *Document) {
			d.Spec.Upstream = &url.URL{Scheme: "http", Host: "a", User: url.UserPassword("u", "hidden")}
		}, "policies[0].spec.upstream: expected a URL without user name"},
		{"upstream with query", func(d *Document) { d.Spec.Upstream = &url.URL{Scheme: "http", Host: "a", RawQuery: "b"} }, "policies[0].spec.upstream: expected a URL without query"},
		{"loop window", func(d *Document) { d.Spec.LoopDetection.WindowSeconds = 0 }, "policies[0].spec.loop_detection.window_seconds: expected 1 to 31536000, got 0"},
		{"loop action", func(d *Document) { d.Spec.LoopDetection.Action = "kill" }, `policies[0].spec.loop_detection.action: expected reject, throttle or warn, got`},
		{"rule without name", func(d *Document) { rule(d).Name = "" }, "policies[0].spec.rules[0].name: expected a name"},
		{"rules of one name", func(d *Document) { d.Spec.Rules = append(d.Spec.Rules, d.Spec.Rules[0]) }, "policies[0].spec.rules[1].name: expected a name"},
		{"algorithm", func(d *Document) { rule(d).Algorithm = "leaky_bucket" }, `policies[0].spec.rules[0].algorithm: expected token_bucket, got "leaky_bucket"`},
		{"no rate", func(d *Document) { rule(d).Config.RPS = 0 }, "policies[0].spec.rules[0].algorithm_config: expected rps or tokens_per_second above 0"},
		{"two rates", func(d *Document) { rule(d).Config.TokensPerSecond = 1 }, "policies[0].spec.rules[0].algorithm_config: expected rps or tokens_per_second, which mean the same"},
		{"negative rate", func(d *Document) { rule(d).Config.RPS = -1 }, "policies[0].spec.rules[0].algorithm_config.rps: expected a number"},
		{"infinite rate", func(d *Document) { rule(d).Config = AlgorithmConfig{TokensPerSecond: math.Inf(1), Burst: 1} }, "policies[0].spec.rules[0].algorithm_config.tokens_per_second: expected a number"},
		{"rate that is no number", func(d *Document) { rule(d).Config.RPS = math.NaN() }, "policies[0].spec.rules[0].algorithm_config.rps: expected a number"},
		{"burst", func(d *Document) { rule(d).Config.Burst = 0.5 }, "policies[0].spec.rules[0].algorithm_config.burst: expected a number from 1"},
		{"burst that is no number", func(d *Document) { rule(d).Config.Burst = math.NaN() }, "policies[0].spec.rules[0].algorithm_config.burst: expected a number from 1"},
		{"key without kind", func(d *Document) { rule(d).LimitKeys[1] = "x-tool-name" }, `policies[0].spec.rules[0].limit_keys[1]: expected header:NAME, query:NAME, jwt:CLAIM or ip:address, got "x-tool-name"`},
		{"key without name", func(d *Document) { rule(d).LimitKeys[0] = "header:" }, "policies[0].spec.rules[0].limit_keys[0]: expected header:NAME"},
		{"header that cannot be", func(d *Document) { rule(d).LimitKeys[0] = "header:a b" }, "policies[0].spec.rules[0].limit_keys[0]: expected header:NAME"},
		{"query without name", func(d *Document) { rule(d).LimitKeys[0] = "query:" }, "policies[0].spec.rules[0].limit_keys[0]: expected header:NAME"},
		{"claim with an empty part", func(d *Document) { rule(d).LimitKeys[0] = "jwt:a..b" }, "policies[0].spec.rules[0].limit_keys[0]: expected header:NAME"},
		{"ip of another kind", func(d *Document) { rule(d).LimitKeys[0] = "ip:country" }, "policies[0].spec.rules[0].limit_keys[0]: expected header:NAME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := readDocument(t)
			c.change(&doc)
			_, err := NewSet([]Document{doc}, nil, secretVerifier(t))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one that begins with %s", err, c.want)
			}
			if code := haltd.ErrorCode(err); code != haltd.CodeInvalid {
				t.Errorf("code %q, want %q", code, haltd.CodeInvalid)
			}
		})
	}
}

func TestNewSetNamesEverythingThatIsWrong(t *testing.T) {
	doc := readDocument(t)
	bad := readDocument(t)
	bad.Spec.Mode = "off"
	_, err := NewSet([]Document{doc, bad}, &LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 1}, nil)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error %v is not joined", err)
	}
	var fields []string
	for _, e := range joined.Unwrap() {
		var one *haltd.Error
		if !errors.As(e, &one) || one.Code != haltd.CodeInvalid {
			t.Fatalf("error %v is no invalid *haltd.Error", e)
		}
		fields = append(fields, one.Field)
	}
	want := []string{
		"policies[1].id",
		"policies[1].spec.mode",
		"defaults.loop_detection.threshold_identical_requests",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
