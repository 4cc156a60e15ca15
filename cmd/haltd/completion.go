package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/haltd/haltd/internal/cli"
)

// visit calls do for a command and all below it.
func visit(n *kong.Node, do func(*kong.Node)) {
	do(n)
	for _, child := range n.Children {
		visit(child, do)
	}
}

// completionCmd prints what makes a shell complete commands and flags.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run writes the script, from the declarations of the commands.
func (c *completionCmd) Run(env *cli.Env, k *kong.Kong) error {
	switch c.Shell {
	case "fish":
		fishCompletion(env.Stdout, k.Model.Node)
	case "zsh":
		fmt.Fprintln(env.Stdout, "#compdef haltd\nautoload -U +X bashcompinit && bashcompinit")
		bashCompletion(env.Stdout, k.Model.Node)
	default:
		bashCompletion(env.Stdout, k.Model.Node)
	}
	return nil
}

// bashCompletion knows by the words so far which command is meant, and offers
// what may come next; values of flags are left to the shell.
func bashCompletion(w io.Writer, top *kong.Node) {
	fmt.Fprint(w, "_haltd() {\n  local word command='' words=''\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$command $word\" in\n")
	visit(top, func(n *kong.Node) {
		if n != top {
			parent := ""
			if n.Parent != top {
				parent = commandPath(n.Parent)
			}
			fmt.Fprintf(w, "      %q) command=%q ;;\n", parent+" "+n.Name, commandPath(n))
		}
	})
	fmt.Fprint(w, "    esac\n  done\n  case \"$command\" in\n")
	visit(top, func(n *kong.Node) {
		path := commandPath(n)
		if n == top {
			path = ""
		}
		fmt.Fprintf(w, "    %q) words=%q ;;\n", path, strings.Join(nextWords(n), " "))
	})
	fmt.Fprint(w, "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _haltd haltd\n")
}

// nextWords are the commands and flags that may follow.
func nextWords(n *kong.Node) (words []string) {
	for _, child := range n.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			words = append(words, "--"+f.Name)
		}
	}
	return words
}

func fishCompletion(w io.Writer, top *kong.Node) {
	fmt.Fprintln(w, "complete -c haltd -f")
	visit(top, func(n *kong.Node) {
		condition := "__fish_use_subcommand"
		if n != top {
			condition = ""
			for name := range strings.FieldsSeq(commandPath(n)) {
				condition += "; and __fish_seen_subcommand_from " + name
			}
			condition = strings.TrimPrefix(condition, "; and ")
		}
		for _, child := range n.Children {
			fmt.Fprintf(w, "complete -c haltd -n %s -a %s -d %s\n", fishQuoted(condition), child.Name, fishQuoted(child.Help))
		}
		for _, f := range n.Flags {
			scope := ""
			if n != top {
				scope = " -n " + fishQuoted(condition)
			}
			fmt.Fprintf(w, "complete -c haltd%s -l %s -d %s\n", scope, f.Name, fishQuoted(f.Help))
		}
	})
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// manCmd prints the manual page.
type manCmd struct{}

// Run writes it in roff, from the declarations of the commands.
func (c *manCmd) Run(env *cli.Env, k *kong.Kong) error {
	w, top := env.Stdout, k.Model.Node
	fmt.Fprintf(w, ".TH HALTD 1 \"\" \"haltd %s\" \"User Commands\"\n", roff(env.Version))
	fmt.Fprintf(w, ".SH NAME\nhaltd \\- %s\n", roff("gateway between AI agents and LLM providers that stops a runaway agent"))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B haltd\n[\\fIcommand\\fR] [\\fIflags\\fR]\n.SH DESCRIPTION\n%s\n.SH OPTIONS\n", roff(k.Model.Help))
	manFlags(w, top.Flags)
	fmt.Fprint(w, ".SH COMMANDS\n")
	visit(top, func(n *kong.Node) {
		if n == top || !n.Leaf() || n.Hidden {
			return
		}
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(n.Summary()), roff(n.Help))
		for _, a := range n.Positional {
			fmt.Fprintf(w, ".TP\n\\fI%s\\fR\n%s\n", roff(a.Summary()), roff(a.Help))
		}
		manFlags(w, n.Flags)
		for _, example := range examples[commandPath(n)] {
			fmt.Fprintf(w, ".PP\n.nf\n%s\n.fi\n", roff(example))
		}
	})
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, exit := range []struct {
		code int
		says string
	}{
		{cli.ExitOK, "done"}, {cli.ExitFailure, "failed"}, {cli.ExitUsage, "wrong usage"},
		{cli.ExitUnreachable, "no haltd answers"}, {cli.ExitUnauthorized, "not authorised"},
	} {
		fmt.Fprintf(w, ".TP\n%d\n%s\n", exit.code, exit.says)
	}
	return nil
}

func manFlags(w io.Writer, flags []*kong.Flag) {
	for _, f := range flags {
		name := "--" + f.Name
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		help := f.Help
		if len(f.Envs) > 0 {
			help += " Or by the variable " + strings.Join(f.Envs, ", ") + "."
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fR\n%s\n", roff(name), roff(help))
	}
}

// roff keeps what roff would take for its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
