package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// KeysCreateCmd makes a gateway key and shows it once.
type KeysCreateCmd struct {
	Agent       string        `required:"" help:"Agent that calls with the key."`
	Name        string        `help:"What you call the key."`
	Expires     time.Duration `placeholder:"SPAN" help:"When it ends, from now, for example 90d; left out, never."`
	Models      []string      `placeholder:"MODEL" help:"Models that may be called with it, * for any text, with commas between; left out, all."`
	BudgetDay   float64       `placeholder:"USD" help:"What calls with it may cost in a day, besides the budget of the agent."`
	BudgetMonth float64       `placeholder:"USD" help:"The same in a month."`
}

// Run prints the secret alone to stdout, so that a script can take it, and
// what to know about it to stderr.
func (c *KeysCreateCmd) Run(env *Env) error {
	body := map[string]any{"agent": c.Agent, "name": c.Name}
	if c.Expires < 0 {
		return haltd.Errorf(codeUsage, "--expires %s has passed", c.Expires).WithFix("Use for example --expires 90d.")
	}
	if c.Expires > 0 {
		body["expires_at"] = env.Clock().Add(c.Expires).UTC().Format(time.RFC3339)
	}
	if len(c.Models) > 0 {
		body["models"] = c.Models
	}
	for name, usd := range map[string]float64{"budget_day_usd": c.BudgetDay, "budget_month_usd": c.BudgetMonth} {
		if usd != 0 {
			body[name] = usd
		}
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	var made struct {
		haltd.Key
		Secret string `json:"secret"`
	}
	if err := api.call(env.Context, http.MethodPost, "/v1/keys", nil, body, &made); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(made)
	}
	fmt.Fprintf(env.Stderr, "Key %s for agent %s%s. It is shown this once; use it as the client's API key.\n", clean(made.ID), clean(made.Agent), ends(made.ExpiresAt))
	_, err = fmt.Fprintln(env.Stdout, clean(made.Secret))
	return err
}

// KeysLsCmd lists gateway keys.
type KeysLsCmd struct{}

// Run prints a table, or one JSON object.
func (c *KeysLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var list struct {
		Keys []listedKey `json:"keys"`
	}
	if err := api.call(env.Context, http.MethodGet, "/v1/keys", nil, nil, &list); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(list)
	}
	if len(list.Keys) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "There are no gateway keys. Make one with `haltd keys create --agent NAME`.")
		return err
	}
	rows := [][]string{{"ID", "AGENT", "NAME", "CREATED", "LAST USED", "LIMITS", "STATE"}}
	for i := range list.Keys {
		k := &list.Keys[i]
		state, used := "active"+ends(k.ExpiresAt), "never"
		switch {
		case k.RevokedAt != nil:
			state = "revoked " + minute(*k.RevokedAt)
		case k.Expired(env.Clock()):
			state = "expired " + minute(*k.ExpiresAt)
		}
		if k.LastUsedAt != nil {
			used = minute(*k.LastUsedAt)
		}
		rows = append(rows, []string{clean(k.ID), clean(k.Agent), clean(k.Name), minute(k.CreatedAt), used, k.allowance(), state})
	}
	return table(env.Stdout, rows)
}

// listedKey is a key as the API lists it.
type listedKey struct {
	haltd.Key
	Spending []haltd.PeriodSpending `json:"spending,omitempty"`
}

// allowance says what may be called with a key, and for how much.
func (k *listedKey) allowance() string {
	models := "all models"
	if len(k.Models) > 0 {
		models = clean(strings.Join(k.Models, " "))
	}
	parts := []string{models}
	for _, s := range k.Spending {
		if s.Budget.HardUSD > 0 {
			parts = append(parts, fmt.Sprintf("$%s of $%s a %s", s.Spent.Cost, s.Budget.HardUSD, s.Period))
		}
	}
	return strings.Join(parts, ", ")
}

// KeysSetCmd changes what a gateway key is good for.
type KeysSetCmd struct {
	ID          string    `arg:"" help:"Id of the key, as keys ls shows it."`
	Name        *string   `help:"What you call the key."`
	Expires     *string   `placeholder:"SPAN" help:"When it ends, from now, for example 90d, or never."`
	Models      *[]string `placeholder:"MODEL" help:"Models that may be called with it, * for any text, with commas between; * alone for all."`
	BudgetDay   *float64  `placeholder:"USD" help:"What calls with it may cost in a day, besides the budget of the agent; 0 is no limit."`
	BudgetMonth *float64  `placeholder:"USD" help:"The same in a month."`
}

// Run changes the key from its next call on.
func (c *KeysSetCmd) Run(env *Env) error {
	body, err := c.patch(env.Clock())
	if err != nil {
		return err
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	var key listedKey
	if err := api.call(env.Context, http.MethodPatch, "/v1/keys/"+url.PathEscape(c.ID), nil, body, &key); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(key)
	}
	_, err = fmt.Fprintf(env.Stdout, "Key %s of agent %s is changed%s. Effective on the next call.\n", clean(key.ID), clean(key.Agent), ends(key.ExpiresAt))
	return err
}

func (c *KeysSetCmd) patch(now time.Time) (map[string]any, error) {
	body := map[string]any{}
	if c.Name != nil {
		body["name"] = *c.Name
	}
	if c.Expires != nil && *c.Expires == "never" {
		body["expires_at"] = nil
	} else if c.Expires != nil {
		span, err := ParseSpan(*c.Expires)
		if err != nil || span <= 0 {
			return nil, haltd.Errorf(codeUsage, "--expires %s is not a span of time", clean(*c.Expires)).WithFix("Use for example --expires 90d, or --expires never.")
		}
		body["expires_at"] = now.Add(span).UTC().Format(time.RFC3339)
	}
	if c.Models != nil {
		body["models"] = *c.Models
		if len(*c.Models) == 1 && (*c.Models)[0] == "*" {
			body["models"] = []string{}
		}
	}
	if c.BudgetDay != nil {
		body["budget_day_usd"] = *c.BudgetDay
	}
	if c.BudgetMonth != nil {
		body["budget_month_usd"] = *c.BudgetMonth
	}
	if len(body) == 0 {
		return nil, haltd.Errorf(codeUsage, "nothing to set was given").WithFix("Use for example --budget-day 5.")
	}
	return body, nil
}

// KeysRevokeCmd ends a gateway key.
type KeysRevokeCmd struct {
	ID string `arg:"" help:"Id of the key, as keys ls shows it."`
}

// Run revokes the key; the next request with it is refused.
func (c *KeysRevokeCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var key haltd.Key
	if err := api.call(env.Context, http.MethodDelete, "/v1/keys/"+url.PathEscape(c.ID), nil, nil, &key); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(key)
	}
	_, err = fmt.Fprintf(env.Stdout, "Key %s of agent %s is revoked.\n", clean(key.ID), clean(key.Agent))
	return err
}

// minute is a time for people: local, to the minute.
func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
