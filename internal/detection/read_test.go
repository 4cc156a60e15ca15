package detection

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// What is read in one pass is what a pass for each would read.
func TestATextIsReadInOnePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`( |\n)?([A-Za-z_]{1,9}|[0-9]{1,6}|2024-01-15|[a-f0-9]{9})([ ,.\n?!]{1,2}([A-Za-z_]{1,9}|[0-9]{1,6}|0x7ffe|[a-z0-9]{9})){0,40}( |\n)?`),
			rapid.String(),
		).Draw(t, "text")
		r := haltd.Round{Text: text}
		var f, want round
		act := f.readAct(&r)
		f.readWords(&r, act)
		if act == "" || f.manner != spoken {
			return
		}
		a := actReader{round: &want}
		a.text(act)
		if f.core != want.core || f.shape != want.shape || f.numbers != want.numbers {
			t.Errorf("digests of %q differ", text)
		}
		if !slices.Equal(f.does, words(act, nil)) || !slices.Equal(f.says, words(text, nil)) || !slices.Equal(f.claims, words(text, isClaim)) {
			t.Errorf("words of %q differ", text)
		}
	})
}

// An opening that is long, or that all requests of its session show, is read when
// the session goes on, and then it is the one that the session began with.
func TestAnOpeningIsReadWhenItsSessionGoesOn(t *testing.T) {
	const task = "Compare the invoices of march with the ledger, 30 times."
	testOpening(t, Read, task+strings.Repeat(" One line of the ledger.", openingRead/20), nil)
	said := []haltd.Message{{Role: haltd.RoleUser, Text: "And those of april."}}
	testOpening(t, ReadShown, task, said)
}

// testOpening begins a session with a message, and goes on in several ways. more is
// what the client adds to the opening before it has an answer.
func testOpening(t *testing.T, read func(*Cache, *haltd.Call, *Pending) *History, text string, more []haltd.Message) {
	first := haltd.Message{Role: haltd.RoleUser, Text: text}
	want := readOpening([]haltd.Message{first})
	next := haltd.Message{Role: haltd.RoleUser, Text: "The second invoice is missing."}
	reply := ReadReply(&haltd.Reply{Text: "I compare invoice 1 with the ledger."}, true)
	for what, call := range map[string]*haltd.Call{
		"by a message more": {Opening: []haltd.Message{first, next}},
		"by a history":      {Opening: append([]haltd.Message{first}, more...), Rounds: []haltd.Round{{Text: "I compare invoice 1 with the ledger.", Inputs: []haltd.Message{next}}}},
	} {
		st, cache := newState(), NewCache(1<<10)
		Judge(DefaultSettings(), st, read(cache, &haltd.Call{Opening: []haltd.Message{first}}, nil), noon)
		if len(st.Session.opening.words) > 0 {
			t.Errorf("%s: the words of a first request were read", what)
		}
		st.Session.attach(reply, noon)
		Judge(DefaultSettings(), st, read(cache, call, st.Session.Pending()), noon)
		got := st.Session.opening
		if got.digest != want.digest || !slices.Equal(got.words, want.words) || !slices.Equal(got.names, want.names) || !slices.Equal(got.counts, want.counts) || !slices.Equal(st.Session.task, want.words) {
			t.Errorf("%s: the opening is not the one that the session began with", what)
		}
	}
}

// The lines of a message are digested one by one, also where it has one alone.
func TestLinesAreDigestedOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c \t\r\n]{0,12}`).Draw(t, "text")
		var want []uint64
		for line := range strings.Lines(text) {
			want = append(want, lineHash(line))
		}
		if got := linesOf(text, xxhash.Sum64String(text)); !slices.Equal(got, want) {
			t.Errorf("lines of %q: %x, want %x", text, got, want)
		}
	})
}

// Carriage returns draw nothing, however many there are.
func TestCarriageReturnsAreNoDrawing(t *testing.T) {
	text := "\r\ra\n\r\rc"
	if got, want := linesOf(text, xxhash.Sum64String(text)), []uint64{lineHash("a"), lineHash("c")}; !slices.Equal(got, want) {
		t.Errorf("lines of %q: %x, want %x", text, got, want)
	}
}

// Of a first reply as much is compared as of any other; what it does is left out.
func TestFirstRepliesAreComparedAlike(t *testing.T) {
	for _, reply := range []*haltd.Reply{
		said("The capital of France is Paris."),
		said("```bash\nls -la /srv\n```"),
		said("Thought: look.\nAction: search\nAction Input: {\"q\": \"x\"}"),
		said(`{"tool": "read_file", "path": "a.go"}`),
		said("kubectl get pods"),
		said(""),
		{Text: "Let me look.", Calls: []haltd.ToolCall{{Name: "ls", Arguments: `{"path":"."}`}}, Complete: true},
	} {
		first, any := ReadFirstReply(reply), ReadReply(reply, true)
		if first.tools != any.tools || first.response != any.response || first.exact != any.exact {
			t.Errorf("%q %v: read as %x %x %x, want %x %x %x", reply.Text, reply.Calls, first.tools, first.response, first.exact, any.tools, any.response, any.exact)
		}
		if first.act != nil {
			t.Errorf("%q: what it does is kept", reply.Text)
		}
	}
}
