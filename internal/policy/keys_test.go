package policy

import (
	"maps"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// limitedBy is the only policy of a set with one rule per list of keys.
func limitedBy(t testing.TB, mode string, keys ...[]string) *RequestPolicy {
	t.Helper()
	doc := Document{ID: "p", Spec: Spec{Mode: mode, Selector: Selector{PathPrefix: "/"}}}
	for i, k := range keys {
		doc.Spec.Rules = append(doc.Spec.Rules, RateRule{
			Name: string(rune('a' + i)), LimitKeys: k, Algorithm: "token_bucket", Config: AlgorithmConfig{RPS: 1, Burst: 1},
		})
	}
	return newSet(t, doc).Match("GET", "", "/")[0]
}

func TestDescriptors(t *testing.T) {
	p := limitedBy(t, "",
		[]string{"header:X-Tool-Name", "query:q", "ip:address"},
		[]string{"header:X-Tool-Name", "header:host", "jwt:org_id"})
	token := sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.MapClaims{"org_id": "acme"})
	r := httptest.NewRequest("GET", "http://tools.example.com/x?q=one&q=two", nil)
	r.Header.Set("x-tool-name", "search")
	r.Header.Set("Authorization", "bearer "+token)
	want := map[string]string{
		"header:X-Tool-Name": "search", "query:q": "one", "ip:address": "192.0.2.7", "header:host": "tools.example.com", "jwt:org_id": "acme",
	}
	if diff := cmp.Diff(want, p.Descriptors(r, "192.0.2.7", noon)); diff != "" {
		t.Errorf("descriptors (-want +got):\n%s", diff)
	}

	bare := httptest.NewRequest("GET", "/x", nil)
	bare.Host = ""
	for k := range want {
		want[k] = ""
	}
	if diff := cmp.Diff(want, p.Descriptors(bare, "", noon)); diff != "" {
		t.Errorf("descriptors of a bare request (-want +got):\n%s", diff)
	}
	if got := limitedBy(t, "").Descriptors(r, "192.0.2.7", noon); got != nil {
		t.Errorf("descriptors of a policy without rules: %v", got)
	}
}

func TestDescriptorsOfTokens(t *testing.T) {
	claims := jwt.MapClaims{
		"org_id": "acme", "exp": noon.Add(time.Hour).Unix(),
		"count": 12345678901234567, "ratio": 0.5, "admin": true, "none": nil, "list": []string{"a"},
		"org":                     map[string]any{"team": map[string]any{"id": 7}, "name": ""},
		"https://example.com/org": "named with dots",
	}
	good := "Bearer " + sign(t, jwt.SigningMethodHS256, []byte(secret), claims)
	for _, c := range []struct {
		name, key, authorization, want string
	}{
		{"text", "jwt:org_id", good, "acme"},
		{"whole number", "jwt:count", good, "12345678901234567"},
		{"fraction", "jwt:ratio", good, "0.5"},
		{"boolean", "jwt:admin", good, "true"},
		{"null", "jwt:none", good, ""},
		{"list", "jwt:list", good, ""},
		{"object", "jwt:org.team", good, ""},
		{"inside of objects", "jwt:org.team.id", good, "7"},
		{"inside of what is no object", "jwt:org_id.x", good, ""},
		{"a name with dots", "jwt:https://example.com/org", good, "named with dots"},
		{"missing", "jwt:other", good, ""},
		{"another secret", "jwt:org_id", "Bearer " + sign(t, jwt.SigningMethodHS256, []byte("another secret of thirty-two bytes"), claims), ""},
		{"another scheme", "jwt:org_id", "Basic " + good[len("Bearer "):], ""},
		{"a provider's key", "jwt:org_id", "Bearer sk-abc", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Authorization", c.authorization)
			got := limitedBy(t, "", []string{c.key}).Descriptors(r, "", noon)
			if got[c.key] != c.want {
				t.Errorf("%s = %q, want %q", c.key, got[c.key], c.want)
			}
		})
	}
	t.Run("expired", func(t *testing.T) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", good)
		if got := limitedBy(t, "", []string{"jwt:org_id"}).Descriptors(r, "", noon.Add(time.Hour)); got["jwt:org_id"] != "" {
			t.Errorf("claim %q of an expired token", got["jwt:org_id"])
		}
	})
}

func TestKeyNamesTheRule(t *testing.T) {
	desc := map[string]string{"header:a": "1", "header:b": "2"}
	keys := []string{"header:a", "header:b"}
	p, shadow := limitedBy(t, "", keys, keys), limitedBy(t, "shadow", keys)
	base := p.Limits[0].Key(desc)
	if p.Limits[1].Key(desc) == base {
		t.Error("two rules share a bucket")
	}
	if shadow.Limits[0].Key(desc) == base {
		t.Error("a shadow policy shares the bucket of an enforced one")
	}
	turned := limitedBy(t, "", []string{"header:b", "header:a", "header:a"})
	if turned.Limits[0].Key(desc) != base {
		t.Error("the order of limit_keys makes another bucket")
	}
	desc["header:c"] = "3"
	if p.Limits[0].Key(desc) != base {
		t.Error("the descriptor of another rule makes another bucket")
	}
}

func TestKeysOfDifferentDescriptorsDiffer(t *testing.T) {
	limit := limitedBy(t, "", []string{"header:a", "header:ab", "query:a", "ip:address"}).Limits[0]
	value := rapid.OneOf(rapid.StringMatching(`[ab:=|,\x00\x01]{0,4}`), rapid.String())
	draw := func(t *rapid.T, name string) map[string]string {
		m := map[string]string{}
		for _, k := range limit.keys {
			m[k] = value.Draw(t, name)
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t, "one")
		b := draw(t, "other")
		if rapid.Bool().Draw(t, "same values in another order") {
			values := rapid.Permutation(slices.Sorted(maps.Values(a))).Draw(t, "values")
			for i, k := range limit.keys {
				b[k] = values[i]
			}
		}
		if same := maps.Equal(a, b); same != (limit.Key(a) == limit.Key(b)) {
			t.Fatalf("same descriptors: %v, same key: %v", same, !same)
		}
	})
}
