package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/internal/cli"
)

type backupCmd struct {
	File string `arg:"" type:"path" help:"File to write, for the owner's eyes only: it holds the secrets of alert channels; - writes to standard output."`
}

// Run writes the backup beside its place and moves it there when it is whole.
func (c *backupCmd) Run(env *cli.Env) error {
	if c.File == "-" {
		return app.Backup(env.Context, options(env), env.Stdout)
	}
	if _, err := os.Stat(c.File); err == nil {
		return haltd.Errorf(haltd.CodeExists, "%s is there already", c.File).WithFix("Name another file.")
	}
	f, err := os.CreateTemp(filepath.Dir(c.File), filepath.Base(c.File)+".*") // mode 0600
	if err != nil {
		return haltd.Errorf(haltd.CodeUnavailable, "%s cannot be written: %v", c.File, errors.Unwrap(err)).WithFix("Name a file in a folder that you can write.")
	}
	err = app.Backup(env.Context, options(env), f)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), c.File)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if env.JSON {
		_, err = fmt.Fprintf(env.Stdout, "{\"file\":%q}\n", c.File)
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "The record is in %s. Keep it as safe as the data directory: it holds the secrets of alert channels.\n", c.File)
	return err
}

type restoreCmd struct {
	File    string `arg:"" type:"path" help:"File that haltd backup wrote; - reads standard input."`
	Replace bool   `help:"Put it in the place of the record that is there; the old one is kept beside it."`
}

// Run puts the backup in place; haltd must not run.
func (c *restoreCmd) Run(env *cli.Env) error {
	from := env.Stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return haltd.Errorf(haltd.CodeNotFound, "%s cannot be read: %v", c.File, errors.Unwrap(err)).WithFix("Name a file that haltd backup wrote.")
		}
		defer f.Close()
		from = io.Reader(f)
	}
	kept, err := app.Restore(env.Context, options(env), from, c.Replace)
	if err != nil {
		return err
	}
	if env.JSON {
		_, err = fmt.Fprintf(env.Stdout, "{\"file\":%q,\"kept\":%q}\n", c.File, kept)
		return err
	}
	fmt.Fprintln(env.Stdout, "The record is restored. Kills, keys, users, policies and spending are those of the backup, also of who was revoked or removed since: look at `haltd agents ls`, `keys ls` and `users ls` after the start.")
	if kept != "" {
		fmt.Fprintf(env.Stdout, "The old record is in %s.\n", kept)
	}
	return nil
}

func options(env *cli.Env) app.Options {
	return app.Options{ConfigPath: env.ConfigPath, Env: env.Getenv, Stderr: env.Stderr, Version: env.Version, Clock: env.Clock}
}
