// Package email brings messages to mailboxes over SMTP. It opens one
// connection for each message and keeps nothing.
package email

import (
	"encoding/json"
	"net/mail"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

// Settings of a channel. The password is the secret.
type Settings struct {
	HostName string     `json:"host"`
	Port     int        `json:"port"` // 0: the usual one
	TLS      Encryption `json:"tls"`  // empty: STARTTLS
	Username string     `json:"username"`
	Password string     `json:"password"`
	From     string     `json:"from"`
	To       []string   `json:"to"`
}

// Encryption is how a connection to the mail server becomes secret.
type Encryption string

// The ways. Without encryption nobody signs in.
const (
	StartTLS Encryption = "starttls"
	Implicit Encryption = "implicit"
	None     Encryption = "none"
)

var usualPort = map[Encryption]int{StartTLS: 587, Implicit: 465, None: 25}

const maxRecipients = 50

// Parse reads and checks settings and fills in what is usual.
func Parse(raw json.RawMessage) (*Settings, error) {
	s := &Settings{}
	if err := outbound.Decode(raw, s); err != nil {
		return nil, err
	}
	if s.TLS == "" {
		s.TLS = StartTLS
	}
	if s.Port == 0 {
		s.Port = usualPort[s.TLS]
	}
	return s, s.check()
}

func (s *Settings) check() error {
	switch {
	case s.HostName == "":
		return invalid("host", "is missing").WithFix("Name your mail server, for example smtp.example.com.")
	case strings.ContainsFunc(s.HostName, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/@", r) }):
		return invalid("host", "is not the name of a mail server").WithFix("Give the name or address alone; the port has a setting of its own.")
	case usualPort[s.TLS] == 0:
		return invalid("tls", "is none of starttls, implicit, none").WithFix("Use starttls unless your mail server says otherwise.")
	case s.Port < 1 || s.Port > 65535:
		return invalid("port", "is not between 1 and 65535").WithFix("Leave it out to use the usual one.")
	case s.TLS == None && (s.Username != "" || s.Password != ""):
		return invalid("tls", "none would send the password for everybody to read").WithFix("Use starttls or implicit, or leave out username and password.")
	case (s.Username == "") != (s.Password == ""):
		return invalid("username", "and password come together").WithFix("Give both, or neither where the mail server asks for none.")
	case len(s.To) == 0:
		return invalid("to", "is missing").WithFix("List the addresses that get the alerts.")
	case len(s.To) > maxRecipients:
		return invalid("to", "has more than 50 addresses").WithFix("Use a mailing list.")
	}
	if _, err := mail.ParseAddress(s.From); err != nil {
		return invalid("from", "is not an email address").WithFix("Write for example haltd@example.com or haltd <haltd@example.com>.")
	}
	for _, to := range s.To {
		if _, err := mail.ParseAddress(to); err != nil {
			return invalid("to", "holds something that is not an email address").WithFix("Write for example [\"oncall@example.com\"].")
		}
	}
	return nil
}

func invalid(field, what string) *haltd.Error {
	return haltd.Errorf(haltd.CodeInvalid, "%s", what).In(field)
}

// Host is the name or address that the channel calls.
func (s *Settings) Host() string { return s.HostName }

// Redacted are the settings as people may see them.
func (s *Settings) Redacted() any {
	shown := *s
	shown.To = slices.Clone(s.To)
	if shown.Password != "" {
		shown.Password = "…"
	}
	return shown
}

// SameServer reports whether a password that was given for t may be sent with
// these settings: it would otherwise be a way to read it.
func (s *Settings) SameServer(t *Settings) bool {
	return s.HostName == t.HostName && s.Port == t.Port && s.TLS == t.TLS
}

// Sender calls the channel through a network.
func (s *Settings) Sender(n *outbound.Network) outbound.Sender { return &sender{s, n} }
