package formats

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd/internal/wire"
)

// readOn reads a body of which a beginning may be known, and holds that it reads
// as the whole body does: the same call but for the rounds that were passed over,
// or the same refusal.
func readOn(t *testing.T, f wire.Format, path string, body []byte, known *wire.Prefix) (passed, next *wire.Prefix) {
	t.Helper()
	want, refused := f.ReadCall(path, body, nil)
	texts := make([]byte, 0, len(body))
	m := wire.Memory{Texts: texts, Shares: true, Known: known}
	got, err := f.ReadCall(path, body, &m)
	if fmt.Sprint(err) != fmt.Sprint(refused) {
		t.Fatalf("read on: %v; as a whole: %v", err, refused)
	}
	if err != nil {
		return nil, nil
	}
	if newest, tools := want.Newest(); true {
		if n, fromTools := got.Newest(); n != newest || fromTools != tools || got.FirstUser() != want.FirstUser() {
			t.Fatalf("what was newly said is %q, want %q", n, newest)
		}
	}
	if m.Known != nil {
		want.Rounds = want.Rounds[m.Known.Rounds():]
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("it differs when read on (-whole +on):\n%s", cmp.Diff(want, got))
	}
	clear(texts[:cap(texts)]) // nothing of it is in what is remembered
	return m.Known, m.Next
}

// checkReadOn reads a body, and again on from what is then known of it.
func checkReadOn(t *testing.T, f wire.Format, path string, body []byte) {
	t.Helper()
	if _, next := readOn(t, f, path, body, nil); next != nil {
		readOn(t, f, path, body, next)
	}
}

// turns are the messages of a conversation with parallel calls, late results and
// words in between, and what stands around them.
var turns = map[string]struct {
	head, tail string
	message    func(i int) string
}{
	"openai-chat": {`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Tidy \"up\"."}`, `],"user":"u"}`, func(i int) string {
		return fmt.Sprintf(`,{"role":"assistant","content":"Step %[1]d.","tool_calls":[{"id":"a%[1]d","function":{"name":"read","arguments":"{\"n\":%[1]d}"}},{"id":"b%[1]d","function":{"name":"list","arguments":"{}"}}]}`+
			`,{"role":"tool","tool_call_id":"b%[1]d","content":"%[2]s"},{"role":"user","content":"and?"},{"role":"tool","tool_call_id":"a%[1]d","content":"line\nof %[1]d"}`, i, strings.Repeat(`x\ty \u00e9 é `, 80))
	}},
	"openai-responses": {`{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"Tidy up."}`, `],"store":false}`, func(i int) string {
		return fmt.Sprintf(`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Step %[1]d."}]},{"type":"function_call","call_id":"a%[1]d","name":"read","arguments":"{\"n\":%[1]d}"}`+
			`,{"type":"function_call_output","call_id":"a%[1]d","output":"%[2]s"}`, i, strings.Repeat(`x\ty `, 160))
	}},
	"anthropic-messages": {`{"model":"m","system":"Be brief.","messages":[{"role":"user","content":"Tidy up."}`, `],"max_tokens":9}`, func(i int) string {
		return fmt.Sprintf(`,{"role":"assistant","content":[{"type":"text","text":"Step %[1]d."},{"type":"tool_use","id":"a%[1]d","name":"read","input":{"n":%[1]d}}]}`+
			`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a%[1]d","content":"%[2]s"},{"type":"text","text":"and?"},{"type":"image","source":{"data":"%[1]d"}}]}`, i, strings.Repeat(`x\ty `, 160))
	}},
	"gemini-generate": {`{"contents":[{"role":"user","parts":[{"text":"Tidy up."}]}`, `],"generationConfig":{"maxOutputTokens":9}}`, func(i int) string {
		return fmt.Sprintf(`,{"role":"model","parts":[{"text":"Step %[1]d."},{"functionCall":{"name":"read","args":{"n":%[1]d}}},{"functionCall":{"name":"read","args":{"n":-%[1]d}}}]}`+
			`,{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"%[2]s"}}},{"functionResponse":{"name":"read","response":{"output":"%[1]d"}}}]}`, i, strings.Repeat(`x\ty `, 160))
	}},
}

// A conversation that grows is read on from what was remembered of it, and reads
// as it does as a whole.
func TestGrowingConversationsAreReadOn(t *testing.T) {
	for name, c := range turns {
		t.Run(name, func(t *testing.T) {
			var known *wire.Prefix
			body, end := c.head, 0
			for i := range 40 {
				body += c.message(i)
				passed, next := readOn(t, formatOf(t, name), paths[name], []byte(body+c.tail), known)
				if end = 0; passed != nil {
					end = passed.End()
				}
				if i > 12 && end < len(body)-12<<10 {
					t.Fatalf("turn %d was read on from byte %d of %d", i, end, len(body))
				}
				if next != nil {
					known = next
				}
			}
		})
	}
}

// Whatever follows what is known reads as it does in the whole body: results for
// calls that were passed over, words that belong to their last round, another role
// first, nothing at all, and what is no JSON or names a member twice.
func TestWhateverFollowsWhatIsKnown(t *testing.T) {
	endings := map[string][]string{
		"openai-chat": {
			`,{"role":"tool","tool_call_id":"a1","content":"late"}`, `,{"role":"user","content":"go on"}`, `,{"role":"system","content":"go on"}`,
			`,{"role":"assistant","content":""}`, `,{"role":"assistant","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"a1","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a1","content":"again"}`,
			`,{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a2","content":"of another"}`,
			`,{"role":"user","role":"user"}`, `,{"role":"user","Role":"user"}`, `,{"role":"user","content":7}`, `{"role":"user"}`, `,`, `,{"role":"x`, ",{\"role\":\"user\",\"content\":\"\xff\"}", `],"model":"n","messages":[`, `],"dup":1,"dup":[`,
		},
		"openai-responses": {
			`,{"type":"function_call_output","call_id":"a1","output":"late"}`, `,{"type":"function_call","call_id":"z","name":"read","arguments":"{}"}`, `,{"role":"user","content":"go on"}`,
			`,{"type":"message","role":"assistant","content":"x"}`, `,{"type":"additional_tools","tools":[{"name":"t"}]}`, `,{"type":"message"}`, `,[]`,
		},
		"anthropic-messages": {
			`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a1","content":"late"}]}`, `,{"role":"user","content":"go on"}`, `,{"role":"assistant","content":[]}`,
			`,{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}`, `,{"role":"assistant"}`, `,{"content":"x"}`,
		},
		"gemini-generate": {
			`,{"role":"user","parts":[{"functionResponse":{"name":"read","response":{}}}]}`, `,{"parts":[{"text":"go on"}]}`, `,{"role":"model","parts":[]}`, `,{"role":"model"}`, `,0`,
		},
	}
	for name, c := range turns {
		body := c.head
		for i := range 20 {
			body += c.message(i)
		}
		f, path := formatOf(t, name), paths[name]
		_, known := readOn(t, f, path, []byte(body+c.tail), nil)
		if known == nil {
			t.Fatalf("%s: nothing is remembered", name)
		}
		for _, ending := range append(endings[name], "", c.message(1), c.message(20)) {
			t.Run(name+ending[:min(len(ending), 60)], func(t *testing.T) {
				for _, from := range []int{known.End(), len(body)} {
					readOn(t, f, path, []byte(body[:from]+ending+c.tail), known)
					readOn(t, f, path, []byte(body[:from]+ending+c.message(30)+c.tail), known)
				}
				readOn(t, f, path, []byte(body[:known.End()]+ending), known)
			})
		}
	}
}

// Bytes behind what is known are changed at random.
func TestChangesBehindWhatIsKnown(t *testing.T) {
	for name, c := range turns {
		whole := c.head
		for i := range 16 {
			whole += c.message(i)
		}
		body := []byte(whole + c.tail)
		f, path := formatOf(t, name), paths[name]
		_, known := readOn(t, f, path, body, nil)
		random := rand.New(rand.NewPCG(1, 2))
		pieces := []string{`"`, `,`, `{`, `}`, `[`, `]`, `\`, `:`, `"role":"user"`, `"role":"tool"`, `"a1"`, `null`, `0`, "\xff", `é`}
		for range 80 {
			at := known.End() + random.IntN(len(body)-known.End())
			to := min(len(body), at+random.IntN(30))
			changed := string(body[:at]) + pieces[random.IntN(len(pieces))] + string(body[to:])
			readOn(t, f, path, []byte(changed), known)
		}
	}
}

func BenchmarkReadOn100KB(b *testing.B) {
	f, _ := Match("/v1/chat/completions")
	body := chatBody(100_000)
	var m wire.Memory
	if _, err := f.ReadCall("/v1/chat/completions", body, &m); err != nil || m.Next == nil {
		b.Fatal("nothing is remembered", err)
	}
	texts, known := make([]byte, 0, len(body)), m.Next
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.ReadCall("/v1/chat/completions", body, &wire.Memory{Texts: texts, Known: known}); err != nil {
			b.Fatal(err)
		}
	}
}
