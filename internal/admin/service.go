package admin

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

type noInput struct{}

type health struct {
	Body struct {
		Status string `json:"status" example:"ok"`
	}
}

type statusOutput struct {
	Body struct {
		Version       string `json:"version"`
		UptimeSeconds int64  `json:"uptime_seconds"`
		Status
		Bypass haltd.Bypass `json:"bypass"`
		Actor  string       `json:"actor" doc:"As whom changes of who asks are recorded."`
		Role   haltd.Access `json:"role" enum:"viewer,operator,admin"`
	}
}

type bytesOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// registerService adds what is about the process and not about agents.
func (s *server) registerService() {
	register(s, public(operation(http.MethodGet, "/healthz", "health", "Whether the process answers")),
		func(context.Context, *noInput) (*health, error) {
			out := &health{}
			out.Body.Status = "ok"
			return out, nil
		})
	register(s, public(operation(http.MethodGet, "/readyz", "ready", "Whether haltd can serve")), s.ready)
	register(s, operation(http.MethodGet, "/v1/status", "get-status", "The state of the process"), s.processStatus)

	config := operation(http.MethodGet, "/v1/config", "get-config", "The effective configuration, without secrets")
	config.Responses = textResponse("application/yaml", "The configuration as YAML.")
	register(s, config, func(context.Context, *noInput) (*bytesOutput, error) {
		yaml, err := s.deps.Process.Config()
		return &bytesOutput{ContentType: "application/yaml", Body: yaml}, err
	})

	metrics := operation(http.MethodGet, "/metrics", "get-metrics", "Metrics for Prometheus")
	metrics.Responses = textResponse("text/plain", "Prometheus text format.")
	register(s, metrics, func(context.Context, *noInput) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.deps.Metrics.ServeHTTP(w, r)
		}}, nil
	})

	document := sync.OnceValues(func() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() })
	openAPI := operation(http.MethodGet, openAPIPath, "get-openapi", "This description")
	openAPI.Responses = textResponse("application/json", "An OpenAPI 3.1 document.")
	openAPI.Responses["200"].Content["application/json"].Schema.Type = huma.TypeObject
	register(s, openAPI, func(context.Context, *noInput) (*bytesOutput, error) {
		b, err := document()
		return &bytesOutput{ContentType: "application/json", Body: b}, err
	})
}

// textResponse describes an answer that is not one of the API's JSON types.
func textResponse(contentType, description string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: description,
		Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

func (s *server) ready(ctx context.Context, _ *noInput) (*health, error) {
	if err := s.deps.Process.Ready(ctx); err != nil {
		var e *haltd.Error
		if !errors.As(err, &e) {
			// Whoever asks here has shown no token: no details.
			e = haltd.Errorf(haltd.CodeUnavailable, "haltd is not ready").WithFix("haltd's log says why.")
			s.deps.Logger.WarnContext(ctx, "not ready", "error", err)
		}
		return nil, &haltd.Error{Code: haltd.CodeUnavailable, Message: e.Sentence(), Fix: e.Fix}
	}
	out := &health{}
	out.Body.Status = "ready"
	return out, nil
}

func (s *server) processStatus(ctx context.Context, in *Actor) (*statusOutput, error) {
	out := &statusOutput{}
	out.Body.Version = s.deps.Version
	out.Body.Status = s.deps.Process.Status()
	out.Body.UptimeSeconds = int64(s.deps.Clock().Sub(out.Body.Started).Seconds())
	out.Body.Started = out.Body.Started.UTC()
	out.Body.Bypass = bypassInUTC(s.deps.BreakGlass.Bypass())
	out.Body.Actor, out.Body.Role = in.by(), identityOf(ctx).role
	if out.Body.Degraded == nil {
		out.Body.Degraded = []string{}
	}
	if out.Body.Nodes == nil {
		out.Body.Nodes = []haltd.Node{}
	}
	if out.Body.Upstreams == nil {
		out.Body.Upstreams = []haltd.Upstream{}
	}
	return out, nil
}

// OpenAPI is the description of the API, as a running haltd of this version
// serves it.
func OpenAPI(version string) ([]byte, error) {
	return newServer(Options{Version: version}).api.OpenAPI().MarshalJSON()
}
