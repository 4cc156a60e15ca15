package app

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// Banner tells a person who has just started haltd where things are and what
// to paste where.
func (a *App) Banner(w io.Writer) {
	gw := a.GatewayURL()
	token := filepath.Join(a.DataDir(), tokenFile)
	if a.config.Load().Admin.Token != "" {
		token = "as configured"
	}
	fmt.Fprintf(w, `
  haltd %s

  Gateway    %s   for agents
  Dashboard  %[4]s   (this link signs in once)
  Admin API  %[3]s   token: %[5]s
  Data       %[6]s

  Point a client here; its own key passes through:

    OpenAI       export OPENAI_BASE_URL=%[2]s/v1
    Anthropic    export ANTHROPIC_BASE_URL=%[2]s
    Gemini       export GOOGLE_GEMINI_BASE_URL=%[2]s
    Claude Code  export ANTHROPIC_BASE_URL=%[2]s
    Codex        codex -c openai_base_url='"%[2]s/v1"'

  Name the agent in the path: %[2]s/agents/billing-bot/openai/v1
  Watch calls arrive:         haltd events tail%[7]s

`, a.opts.Version, gw, a.AdminURL(), a.SignInURL("/"), token, a.DataDir(), a.configFlag())
}

// configFlag is what a command needs to find this haltd; nothing where it runs
// on defaults.
func (a *App) configFlag() string {
	if a.opts.ConfigPath == "" {
		return ""
	}
	return " --config " + a.opts.ConfigPath
}

// SignInURL is a link that signs in who opens it first and leads to a path of
// the dashboard. The code in it works once, for whichever link is used first.
func (a *App) SignInURL(path string) string {
	next := ""
	if path != "/" {
		next = "?next=" + strings.ReplaceAll(url.QueryEscape(path), "%2F", "/") // a slash needs no escape there
	}
	return a.AdminURL() + "/sign-in" + next + "#code=" + a.signIn.Code()
}
