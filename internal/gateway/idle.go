package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/haltd/haltd/internal/http1"
)

// errIdle is why a reply ends of which nothing came for too long.
var errIdle = errors.New("the provider sent nothing for too long")

// idleWatch cuts a reply of which nothing comes for as long as the provider
// may be silent; nil where it may be so for ever. It runs while haltd reads:
// how slowly a client takes what came is not the provider's fault.
type idleWatch struct {
	timer *time.Timer
	limit time.Duration
}

func (x *exchange) watchIdle() *idleWatch {
	limit := x.route.upstream.IdleTimeout
	if limit == 0 {
		return nil
	}
	w := &idleWatch{time.AfterFunc(limit, func() { x.cut(errIdle) }), limit}
	w.stop()
	return w
}

func (w *idleWatch) begin() {
	if w != nil {
		w.timer.Reset(w.limit)
	}
}

func (w *idleWatch) stop() {
	if w != nil {
		w.timer.Stop()
	}
}

func (x *exchange) wasIdle() bool { return x.ctx != nil && errors.Is(context.Cause(x.ctx), errIdle) }

// isLate reports a provider that took a request and began no reply in time.
// net/http has no name for that error.
func isLate(err error) bool {
	return errors.Is(err, http1.ErrLate) || err.Error() == "net/http: timeout awaiting response headers" || err.Error() == "http2: timeout awaiting response headers"
}
