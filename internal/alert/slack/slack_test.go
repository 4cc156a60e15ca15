package slack

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
	"pgregory.net/rapid"
)

func growth(session string) outbound.Message {
	return outbound.Message{
		Notice: haltd.Notice{
			ID: "ntc_x", Time: time.Unix(0, 0), Topic: haltd.IncidentGrowth, Agent: "billing-bot", Session: session,
			Incident: "inc_x", Sentence: "Prompt tokens grow.", Tokens: []int64{100, 150, 220, 330, 495},
		},
		Title: "Runaway Agent Detected", URL: "https://haltd.example/incidents/inc_x?a=1&b=2",
	}
}

func TestAMessageAsSlackGetsIt(t *testing.T) {
	b, err := encode(growth("ses_8f2k9x3m"))
	if err != nil {
		t.Fatal(err)
	}
	said := "🚨 *Runaway Agent Detected* 🚨\\nSession `ses_8f2k9x3m` showed quadratic growth signature.\\nRecent prompt tokens: [100, 150, 220, 330, 495]"
	want := `{"text":"` + said + `","blocks":[` +
		`{"type":"section","text":{"type":"mrkdwn","text":"` + said + `","verbatim":true}},` +
		"{\"type\":\"context\",\"elements\":[{\"type\":\"mrkdwn\",\"text\":\"Agent `billing-bot` · 1 Jan 1970, 00:00 UTC\",\"verbatim\":true}]}," +
		`{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Open incident"},"url":"https://haltd.example/incidents/inc_x?a=1&b=2","action_id":"open_incident"}]}` +
		`],"parse":"none","link_names":false,"unfurl_links":false,"unfurl_media":false}`
	if diff := cmp.Diff(want, strings.TrimSpace(string(b))); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestOtherMessages(t *testing.T) {
	kill := outbound.Message{Notice: haltd.Notice{Topic: haltd.IncidentKillSwitch, Sentence: "It said A & B <loop>."}, Title: "Kill Switch Fired"}
	recovery, soft, test, over := kill, kill, kill, growth("s")
	recovery.Recovery, soft.Topic, test.Test = true, haltd.IncidentBudgetSoft, true
	over.Recovery, over.Agent, over.Session, over.URL = true, "", "", ""
	for want, m := range map[string]outbound.Message{
		"🚨 *Kill Switch Fired*\nIt said A &amp; B &lt;loop&gt;.":  kill,
		"✅ *Kill Switch Fired*\nIt said A &amp; B &lt;loop&gt;.":  recovery,
		"⚠️ *Kill Switch Fired*\nIt said A &amp; B &lt;loop&gt;.": soft,
		"🔔 *Kill Switch Fired*\nIt said A &amp; B &lt;loop&gt;.":  test,
		"✅ *Runaway Agent Detected*\nPrompt tokens grow.":         over,
	} {
		p := render(m)
		if p.Text != want || p.Blocks[0].Text.Text != want {
			t.Errorf("text = %q and %q, want %q", p.Text, p.Blocks[0].Text.Text, want)
		}
	}
	if n := len(render(kill).Blocks); n != 1 {
		t.Errorf("a message about nobody and without a page has %d blocks, want 1", n)
	}
}

// A receiver that knows no blocks, such as Mattermost, shows the text: whom it is
// about, what it cost and where to look are in it, too.
func TestTheTextSaysAllThatTheBlocksSay(t *testing.T) {
	p := render(outbound.Message{
		Notice: haltd.Notice{
			Time: time.Unix(0, 0), Topic: haltd.IncidentKillSwitch, Agent: "billing-bot", Sentence: "It loops.", Cost: 3 * haltd.Dollar / 2, CostOf: "in this session",
		},
		Title: "Kill Switch Fired", Next: "Look at it.", URL: "https://haltd.example/incidents/inc_x",
	})
	want := "🚨 *Kill Switch Fired*\nIt loops.\nLook at it.\nAgent `billing-bot` · Cost so far: $1.50 in this session · 1 Jan 1970, 00:00 UTC\nhttps://haltd.example/incidents/inc_x"
	if p.Text != want {
		t.Errorf("text %q, want %q", p.Text, want)
	}
}

// Slack takes 3000 characters in a block, and refuses a message with more.
func TestALongMessageFitsIntoABlock(t *testing.T) {
	long := strings.Repeat("& ", 2000)
	m := outbound.Message{Notice: haltd.Notice{Sentence: long}, Title: long, Next: long}
	if n := utf8.RuneCountInString(words(m)); n > 3000 {
		t.Errorf("%d characters", n)
	}
}

func TestHostileNames(t *testing.T) {
	for name, want := range map[string]string{
		"<!channel>":                      "`&lt;!channel&gt;`",
		"<https://evil.example|click me>": "`&lt;https://evil.example|click me&gt;`",
		"a` *b* <@U1> `c":                 "`a' *b* &lt;@U1&gt; 'c`",
		"a\nb":                            "`a b`",
		"&lt;!here&gt;":                   "`&amp;lt;!here&amp;gt;`",
		"":                                "`unknown`",
		"\u202e":                          "`unknown`",
	} {
		if got := code(name); got != want {
			t.Errorf("code(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestNoNameLeavesItsCodeSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		m := growth(name)
		m.Agent = "a" + name
		b, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		var got payload
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		for _, text := range []string{got.Text, got.Blocks[0].Text.Text, got.Blocks[1].Elements[0].Text.(string)} {
			if strings.ContainsAny(text, "<>") || strings.Count(text, "`")%2 != 0 || strings.Count(text, "`") > 4 {
				t.Fatalf("name %q makes %q", name, text)
			}
		}
		if lines := strings.Count(got.Text, "\n"); lines != 2 {
			t.Fatalf("name %q makes %d line breaks", name, lines)
		}
	})
}
