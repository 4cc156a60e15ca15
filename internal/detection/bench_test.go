package detection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// prose makes a text of about n bytes without repeating itself much.
func prose(n, seed int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%c%c line %d of the %s report; ", 'a'+(i*7+seed)%26, 'a'+(i*3+seed/3)%26, i*seed, []string{"first", "second", "last"}[i%3])
	}
	return b.String()[:n]
}

// BenchmarkSimHash hashes another text each time: of one that comes again a
// processor knows where each word ends.
func BenchmarkSimHash(b *testing.B) {
	for _, c := range []struct{ what, texts string }{
		{"words", longText(0, 1, 2<<20, rand.New(rand.NewPCG(1, 1)))},
		{"random letters", longText(3, 1, 2<<20, rand.New(rand.NewPCG(1, 1)))},
	} {
		for _, size := range []int{100, 1 << 10, 4 << 10, 64 << 10, 100 << 10, 1000 << 10} {
			at := 0
			b.Run(fmt.Sprint(c.what, "/", size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					at = (at + 7919) % (len(c.texts) - size)
					SimHash(c.texts[at : at+size])
				}
			})
		}
	}
}

func BenchmarkWindowScore(b *testing.B) {
	var w Window
	for i := range 20 {
		w.Attach(w.Add(asking(prose(200, i/2)), 20, noon), ReadReply(said(prose(100, i/3)), true), noon)
	}
	p := asking(prose(200, 4))
	b.ReportAllocs()
	for b.Loop() {
		w.Score(p, 20, noon)
	}
}

// conversation100 has 100 rounds and about 100 KB.
func conversation100() *haltd.Call {
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Tidy up the repository."}}}
	for i := range 100 {
		id := fmt.Sprint("call_", i)
		call.Rounds = append(call.Rounds, haltd.Round{
			Text:    "Let me look at the next file.",
			Calls:   []haltd.ToolCall{{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"src/file%d.go","limit":200}`, i)}},
			Results: []haltd.ToolResult{{CallID: id, Name: "read_file", Text: prose(900, i+1)}},
		})
	}
	return call
}

func BenchmarkJudge100Rounds(b *testing.B) {
	call := conversation100()
	set := DefaultSettings()
	b.Run("warm", func(b *testing.B) {
		st, cache := newState(), NewCache(1<<20)
		Judge(set, st, Read(cache, call, nil), time.Time{})
		b.ReportAllocs()
		for b.Loop() {
			Judge(set, st, Read(cache, call, nil), time.Time{})
		}
	})
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Judge(set, newState(), Read(NewCache(1<<20), call, nil), time.Time{})
		}
	})
}

func BenchmarkReadOneShot(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1000 << 10} {
		b.Run(fmt.Sprint(size>>10, "KB"), func(b *testing.B) {
			call := &haltd.Call{Opening: []haltd.Message{{Text: longText(0, 1, size, rand.New(rand.NewPCG(1, 1)))}}}
			reply := &haltd.Reply{Text: longText(0, 2, 400, rand.New(rand.NewPCG(1, 1)))}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Judge(DefaultSettings(), newState(), Read(NewCache(1<<10), call, nil), time.Time{})
				ReadReply(reply, true)
			}
		})
	}
}
