package cli

import (
	"fmt"
	"net/http"

	"github.com/haltd/haltd"
)

// BypassOnCmd stops all enforcement except stops by hand.
type BypassOnCmd struct {
	Reason string `help:"Why, for the record."`
}

// Run switches the bypass on.
func (c *BypassOnCmd) Run(env *Env) error { return env.setBypass(true, c.Reason) }

// BypassOffCmd begins enforcement again.
type BypassOffCmd struct {
	Reason string `help:"Why, for the record."`
}

// Run switches the bypass off.
func (c *BypassOffCmd) Run(env *Env) error { return env.setBypass(false, c.Reason) }

// BypassStatusCmd says whether the bypass is on.
type BypassStatusCmd struct{}

// Run prints one line, or one JSON object.
func (c *BypassStatusCmd) Run(env *Env) error { return env.bypass(http.MethodGet, nil) }

func (e *Env) setBypass(on bool, why string) error {
	return e.bypass(http.MethodPut, map[string]any{"on": on, "reason": why})
}

// bypass asks for the switch, or sets it, and says how it stands.
func (e *Env) bypass(method string, body any) error {
	api, err := e.connect()
	if err != nil {
		return err
	}
	var b haltd.Bypass
	if err := api.call(e.Context, method, "/v1/bypass", nil, body, &b); err != nil {
		return err
	}
	if e.JSON {
		return e.printJSON(b)
	}
	_, err = fmt.Fprintln(e.Stdout, e.bypassLine(b))
	return err
}

func (e *Env) bypassLine(b haltd.Bypass) string {
	if !b.On {
		return "Bypass is off: policies and detectors are enforced."
	}
	text := "Bypass is ON"
	if !b.At.IsZero() {
		text += " since " + minute(b.At) + ", by " + clean(dash(b.By))
	}
	if b.Why != "" {
		text += ": " + clean(b.Why)
	}
	return e.paint(text, red) + "\nNothing is enforced except stops by hand. End it with `haltd bypass off`."
}
