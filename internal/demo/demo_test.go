package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// open raises a stage whose provider answers at once, in a folder of the
// test's own, and checks that nothing stays there.
func open(t *testing.T) *stage {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s, err := raise(t.Context(), Env{Stdout: io.Discard, Stderr: t.Output(), Getenv: noEnvironment, Version: "test", Clock: time.Now}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left on disk: %v, %v", left, err)
		}
	})
	return s
}

// watch passes calls on and keeps what haltd said of them.
type watch struct {
	http.Transport
	sizes   map[string][]int // of request bodies, by session
	reasons []string         // of X-Haltd-Reason
}

func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	session := r.Header.Get("X-Session-Id")
	w.sizes[session] = append(w.sizes[session], int(r.ContentLength))
	res, err := w.Transport.RoundTrip(r)
	if err == nil && res.Header.Get("X-Haltd-Reason") != "" {
		w.reasons = append(w.reasons, session+": "+res.Header.Get("X-Haltd-Reason"))
	}
	return res, err
}

func unseen(string, string, string) {}

// The healthy agent goes on for as long as a viewer likes, so that it must
// not so much as be warned when its tasks begin again.
func TestTheHealthyAgentIsHealthy(t *testing.T) {
	s := open(t)
	w := &watch{sizes: map[string][]int{}}
	a := newHealthy(s.app.GatewayURL(), &http.Client{Transport: w}, 0, unseen)
	for n := range 3 * len(healthyTasks) {
		session, task := healthyTask(n)
		if err := a.work(t.Context(), session, task); err != nil {
			t.Fatalf("task %d: %v", n, err)
		}
	}
	w.CloseIdleConnections()
	if len(w.reasons) > 0 {
		t.Errorf("haltd said of its calls: %v", w.reasons)
	}
	for session, sizes := range w.sizes {
		if len(sizes) != 4 {
			t.Errorf("%s took %d calls, want 3 files and a reply", session, len(sizes))
		}
		for i := 1; i < len(sizes); i++ {
			if 10*sizes[i] >= 14*sizes[i-1] {
				t.Errorf("%s grows from %d to %d bytes, as a runaway prompt does", session, sizes[i-1], sizes[i])
			}
		}
	}
}

func TestTheLoopingAgentIsKilled(t *testing.T) {
	s := open(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	calls := 0
	a := newLooping(s.app.GatewayURL(), client, 0, func(string, string, string) { calls++ })
	err := a.work(t.Context(), "october", loopingTask)
	var answer *stopped
	if !errors.As(err, &answer) || answer.status != http.StatusBadRequest {
		t.Fatalf("ended with %v, want haltd's answer with status 400", err)
	}
	if calls > 6 {
		t.Errorf("killed after %d calls, want 6 at most", calls)
	}
	incident, err := s.incident(t.Context(), client, answer.incident)
	if err != nil {
		t.Fatal(err)
	}
	if incident.Agent != loopingName || !strings.Contains(incident.Sentence, readFile) {
		t.Errorf("the incident is of %s: %s", incident.Agent, incident.Sentence)
	}
}

func TestOneAgentRecoversAfterANoteAndOneDoesNot(t *testing.T) {
	s := open(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	got := steerScene(t.Context(), s, client, 0, newTeller(Env{Stdout: io.Discard, Clock: time.Now}))
	if len(got) != 2 || !got[0].Recovered || got[0].Agent != heedingName || got[1].Recovered || got[1].Agent != deafName {
		t.Fatalf("steered are %+v, want one that recovered and one that did not", got)
	}
	i, err := s.incident(t.Context(), client, got[1].Incident)
	if err != nil || i.Status != haltd.IncidentUnmoved || !strings.Contains(i.Note, "kill") {
		t.Errorf("incident %s %q, %v; want the kill that followed", i.Status, i.Note, err)
	}
}

func TestTheFilesOfTheTasks(t *testing.T) {
	named := map[string]bool{}
	for _, task := range healthyTasks {
		for _, name := range fileName.FindAllString(task, -1) {
			if named[name] {
				t.Errorf("%s is in two tasks, which looks like a repetition", name)
			}
			named[name] = true
			if _, err := fs.Stat(files, path.Join("files", name)); err != nil {
				t.Errorf("a task names %s: %v", name, err)
			}
		}
	}
	missing := fileName.FindAllString(loopingTask, -1)
	if len(named) == 0 || len(missing) == 0 {
		t.Errorf("the tasks name %d files that are there and %d that are not, want some of both", len(named), len(missing))
	}
	for _, name := range missing {
		if _, err := fs.Stat(files, path.Join("files", name)); err == nil {
			t.Errorf("%s exists, so that nothing loops", name)
		}
	}
}

func TestBusyPortsAreLeftAlone(t *testing.T) {
	// Another program may hold the port already; that is as good.
	if l, err := net.Listen("tcp", gatewayAddress); err == nil {
		defer l.Close()
	}
	if s := open(t); s.app.GatewayURL() == "http://"+gatewayAddress {
		t.Error("the gateway listens on a port that is taken")
	}
}

func TestADemoThatIsEndedEarlySaysSo(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	// The first line is the sign that the agents are about to start.
	err := (&Command{}).Play(ctx, Env{Stdout: writer(func(p []byte) (int, error) {
		cancel()
		return out.Write(p)
	}), Stderr: t.Output(), Getenv: noEnvironment, Version: "test", Clock: time.Now})
	if err == nil || !strings.Contains(err.Error(), "before the loop was killed") {
		t.Errorf("ended with %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
}

func noEnvironment(string) (string, bool) { return "", false }

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
