package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/haltd/haltd"
)

// UsersAddCmd adds a person and prints the link with which to come in first.
type UsersAddCmd struct {
	Name string `arg:"" help:"How the person signs in. The audit log says so."`
	Role string `required:"" enum:"viewer,operator,admin" help:"viewer reads; operator also stops, resumes and changes policies and rules; admin does everything."`
}

// Run prints the link alone to stdout, so that a script can take it, and what
// to know about it to stderr.
func (c *UsersAddCmd) Run(env *Env) error {
	return env.invite("/v1/users", map[string]any{"name": c.Name, "role": c.Role}, "is added as")
}

// UsersLinkCmd lets a person choose another password.
type UsersLinkCmd struct {
	Name string `arg:"" help:"Name of the user, as users ls shows it."`
}

// Run prints the link alone to stdout, like users add.
func (c *UsersLinkCmd) Run(env *Env) error {
	return env.invite(userPath(c.Name)+"/links", nil, "is signed out everywhere, and stays")
}

// invite asks for a link of a user and prints it.
func (env *Env) invite(path string, body any, what string) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var made struct {
		haltd.User
		URL     string    `json:"url"`
		Expires time.Time `json:"expires_at"`
	}
	if err := api.call(env.Context, http.MethodPost, path, nil, body, &made); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(made)
	}
	fmt.Fprintf(env.Stderr, "%s %s %s. Send the link to nobody else: it works once, until %s, to choose a password.\n",
		clean(made.Name), what, made.Role, minute(made.Expires))
	_, err = fmt.Fprintln(env.Stdout, clean(made.URL))
	return err
}

func userPath(name string) string { return "/v1/users/" + url.PathEscape(name) }

// UsersLsCmd lists users.
type UsersLsCmd struct{}

// Run prints a table, or one JSON object.
func (c *UsersLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var list struct {
		Users []haltd.User `json:"users"`
	}
	if err := api.call(env.Context, http.MethodGet, "/v1/users", nil, nil, &list); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(list)
	}
	if len(list.Users) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "There are no users. Add one with `haltd users add ann --role operator`.")
		return err
	}
	rows := [][]string{{"NAME", "ROLE", "ADDED", "PASSWORD"}}
	for i := range list.Users {
		u := &list.Users[i]
		password := "not yet chosen"
		if u.PasswordSet {
			password = "chosen"
		}
		rows = append(rows, []string{clean(u.Name), clean(string(u.Role)), minute(u.CreatedAt) + ", by " + clean(u.CreatedBy), password})
	}
	return table(env.Stdout, rows)
}

// UsersSetCmd changes the role of a person.
type UsersSetCmd struct {
	Name string `arg:"" help:"Name of the user, as users ls shows it."`
	Role string `required:"" enum:"viewer,operator,admin" help:"The new role; it holds from the next request on."`
}

// Run changes the role.
func (c *UsersSetCmd) Run(env *Env) error {
	return env.changeUser(http.MethodPatch, c.Name, map[string]any{"role": c.Role}, func(u haltd.User) string {
		return fmt.Sprintf("%s is %s now.", clean(u.Name), clean(string(u.Role)))
	})
}

// UsersRmCmd removes a person.
type UsersRmCmd struct {
	Name string `arg:"" help:"Name of the user, as users ls shows it."`
}

// Run removes the person; the audit log keeps what it says.
func (c *UsersRmCmd) Run(env *Env) error {
	return env.changeUser(http.MethodDelete, c.Name, nil, func(u haltd.User) string {
		return fmt.Sprintf("%s is removed; sign-ins, and API tokens of that name, have ended.", clean(u.Name))
	})
}

func (env *Env) changeUser(method, name string, body any, done func(haltd.User) string) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var u haltd.User
	if err := api.call(env.Context, method, userPath(name), nil, body, &u); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(u)
	}
	_, err = fmt.Fprintln(env.Stdout, done(u))
	return err
}
