package main

import (
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/internal/cli"
)

type openAPICmd struct{}

// Run prints the document as a running haltd serves it.
func (openAPICmd) Run(env *cli.Env) error {
	document, err := app.OpenAPI(env.Version)
	if err != nil {
		return err
	}
	_, err = env.Stdout.Write(append(document, '\n'))
	return err
}
