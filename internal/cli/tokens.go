package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/haltd/haltd"
)

// TokensCreateCmd makes an API token and shows it once.
type TokensCreateCmd struct {
	Name    string        `required:"" help:"Who acts with it: a person or a program. The audit log says so."`
	Role    string        `required:"" enum:"viewer,operator,admin" help:"viewer reads; operator also stops, resumes and changes policies and rules; admin does everything."`
	Expires time.Duration `placeholder:"SPAN" help:"When it ends, from now, for example 90d; left out, never."`
}

// Run prints the secret alone to stdout, so that a script can take it, and
// what to know about it to stderr.
func (c *TokensCreateCmd) Run(env *Env) error {
	body := map[string]any{"name": c.Name, "role": c.Role}
	if c.Expires < 0 {
		return haltd.Errorf(codeUsage, "--expires %s has passed", c.Expires).WithFix("Use for example --expires 90d.")
	}
	if c.Expires > 0 {
		body["expires_at"] = env.Clock().Add(c.Expires).UTC().Format(time.RFC3339)
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	var made struct {
		haltd.Token
		Secret string `json:"secret"`
	}
	if err := api.call(env.Context, http.MethodPost, "/v1/tokens", nil, body, &made); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(made)
	}
	fmt.Fprintf(env.Stderr, "Token %s for %s (%s)%s. It is shown this once; it signs in to the dashboard, and HALTD_ADMIN_TOKEN gives it to the commands.\n",
		clean(made.ID), clean(made.Name), made.Role, ends(made.ExpiresAt))
	_, err = fmt.Fprintln(env.Stdout, clean(made.Secret))
	return err
}

func ends(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", until " + minute(*at)
}

// TokensLsCmd lists API tokens.
type TokensLsCmd struct{}

// Run prints a table, or one JSON object.
func (c *TokensLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var list struct {
		Tokens []haltd.Token `json:"tokens"`
	}
	if err := api.call(env.Context, http.MethodGet, "/v1/tokens", nil, nil, &list); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(list)
	}
	if len(list.Tokens) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "There are no API tokens. Make one with `haltd tokens create --name ci --role viewer`; people sign in as users: `haltd users add ann --role operator`.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "ROLE", "CREATED", "STATE"}}
	for i := range list.Tokens {
		t := &list.Tokens[i]
		state := "in force" + ends(t.ExpiresAt)
		switch {
		case t.RevokedAt != nil:
			state = "revoked " + minute(*t.RevokedAt)
		case !t.InForce(env.Clock()):
			state = "expired " + minute(*t.ExpiresAt)
		}
		rows = append(rows, []string{clean(t.ID), clean(t.Name), clean(string(t.Role)), minute(t.CreatedAt) + ", by " + clean(t.CreatedBy), state})
	}
	return table(env.Stdout, rows)
}

// TokensRevokeCmd ends an API token.
type TokensRevokeCmd struct {
	ID string `arg:"" help:"Id of the token, as tokens ls shows it."`
}

// Run revokes the token; the next request with it is refused.
func (c *TokensRevokeCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var token haltd.Token
	if err := api.call(env.Context, http.MethodDelete, "/v1/tokens/"+url.PathEscape(c.ID), nil, nil, &token); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(token)
	}
	_, err = fmt.Fprintf(env.Stdout, "The token of %s is revoked, and its sign-ins have ended.\n", clean(token.Name))
	return err
}

// AuditCmd shows or exports who changed what.
type AuditCmd struct {
	By     string `help:"Only changes that this person or program made."`
	Agent  string `help:"Only changes that concern this agent."`
	Since  string `help:"Only changes from then on, for example 24h or 7d."`
	Last   int    `short:"n" default:"50" help:"How many of the newest to show."`
	Export string `enum:"jsonl,csv," default:"" placeholder:"jsonl|csv" help:"Write all that is selected to standard output, as one JSON object a line or as a table for spreadsheets."`
}

// Run prints a table, or the whole log for programs.
func (c *AuditCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	for name, value := range map[string]string{"by": c.By, "agent": c.Agent, "since": c.Since} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if c.Export != "" {
		query.Set("format", c.Export)
		resp, err := api.open(env.Context, http.MethodGet, "/v1/audit/export", query, nil, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(env.Stdout, resp.Body); err != nil {
			return haltd.Errorf(codeUnreachable, "The export broke off: %v", err).WithFix("Try again.")
		}
		return nil
	}
	query.Set("limit", fmt.Sprint(c.Last))
	var page struct {
		Entries []haltd.AuditEntry `json:"entries"`
	}
	if err := api.call(env.Context, http.MethodGet, "/v1/audit", query, nil, &page); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(page)
	}
	if len(page.Entries) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "Nobody has changed anything that matches.")
		return err
	}
	rows := [][]string{{"TIME", "BY", "CHANGE", "AGENT", "SUBJECT", "WHY"}}
	for i := range page.Entries {
		e := &page.Entries[i]
		subject := e.Subject
		switch {
		case e.Rule != nil:
			subject = e.Rule.Name
		case e.Override != nil: // what the agent has of its own from then on
			own, err := json.Marshal(e.Override)
			if err != nil {
				return fmt.Errorf("show a policy: %w", err)
			}
			subject = string(own)
		}
		rows = append(rows, []string{minute(e.Time), clean(e.By), clean(e.Change), clean(dash(e.Agent)), clean(dash(subject)), clean(dash(e.Why))})
	}
	return table(env.Stdout, rows)
}
