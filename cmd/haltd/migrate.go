package main

import (
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/internal/cli"
)

type migrateCmd struct{}

// Run copies the record; haltd itself must not run.
func (migrateCmd) Run(env *cli.Env) error {
	return app.Migrate(env.Context, env.ConfigPath, env.Getenv, env.Stdout)
}
