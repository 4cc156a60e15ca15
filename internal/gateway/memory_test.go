package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What a client announces takes no memory before it sends something, and not all
// of it where others have taken much.
func TestMemoryForABodyFollowsWhatArrives(t *testing.T) {
	const piece, limit, announced = 64 << 10, 64 << 20, 8 << 20
	for _, c := range []struct {
		name      string
		announced int64 // -1 for chunks
		sent      int64
		used      int64 // by others
		want      int64
	}{
		{"a short body", 100, 10, 0, 100},
		{"nothing sent", announced, 0, 0, piece},
		{"little sent", announced, piece - 1, 0, piece},
		{"a piece sent while there is plenty", announced, piece, 0, announced},
		{"a piece sent while others have taken much", announced, piece, limit/4 - announced + 1, 4 * piece},
		{"more sent while others have taken much", announced, 4 * piece, limit / 2, 16 * piece},
		{"chunks", -1, piece, 0, 4 * piece},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &Gateway{}
			g.memory.used.Store(c.used)
			x := &exchange{r: &http.Request{ContentLength: c.announced}, settings: &Settings{maxBody: announced, bodyMemory: limit, stall: time.Minute}}
			x.bodyShare = memoryShare{memory: &g.memory, limit: limit}
			sent := io.MultiReader(io.LimitReader(zeros{}, c.sent), brokenReader{})
			x.incoming = clientBody{ReadCloser: io.NopCloser(sent), control: http.NewResponseController(httptest.NewRecorder()), stall: time.Minute}
			if _, err := g.readBody(x); !errors.Is(err, errClientLeft) {
				t.Fatalf("got %v, want %v", err, errClientLeft)
			}
			if x.bodyShare.taken != c.want || g.BodyBytes() != c.used+c.want {
				t.Errorf("took %d of %d bytes, want %d", x.bodyShare.taken, g.BodyBytes()-c.used, c.want)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A body is the same however much of it was announced.
func TestLongBodiesArriveWhole(t *testing.T) {
	var got string
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
		answer(200, "application/json", chatReply).ServeHTTP(w, r)
	}), "")
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 5 << 20} {
		padding := strings.Repeat("a", size-len(chatBody))
		body := strings.Replace(chatBody, "hi", "hi"+padding, 1)
		for name, sent := range map[string]io.Reader{"announced": strings.NewReader(body), "in chunks": io.MultiReader(strings.NewReader(body))} {
			res, err := http.Post(f.url+"/v1/chat/completions", "application/json", sent)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK || got != body {
				t.Errorf("%d bytes, %s: status %d, %d bytes arrived", size, name, res.StatusCode, len(got))
			}
		}
	}
}
