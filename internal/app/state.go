package app

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/internal/state/redis"
	"github.com/haltd/haltd/internal/store/postgres"
)

// sharedState is the state in Redis, as this node has it.
type sharedState struct {
	remote *redis.State
	guard  *state.Guard
	later  *state.Later
}

// openState opens the short-lived state: in memory or, where state.url says so,
// in Redis. A Redis that does not answer stops nothing: see state.Guard. One that
// can never be used does.
func (a *App) openState(ctx context.Context, cfg *config.Config) error {
	local := func() state.Port { return memory.New(stateEntries, sessions, sessionWords) }
	if cfg.State.URL == "" {
		a.state = local()
		return nil
	}
	remote, err := redis.New(cfg.State.URL.Reveal(), a.key)
	if err != nil {
		return err
	}
	s := &sharedState{remote: remote, later: state.NewLater(a.log)}
	s.guard = state.NewGuard(ctx, state.GuardOptions{
		Remote: remote, Local: local, Nodes: a.member.living, Patience: a.opts.StatePatience, Logger: a.log,
	})
	a.shared, a.state = s, s.guard
	if err := s.guard.Degraded(); haltd.ErrorCode(err) == haltd.CodeInvalid {
		return err
	}
	a.metrics.WatchDependency("state", func() bool { return s.guard.Degraded() != nil })
	return nil
}

// laterState runs what calls do not wait for; nil where the state is at hand.
func (a *App) laterState() *state.Later {
	if a.shared == nil {
		return nil
	}
	return a.shared.later
}

func (s *sharedState) close() {
	if s == nil {
		return
	}
	s.later.Wait()
	s.guard.Close()
	s.remote.Close()
}

// Inspect looks at the servers that a configuration names, for haltd doctor.
func Inspect(ctx context.Context, cfg *config.Config) (checks []haltd.Diagnosis) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if url := cfg.Store.URL.Reveal(); url != "" {
		checks = append(checks, postgres.Inspect(ctx, url)...)
		if cfg.State.URL == "" {
			checks = append(checks, haltd.Diagnosis{
				Outcome: haltd.DiagnosisNotice, Message: "Windows and rate limits are those of each node by itself",
				Fix: "Set state.url to a Redis or Valkey that all nodes share.",
			})
		}
	}
	if url := cfg.State.URL.Reveal(); url != "" {
		checks = append(checks, redis.Inspect(ctx, url)...)
	}
	return checks
}
