// Command bifrost is a small HTTP server around Bifrost's core, for the
// benchmark: its own server cannot be built from what Go's module mirror has. It
// passes OpenAI chat completions on, and logs them to SQLite as Bifrost's server
// does: by its logging plugin, which is told of complete calls by its tracer.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bytedance/sonic"
	"github.com/google/uuid"
	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"
	"github.com/maximhq/bifrost/framework/logstore"
	"github.com/maximhq/bifrost/framework/tracing"
	"github.com/maximhq/bifrost/plugins/logging"
	"github.com/valyala/fasthttp"
)

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: bifrost ADDRESS UPSTREAM DIRECTORY"))
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bifrost:", err)
	os.Exit(1)
}

func serve(address, upstream, dir string) error {
	ctx := context.Background()
	logger := bifrost.NewDefaultLogger(schemas.LogLevelWarn)
	store, err := logstore.NewLogStore(ctx, &logstore.Config{
		Enabled: true,
		Type:    logstore.LogStoreTypeSQLite,
		Config:  &logstore.SQLiteConfig{Path: filepath.Join(dir, "logs.db")},
	}, logger)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	plugin, err := logging.Init(ctx, &logging.Config{}, logger, store, nil, nil)
	if err != nil {
		return fmt.Errorf("start logging: %w", err)
	}
	tracer := tracing.NewTracer(tracing.NewTraceStore(time.Hour, logger), nil, logger)
	tracer.SetObservabilityPlugins([]schemas.ObservabilityPlugin{plugin})
	client, err := bifrost.Init(ctx, schemas.BifrostConfig{
		Account:         account{baseURL: "http://" + upstream},
		LLMPlugins:      []schemas.LLMPlugin{plugin},
		Logger:          logger,
		Tracer:          tracer,
		InitialPoolSize: schemas.DefaultInitialPoolSize,
	})
	if err != nil {
		return fmt.Errorf("start the core: %w", err)
	}
	g := &gateway{client: client, tracer: tracer}
	s := &fasthttp.Server{Handler: g.chat, MaxRequestBodySize: 100 << 20}
	return s.ListenAndServe(address)
}

// account is one OpenAI key, at the benchmark's upstream.
type account struct{ baseURL string }

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

func (account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{
		ID: "bench", Name: "bench", Weight: 1, Models: schemas.WhiteList{"*"},
		Value: *schemas.NewSecretVar("sk-bench-000000000000000000000000"),
	}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	c := &schemas.ProviderConfig{NetworkConfig: schemas.NetworkConfig{BaseURL: a.baseURL, AllowPrivateNetwork: true}}
	c.CheckAndSetDefaults()
	return c, nil
}

type gateway struct {
	client *bifrost.Bifrost
	tracer *tracing.Tracer
}

// chatBody is what the gateway itself reads of a request.
type chatBody struct {
	Model     string                `json:"model"`
	Messages  []schemas.ChatMessage `json:"messages"`
	MaxTokens *int                  `json:"max_tokens"`
	Stream    bool                  `json:"stream"`
}

func (g *gateway) chat(r *fasthttp.RequestCtx) {
	var body chatBody
	params := &schemas.ChatParameters{}
	for _, into := range []any{&body, params} {
		if err := sonic.Unmarshal(r.PostBody(), into); err != nil {
			r.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
	}
	if params.MaxCompletionTokens == nil {
		params.MaxCompletionTokens = body.MaxTokens
	}
	provider, model := schemas.ParseModelString(body.Model, schemas.OpenAI)
	request := &schemas.BifrostChatRequest{Provider: provider, Model: model, Input: body.Messages, Params: params}

	id := uuid.NewString()
	trace := g.tracer.CreateTrace("", id)
	ctx, cancel := schemas.NewBifrostContextWithCancel(context.Background())
	ctx.SetValue(schemas.BifrostContextKeyRequestID, id)
	ctx.SetValue(schemas.BifrostContextKeyTraceID, trace)
	ctx.SetValue(schemas.BifrostContextKeyTracer, g.tracer)
	done := func() {
		cancel()
		g.tracer.CompleteAndFlushTrace(trace)
	}
	if body.Stream {
		ctx.SetValue(schemas.BifrostContextKeyDeferTraceCompletion, true)
		chunks, failed := g.client.ChatCompletionStreamRequest(ctx, request)
		if failed != nil {
			done()
			answer(r, fasthttp.StatusBadGateway, failed)
			return
		}
		r.SetContentType("text/event-stream")
		r.SetBodyStream(&events{chunks: chunks, done: done}, -1)
		return
	}
	defer done()
	reply, failed := g.client.ChatCompletionRequest(ctx, request)
	if failed != nil {
		answer(r, fasthttp.StatusBadGateway, failed)
		return
	}
	answer(r, fasthttp.StatusOK, reply)
}

func answer(r *fasthttp.RequestCtx, status int, v any) {
	b, err := sonic.Marshal(v)
	if err != nil {
		r.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	r.SetStatusCode(status)
	r.SetContentType("application/json")
	r.SetBody(b)
}

// events reads the chunks of a reply as server-sent events. Each read gives one
// event at most, so that it leaves at once.
type events struct {
	chunks chan *schemas.BifrostStreamChunk
	rest   []byte // of the event that is being read
	ended  bool
	done   func()
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		if e.ended {
			return 0, io.EOF
		}
		chunk, ok := <-e.chunks
		if !ok {
			e.ended, e.rest = true, []byte("data: [DONE]\n\n")
			break
		}
		b, err := sonic.Marshal(chunk)
		if err != nil {
			return 0, fmt.Errorf("encode a chunk: %w", err)
		}
		e.rest = append(append(append(e.rest, "data: "...), b...), "\n\n"...)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Close is called by fasthttp when the reply has gone out, or its client has left:
// what is still to come is let go of then.
func (e *events) Close() error {
	if !e.ended {
		for range e.chunks {
		}
	}
	e.done()
	return nil
}
