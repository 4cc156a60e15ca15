package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

// Alerts is where notices go.
type Alerts struct {
	// PublicURL is where people reach the admin listener, for the links in
	// messages; nil when the file does not say. It ends without a slash.
	PublicURL *url.URL `yaml:"public_url"`
	// AllowInternal are host names, addresses and networks in CIDR notation
	// that channels of the API may reach although they are not public.
	AllowInternal []string       `yaml:"allow_internal"`
	Channels      []AlertChannel `yaml:"channels"`
}

// AlertChannel is one place where notices go. Which of its settings are used
// is a matter of its kind.
type AlertChannel struct {
	Name    string            `yaml:"name"`
	Kind    haltd.ChannelKind `yaml:"kind"`
	Enabled bool              `yaml:"enabled"`

	// URL is a secret: whoever knows it can post.
	URL     Secret `yaml:"url"`
	URLFile string `yaml:"url_file"`

	Secret     Secret `yaml:"secret"`
	SecretFile string `yaml:"secret_file"`

	Host         string   `yaml:"host"`
	Port         int      `yaml:"port,omitempty"`
	TLS          string   `yaml:"tls"` // starttls, implicit or none
	Username     string   `yaml:"username"`
	Password     Secret   `yaml:"password"`
	PasswordFile string   `yaml:"password_file"`
	From         string   `yaml:"from"`
	To           []string `yaml:"to,omitempty"`
}

// Channel is the channel as the rest of haltd knows it. Its settings hold the
// secrets in the clear.
func (a AlertChannel) Channel() haltd.Channel {
	var settings any
	switch a.Kind {
	case haltd.ChannelSlack:
		settings = struct {
			URL string `json:"url"`
		}{a.URL.Reveal()}
	case haltd.ChannelWebhook:
		settings = struct {
			URL    string `json:"url"`
			Secret string `json:"secret"`
		}{a.URL.Reveal(), a.Secret.Reveal()}
	case haltd.ChannelEmail:
		settings = struct {
			Host     string   `json:"host"`
			Port     int      `json:"port"`
			TLS      string   `json:"tls"`
			Username string   `json:"username"`
			Password string   `json:"password"`
			From     string   `json:"from"`
			To       []string `json:"to"`
		}{a.Host, a.Port, a.TLS, a.Username, a.Password.Reveal(), a.From, a.To}
	}
	raw, _ := json.Marshal(settings) // texts and numbers can always be written
	return haltd.Channel{ID: "file-" + a.Name, Name: a.Name, Kind: a.Kind, Enabled: a.Enabled, Source: "file", Settings: raw}
}

// commonSettings are the keys that every channel has, channelSettings those
// of each kind.
var commonSettings = []string{"name", "kind", "enabled"}

var channelSettings = map[haltd.ChannelKind][]string{
	haltd.ChannelSlack:   {"url", "url_file"},
	haltd.ChannelWebhook: {"url", "url_file", "secret", "secret_file"},
	haltd.ChannelEmail:   {"host", "port", "tls", "username", "password", "password_file", "from", "to"},
}

func (d *decoder) alerts(a *Alerts) {
	if a.PublicURL != nil {
		a.PublicURL = d.absoluteURL("alerts.public_url", a.PublicURL, "the dashboard asks for the token")
	}
	for i, host := range a.AllowInternal {
		if _, err := netip.ParsePrefix(host); err != nil && !isHost(host) {
			d.problem(fmt.Sprintf("alerts.allow_internal[%d]", i), "expected a host name, an address or a network such as 10.0.0.0/8, got %s", quote(host))
		}
	}
	if slack, _ := d.env("SLACK_WEBHOOK_URL"); slack != "" && !isReceiver(slack) {
		d.problems = append(d.problems, problem{text: "SLACK_WEBHOOK_URL: not the address of a receiver; set it to that of an incoming webhook, which starts with https://hooks.slack.com/, or unset it"})
	}
	lines := map[string]int{}
	for i := range a.Channels {
		key, c := fmt.Sprintf("alerts.channels[%d]", i), &a.Channels[i]
		d.channel(key, c)
		if line, taken := lines[c.Name]; taken && c.Name != "" {
			d.problem(key+".name", "the name of another channel in line %d", line)
		}
		lines[c.Name] = d.line(key + ".name")
	}
}

var channelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// channel completes and checks one entry.
func (d *decoder) channel(key string, c *AlertChannel) {
	if !channelName.MatchString(c.Name) {
		d.problem(key+".name", "expected letters, digits and . _ -, 64 at most, got %s", quote(c.Name))
	}
	if !d.isSet(key + ".enabled") {
		c.Enabled = true
	}
	known, ok := channelSettings[c.Kind]
	if !ok {
		d.problem(key+".kind", "expected slack, webhook or email, got %s", quote(string(c.Kind)))
		return
	}
	for _, name := range fieldNames(reflect.TypeFor[AlertChannel]()) {
		if d.isSet(key+"."+name) && !slices.Contains(commonSettings, name) && !slices.Contains(known, name) {
			d.problem(key+"."+name, "no setting of %s, which has %s", c.Kind, strings.Join(known, ", "))
		}
	}
	switch c.Kind {
	case haltd.ChannelSlack:
		d.receiver(key, c)
	case haltd.ChannelWebhook:
		d.receiver(key, c)
		d.signature(key, c)
	case haltd.ChannelEmail:
		d.email(key, c)
	}
}

// receiver checks where a channel posts to. The URL is a secret and stays out
// of messages.
func (d *decoder) receiver(key string, c *AlertChannel) {
	c.URL = d.secret(key+".url", c.URL, c.URLFile)
	source, given := d.source(key + ".url")
	switch u, _ := url.Parse(c.URL.Reveal()); {
	case !given:
		d.problem(source, "missing; give the URL to post to")
	case !isReceiver(c.URL.Reveal()):
		d.problem(source, "expected a URL such as https://hooks.example.com/…, without user name and fragment")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		d.warn(source, "alerts travel unencrypted; use https")
	}
}

// isReceiver reports a URL that messages can be posted to.
func isReceiver(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// signature checks what a webhook signs its messages with.
func (d *decoder) signature(key string, c *AlertChannel) {
	c.Secret = d.secret(key+".secret", c.Secret, c.SecretFile)
	source, _ := d.source(key + ".secret")
	encoded, ok := strings.CutPrefix(c.Secret.Reveal(), "whsec_")
	random, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(random) < 24 || len(random) > 64 {
		d.problem(source, "expected whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it")
	}
}

// mailPorts are the usual ones, by how a connection is encrypted.
var mailPorts = map[string]int{"starttls": 587, "implicit": 465, "none": 25}

func (d *decoder) email(key string, c *AlertChannel) {
	if !isHost(c.Host) {
		d.problem(key+".host", "expected the name of a mail server, got %s", quote(c.Host))
	}
	if !d.isSet(key + ".tls") {
		c.TLS = "starttls"
	}
	usual, ok := mailPorts[c.TLS]
	if !ok {
		d.problem(key+".tls", "expected starttls, implicit or none, got %s", quote(c.TLS))
	}
	if !d.isSet(key + ".port") {
		c.Port = usual
	} else {
		d.between(key+".port", int64(c.Port), 1, 65535, number)
	}
	c.Password = d.secret(key+".password", c.Password, c.PasswordFile)
	source, given := d.source(key + ".password")
	switch {
	case given && c.Username == "":
		d.problem(key+".username", "missing; a password needs a name to go with it")
	case c.Username != "" && c.Password == "":
		d.problem(source, "missing; a name needs a password to go with it")
	case given && c.TLS == "none":
		d.problem(key+".tls", "none would send the password for everybody to read; use starttls or implicit")
	}
	d.mailAddress(key+".from", c.From)
	if len(c.To) == 0 || len(c.To) > maxRecipients {
		d.problem(key+".to", "expected 1 to %d addresses, got %d", maxRecipients, len(c.To))
	}
	for i, to := range c.To {
		d.mailAddress(fmt.Sprintf("%s.to[%d]", key, i), to)
	}
}

// maxRecipients is where a mailing list does better.
const maxRecipients = 50

func (d *decoder) mailAddress(key, address string) {
	if _, err := mail.ParseAddress(address); err != nil {
		d.problem(key, "expected an address such as haltd@example.com, got %s", quote(address))
	}
}
