package sse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parse feeds the chunks and writes every event down as name|data.
func parse(limit int, chunks ...[]byte) (events []string, err error) {
	p := NewParser(limit, func(name, data []byte) {
		events = append(events, string(name)+"|"+string(data))
	})
	for _, chunk := range chunks {
		own := append([]byte(nil), chunk...)
		err = p.Feed(own)
		for i := range own {
			own[i] = '#' // the parser must not keep the chunk
		}
	}
	if err == nil {
		err = p.Flush()
	}
	return events, err
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"one event", "data: a\n\n", []string{"|a"}},
		{"named event", "event: ping\ndata: {}\n\n", []string{"ping|{}"}},
		{"the name does not outlive its event", "event: x\ndata: 1\n\ndata: 2\n\n", []string{"x|1", "|2"}},
		{"carriage returns", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"carriage return and line feed", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"mixed line ends", "event: x\rdata: a\ndata: b\r\n\n", []string{"x|a\nb"}},
		{"lines of data are joined", "data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb"}},
		{"one space is taken off", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}},
		{"comments, ids and unknown fields", ": hello\nid: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []string{"|a"}},
		{"a field without a colon", "data\n\n", []string{"|"}},
		{"a name without data is no event", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"half a byte order mark is a field", "\xef\xbbdata: a\n\ndata: b\n\n", []string{"|b"}},
		{"the last event lacks its empty line", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(100, []byte(tt.stream))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for cut := range len(tt.stream) {
				got, _ := parse(100, []byte(tt.stream[:cut]), []byte(tt.stream[cut:]))
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("cut at byte %d (-want +got):\n%s", cut, diff)
				}
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	for name, stream := range map[string]string{
		"line":           "data: " + strings.Repeat("x", 100) + "\n\n",
		"unended line":   strings.Repeat("x", 100),
		"event of lines": strings.Repeat("data: xxx\n", 30) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(64, []byte(stream)); !errors.Is(err, ErrTooLong) {
				t.Errorf("error is %v, want ErrTooLong", err)
			}
		})
	}
}

func TestWholeEventsAreNotCopied(t *testing.T) {
	chunk := []byte("event: delta\ndata: {\"text\":\"hello\"}\n\n")
	p := NewParser(100, func(_, _ []byte) {})
	p.Feed(chunk) // settles the byte order mark
	if n := testing.AllocsPerRun(100, func() { p.Feed(chunk) }); n > 0 {
		t.Errorf("%v allocations for an event inside one chunk, want none", n)
	}
}

// checkCuts fails unless stream gives the same events in one piece, byte by
// byte, and cut by random.
func checkCuts(t interface{ Fatalf(string, ...any) }, stream []byte, limit int, random *rand.Rand) {
	want, wantErr := parse(limit, stream)
	var bytewise, chunks [][]byte
	for i := range stream {
		bytewise = append(bytewise, stream[i:i+1])
	}
	for rest := stream; len(rest) > 0; {
		n := 1 + random.IntN(len(rest))
		chunks, rest = append(chunks, rest[:n]), rest[n:]
	}
	for name, cut := range map[string][][]byte{"bytewise": bytewise, "at random": chunks} {
		got, err := parse(limit, cut...)
		if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("cut %s: error %v, want %v (-whole +cut):\n%s", name, err, wantErr, diff)
		}
	}
}

func TestAnyCuttingGivesTheSameEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"data", "data: ", "event: ", ":", " ", "\r", "\n", "\r\n", "\n\n", "\xef\xbb\xbf", "x", "{}", "long enough to matter"})
		stream := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"), "")
		seed := rapid.Uint64().Draw(t, "seed")
		checkCuts(t, []byte(stream), rapid.IntRange(8, 200).Draw(t, "limit"), rand.New(rand.NewPCG(seed, 0)))
	})
}

func FuzzParser(f *testing.F) {
	f.Add([]byte("event: a\ndata: b\n\n"), uint64(1))
	f.Add([]byte("\xef\xbb\xbf: c\r\rdata: 1\r\ndata: 2\r\n\r\n"), uint64(2))
	f.Add([]byte("data: "+strings.Repeat("y", 80)), uint64(3))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		checkCuts(t, stream, 64, rand.New(rand.NewPCG(seed, 0)))
	})
}

func BenchmarkFeed(b *testing.B) {
	stream := []byte(strings.Repeat("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n", 200))
	p := NewParser(1<<20, func(_, _ []byte) {})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		p.Feed(stream)
	}
}
