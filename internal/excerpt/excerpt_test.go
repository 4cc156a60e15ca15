package excerpt

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

func TestExcerptOfACall(t *testing.T) {
	reply := &haltd.Reply{
		Text: "I use sk-" + long + ".", Thinking: "nobody's business",
		Calls: []haltd.ToolCall{{Name: "read", Arguments: `{"path":"a"}`}, {Name: "login", Arguments: `{"password":"hunter2"}`}, {Name: "stop"}},
	}
	want := &haltd.Excerpt{
		Prompt: "Mail [redacted e-mail].", Reply: "I use [redacted key].",
		ToolCalls: "read {\"path\":\"a\"}\nlogin {\"password\":\"[redacted password]\"}\nstop",
	}
	if diff := cmp.Diff(want, New("Mail ann@example.org.").Finish(reply, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&haltd.Excerpt{Prompt: "Go on, [redacted key]."}, New("Go on, abcdefgh.").Finish(nil, []string{"abcdefgh"})); diff != "" {
		t.Errorf("without a reply (-want +got):\n%s", diff)
	}
	if got := New("").Finish(&haltd.Reply{Thinking: "hm"}, nil); got != nil {
		t.Errorf("where nothing was said: %+v, want none", got)
	}
}

func TestLongTextsKeepBothEnds(t *testing.T) {
	half := most / 2
	for name, c := range map[string]struct{ text, want string }{
		"as long as it may be": {strings.Repeat("a", most), strings.Repeat("a", most)},
		"one byte more":        {strings.Repeat("a", half) + "-" + strings.Repeat("b", half), strings.Repeat("a", half) + "\n[… 1 bytes left out …]\n" + strings.Repeat("b", half)},
		"far more":             {strings.Repeat("a ", 50_000) + strings.Repeat(" b", 50_000), strings.Repeat("a ", half/2) + "\n[… 197952 bytes left out …]\n" + strings.Repeat(" b", half/2)},
		"cut inside of runes":  {"x" + strings.Repeat("é", most) + "x", "x" + strings.Repeat("é", half/2-1) + "\n[… 2050 bytes left out …]\n" + strings.Repeat("é", half/2-1) + "x"},
		"one endless word":     {strings.Repeat("a", 5*reach), strings.Repeat("a", half) + "\n[… 39936 bytes left out …]\n"},
		"not UTF-8":            {"a\xffb", "a\uFFFDb"},
	} {
		if diff := cmp.Diff(c.want, bound(c.text).excerpt(nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// planted is a secret as it stands in a text; of core nothing may be seen.
type planted struct{ text, core string }

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// plant are all shapes of secrets, around letters that were drawn.
var plant = []func(core string) planted{
	begun("sk-"), begun("sk-ant-api03-"), begun("sk-proj-"), begun("sk-or-v1-"), begun("AIza"), begun("xai-"), begun("gsk_"), begun("hf_"), begun("haltd_"),
	begun("ghp_"), begun("gho_"), begun("github_pat_"), begun("glpat-"), begun("xoxb-12-"), begun("sk_live_"), begun("eyJhbGciOiJIUzI1NiJ9.eyJz."),
	begun("Bearer "), begun("Authorization: token "), begun("Cookie: sid="), begun("password="), begun(`"api_key": "`), begun(`\"secret\":\"`), begun("--token "),
	begun("-----BEGIN PRIVATE KEY-----\n"),
	func(core string) planted {
		return planted{"AKIA" + strings.ToUpper(core)[:16], strings.ToUpper(core)[:16]}
	},
	func(core string) planted {
		encoded := base64.StdEncoding.EncodeToString([]byte("ann:" + core))
		return planted{"Basic " + encoded, encoded}
	},
	func(core string) planted { return planted{"https://ann:" + core + "@example.org", core} },
	func(core string) planted { return planted{core + "@mail.example.org", core} },
	func(core string) planted {
		body := strings.Repeat(core+"\n", 30) // as long as they come
		return planted{"-----BEGIN RSA PRIVATE KEY-----\n" + body + "-----END RSA PRIVATE KEY-----", core}
	},
	func(string) planted { return planted{"5555 5555 5555 4444", "5555 5555 5555 4444"} },
}

func begun(prefix string) func(string) planted {
	return func(core string) planted { return planted{prefix + core, core} }
}

// survives is a part of a secret that can still be read.
func survives(p planted, excerpt string) (part string, yes bool) {
	const telling = 8
	for i := 0; i+telling <= len(p.core); i++ {
		if part := p.core[i : i+telling]; strings.Contains(excerpt, part) {
			return part, true
		}
	}
	return "", false
}

// Wherever a secret stands, whatever is around it and wherever the cuts fall,
// nothing of it is kept.
func TestNoSecretSurvives(t *testing.T) {
	// Words that no core contains, and the beginnings of other secrets.
	filler := rapid.SampledFrom([]string{
		" ", "\n", ". ", "lorem ", "\"", "'", "{", "}", `\n`, `\"`, "é", "\x00", "\xff", ", ", "12 ",
		"token: ", "password", "= ", "Basic ", "bearer ", "sk-", "@", "://", "eyJ", "secret=x ", "credentials:\n", "Authorization:", "-- ",
	})
	rapid.Check(t, func(t *rapid.T) {
		core := string(rapid.SliceOfN(rapid.SampledFrom([]byte(alphabet)), 40, 40).Draw(t, "core"))
		p := plant[rapid.IntRange(0, len(plant)-1).Draw(t, "shape")](core)
		fill := func(label string) string {
			words := strings.Join(rapid.SliceOfN(filler, 0, 40).Draw(t, label), "")
			n := rapid.SampledFrom([]int{0, most / 2, most, reach - most/2, reach, 3 * reach}).Draw(t, label+" length")
			return words + strings.Repeat("lorem ipsum ", n/12) + strings.Repeat(".", rapid.IntRange(0, 120).Draw(t, label+" shift"))
		}
		text := fill("before") + "\n" + p.text + "\n" + fill("after")
		excerpt := bound(text).excerpt(nil)
		if part, yes := survives(p, excerpt); yes {
			t.Fatalf("%q of %q survives in\n%q", part, p.text, excerpt)
		}
		if !utf8.ValidString(excerpt) {
			t.Fatalf("%q is not UTF-8", excerpt)
		}
	})
}

// Whatever strangers write, a planted secret is taken out and the rest is
// bounded.
func FuzzExcerpt(f *testing.F) {
	f.Add("password:", "x", uint8(0), uint16(0))
	f.Add(`{"a":"\n`, `"}`, uint8(3), uint16(1000))
	f.Add("-----END PRIVATE KEY-----", "@", uint8(12), uint16(8000))
	f.Fuzz(func(t *testing.T, before, after string, shape uint8, shift uint16) {
		const core = "q7WxR2vKzT9mB4nYcL6hGdP1sJf8aEu3oXi5wMbV"
		p := plant[int(shape)%len(plant)](core)
		if _, yes := survives(p, before+"\n"+after); yes {
			return // it is in the text around
		}
		excerpt := bound(before + strings.Repeat(" .", int(shift)) + "\n" + p.text + "\n" + after).excerpt(nil)
		if part, yes := survives(p, excerpt); yes {
			t.Errorf("%q survives in %q", part, excerpt)
		}
		if !utf8.ValidString(excerpt) {
			t.Errorf("%q is not UTF-8", excerpt)
		}
		// A secret of seven letters becomes three times as long.
		if len(excerpt) > 4*most {
			t.Errorf("an excerpt of %d bytes", len(excerpt))
		}
	})
}
