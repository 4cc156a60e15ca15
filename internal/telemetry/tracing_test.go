package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"testing"
)

// What is sent, by the standard variables.
func TestTheVariablesSayWhatIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		env             map[string]string
		spans, readings bool
		told            string
	}{
		"nothing":                {},
		"an endpoint":            {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, spans: true, readings: true},
		"one for spans":          {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, spans: true},
		"spans switched off":     {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, readings: true},
		"an exporter alone":      {env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, spans: true},
		"an unknown one alone":   {env: map[string]string{"OTEL_METRICS_EXPORTER": "console"}, told: `OTEL_METRICS_EXPORTER error="\"console\" is not known"`},
		"an unknown one":         {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_METRICS_EXPORTER": "prometheus"}, spans: true, readings: true, told: "OTEL_METRICS_EXPORTER"},
		"all of it switched off": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			log, err := NewLogger(&said, "text", slog.LevelInfo)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range c.env {
				t.Setenv(key, value) // the SDK reads them itself
			}
			tracer, err := NewTracer(t.Context(), func(key string) (string, bool) { v, ok := c.env[key]; return v, ok }, "1.2.3", log)
			if err != nil {
				t.Fatal(err)
			}
			if tracer == nil {
				tracer = &Tracer{}
			}
			if spans, readings := tracer.spans != nil, tracer.readings != nil; spans != c.spans || readings != c.readings {
				t.Errorf("spans are sent: %v, metrics: %v; want %v and %v", spans, readings, c.spans, c.readings)
			}
			if !strings.Contains(said.String(), c.told) || c.told == "" && said.Len() > 0 {
				t.Errorf("the log says %q, want %q", said.String(), c.told)
			}
			ended, end := context.WithCancel(t.Context())
			end() // nobody is there to send to
			_ = tracer.Close(ended)
		})
	}
}

// What cannot be meant is refused with the name of the variable, before anything is
// sent to where nobody asked for.
func TestVariablesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ variable, value, protocol string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317", "grpc"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://", ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://127.0.0.1", ""},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "pigeon", "pigeon"},
	} {
		env := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": c.protocol, c.variable: c.value}
		tracer, err := NewTracer(t.Context(), func(key string) (string, bool) { v, ok := env[key]; return v, ok }, "1.2.3", slog.New(slog.DiscardHandler))
		if tracer != nil || err == nil || !strings.HasPrefix(err.Error(), c.variable+": ") {
			t.Errorf("%s=%s: %v", c.variable, c.value, err)
		}
	}
}
