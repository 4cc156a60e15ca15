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

// Run writes the script, from the declarations of the commands. In all three
// shells it knows by the words so far which command is meant, and offers what may
// come next; values of flags and files are left to the shell.
func (c *completionCmd) Run(env *cli.Env, k *kong.Kong) error {
	map[string]func(io.Writer, *kong.Node){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell](env.Stdout, k.Model.Node)
	return nil
}

func bashCompletion(w io.Writer, top *kong.Node) {
	fmt.Fprint(w, "_haltd() {\n  local word command='' words=''\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$command $word\" in\n")
	followWords(w, top)
	visit(top, func(n *kong.Node) {
		words := ""
		for _, next := range nextWords(n) {
			words += " " + next.word
		}
		fmt.Fprintf(w, "    %q) words=%q ;;\n", pathBelow(top, n), strings.TrimSpace(words))
	})
	fmt.Fprint(w, "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _haltd haltd\n")
}

// zshCompletion works in a folder of fpath, where it is called as it is read, and
// by source.
func zshCompletion(w io.Writer, top *kong.Node) {
	fmt.Fprint(w, "#compdef haltd\n_haltd() {\n  local word command=''\n  local -a next\n  for word in \"${(@)words[2,CURRENT-1]}\"; do\n    case \"$command $word\" in\n")
	followWords(w, top)
	visit(top, func(n *kong.Node) {
		fmt.Fprintf(w, "    %q) next=(", pathBelow(top, n))
		for _, next := range nextWords(n) {
			fmt.Fprintf(w, "\n      '%s'", strings.ReplaceAll(next.word+":"+next.help, "'", `'\''`))
		}
		fmt.Fprint(w, ") ;;\n")
	})
	fmt.Fprint(w, "  esac\n  _describe haltd next || _files\n}\nif [ \"$funcstack[1]\" = _haltd ]; then _haltd; else compdef _haltd haltd; fi\n")
}

// followWords is, in bash and in zsh alike, what finds the command by the words
// so far, and begins what depends on it.
func followWords(w io.Writer, top *kong.Node) {
	eachStep(top, func(step, path string) { fmt.Fprintf(w, "      %q) command=%q ;;\n", step, path) })
	fmt.Fprint(w, "    esac\n  done\n  case \"$command\" in\n")
}

func fishCompletion(w io.Writer, top *kong.Node) {
	fmt.Fprint(w, "function __haltd_next\n  set -l command ''\n  for word in (commandline -opc)[2..-1]\n    switch \"$command $word\"\n")
	eachStep(top, func(step, path string) { fmt.Fprintf(w, "      case %q; set command %q\n", step, path) })
	fmt.Fprint(w, "    end\n  end\n  switch \"$command\"\n")
	visit(top, func(n *kong.Node) {
		fmt.Fprintf(w, "    case %q\n", pathBelow(top, n))
		for _, next := range nextWords(n) {
			fmt.Fprintf(w, "      printf '%%s\\t%%s\\n' %s '%s'\n", next.word, strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(next.help))
		}
		if n.Leaf() {
			fmt.Fprint(w, "      __fish_complete_path (commandline -ct)\n")
		}
	})
	fmt.Fprint(w, "  end\nend\ncomplete -c haltd -f -a '(__haltd_next)'\n")
}

// eachStep calls do with each command, as a path and the word behind it, and the
// path to which that word leads.
func eachStep(top *kong.Node, do func(step, path string)) {
	visit(top, func(n *kong.Node) {
		if n != top {
			do(pathBelow(top, n.Parent)+" "+n.Name, commandPath(n))
		}
	})
}

// pathBelow is the path of a command; "" is haltd itself.
func pathBelow(top, n *kong.Node) string {
	if n == top {
		return ""
	}
	return commandPath(n)
}

type nextWord struct{ word, help string }

// nextWords are the commands and flags that may follow.
func nextWords(n *kong.Node) (words []nextWord) {
	for _, child := range n.Children {
		if !child.Hidden {
			words = append(words, nextWord{child.Name, child.Help})
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			words = append(words, nextWord{"--" + f.Name, f.Help})
		}
	}
	return words
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
