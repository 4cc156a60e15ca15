package telemetry

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// scope names who made the spans and metrics.
const scope = "github.com/haltd/haltd"

// mostSeries is how many combinations of attributes a metric has at most;
// clients name models.
const mostSeries = 2000

// Tracer sends a span per call and per judgement, and the tokens, money and
// latency of calls, to a collector that speaks OTLP. The SDK reads how from the
// standard variables. Its queues are bounded: what is too much is dropped.
type Tracer struct {
	spans    *sdktrace.TracerProvider // nil where only metrics are sent
	readings *sdkmetric.MeterProvider // nil where only spans are sent
	tracer   trace.Tracer             // of spans
	tokens   metric.Int64Histogram    // of readings, like the others
	duration metric.Float64Histogram  // of a call as its client saw it
	first    metric.Float64Histogram  // until the first byte of its reply
	cost     metric.Float64Counter    // in US dollars
	parent   propagation.TraceContext // reads traceparent
}

// NewTracer starts what the standard variables of OpenTelemetry ask for. It is
// nil where none of them names an endpoint or an exporter. A collector that cannot be reached
// is no error: the log tells of it.
func NewTracer(ctx context.Context, env func(string) (string, bool), version string, log *slog.Logger) (*Tracer, error) {
	spans, readings := wanted(env, "TRACES", log), wanted(env, "METRICS", log)
	if disabled := value(env, "OTEL_SDK_DISABLED"); strings.EqualFold(disabled, "true") || !spans && !readings {
		return nil, nil
	}
	otel.SetErrorHandler(&exportErrors{log: log})
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("haltd"), semconv.ServiceVersion(version)),
		resource.WithFromEnv(), // overrides
	)
	if err != nil && !errors.Is(err, resource.ErrPartialResource) && !errors.Is(err, resource.ErrSchemaURLConflict) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Tracer{}
	if spans {
		if err := t.openSpans(ctx, env, about); err != nil {
			return nil, err
		}
	}
	if readings {
		if err := t.openReadings(ctx, env, about); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func value(env func(string) (string, bool), name string) string {
	v, _ := env(name)
	return strings.TrimSpace(v)
}

// wanted reports whether a signal is to be sent. One that has an exporter and no
// endpoint goes to the standard's own, on this machine. What the standard has and
// haltd does not is told and passed over, as the standard says.
func wanted(env func(string) (string, bool), signal string, log *slog.Logger) bool {
	variable := "OTEL_" + signal + "_EXPORTER"
	switch exporter := value(env, variable); strings.ToLower(exporter) {
	case "none":
		return false
	case "otlp":
		return true
	case "":
	default:
		log.Warn("haltd has no such exporter of OpenTelemetry and passes it over; use otlp or none", "field", variable, "error", fmt.Sprintf("%q is not known", exporter))
	}
	return cmp.Or(value(env, "OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"), value(env, "OTEL_EXPORTER_OTLP_ENDPOINT")) != ""
}

// protocol is how a signal is sent: grpc or http/protobuf. An endpoint that is no
// URL is refused as well: the SDK would send to its default in that place.
func protocol(env func(string) (string, bool), signal string) (string, error) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		endpoint := value(env, variable)
		if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			return "", haltd.Errorf(haltd.CodeInvalid, "%q is not a URL", endpoint).In(variable).WithFix("Write for example http://127.0.0.1:4318.")
		}
	}
	p := cmp.Or(value(env, "OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), value(env, "OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if p == "grpc" || p == "http/protobuf" {
		return p, nil
	}
	return "", haltd.Errorf(haltd.CodeInvalid, "%q is not supported", p).In("OTEL_EXPORTER_OTLP_PROTOCOL").WithFix("Use http/protobuf or grpc.")
}

func (t *Tracer) openSpans(ctx context.Context, env func(string) (string, bool), about *resource.Resource) error {
	p, err := protocol(env, "TRACES")
	if err != nil {
		return err
	}
	var exporter sdktrace.SpanExporter
	if p == "grpc" {
		exporter, err = otlptracegrpc.New(ctx)
	} else {
		exporter, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: spans cannot be sent: %w", err)
	}
	t.spans = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about), sdktrace.WithIDGenerator(traceIDs{}))
	t.tracer = t.spans.Tracer(scope)
	return nil
}

func (t *Tracer) openReadings(ctx context.Context, env func(string) (string, bool), about *resource.Resource) error {
	p, err := protocol(env, "METRICS")
	if err != nil {
		return err
	}
	var exporter sdkmetric.Exporter
	if p == "grpc" {
		exporter, err = otlpmetricgrpc.New(ctx)
	} else {
		exporter, err = otlpmetrichttp.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: metrics cannot be sent: %w", err)
	}
	t.readings = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(about), sdkmetric.WithCardinalityLimit(mostSeries))
	m := t.readings.Meter(scope)
	var errs [4]error
	t.tokens, errs[0] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Tokens of calls, by type."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	seconds := metric.WithExplicitBucketBoundaries(.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
	t.duration, errs[1] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"), metric.WithDescription("Time from a request to the end of its reply."), seconds)
	t.first, errs[2] = m.Float64Histogram("gen_ai.client.operation.time_to_first_chunk", metric.WithUnit("s"), metric.WithDescription("Time from a request to the first byte of its reply."), seconds)
	t.cost, errs[3] = m.Float64Counter("haltd.cost", metric.WithUnit("{USD}"), metric.WithDescription("What calls cost, in US dollars."))
	return errors.Join(errs[:]...)
}

// ownTrace is the trace of a call that belongs to none of its client's.
type ownTrace struct{}

// traceIDs makes the ids of spans, and keeps the id of a trace that was told
// before its first span.
type traceIDs struct{}

func (traceIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if id, err := trace.TraceIDFromHex(fmt.Sprint(ctx.Value(ownTrace{}))); err == nil {
		return id, newSpanID()
	}
	return newTraceID(), newSpanID()
}

func (traceIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		fill(id[:])
	}
	return id
}

func newTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		fill(id[:])
	}
	return id
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
}

// NewTrace makes the id of a trace, for a call that belongs to none. It is ""
// where no spans are sent: nobody would find it.
func (t *Tracer) NewTrace() string {
	if t.spans == nil {
		return ""
	}
	id := newTraceID()
	return hex.EncodeToString(id[:])
}

// Call sends the span of a call, and of its judgement, and counts it.
func (t *Tracer) Call(e *haltd.Event, x haltd.Traced) {
	if t.spans != nil {
		t.span(e, x)
	}
	if t.readings != nil && x.Operation != "pass_through" {
		t.count(e, x)
	}
}

func (t *Tracer) span(e *haltd.Event, x haltd.Traced) {
	ctx := context.WithValue(context.Background(), ownTrace{}, e.Trace)
	if x.Parent != "" {
		ctx = t.parent.Extract(ctx, propagation.MapCarrier{"traceparent": x.Parent, "tracestate": x.State})
	}
	ctx, span := t.tracer.Start(ctx, strings.TrimSpace(x.Operation+" "+e.Model),
		trace.WithTimestamp(x.Began), trace.WithSpanKind(trace.SpanKindClient))
	if !x.Judging.IsZero() {
		_, judging := t.tracer.Start(ctx, "judge", trace.WithTimestamp(x.Judging))
		judging.SetAttributes(verdictAttributes(e, x)...)
		judging.End(trace.WithTimestamp(x.Judged))
	}
	span.SetAttributes(callAttributes(e, x)...)
	if x.ErrorType != "" {
		span.SetAttributes(semconv.ErrorTypeKey.String(x.ErrorType))
		span.SetStatus(codes.Error, x.ErrorType)
	}
	span.End(trace.WithTimestamp(x.Ended))
}

func verdictAttributes(e *haltd.Event, x haltd.Traced) []attribute.KeyValue {
	return present(
		attribute.String("haltd.decision", x.Decision),
		attribute.String("haltd.reason", string(e.BlockReason)),
		attribute.String("haltd.rule", e.Rule),
		attribute.String("haltd.incident", e.Incident),
		attribute.Float64("haltd.score", e.Score),
	)
}

func callAttributes(e *haltd.Event, x haltd.Traced) []attribute.KeyValue {
	list := append(commonAttributes(e, x), present(
		semconv.GenAIAgentID(e.Agent),
		semconv.GenAIConversationID(e.Session),
		semconv.ServerAddress(x.Server),
		attribute.String("haltd.client", e.Client),
		attribute.String("haltd.path", e.Path),
	)...)
	list = append(list, verdictAttributes(e, x)...)
	if e.Status != 0 {
		list = append(list, semconv.HTTPResponseStatusCode(e.Status))
	}
	if e.Finish != "" {
		list = append(list, semconv.GenAIResponseFinishReasons(e.Finish))
	}
	if e.Tokens != (haltd.Usage{}) {
		list = append(list,
			semconv.GenAIUsageInputTokens(int(e.Tokens.Input)), semconv.GenAIUsageOutputTokens(int(e.Tokens.Output)),
			semconv.GenAIUsageCacheReadInputTokens(int(e.Tokens.CacheRead)), semconv.GenAIUsageCacheCreationInputTokens(int(e.Tokens.CacheWrite)),
			attribute.Bool("haltd.tokens_estimated", e.Estimated), attribute.Float64("haltd.cost_usd", e.Cost.Dollars()))
	}
	return list
}

func commonAttributes(e *haltd.Event, x haltd.Traced) []attribute.KeyValue {
	return present(
		semconv.GenAIOperationNameKey.String(x.Operation),
		semconv.GenAIProviderNameKey.String(providerName(e.Provider)),
		semconv.GenAIRequestModel(e.Model),
	)
}

// providerName is what gen_ai calls a provider; haltd's own name where it has
// none.
func providerName(provider string) string {
	switch provider {
	case "gemini":
		return "gcp.gemini"
	case "mistral":
		return "mistral_ai"
	case "xai":
		return "x_ai"
	}
	return provider
}

// present leaves out what is empty.
func present(list ...attribute.KeyValue) []attribute.KeyValue {
	kept := list[:0]
	for _, a := range list {
		if a.Value.Type() == attribute.STRING && a.Value.AsString() == "" || a.Value.Type() == attribute.FLOAT64 && a.Value.AsFloat64() == 0 {
			continue
		}
		kept = append(kept, a)
	}
	return kept
}

func (t *Tracer) count(e *haltd.Event, x haltd.Traced) {
	ctx := context.Background()
	common := commonAttributes(e, x)
	for kind, n := range map[string]int64{"input": e.Tokens.Input, "output": e.Tokens.Output} {
		if n > 0 {
			t.tokens.Record(ctx, n, metric.WithAttributes(append(common[:len(common):len(common)], semconv.GenAITokenTypeKey.String(kind))...))
		}
	}
	if e.Cost > 0 {
		t.cost.Add(ctx, e.Cost.Dollars(), metric.WithAttributes(common...))
	}
	if e.FirstByte > 0 {
		t.first.Record(ctx, time.Duration(e.FirstByte).Seconds(), metric.WithAttributes(common...))
	}
	if x.ErrorType != "" {
		common = append(common, semconv.ErrorTypeKey.String(x.ErrorType))
	}
	t.duration.Record(ctx, x.Ended.Sub(x.Began).Seconds(), metric.WithAttributes(common...))
}

// Close sends what is left, as long as ctx lasts.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var errs []error
	if t.spans != nil {
		errs = append(errs, t.spans.Shutdown(ctx))
	}
	if t.readings != nil {
		errs = append(errs, t.readings.Shutdown(ctx))
	}
	return errors.Join(errs...)
}

// exportErrors tells the log that a collector cannot be reached, once a minute:
// every batch would say so again.
type exportErrors struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (h *exportErrors) Handle(err error) {
	h.mu.Lock()
	quiet := time.Since(h.last) < time.Minute
	if !quiet {
		h.last = time.Now()
	}
	h.mu.Unlock()
	if !quiet {
		h.log.Warn("the OpenTelemetry collector does not take what is sent; check OTEL_EXPORTER_OTLP_ENDPOINT", "error", err)
	}
}
