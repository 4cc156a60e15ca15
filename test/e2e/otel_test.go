package e2e

import (
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	measured "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// collector takes what haltd sends, by OTLP over HTTP and over gRPC.
type collector struct {
	traces.UnimplementedTraceServiceServer
	mu      sync.Mutex
	spans   []*spans.Span
	metrics map[string]*measured.Metric
	service string
}

type metricsService struct {
	metrics.UnimplementedMetricsServiceServer
	*collector
}

func (c *collector) Export(_ context.Context, r *traces.ExportTraceServiceRequest) (*traces.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range r.ResourceSpans {
		c.service = attributes(rs.Resource.Attributes)["service.name"]
		for _, s := range rs.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
	return &traces.ExportTraceServiceResponse{}, nil
}

func (m metricsService) Export(_ context.Context, r *metrics.ExportMetricsServiceRequest) (*metrics.ExportMetricsServiceResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rm := range r.ResourceMetrics {
		for _, s := range rm.ScopeMetrics {
			for _, one := range s.Metrics {
				m.metrics[one.Name] = one
			}
		}
	}
	return &metrics.ExportMetricsServiceResponse{}, nil
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in, out proto.Message
	switch r.URL.Path {
	case "/v1/traces":
		in, out = &traces.ExportTraceServiceRequest{}, &traces.ExportTraceServiceResponse{}
	case "/v1/metrics":
		in, out = &metrics.ExportMetricsServiceRequest{}, &metrics.ExportMetricsServiceResponse{}
	default:
		http.NotFound(w, r)
		return
	}
	if err := proto.Unmarshal(body, in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch in := in.(type) {
	case *traces.ExportTraceServiceRequest:
		_, _ = c.Export(r.Context(), in)
	case *metrics.ExportMetricsServiceRequest:
		_, _ = metricsService{collector: c}.Export(r.Context(), in)
	}
	answer, _ := proto.Marshal(out)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

// of are the spans of a trace, by name.
func (c *collector) of(trace string) map[string]*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]*spans.Span{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == trace {
			found[s.Name] = s
		}
	}
	return found
}

// has reports whether a span of a trace is as wanted. Calls that end together may
// be told in any order, so that the newest of a name is not always the last call.
func (c *collector) has(trace string, wanted func(*spans.Span) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.spans, func(s *spans.Span) bool { return hex.EncodeToString(s.TraceId) == trace && wanted(s) })
}

func (c *collector) serviceName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.service
}

func (c *collector) metric(name string) *measured.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics[name]
}

func attributes(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range list {
		text := a.Value.GetStringValue()
		if text == "" {
			text = strings.TrimSpace(a.Value.String())
		}
		m[a.Key] = text
	}
	return m
}

func startCollector(t *testing.T, protocol string) (c *collector, endpoint string) {
	t.Helper()
	c = &collector{metrics: map[string]*measured.Metric{}}
	if protocol != "grpc" {
		server := httptest.NewServer(c)
		t.Cleanup(server.Close)
		return c, server.URL
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	traces.RegisterTraceServiceServer(server, c)
	metrics.RegisterMetricsServiceServer(server, metricsService{collector: c})
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return c, "http://" + l.Addr().String()
}

func TestOpenTelemetry(t *testing.T) {
	t.Parallel()
	const (
		clientTrace = "0af7651916cd43dd8448eb211c80319c"
		clientSpan  = "b7ad6b7169203331"
		traceparent = "00-" + clientTrace + "-" + clientSpan + "-01"
	)
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			c, endpoint := startCollector(t, protocol)
			s := newStage(t, "", "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
				"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_METRIC_EXPORT_INTERVAL=100", "OTEL_SERVICE_NAME=haltd-here")
			a := s.agent(t).with(literal + `,"threshold":4`)

			if got := a.ask("Which trains leave tonight?", "None."); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			own := a.has(haltd.EventCall, 1)[0].Trace
			if len(own) != 32 {
				t.Fatalf("trace of a call without one: %q", own)
			}
			s.Eventually(t, "the call and its judgement in a trace of their own", func() bool { return len(c.of(own)) == 2 })
			if up := s.llm.Requests(); up[len(up)-1].Header.Get("Traceparent") != "" {
				t.Error("the provider was sent a trace that its client knows nothing of")
			}

			var last answer
			for range 10 {
				last = a.send(request{messages: []message{user("What is the state of the order?")}, reply: fakellm.Script{Text: "On its way."}, header: map[string]string{"Traceparent": traceparent}})
				if last.status != 200 {
					break
				}
			}
			if last.header.Get("X-Haltd-Incident") == "" {
				t.Fatalf("no kill: %d %s", last.status, last.body)
			}
			if up := s.llm.Requests(); up[len(up)-1].Header.Get("Traceparent") != traceparent {
				t.Error("the client's traceparent did not reach the provider as it was")
			}
			i := a.incidents(1)[0]
			if i.Trace != clientTrace {
				t.Errorf("the incident is of trace %q, want that of the client", i.Trace)
			}
			s.Eventually(t, "the blocked call", func() bool {
				return c.has(clientTrace, func(span *spans.Span) bool {
					at := attributes(span.Attributes)
					return strings.HasPrefix(span.Name, "chat ") && at["haltd.decision"] == "kill" && at["haltd.incident"] == i.ID &&
						at["gen_ai.agent.id"] == a.id && span.Status.Code == spans.Status_STATUS_CODE_ERROR
				})
			})
			call, judgement := c.of(clientTrace)["chat gpt-4.1-mini"], c.of(clientTrace)["judge"]
			if hex.EncodeToString(call.ParentSpanId) != clientSpan || hex.EncodeToString(judgement.TraceId) != clientTrace {
				t.Errorf("parent %x, judgement in %x", call.ParentSpanId, judgement.TraceId)
			}
			first := attributes(c.of(own)["chat gpt-4.1-mini"].Attributes)
			if first["gen_ai.provider.name"] != "openai" || first["gen_ai.usage.output_tokens"] == "" || first["haltd.cost_usd"] == "" || c.serviceName() != "haltd-here" {
				t.Errorf("attributes %v of service %q", first, c.serviceName())
			}
			if parent := c.of(own)["judge"].ParentSpanId; string(parent) != string(c.of(own)["chat gpt-4.1-mini"].SpanId) {
				t.Errorf("the judgement's parent is %x, want the call", parent)
			}
			for _, name := range []string{"gen_ai.client.token.usage", "gen_ai.client.operation.duration", "gen_ai.client.operation.time_to_first_chunk", "haltd.cost"} {
				s.Eventually(t, name, func() bool { return c.metric(name) != nil })
			}
		})
	}
}

// The client's trace is kept, and incidents link to it, without any collector.
func TestTracesOfClientsAreKept(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")

	s.Config.Replace(t, strings.Replace(s.Config.Base(), "admin: {", `admin: {trace_url: "https://traces.example.com/t/{trace_id}", `, 1)+"providers: {openai: {base_url: \""+s.url+"\"}}\n")
	s.Reload(t, "configuration reloaded")
	a := s.agent(t).with(literal + `,"threshold":4`)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for range 10 {
		a.send(request{messages: []message{user("Is it done?")}, reply: fakellm.Script{Text: "No."}, header: map[string]string{"Traceparent": "00-" + trace + "-b7ad6b7169203331-00"}})
	}
	var got struct {
		Trace string `json:"trace_id"`
		URL   string `json:"trace_url"`
	}
	s.Must(t, "GET", "/v1/incidents/"+a.incidents(1)[0].ID, nil, &got)
	if got.Trace != trace || got.URL != "https://traces.example.com/t/"+trace {
		t.Errorf("incident of trace %q at %q", got.Trace, got.URL)
	}
	if e := a.has(haltd.EventKillSwitch, 1)[0]; e.Trace != trace {
		t.Errorf("event of trace %q", e.Trace)
	}
	other := s.agent(t, "untraced")
	other.ask("Hello?", "Hello.")
	if e := other.has(haltd.EventCall, 1)[0]; e.Trace != "" {
		t.Errorf("trace %q of a call without one, while nobody collects", e.Trace)
	}
}
