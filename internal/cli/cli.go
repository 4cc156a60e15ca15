// Package cli is what the haltd command does besides serving: thin commands
// over the admin API and the configuration. Each is a kong command with
// Run(*Env). It opens no store and starts no gateway.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/alecthomas/kong"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// Env is the world around a command.
type Env struct {
	Context    context.Context // ends when the user interrupts
	Stdin      io.Reader       // for secrets; a terminal's is read without showing it
	Stdout     io.Writer
	Stderr     io.Writer
	Getenv     func(string) (string, bool) // os.LookupEnv outside of tests
	ConfigPath string                      // --config; "" runs on defaults and environment
	AdminURL   string                      // --admin; "" asks the environment, then the configuration
	JSON       bool                        // --json: for programs
	Color      bool                        // stdout is a terminal and NO_COLOR is not set; see UseColor
	Version    string
	Commit     string // "" where the build was not told
	Actor      string // who acts, for the record, such as ann@laptop; may be empty
	Help       string // which help says what the command takes
	Clock      haltd.Clock
	// StartTime is how long a command waits for a haltd on this machine that was
	// started a moment ago, as by `haltd serve & haltd agents ls`.
	StartTime time.Duration
	// Inspect looks at the servers that a configuration names; nil where there
	// are none.
	Inspect func(context.Context, *config.Config) []haltd.Diagnosis
}

// UseColor says whether to colour an output: only a terminal's, and never
// when NO_COLOR is set to anything.
func UseColor(terminal bool, getenv func(string) (string, bool)) bool {
	noColor, _ := getenv("NO_COLOR")
	term, _ := getenv("TERM")
	return terminal && noColor == "" && term != "dumb"
}

// The exit codes are stable; scripts rely on them.
const (
	ExitOK           = 0
	ExitFailure      = 1
	ExitUsage        = 2
	ExitUnreachable  = 3
	ExitUnauthorized = 4
)

const (
	codeUsage       = "usage"
	codeUnreachable = "unreachable"
)

// ExitCode is what the process ends with after err.
func ExitCode(err error) int {
	var parse *kong.ParseError
	switch code := haltd.ErrorCode(err); {
	case err == nil:
		return ExitOK
	case errors.As(err, &parse), code == codeUsage:
		return ExitUsage
	case code == codeUnreachable:
		return ExitUnreachable
	case code == haltd.CodeUnauthorized:
		return ExitUnauthorized
	}
	return ExitFailure
}

// getenv is a variable, "" where it is not set.
func (e *Env) getenv(name string) string {
	value, _ := e.Getenv(name)
	return value
}

// printJSON writes v for programs: one line.
func (e *Env) printJSON(v any) error {
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
