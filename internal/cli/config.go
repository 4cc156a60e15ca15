package cli

import (
	"errors"
	"fmt"

	"github.com/haltd/haltd/internal/config"
	"go.yaml.in/yaml/v3"
)

// ConfigCheckCmd says whether haltd would start with a configuration.
type ConfigCheckCmd struct{}

// Run answers with the problems as its error; warnings stop nothing.
func (c *ConfigCheckCmd) Run(env *Env) error {
	cfg, err := config.Load(env.ConfigPath, env.Getenv)
	if env.JSON {
		return errors.Join(env.printJSON(checked(cfg, err)), err)
	}
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings() {
		fmt.Fprintln(env.Stderr, env.paint("Warning: ", yellow)+clean(w))
	}
	for _, n := range cfg.Notices() {
		fmt.Fprintln(env.Stderr, env.paint("Notice: ", yellow)+clean(n))
	}
	name := env.ConfigPath
	if name == "" {
		name = "The configuration without a file"
	}
	_, err = fmt.Fprintf(env.Stdout, "%s is valid.\n", clean(name))
	return err
}

type checkResult struct {
	Valid    bool     `json:"valid"`
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings"`
	Notices  []string `json:"notices"`
}

func checked(cfg *config.Config, err error) checkResult {
	r := checkResult{Valid: err == nil, Problems: []string{}, Warnings: []string{}, Notices: []string{}}
	if err == nil {
		r.Warnings = append(r.Warnings, cfg.Warnings()...)
		r.Notices = append(r.Notices, cfg.Notices()...)
		return r
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range joined.Unwrap() {
			r.Problems = append(r.Problems, each.Error())
		}
		return r
	}
	r.Problems = append(r.Problems, err.Error())
	return r
}

// ConfigPrintCmd shows the effective configuration without its secrets.
type ConfigPrintCmd struct{}

// Run prints YAML, or the same as one JSON object.
func (c *ConfigPrintCmd) Run(env *Env) error {
	cfg, err := config.Load(env.ConfigPath, env.Getenv)
	if err != nil {
		return err
	}
	text, err := cfg.Redacted()
	if err != nil {
		return err
	}
	if !env.JSON {
		_, err = env.Stdout.Write(text)
		return err
	}
	var v map[string]any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("read the configuration back: %w", err)
	}
	return env.printJSON(v)
}
