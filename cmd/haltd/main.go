// Command haltd is the gateway and the commands around it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"os/user"
	"reflect"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/internal/cli"
	"github.com/haltd/haltd/internal/demo"
	"github.com/haltd/haltd/internal/replay"
	"golang.org/x/term"
)

// version and commit are set by the linker; see the Makefile. Without a commit,
// the one that the go command has noted counts.
var (
	version = "dev"
	commit  string
)

type commands struct {
	Config string `help:"Configuration file; without one, defaults and environment." env:"HALTD_CONFIG" placeholder:"FILE"`
	Admin  string `help:"Address of the admin API, for commands that ask a running haltd." env:"HALTD_ADMIN_URL" placeholder:"URL"`
	JSON   bool   `name:"json" help:"Output for programs."`

	Serve  serveCmd `cmd:"" default:"1" help:"Start the gateway and the admin API (the default)."`
	Demo   demoCmd  `cmd:"" help:"Watch a looping agent being stopped; needs no key and no network."`
	Agents struct {
		Ls     cli.AgentsLsCmd     `cmd:"" help:"List agents."`
		Show   cli.AgentsShowCmd   `cmd:"" help:"Show the state, the policy and the spending of an agent."`
		Set    cli.AgentsSetCmd    `cmd:"" help:"Change the policy of an agent: kill switch, budgets, limits."`
		Kill   cli.AgentsKillCmd   `cmd:"" help:"Stop an agent, or one session of it."`
		Resume cli.AgentsResumeCmd `cmd:"" help:"Let an agent call again, or one session of it."`
	} `cmd:"" help:"Agents: their state, their policy, stop and resume."`
	Incidents struct {
		Ls   cli.IncidentsLsCmd   `cmd:"" help:"List incidents."`
		Show cli.IncidentsShowCmd `cmd:"" help:"Show what happened and what it cost."`
	} `cmd:"" help:"What a person should look at."`
	Bypass struct {
		On     cli.BypassOnCmd     `cmd:"" help:"Stop all enforcement except stops by hand."`
		Off    cli.BypassOffCmd    `cmd:"" help:"Enforce again."`
		Status cli.BypassStatusCmd `cmd:"" help:"Say whether enforcement is stopped."`
	} `cmd:"" help:"Break glass, for when haltd itself is the problem."`
	SignIn cli.SignInCmd `cmd:"" name:"sign-in" help:"Print a link that signs a browser in to the dashboard, once, within ten minutes."`
	Events struct {
		Tail cli.EventsTailCmd `cmd:"" help:"Show events as they arrive."`
	} `cmd:"" help:"The record of calls."`
	Rules struct {
		Ls  cli.RulesLsCmd  `cmd:"" help:"List rules, in the order in which they are evaluated."`
		Add cli.RulesAddCmd `cmd:"" help:"Make a rule."`
		On  cli.RulesOnCmd  `cmd:"" help:"Apply a rule."`
		Off cli.RulesOffCmd `cmd:"" help:"Keep a rule without applying it."`
		Rm  cli.RulesRmCmd  `cmd:"" help:"Delete a rule."`
	} `cmd:"" help:"What is blocked, slowed down or marked, by model, agent, time and size."`
	Channels struct {
		Ls  cli.ChannelsLsCmd `cmd:"" help:"List channels."`
		Add struct {
			Slack   cli.ChannelsAddSlackCmd   `cmd:"" help:"Send to a Slack incoming webhook."`
			Webhook cli.ChannelsAddWebhookCmd `cmd:"" help:"Send signed messages to any receiver over HTTP."`
			Email   cli.ChannelsAddEmailCmd   `cmd:"" help:"Send email over SMTP."`
		} `cmd:"" help:"Make a channel."`
		Rm   cli.ChannelsRmCmd   `cmd:"" help:"Delete a channel."`
		Test cli.ChannelsTestCmd `cmd:"" help:"Send a test message and tell what the receiver answered."`
	} `cmd:"" help:"Where alerts go."`
	AlertRules struct {
		Ls  cli.AlertRulesLsCmd  `cmd:"" help:"List alert rules."`
		Add cli.AlertRulesAddCmd `cmd:"" help:"Make an alert rule."`
		Rm  cli.AlertRulesRmCmd  `cmd:"" help:"Delete an alert rule."`
	} `cmd:"" help:"Which alerts go to which channels; without a rule all go to all."`
	Deliveries struct {
		Ls      cli.DeliveriesLsCmd      `cmd:"" help:"List deliveries, the newest first."`
		Retry   cli.DeliveriesRetryCmd   `cmd:"" help:"Retry deliveries that were given up."`
		Dismiss cli.DeliveriesDismissCmd `cmd:"" help:"Dismiss deliveries that were given up, for example those of a deleted channel."`
	} `cmd:"" help:"Alerts on their way, and what became of them."`
	Keys struct {
		Create cli.KeysCreateCmd `cmd:"" help:"Create a gateway key; it is shown once."`
		Ls     cli.KeysLsCmd     `cmd:"" help:"List gateway keys."`
		Set    cli.KeysSetCmd    `cmd:"" help:"Change the name and the limits of a gateway key."`
		Revoke cli.KeysRevokeCmd `cmd:"" help:"Revoke a gateway key."`
	} `cmd:"" help:"Gateway keys, which name the agent that calls."`
	Prices struct {
		Ls    cli.PricesLsCmd    `cmd:"" default:"withargs" help:"Show the price table in force, with its dates (the default)."`
		Load  cli.PricesLoadCmd  `cmd:"" help:"Put a newer price table in force, from the next call on."`
		Reset cli.PricesResetCmd `cmd:"" help:"Go back to the built-in price table."`
	} `cmd:"" help:"What models cost."`
	Users struct {
		Add  cli.UsersAddCmd  `cmd:"" help:"Add a person; prints a link with which to choose a password."`
		Ls   cli.UsersLsCmd   `cmd:"" help:"List users."`
		Set  cli.UsersSetCmd  `cmd:"" help:"Change the role of a user."`
		Link cli.UsersLinkCmd `cmd:"" help:"Sign a user out everywhere, and print a link with which to choose another password."`
		Rm   cli.UsersRmCmd   `cmd:"" help:"Remove a user; sign-ins, and API tokens of that name, end."`
	} `cmd:"" help:"People who sign in to the dashboard, each in a role."`
	Tokens struct {
		Create cli.TokensCreateCmd `cmd:"" help:"Create an API token for a program, or for the commands of a person; it is shown once."`
		Ls     cli.TokensLsCmd     `cmd:"" help:"List API tokens."`
		Revoke cli.TokensRevokeCmd `cmd:"" help:"Revoke an API token."`
	} `cmd:"" help:"API tokens, which say who uses the API and the commands, in which role."`
	Audit cli.AuditCmd `cmd:"" help:"Show or export who changed what."`
	Conf  struct {
		Check cli.ConfigCheckCmd `cmd:"" help:"Say whether haltd would start with this configuration."`
		Print cli.ConfigPrintCmd `cmd:"" help:"Show the effective configuration without secrets."`
	} `cmd:"" name:"config" help:"The configuration."`
	Backup  backupCmd      `cmd:"" help:"Write the record into one file, also while haltd runs."`
	Restore restoreCmd     `cmd:"" help:"Make a backup the record; haltd must not run."`
	Migrate migrateCmd     `cmd:"" help:"Copy the record of data_dir into the PostgreSQL database of store.url."`
	Replay  replayCmd      `cmd:"" help:"Judge recorded traffic offline: what would have been stopped, when, and what that saves."`
	Doctor  cli.DoctorCmd  `cmd:"" help:"Look for what keeps haltd from doing its work."`
	OpenAPI openAPICmd     `cmd:"" name:"openapi" help:"Print the description of the admin API (OpenAPI 3.1)."`
	Version cli.VersionCmd `cmd:"" help:"Say which haltd this is."`

	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A person who presses Ctrl-C again means now. SIGTERM may well come
	// twice by itself, to the process and to its group.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	// net/http quotes there what an upstream says out of turn: that may be
	// anybody's text. haltd's own log goes elsewhere.
	log.SetOutput(io.Discard)
	var c commands
	parser := newParser(&c)
	k, err := parser.Parse(args)
	if err == nil {
		err = k.Run(&cli.Env{
			Context: ctx, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.LookupEnv,
			ConfigPath: configPath(c.Config), AdminURL: c.Admin, JSON: c.JSON,
			Color:   cli.UseColor(term.IsTerminal(int(os.Stdout.Fd())), os.LookupEnv),
			Version: version, Commit: commit,
			Actor:   actor(),
			Help:    helpFor(k),
			Clock:   time.Now,
			Inspect: app.Inspect,

			StartTime: 5 * time.Second,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "haltd: "+err.Error())
		var usage *kong.ParseError
		if errors.As(err, &usage) {
			fmt.Fprintln(os.Stderr, helpFor(usage.Context))
		}
	}
	return cli.ExitCode(err)
}

// helpFor says which help answers what somebody typed wrong: that of the
// command, as far as it was understood.
func helpFor(typed *kong.Context) string {
	var command *kong.Node
	for _, step := range typed.Path {
		if step.Command != nil {
			command = step.Command
		}
	}
	if command == nil {
		return "Run haltd --help for the commands."
	}
	return "Run haltd " + commandPath(command) + " --help for what it takes."
}

// readSpan reads a span of time as the configuration writes it, with days.
func readSpan(typed *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := typed.Scan.PopValueInto("span", &text); err != nil {
		return err
	}
	span, err := cli.ParseSpan(text)
	target.SetInt(int64(span))
	return err
}

func newParser(c *commands) *kong.Kong {
	parser := kong.Must(c, kong.Name("haltd"),
		kong.Description("A gateway between AI agents and LLM providers that records every call and stops a runaway agent."),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(readSpan)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	addExamples(parser.Model.Node)
	return parser
}

// configPath is the whole path of the configuration; "" stays "", because a
// variable that is set to nothing counts as unset.
func configPath(path string) string {
	if path == "" {
		return ""
	}
	return kong.ExpandPath(path)
}

// actor is who runs this command, as user@host; "" when nobody can say.
func actor() string {
	who, err := user.Current()
	if err != nil {
		return ""
	}
	host, err := os.Hostname()
	if err != nil {
		return who.Username
	}
	return who.Username + "@" + host
}

type serveCmd struct{}

// Run serves until the process is told to stop. SIGHUP reads the
// configuration again.
func (serveCmd) Run(env *cli.Env) error {
	app.LimitMemory(os.DirFS("/"), env.Getenv)
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP) // before a start that may wait, and that it must not end
	defer signal.Stop(hangUp)
	host, _ := os.Hostname() // a machine without a name has nodes without one
	a, err := app.New(env.Context, app.Options{
		ConfigPath: env.ConfigPath, Env: env.Getenv, Stderr: env.Stderr, Version: env.Version, Host: host, Clock: time.Now,
	})
	if errors.Is(err, context.Canceled) && env.Context.Err() != nil {
		return nil // told to stop while it waited for the database
	}
	if err != nil {
		return err
	}
	go func() {
		for range hangUp {
			a.Reload()
		}
	}()
	a.Banner(env.Stdout, term.IsTerminal(int(os.Stdout.Fd())))
	return a.Run(env.Context)
}

type replayCmd struct {
	replay.Command `embed:""`
}

func (c *replayCmd) Run(env *cli.Env) error {
	return c.Replay(env.Context, replay.Env{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Progress: term.IsTerminal(int(os.Stderr.Fd())),
		ConfigPath: env.ConfigPath, Getenv: env.Getenv, JSON: env.JSON,
	})
}

type demoCmd struct {
	demo.Command `embed:""`
}

// Run plays the demo. Neither a closed terminal nor a reader that leaves ends
// the process at once: the demo ends by itself and clears up.
func (c *demoCmd) Run(env *cli.Env) error {
	ctx, stop := signal.NotifyContext(env.Context, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	return c.Play(ctx, demo.Env{
		Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv, JSON: env.JSON, Version: env.Version, Clock: time.Now,
	})
}
