package gateway

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

const excerptsYAML = killYAML + "excerpts: on\n"

func TestExcerptOfACall(t *testing.T) {
	reply := strings.Replace(chatReply, `"content":"hello"`, `"content":"write to ann@example.org","tool_calls":[{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]`, 1)
	body := strings.Replace(chatBody, `"hi"`, `"my keys: client-key-4711, gateway-key-0815, other-key-1234 and sk-ant-api03-aB3dE6gH9jK2"`, 1)
	yaml := strings.Replace(excerptsYAML, "openai: {base_url: UPSTREAM}", "openai: {base_url: UPSTREAM, api_key: gateway-key-0815}\n  lab: {base_url: UPSTREAM, api_key: other-key-1234}", 1)
	f := newFixture(t, answer(200, "application/json", reply), yaml)
	f.send(t, "POST", chatPath, map[string]string{"Authorization": "Bearer client-key-4711"}, body)
	want := &haltd.Excerpt{
		Prompt: "my keys: [redacted key], [redacted key], [redacted key] and [redacted key]",
		Reply:  "write to [redacted e-mail]", ToolCalls: `read_file {"path":"a"}`,
	}
	if diff := cmp.Diff(want, f.last(t).Excerpt); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExcerptsFollowTheConfiguration(t *testing.T) {
	up := newUpstream(t, answer(200, "application/json", chatReply))
	on, off := strings.ReplaceAll(excerptsYAML, "UPSTREAM", up), strings.ReplaceAll(killYAML, "UPSTREAM", up)
	f := startFixture(t, off)
	for _, c := range []struct {
		yaml string
		want *haltd.Excerpt
	}{{off, nil}, {on, &haltd.Excerpt{Prompt: "hi", Reply: "hello"}}, {off, nil}} {
		f.Configure(NewSettings(loadConfig(t, c.yaml), f.Settings()))
		f.send(t, "POST", chatPath, nil, chatBody)
		if diff := cmp.Diff(c.want, f.last(t).Excerpt); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestExcerptOfWhatIsNotForwarded(t *testing.T) {
	const said = "Error: no such file or directory"
	for action, kind := range map[string]haltd.EventType{"kill": haltd.EventKillSwitch, "reject": haltd.EventBlocked} {
		t.Run(action, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), strings.Replace(excerptsYAML, "enabled: true", "enabled: true, stall: "+action, 1))
			f.send(t, "POST", chatPath, inSession("s"), loopBody(12))
			f.persist(t)
			events := f.stored(t, kind)
			if len(events) != 1 {
				t.Fatalf("%d events of type %s, want one", len(events), kind)
			}
			got, ok, err := f.store.Excerpt(t.Context(), events[0].ID)
			if err != nil || !ok {
				t.Fatalf("excerpt of the call: ok %v, error %v", ok, err)
			}
			if diff := cmp.Diff(haltd.Excerpt{Prompt: said}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExcerptOfAReportedCall(t *testing.T) {
	f := startFixture(t, "excerpts: on\n")
	report := haltd.Ingest{Agent: "a", Provider: "openai", Model: "gpt-x", ResponseHash: "h", ToolCalls: []haltd.ToolCall{{Name: "login", Arguments: `{"password":"hunter2"}`}}}
	if _, err := f.Ingest(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&haltd.Excerpt{ToolCalls: `login {"password":"[redacted password]"}`}, f.last(t).Excerpt); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
