package e2e

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	_ "modernc.org/sqlite" // to lock a store
)

// metric is the sum of a metric of haltd over its labels.
func (n *node) metric(t *testing.T, name string) (sum float64) {
	t.Helper()
	status, text, err := n.Ask(t.Context(), "GET", "/metrics", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET /metrics: %d, %v", status, err)
	}
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllSubmatch(text, -1) {
		v, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum
}

// startGateway runs a haltd with these keys of the section gateway.
func startGateway(t *testing.T, keys, more string) *node {
	t.Helper()
	n := harness.New(t, t.TempDir())
	n.Config.Replace(t, strings.Replace(n.Config.Base(), "gateway: {", "gateway: {"+keys+", ", 1)+more)
	n.Run(t)
	return &node{n}
}

// bodyLimits are keys of the section gateway, how long a body may just be by
// them, and the MiB that a heap with many of those may have. Bodies of 30 MiB
// keep a haltd with the race detector busy for minutes, so the limits are an
// eighth of the defaults; with HALTD_SIZES=all they are the defaults.
func bodyLimits() (keys string, body int, heap float64) {
	if os.Getenv("HALTD_SIZES") == "all" {
		return "max_body: 32MiB, body_memory: 256MiB", 30 << 20, 800
	}
	return "max_body: 4MiB, body_memory: 32MiB", 30 << 20 / 8, 800 / 8
}

// bomb is a chat that is small as it is sent and large decoded.
func bomb(t *testing.T, decoded int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprintf(w, `{"model":"echo","padding":%q,"messages":[{"role":"user","content":"hello"}]}`, strings.Repeat("a", decoded))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Many bodies at once take no more memory than they may: what is too much is
// refused, as the provider would, and passes when it is sent again.
func TestBodiesInFlightTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	keys, body, most := bodyLimits()
	n := startGateway(t, keys, harness.Providers(url))
	small := bomb(t, body)
	call := func() (*http.Response, string) {
		req, err := http.NewRequest("POST", n.Gateway+"/v1/chat/completions", bytes.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Encoding", "gzip")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return &http.Response{}, ""
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res, string(text)
	}
	var mu sync.Mutex
	var refused, passed int
	var wg sync.WaitGroup
	// How many of them are read at the same time is up to the machine.
	for tries := 0; tries < 10 && (passed == 0 || refused == 0); tries++ {
		for range 14 {
			wg.Go(func() {
				res, text := call()
				mu.Lock()
				defer mu.Unlock()
				switch res.StatusCode {
				case http.StatusOK:
					passed++
				case http.StatusServiceUnavailable:
					refused++
					if res.Header.Get("Retry-After") == "" || res.Header.Get("X-Haltd-Reason") != haltd.CodeBusy || !strings.Contains(text, `"error":{"message":"haltd: The bodies`) || !strings.Contains(text, "gateway.body_memory") {
						t.Errorf("%v %s; want Retry-After, the reason and the setting", res.Header, text)
					}
				default:
					t.Errorf("%d %s", res.StatusCode, text)
				}
			})
		}
		wg.Wait()
	}
	if passed == 0 || refused == 0 {
		t.Errorf("%d bodies passed and %d were refused; want some of each", passed, refused)
	}
	if heap := n.metric(t, "go_memstats_heap_sys_bytes") / (1 << 20); heap > most {
		t.Errorf("the heap grew to %.0f MiB, want %.0f at most", heap, most)
	} else {
		t.Logf("heap %.0f MiB, %d passed, %d refused", heap, passed, refused)
	}
	if got := n.metric(t, "haltd_bodies_refused_total"); got != float64(refused) {
		t.Errorf("haltd_bodies_refused_total %v, want %d", got, refused)
	}
	if res, text := call(); res.StatusCode != http.StatusOK {
		t.Errorf("a body alone: %d %s", res.StatusCode, text)
	}
	n.Eventually(t, "free of bodies", func() bool { return n.metric(t, "haltd_body_bytes") == 0 })
}

// units repeats what unit makes until there are so many bytes of it.
func units(size int, unit func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(unit(i))
	}
	return b.String()
}

// A body of nothing but small parts takes many times its size when it is read,
// and a reply of which no line ends is kept until it does, and copied as it grows:
// all of that counts.
func TestWhatBodiesTakeBesideTheirBytesCounts(t *testing.T) {
	t.Parallel()
	const keys, size, empty = "max_body: 8MiB, body_memory: 24MiB", 6 << 20, `{"role":"user","content":""}`
	_, url := provider(t)
	n := startGateway(t, keys, harness.Providers(url))
	for name, messages := range map[string]string{
		"text":     `{"role":"user","content":"` + strings.Repeat("a", size) + `"}`, // which is all it takes
		"messages": units(size, func(int) string { return empty }),
		"rounds":   units(size, func(int) string { return `{"role":"user","content":"a"},{"role":"assistant","content":"b"}` }),
		"calls":    `{"role":"assistant","tool_calls":[` + units(size, func(int) string { return `{"id":"a","function":{"name":"b","arguments":""}}` }) + `]},` + empty,
		"names":    empty + `],"metadata":{` + units(size, func(i int) string { return fmt.Sprintf(`"%x":1`, i) }) + `},"tools":[`,
	} {
		want := http.StatusServiceUnavailable
		if name == "text" {
			want = http.StatusOK
		}
		if status, body := post(t, n.Gateway+"/v1/chat/completions", `{"model":"nousage","messages":[`+messages+`]}`); status != want {
			t.Errorf("%d MiB of %s: %d %.200s; want %d", size>>20, name, status, body, want)
		}
	}
	for kind, start := range map[string]string{"application/json": `{"x":"`, "text/event-stream": `data: {"x":"`, "application/x-ndjson": `{"x":"`} {
		const length = 7 << 20
		var read sync.WaitGroup
		read.Add(2)
		upstream := listen(t, func(w io.Writer, _ *http.Request) {
			fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s%s", kind, length, start, strings.Repeat("a", length-len(start)-1))
			read.Wait() // both are held at once
			_, _ = io.WriteString(w, "a")
		})
		n := startGateway(t, keys, harness.Providers("http://"+upstream))
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				res, err := http.Post(n.Gateway+"/agents/reader/openai/api/chat", "application/json", strings.NewReader(chat))
				if err != nil {
					t.Error(err)
					read.Done()
					return
				}
				defer res.Body.Close()
				most, _ := io.CopyN(io.Discard, res.Body, length-64<<10) // haltd may keep the last of it
				read.Done()
				if rest, err := io.Copy(io.Discard, res.Body); most+rest != length || err != nil {
					t.Errorf("%s: %d bytes and %v; want all of the reply", kind, most+rest, err)
				}
			})
		}
		all.Wait()
		if e := n.Events(t, "agent=reader", 2); !strings.HasPrefix(e[0].Unread+e[1].Unread, "no memory") && !strings.HasSuffix(e[0].Unread+e[1].Unread, "for bodies") {
			t.Errorf("%s: two lines of %d MiB: unread %q and %q; want no memory for one", kind, length>>20, e[0].Unread, e[1].Unread)
		}
		n.Eventually(t, "free of bodies", func() bool { return n.metric(t, "haltd_body_bytes") == 0 })
	}
	n.Eventually(t, "free of bodies", func() bool { return n.metric(t, "haltd_body_bytes") == 0 })
}

// A client that begins a body and stops, or that does not read its reply, is
// let go of; one that is slow and goes on is not.
func TestClientsThatStallAreLetGo(t *testing.T) {
	llm, url := harness.Provider(t, harness.Scripted)
	llm.SetRules([]fakellm.Rule{{Model: "long", Script: fakellm.Script{Text: strings.Repeat("word ", 1600<<10)}}})
	const stall = 3 * time.Second
	n := startGateway(t, fmt.Sprintf("stall_timeout: %v", stall), harness.Providers(url))
	dial := func(t *testing.T, head string) net.Conn {
		t.Helper()
		// The system takes little for a client that does not read.
		d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
		}}
		conn, err := d.Dial("tcp", n.Config.Gateway)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for _, path := range []string{"/agents/sender/openai/v1/chat/completions", "/agents/sender/openai/v1/files"} {
		t.Run("a body that stops on "+path, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{\"model\":")
			text, err := io.ReadAll(conn) // until it is closed
			if err != nil || !strings.Contains(string(text), " 408 ") || !strings.Contains(string(text), haltd.CodeStalled) || !strings.Contains(string(text), "gateway.stall_timeout") {
				t.Errorf("%q, %v; want 408 with the reason and the setting, then the end", text, err)
			}
		})
	}
	t.Run("a body that nobody wants and that stops", func(t *testing.T) {
		t.Parallel()
		conn := dial(t, "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{")
		if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), " 404 ") {
			t.Errorf("%q, %v; want 404, then the end", text, err)
		}
	})
	t.Run("a header that stops", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		conn := dial(t, "POST /agents/header/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Long: ")
		if text, err := io.ReadAll(conn); err != nil || strings.Contains(string(text), " 200 ") || time.Since(began) > 20*time.Second {
			t.Errorf("%q, %v after %v; want the end after ten seconds", text, err, time.Since(began))
		}
	})
	t.Run("a body that is slow", func(t *testing.T) {
		t.Parallel()
		body := chat
		conn := dial(t, fmt.Sprintf("POST /agents/slow/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", len(body)))
		const pieces = 24
		for i := range pieces {
			time.Sleep(stall * 5 / 4 / pieces) // slower in all than the limit, and never still for nearly so long
			if _, err := io.WriteString(conn, body[i*len(body)/pieces:(i+1)*len(body)/pieces]); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), " 200 ") {
			t.Errorf("%q, %v; want 200", text, err)
		}
	})
	t.Run("a stream that pauses for longer", func(t *testing.T) {
		t.Parallel()
		a := (&stage{node: n, llm: llm, url: url}).agent(t)
		got := a.send(request{messages: []message{user("hi")}, stream: true, reply: fakellm.Script{Text: "one two three", Chunks: 3, Delay: fakellm.Delay(stall * 5 / 4), ChunkDelay: fakellm.Delay(100 * time.Millisecond)}})
		if got.status != 200 || !strings.Contains(got.body, "[DONE]") {
			t.Errorf("%d %s; want the whole stream", got.status, got.body)
		}
	})
	t.Run("a reader that does not read", func(t *testing.T) {
		t.Parallel()
		body := `{"model":"long","messages":[{"role":"user","content":"hi"}]}`
		dial(t, fmt.Sprintf("POST /agents/reader/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if e := n.Events(t, "agent=reader", 1)[0]; e.Error != "client_left" {
			t.Errorf("event %+v; want the client gone", e)
		}
		n.Eventually(t, "free of its call", func() bool { return n.metric(t, "haltd_in_flight") == 0 }) // and of all others here
	})
}

// Whatever is being read, judged or written when haltd is told to stop, it ends
// in time.
func TestShutdownIsBounded(t *testing.T) {
	const limit, slack = time.Second, 9 * time.Second // five of them to write what is left
	for _, tc := range []struct {
		name   string
		locked bool // by another program, so that nothing can be written
	}{{"calls that do not end", false}, {"a store that does not answer", true}} {
		t.Run(tc.name, func(t *testing.T) {
			release := make(chan struct{})
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-release:
				}
			}))
			defer up.Close()
			defer close(release)
			c := harness.NewConfig(t.TempDir(), harness.Address(t), harness.Address(t))
			c.Replace(t, strings.Replace(c.Base(), "gateway: {", fmt.Sprintf("gateway: {shutdown_timeout: %v, ", limit), 1)+harness.Providers(up.URL)+
				"agents: {spender: {budgets: {day: {hard_usd: 5}}}}\n")
			p, err := harness.Launch(harness.Command(t, nil, "serve", "--config", c.Path))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = p.Kill() }()
			if err := p.Await(t.Context(), "ready", func() bool { return strings.Contains(p.Log(), "haltd is ready") }); err != nil {
				t.Fatal(err)
			}
			if tc.locked {
				lockStore(t, c.DataDir)
			}
			for _, agent := range []string{"streamer", "spender"} {
				go func() {
					if res, err := http.Post("http://"+c.Gateway+"/agents/"+agent+"/openai/v1/chat/completions", "application/json", strings.NewReader(chat)); err == nil {
						_, _ = io.Copy(io.Discard, res.Body) // until haltd ends it
						res.Body.Close()
					}
				}()
			}
			conn, err := net.Dial("tcp", c.Gateway)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "POST /agents/sender/openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
			l := harness.Listeners{Gateway: "http://" + c.Gateway, Admin: "http://" + c.Admin}
			n := &node{&harness.Node{Listeners: l}}
			// That of the spender is refused after a while where nothing can be written.
			if err := harness.Until(t.Context(), func() bool { return n.metric(t, "haltd_in_flight") >= 2 }); err != nil {
				t.Fatalf("the calls are not in flight: %v", err)
			}
			began := time.Now()
			if err := p.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			err = p.Wait()
			if took := time.Since(began); took > limit+slack {
				t.Errorf("it took %v to end, with a limit of %v", took, limit)
			}
			if (err != nil) != tc.locked || tc.locked && !strings.Contains(p.Log(), "not written") {
				t.Errorf("it ended with %v; want an error that tells what is lost: %v\n%s", err, tc.locked, p.Log())
			}
		})
	}
}

// Secrets that cannot be sealed are told of: in the log, in a metric and in the
// status.
func TestSecretsThatCannotBeSealedAreToldOf(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	n.Must(t, "POST", "/v1/channels", map[string]any{"name": "ops", "kind": "webhook", "settings": map[string]any{"url": "https://example.com/hook", "secret": "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}}, nil)
	n.Stop(t)
	db, err := sql.Open("sqlite", filepath.Join(n.Config.DataDir, "haltd.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	// As an earlier release left it, with a key that is no key.
	if _, err := db.Exec(`UPDATE channels SET body = json_set(body, '$.settings', json('{"url":"https://example.com/hook"}'))`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.Config.DataDir, "secrets.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Run(t)
	var status struct{ Degraded []string }
	n.Must(t, "GET", "/v1/status", nil, &status)
	if !slices.Contains(status.Degraded, "secrets") || n.metric(t, "haltd_degraded") != 1 || !strings.Contains(n.Log(), "cannot be sealed") {
		t.Errorf("degraded %v, haltd_degraded %v; want secrets in both and in the log", status.Degraded, n.metric(t, "haltd_degraded"))
	}
}
