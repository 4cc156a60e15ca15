package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/haltd/haltd"
)

// KeysCreateCmd makes a gateway key and shows it once.
type KeysCreateCmd struct {
	Agent string `required:"" help:"Agent that calls with the key."`
	Name  string `help:"What you call the key."`
}

// Run prints the secret alone to stdout, so that a script can take it, and
// what to know about it to stderr.
func (c *KeysCreateCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var made struct {
		haltd.Key
		Secret string `json:"secret"`
	}
	body := map[string]string{"agent": c.Agent, "name": c.Name}
	if err := api.call(env.Context, http.MethodPost, "/v1/keys", nil, body, &made); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(made)
	}
	fmt.Fprintf(env.Stderr, "Key %s for agent %s. It is shown this once; use it as the client's API key.\n", clean(made.ID), clean(made.Agent))
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
		Keys []haltd.Key `json:"keys"`
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
	rows := [][]string{{"ID", "AGENT", "NAME", "CREATED", "STATE"}}
	for _, k := range list.Keys {
		state := "active"
		if k.RevokedAt != nil {
			state = "revoked " + minute(*k.RevokedAt)
		}
		rows = append(rows, []string{clean(k.ID), clean(k.Agent), clean(k.Name), minute(k.CreatedAt), state})
	}
	return table(env.Stdout, rows)
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
