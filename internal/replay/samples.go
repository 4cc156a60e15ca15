package replay

import (
	"context"

	"github.com/haltd/haltd/internal/detection"
)

// Sample is what stall sees at one step of a run.
type Sample struct {
	Run, Source, Thread string
	Step                int
	Features            detection.Features
	// Bounded says that the session was given its task by another of the agent; see
	// detection.BoundedRounds.
	Bounded bool
}

// Samples reads the features at every step of the given files, as they are
// when nothing is stopped. visit is called by several goroutines, but for one
// run by one of them, in the order of its steps.
func Samples(ctx context.Context, paths []string, visit func(Sample)) error {
	set := detection.DefaultSettings()
	set.KillAt, set.WarnAt, set.Threshold = unreachable, unreachable, unreachable
	_, err := Replay(ctx, paths, func() judge {
		return &own{set: set, cache: detection.NewCache(cacheWords), sample: func(s *Step, x *detection.Features, bounded bool) {
			visit(Sample{s.Run, s.Source, s.Thread, s.Step, *x, bounded})
		}}
	}, nil)
	return err
}

const unreachable = 1e9
