package table

import (
	"math"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

// columns are the fields of an event that have a column of their own, or a
// table.
var columns = []string{"ID", "Time", "Type", "Agent", "Session", "Client", "Provider", "Model", "Blocked", "Excerpt"}

func TestDetailKeepsEveryField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune(), 0, 20, -1)
		number := rapid.Int64()
		flag := rapid.Bool()
		span := rapid.Custom(func(t *rapid.T) haltd.Duration {
			return haltd.Duration(time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "µs")) * time.Microsecond)
		})
		want := haltd.Event{
			Label: text.Draw(t, "label"), Trace: text.Draw(t, "trace"), Format: text.Draw(t, "format"), Path: text.Draw(t, "path"),
			Status: int(number.Draw(t, "status")), Stream: flag.Draw(t, "stream"),
			Tokens: haltd.Usage{Input: number.Draw(t, "input"), Output: number.Draw(t, "output"),
				CacheRead: number.Draw(t, "cache read"), CacheWrite: number.Draw(t, "cache write")},
			Estimated: flag.Draw(t, "estimated"), Cost: haltd.Money(number.Draw(t, "cost")), Unpriced: flag.Draw(t, "unpriced"),
			Latency: span.Draw(t, "latency"), FirstByte: span.Draw(t, "first byte"),
			BlockReason: haltd.Reason(text.Draw(t, "reason")), Incident: text.Draw(t, "incident"), Shadow: flag.Draw(t, "shadow"), Retry: flag.Draw(t, "retry"),
			Score: rapid.Float64().Draw(t, "score"), Rule: text.Draw(t, "rule"),
			Finish: text.Draw(t, "finish"), PromptHash: text.Draw(t, "prompt hash"), PromptLen: int(number.Draw(t, "prompt")),
			ReplyHash: text.Draw(t, "reply hash"), ReplyLen: int(number.Draw(t, "reply")),
			Unread: text.Draw(t, "unread"), Error: text.Draw(t, "error"),
		}
		if tools := rapid.SliceOfN(text, 0, 3).Draw(t, "tools"); len(tools) > 0 {
			want.ToolCalls = tools
		}
		if tags := rapid.SliceOfN(text, 0, 3).Draw(t, "tags"); len(tags) > 0 {
			want.Tags = tags
		}
		if flag.Draw(t, "has verdict") {
			want.Verdict = &haltd.Verdict{Version: haltd.VerdictVersion, Sentence: text.Draw(t, "sentence"), Certainty: rapid.Float64().Draw(t, "certainty")}
		}
		if flag.Draw(t, "has audit") {
			want.Audit = &haltd.Audit{Change: text.Draw(t, "change"), Why: text.Draw(t, "why")}
		}
		var got haltd.Event
		if err := ReadDetail(written(t, &want), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Rows look the same whichever release wrote them.
func TestDetailIsWrittenAsEver(t *testing.T) {
	nobody := haltd.Event{Session: "s", Path: "<a> & b", Verdict: &haltd.Verdict{Sentence: "<b>"}, Audit: &haltd.Audit{Change: "x", Why: "\"y\"\n"}}
	steered := haltd.Event{Agent: "a", Session: "s", Verdict: &haltd.Verdict{Action: haltd.Steer, Level: haltd.LevelKill,
		Rungs:    []haltd.Rung{{Action: haltd.Steer, Time: time.Unix(1, 5000).UTC(), Round: 3}},
		Findings: []haltd.Finding{{Action: haltd.Throttle, Delay: haltd.Duration(1500 * time.Microsecond), Spent: &haltd.Spending{Cost: 5, Tokens: 3}}}}}
	for _, c := range []struct {
		event haltd.Event
		want  string
	}{
		{haltd.Event{Agent: "a", Session: "s"}, `{}`},
		{oneShot(), `{"format":"openai","path":"/v1/chat/completions","status":200,"input":812,"output":3,"cost":2075000,"latency":412000,"first_byte":410000,"finish":"stop","prompt_hash":"9f86d081884c7d65","prompt_bytes":3211,"reply_hash":"2cf24dba5fb0a30e","reply_bytes":7}`},
		{warned(), `{"format":"openai","path":"/v1/chat/completions","status":200,"input":812,"output":3,"cost":2075000,"latency":412000,"first_byte":410000,"score":38,"finish":"stop","prompt_hash":"9f86d081884c7d65","prompt_bytes":3211,"reply_hash":"2cf24dba5fb0a30e","reply_bytes":7,"verdict":{"version":1,"action":"warn","check":"similarity","reason":"loop_detected","sentence":"classifier repeats itself: 20 similar replies.","level":"warn","score":38,"parts":{"similar_prompts":0,"similar_responses":19,"repeated_tool_calls":0},"certainty":2.5,"unmet":"fewer than two of prompts, replies and tool calls match twice","findings":[{"check":"similarity","action":"warn","reason":"loop_detected","sentence":"classifier repeats itself: 20 similar replies."}]}}`},
		{nobody, `{"session":"s","path":"\u003ca\u003e \u0026 b","verdict":{"version":0,"action":"allow","sentence":"\u003cb\u003e","level":"pass","score":0,"parts":{"similar_prompts":0,"similar_responses":0,"repeated_tool_calls":0},"certainty":0},"audit":{"change":"x","by":"","why":"\"y\"\n"}}`},
		{steered, `{"verdict":{"version":0,"action":"steer","level":"kill","score":0,"parts":{"similar_prompts":0,"similar_responses":0,"repeated_tool_calls":0},"certainty":0,"findings":[{"check":"","action":"throttle","reason":"","sentence":"","delay_ms":1.5,"spent":{"cost_usd":0.000000005,"tokens":3}}],"rungs":[{"action":"steer","time":"1970-01-01T00:00:01.000005Z","round":3}]}}`},
	} {
		if got := string(written(t, &c.event)); got != c.want {
			t.Errorf("written as\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestDetailThatCannotBeWrittenLeavesNothingToTheNext(t *testing.T) {
	if text, err := DetailOf(&haltd.Event{Agent: "a", Path: "/x", Verdict: &haltd.Verdict{Score: math.NaN()}}); err == nil {
		t.Errorf("written as %s", text)
	}
	if got := string(written(t, &haltd.Event{Agent: "a"})); got != "{}" {
		t.Errorf("the next is %s", got)
	}
}

type fataler interface{ Fatal(...any) }

func written(t fataler, e *haltd.Event) []byte {
	b, err := DetailOf(e)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(b)
}

// A field added to haltd.Event must find its place in the detail.
func TestDetailKnowsEveryField(t *testing.T) {
	isColumn := map[string]bool{}
	for _, name := range columns {
		isColumn[name] = true
	}
	fields := reflect.TypeFor[haltd.Event]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if isColumn[field.Name] {
			continue
		}
		want, got := haltd.Event{Agent: "a"}, haltd.Event{Agent: "a"}
		setSomething(t, reflect.ValueOf(&want).Elem().Field(i))
		if err := ReadDetail(written(t, &want), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("haltd.Event.%s is not kept (-want +got):\n%s", field.Name, diff)
		}
	}
}

func setSomething(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Second))
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		for i := range v.NumField() {
			setSomething(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setSomething(t, v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		t.Fatalf("no value for a field of kind %s", v.Kind())
	}
}

func TestDetailMendsBrokenText(t *testing.T) {
	var got haltd.Event
	if err := ReadDetail(written(t, &haltd.Event{Path: "a\xffb"}), &got); err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(got.Path) || got.Path != "a�b" {
		t.Errorf("path %q, want the broken byte replaced", got.Path)
	}
}
