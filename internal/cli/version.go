package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionCmd says which haltd this is.
type VersionCmd struct{}

// Run prints one line, or one JSON object.
func (c *VersionCmd) Run(env *Env) error {
	commit := cmp.Or(env.Commit, notedCommit(), "unknown")
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if env.JSON {
		return env.printJSON(map[string]string{
			"version": env.Version, "commit": commit, "go": runtime.Version(), "platform": platform,
		})
	}
	_, err := fmt.Fprintf(env.Stdout, "haltd %s (commit %.12s, %s, %s)\n", env.Version, commit, runtime.Version(), platform)
	return err
}

// notedCommit is what the go command has found in the checkout that it built.
func notedCommit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
