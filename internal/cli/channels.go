package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/haltd/haltd"
	"golang.org/x/term"
)

// ChannelsLsCmd lists channels.
type ChannelsLsCmd struct{}

// Run prints a table, or one JSON object.
func (c *ChannelsLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	if env.JSON {
		return env.pass(api, http.MethodGet, "/v1/channels", nil)
	}
	channels, err := env.channels(api)
	if err != nil {
		return err
	}
	if len(channels) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "No alert channel: nobody would hear about a kill. Make one with `haltd channels add`.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "KIND", "STATE", "FROM", "GOES TO"}}
	for _, v := range channels {
		rows = append(rows, []string{clean(v.ID), clean(v.Name), clean(string(v.Kind)), channelState(v), clean(v.Source), destination(v)})
	}
	return table(env.Stdout, rows)
}

func channelState(c haltd.Channel) string {
	if c.Disabled != "" {
		return "off: " + clean(c.Disabled)
	}
	return onOff(c.Enabled)
}

// destination is where a channel goes, without its secrets.
func destination(c haltd.Channel) string {
	var s struct {
		URL string   `json:"url"`
		To  []string `json:"to"`
	}
	_ = json.Unmarshal(c.Settings, &s) // settings that cannot be read show nothing
	if len(s.To) > 0 {
		return clean(strings.Join(s.To, ", "))
	}
	return clean(dash(s.URL))
}

// pass prints the answer to a request as it is, for programs.
func (e *Env) pass(api *client, method, path string, body any) error {
	var raw json.RawMessage
	if err := api.call(e.Context, method, path, nil, body, &raw); err != nil {
		return err
	}
	return e.printJSON(raw)
}

func (e *Env) channels(api *client) ([]haltd.Channel, error) {
	var list struct {
		Channels []haltd.Channel `json:"channels"`
	}
	err := api.call(e.Context, http.MethodGet, "/v1/channels", nil, nil, &list)
	return list.Channels, err
}

// channel finds a channel by its id or its name, which no two share.
func (e *Env) channel(api *client, wanted string) (haltd.Channel, error) {
	channels, err := e.channels(api)
	if err != nil {
		return haltd.Channel{}, err
	}
	for _, c := range channels {
		if c.ID == wanted || strings.EqualFold(c.Name, wanted) {
			return c, nil
		}
	}
	return haltd.Channel{}, haltd.Errorf(haltd.CodeNotFound, "There is no channel %s", clean(wanted)).WithFix("haltd channels ls shows them.")
}

// ChannelsAddSlackCmd makes a Slack channel.
type ChannelsAddSlackCmd struct {
	Name    string `required:"" help:"What you call the channel."`
	URL     string `name:"url" help:"Address of the incoming webhook, which is a secret; - reads it from standard input." placeholder:"URL"`
	URLFile string `name:"url-file" help:"File that holds the address." type:"path" placeholder:"FILE"`
}

// Run makes the channel.
func (c *ChannelsAddSlackCmd) Run(env *Env) error {
	address, err := env.secret("--url", c.URL, c.URLFile)
	if err != nil {
		return err
	}
	return env.addChannel(c.Name, haltd.ChannelSlack, map[string]any{"url": address})
}

// ChannelsAddWebhookCmd makes a channel that calls any receiver over HTTP.
type ChannelsAddWebhookCmd struct {
	Name       string `required:"" help:"What you call the channel."`
	URL        string `name:"url" help:"Address of the receiver; - reads it from standard input." placeholder:"URL"`
	URLFile    string `name:"url-file" help:"File that holds the address." type:"path" placeholder:"FILE"`
	Secret     string `help:"What messages are signed with, whsec_…; - reads it from standard input. Left out, haltd makes one and prints it once." placeholder:"SECRET"`
	SecretFile string `help:"File that holds the secret." type:"path" placeholder:"FILE"`
}

// Run makes the channel.
func (c *ChannelsAddWebhookCmd) Run(env *Env) error {
	address, err := env.secret("--url", c.URL, c.URLFile)
	if err != nil {
		return err
	}
	settings := map[string]any{"url": address}
	secret, err := env.secret("--secret", c.Secret, c.SecretFile)
	if err != nil {
		return err
	}
	if secret != "" {
		settings["secret"] = secret
	}
	return env.addChannel(c.Name, haltd.ChannelWebhook, settings)
}

// ChannelsAddEmailCmd makes a channel that sends email.
type ChannelsAddEmailCmd struct {
	Name         string   `required:"" help:"What you call the channel."`
	Host         string   `help:"Mail server." placeholder:"HOST"`
	Port         int      `help:"Its port; left out, the usual one." placeholder:"PORT"`
	TLS          string   `name:"tls" help:"starttls (the default), implicit or none." placeholder:"HOW"`
	Username     string   `help:"Left out where the mail server asks for none." placeholder:"NAME"`
	Password     string   `help:"- reads it from standard input." placeholder:"PASSWORD"`
	PasswordFile string   `help:"File that holds the password." type:"path" placeholder:"FILE"`
	From         string   `help:"Address of the sender." placeholder:"ADDRESS"`
	To           []string `help:"Addresses that get the alerts." placeholder:"ADDRESS"`
}

// Run makes the channel. What is missing or wrong haltd itself says.
func (c *ChannelsAddEmailCmd) Run(env *Env) error {
	password, err := env.secret("--password", c.Password, c.PasswordFile)
	if err != nil {
		return err
	}
	return env.addChannel(c.Name, haltd.ChannelEmail, map[string]any{
		"host": c.Host, "port": c.Port, "tls": c.TLS, "username": c.Username, "password": password, "from": c.From, "to": c.To,
	})
}

// secret is a text that should not stand on a command line: the value itself,
// standard input where it is -, or the content of a file.
func (e *Env) secret(flag, value, file string) (string, error) {
	var b []byte
	var err error
	switch {
	case value != "" && file != "":
		return "", haltd.Errorf(codeUsage, "%s and %s-file are the same thing", flag, flag).WithFix("Use one of them.")
	case value == "-":
		b, err = e.readHidden(flag)
	case file != "":
		flag += "-file"
		b, err = os.ReadFile(file)
	default:
		return value, nil
	}
	if err != nil {
		return "", haltd.Errorf(codeUsage, "%s cannot be read: %v", flag, err).WithFix("Name a file that you can read, or give - and write it to standard input.")
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", haltd.Errorf(codeUsage, "there is nothing to read").In(flag).WithFix("Give it on standard input with -, or in a file.")
	}
	return text, nil
}

// readHidden reads standard input; what a person types is not shown.
func (e *Env) readHidden(flag string) ([]byte, error) {
	if f, ok := e.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(e.Stderr, "%s: ", strings.TrimLeft(flag, "-"))
		defer fmt.Fprintln(e.Stderr)
		return term.ReadPassword(int(f.Fd()))
	}
	return io.ReadAll(io.LimitReader(e.Stdin, 64<<10))
}

// addChannel makes a channel. A secret that haltd made goes alone to stdout,
// so that a script can take it, and what to know about it to stderr.
func (e *Env) addChannel(name string, kind haltd.ChannelKind, settings map[string]any) error {
	api, err := e.connect()
	if err != nil {
		return err
	}
	body := map[string]any{"name": name, "kind": kind, "settings": settings}
	if e.JSON {
		return e.pass(api, http.MethodPost, "/v1/channels", body)
	}
	var made haltd.Channel
	if err := api.call(e.Context, http.MethodPost, "/v1/channels", nil, body, &made); err != nil {
		return err
	}
	text := fmt.Sprintf("Channel %s is set up. Try it with `haltd channels test %s`.", clean(made.Name), clean(made.ID))
	if secret := madeSecret(made, settings); secret != "" {
		fmt.Fprintln(e.Stderr, text+" Messages are signed with this secret, which is shown this once:")
		text = clean(secret)
	}
	_, err = fmt.Fprintln(e.Stdout, text)
	return err
}

// madeSecret is the secret that haltd made for a webhook that was given none.
func madeSecret(made haltd.Channel, given map[string]any) string {
	var shown struct {
		Secret string `json:"secret"`
	}
	if _, ok := given["secret"]; ok || made.Kind != haltd.ChannelWebhook || json.Unmarshal(made.Settings, &shown) != nil {
		return ""
	}
	return shown.Secret
}

// ChannelsRmCmd deletes a channel.
type ChannelsRmCmd struct {
	Channel string `arg:"" help:"Id or name of the channel, as channels ls shows it."`
}

// Run deletes the channel; what is on its way to it is given up.
func (c *ChannelsRmCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	found, err := env.channel(api, c.Channel)
	if err != nil {
		return err
	}
	return env.remove(api, channelPath(found.ID), found, "Channel "+clean(found.Name)+" is deleted.")
}

func channelPath(id string) string { return "/v1/channels/" + url.PathEscape(id) }

// remove deletes something and says so, or shows programs what it was.
func (e *Env) remove(api *client, path string, was any, text string) error {
	resp, err := api.open(e.Context, http.MethodDelete, path, nil, nil, nil)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if e.JSON {
		return e.printJSON(was)
	}
	_, err = fmt.Fprintln(e.Stdout, text)
	return err
}

// ChannelsTestCmd tries a channel.
type ChannelsTestCmd struct {
	Channel string `arg:"" help:"Id or name of the channel, as channels ls shows it."`
}

// Run sends a test message and tells what the receiver answered; not
// delivered is a failure.
func (c *ChannelsTestCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	found, err := env.channel(api, c.Channel)
	if err != nil {
		return err
	}
	var got struct {
		Delivered bool   `json:"delivered"`
		Answer    string `json:"answer"`
	}
	if err := api.call(env.Context, http.MethodPost, channelPath(found.ID)+"/test", nil, nil, &got); err != nil {
		return err
	}
	if env.JSON {
		err = env.printJSON(got)
	}
	switch {
	case err != nil:
		return err
	case !got.Delivered:
		return haltd.Errorf(codeUndelivered, "Channel %s did not take the test message: %s", clean(found.Name), strings.TrimSuffix(clean(got.Answer), ".")).
			WithFix("Check that the receiver is up. Where its address or secret has changed, make the channel anew with haltd channels add.")
	case env.JSON:
		return nil
	}
	_, err = fmt.Fprintf(env.Stdout, "Channel %s took the test message: %s\n", clean(found.Name), clean(got.Answer))
	return err
}

// codeUndelivered is a receiver's refusal of a test message.
const codeUndelivered = "undelivered"
