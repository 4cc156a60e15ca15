package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionCmd says which haltd this is.
type VersionCmd struct{}

// Run prints one line, or one JSON object.
func (c *VersionCmd) Run(env *Env) error {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if env.JSON {
		return env.printJSON(map[string]string{
			"version": env.Version, "commit": commit, "go": runtime.Version(), "platform": platform,
		})
	}
	_, err := fmt.Fprintf(env.Stdout, "haltd %s (commit %.12s, %s, %s)\n", env.Version, commit, runtime.Version(), platform)
	return err
}
