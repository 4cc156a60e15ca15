package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// The vocabulary is a promise about what can appear in a log file. Whoever
// extends it confirms here that the new field cannot hold prompt text or a
// secret.
func TestVocabularyIsPinned(t *testing.T) {
	want := []string{
		"address", "admin", "agent", "by", "bytes", "channel", "client", "code", "config", "count",
		"data_dir", "decision", "dependency", "dropped", "duration", "error", "event", "event_type",
		"field", "file", "format", "gateway", "incident", "key_id", "latency", "level", "limit", "method",
		"model", "msg", "node", "path", "policy", "provider", "reason", "rule", "session", "signal", "source",
		"status", "time", "version",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(vocabulary))); diff != "" {
		t.Errorf("the log vocabulary changed (-pinned +now):\n%s", diff)
	}
}

func logged(t *testing.T, write func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log, err := NewLogger(&out, "json", slog.LevelDebug)
	if err != nil {
		t.Fatal(err)
	}
	write(log)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("log line %q: %v", out.String(), err)
	}
	delete(line, "time")
	return line
}

func TestFieldsOutsideTheVocabularyAreWithheld(t *testing.T) {
	got := logged(t, func(log *slog.Logger) {
		log.With("prompt", "my diary").WithGroup("call").Info("forwarded",
			"agent", "billing-bot", "status", 200, "body", map[string]string{"a": "b"},
			slog.Group("more", "model", "gpt", "header", "Cookie: x"))
	})
	want := map[string]any{
		"level": "INFO", "msg": "forwarded", "prompt": Withheld,
		"call": map[string]any{
			"agent": "billing-bot", "status": 200.0, "body": Withheld,
			"more": map[string]any{"model": "gpt", "header": Withheld},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}

type secretive struct{ token string }

func (s secretive) LogValue() slog.Value { return slog.StringValue("Bearer " + s.token) }

func TestCredentialsAreRedactedInEveryField(t *testing.T) {
	got := logged(t, func(log *slog.Logger) {
		log.Warn("refused "+haltd.NewKeySecret(),
			"error", errors.New("dial with sk-proj-abc_DEF-123: no"),
			"path", secretive{"hunter2"},
			"reason", []string{"x-api-key: topsecret", "fine"})
	})
	want := map[string]any{
		"level": "WARN", "msg": "refused [redacted]",
		"error":  "dial with [redacted]: no",
		"path":   "[redacted]",
		"reason": "[[redacted] fine]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"key haltd_abc-DEF_1 used":          "key [redacted] used",
		"sk-ant-api03-xyz":                  "[redacted]",
		"AIzaSyD-1234":                      "[redacted]",
		`{"Authorization":"Bearer abc"}`:    `{"[redacted]"}`,
		"authorization: Basic dXNlcjpwYXNz": "[redacted]",
		"X-API-Key=abc next":                "[redacted] next",
		"map[X-Api-Key:[abc] Host:[h]]":     "map[[redacted]] Host:[h]]",
		"https://bob:pw@example.com/x":      "https://[redacted]@example.com/x",
		"http://127.0.0.1:7070/v1":          "http://127.0.0.1:7070/v1",
		"task-1234 is risk-free":            "task-1234 is risk-free",
		"the bearer":                        "the bearer",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNewLoggerRefusesAnUnknownFormat(t *testing.T) {
	_, err := NewLogger(&bytes.Buffer{}, "xml", slog.LevelInfo)
	if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), "xml") {
		t.Errorf("error = %v, want an invalid one that names xml", err)
	}
}

func TestLevelIsTheLeastThatIsWritten(t *testing.T) {
	var out bytes.Buffer
	log, err := NewLogger(&out, "text", slog.LevelWarn)
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud")
	if got := out.String(); strings.Contains(got, "quiet") || !strings.Contains(got, "msg=loud") {
		t.Errorf("log = %q, want only the warning", got)
	}
}
