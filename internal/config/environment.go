package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// environment lists the variables that set a key which the file leaves open.
var environment = []struct {
	variable, key string
	target        func(*Config) any
	instead       string // a key of the file that makes this one moot
}{
	{"HALTD_GATEWAY_LISTEN", "gateway.listen", func(c *Config) any { return &c.Gateway.Listen }, ""},
	{"HALTD_ADMIN_LISTEN", "admin.listen", func(c *Config) any { return &c.Admin.Listen }, ""},
	{"HALTD_ADMIN_TOKEN", "admin.token", func(c *Config) any { return &c.Admin.Token }, "admin.token_file"},
	{"HALTD_DATA_DIR", "data_dir", func(c *Config) any { return &c.DataDir }, ""},
	{"HALTD_STORE_URL", "store.url", func(c *Config) any { return &c.Store.URL }, "store.url_file"},
	{"HALTD_STATE_URL", "state.url", func(c *Config) any { return &c.State.URL }, "state.url_file"},
	{"HALTD_SEAL_KEY", "seal_key", func(c *Config) any { return &c.SealKey }, "seal_key_file"},
	{"HALTD_LOG_FORMAT", "log.format", func(c *Config) any { return &c.Log.Format }, ""},
	{"HALTD_LOG_LEVEL", "log.level", func(c *Config) any { return &c.Log.Level }, ""},
}

// applyEnvironment fills in what the file did not set. A variable that is
// set to nothing counts as unset.
func (d *decoder) applyEnvironment(c *Config) {
	for _, e := range environment {
		text, _ := d.env(e.variable)
		if text == "" || d.isSet(e.key) || d.isSet(e.instead) {
			continue
		}
		d.origins[e.key] = e.variable
		if _, err := setScalar(e.target(c), text); err != nil {
			d.problem(e.key, "%v, got %s", err, quote(text))
		}
	}
	for name, p := range c.Providers {
		key := join("providers", name)
		if d.isSet(key+".api_key") || d.isSet(key+".api_key_file") {
			continue
		}
		for _, variable := range builtIns[name].keyVariables {
			if text, _ := d.env(variable); text != "" {
				d.origins[key+".api_key"] = variable
				p.APIKey = Secret(text)
				c.Providers[name] = p
				break
			}
		}
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// substitute replaces ${VAR} and ${VAR:-default}, and $$ by one $. Any other
// $ stays. What a variable holds is not looked into again.
func substitute(text string, env func(string) (string, bool)) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "{"):
			expression, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", errors.New("${ without a closing }; write $$ for a plain $")
			}
			value, err := lookUp(expression, env)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			text = rest
		default:
			out.WriteByte('$')
			text = after
		}
	}
}

func lookUp(expression string, env func(string) (string, bool)) (string, error) {
	name, fallback, hasFallback := strings.Cut(expression, ":-")
	if !variableName.MatchString(name) {
		return "", fmt.Errorf("%s is not the name of an environment variable; write $$ for a plain $", quote(name))
	}
	value, set := env(name)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !set:
		return "", fmt.Errorf("environment variable %s is not set; set it or write ${%s:-default}", name, name)
	}
	return value, nil
}
