package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// SignInCmd prints a link to the dashboard.
type SignInCmd struct{}

// Run asks haltd for a link and prints it, or one JSON object.
func (c *SignInCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(env.Context, http.MethodPost, "/v1/sign-in-links", nil, nil, &raw); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(raw)
	}
	var link struct {
		URL     string    `json:"url"`
		Expires time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(raw, &link); err != nil {
		return fmt.Errorf("read the answer of haltd: %w", err)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\nIt signs in who opens it first, until %s.\n", clean(link.URL), minute(link.Expires))
	return err
}
