package app

import (
	"fmt"
	"io"
	"path/filepath"
)

// Banner tells a person who has just started haltd where things are and what
// to paste where. Only a terminal is shown a link that signs in: what goes
// elsewhere is kept and read by others.
func (a *App) Banner(w io.Writer, terminal bool) {
	gw := a.GatewayURL()
	token := filepath.Join(a.DataDir(), tokenFile)
	if a.config.Load().Admin.Token != "" {
		token = "as configured"
	}
	dashboard := fmt.Sprintf("%s   (haltd sign-in%s prints a link that signs in)", a.dashboardURL(), a.configFlag())
	if terminal {
		dashboard = a.SignInURL("/") + "   (this link signs in once, within ten minutes)"
	}
	fmt.Fprintf(w, `
  haltd %s

  Gateway    %s   for agents
  Dashboard  %[4]s
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

`, a.opts.Version, gw, a.AdminURL(), dashboard, token, a.DataDir(), a.configFlag())
}

// configFlag is what a command needs to find this haltd; nothing where it runs
// on defaults.
func (a *App) configFlag() string {
	if a.opts.ConfigPath == "" {
		return ""
	}
	return " --config " + a.opts.ConfigPath
}

// SignInURL is a new link that signs in who opens it first, within ten
// minutes, and leads to a path of the dashboard.
func (a *App) SignInURL(path string) string {
	link, _ := a.signIn.Link(path)
	return link
}

// dashboardURL is where people reach the admin listener, without a slash.
func (a *App) dashboardURL() string {
	if public := a.config.Load().Alerts.PublicURL; public != nil {
		return public.String()
	}
	return a.AdminURL()
}

// publicHost is the host of alerts.public_url; "" where it is not set.
func (a *App) publicHost() string {
	if public := a.config.Load().Alerts.PublicURL; public != nil {
		return public.Host
	}
	return ""
}
