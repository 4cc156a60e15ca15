package email

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd/internal/alert/outbound"
	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// connectionTime ends a connection whose try has no end of its own.
const connectionTime = 15 * time.Second

type sender struct {
	*Settings
	network *outbound.Network
}

// Send tries again later what the network failed and what the mail server
// refuses for now (its 4xx answers).
func (s *sender) Send(ctx context.Context, m outbound.Message) (answer string, retry bool, err error) {
	message, err := s.compose(m)
	if err != nil {
		return "", false, fmt.Errorf("write the email: %w", err)
	}
	secrets := s.secrets()
	answer, err = s.deliver(ctx, message)
	if err != nil {
		final := refused(err)
		err = outbound.Failure(ctx, explained(err), secrets...)
		return "", !final && !outbound.Forbidden(err), err
	}
	return outbound.Line(outbound.Conceal(answer, secrets...), 200), false, nil
}

// refused reports what a mail server will not say otherwise later.
func refused(err error) bool {
	var reply *textproto.Error
	return errors.As(err, &reply) && reply.Code >= 500
}

// secrets are the forms in which a password travels.
func (s *sender) secrets() []string {
	if s.Password == "" {
		return nil
	}
	encode := base64.StdEncoding.EncodeToString
	return []string{encode([]byte("\x00" + s.Username + "\x00" + s.Password)), encode([]byte(s.Password)), s.Password}
}

// explained puts into words what the library says in its own.
func explained(err error) error {
	if strings.Contains(err.Error(), "does not support STARTTLS") {
		return errors.New("the mail server offers no encryption by STARTTLS; use tls implicit, or none where nobody can listen")
	}
	return err
}

// deliver hands a message to the mail server. The connection is closed here,
// so that it ends with the context and after every failure.
func (s *sender) deliver(ctx context.Context, message *mail.Msg) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectionTime)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	client, err := s.client(conn)
	if err != nil {
		return "", err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err == nil {
		answer, err = transfer(session, message)
	}
	if err == nil {
		_ = session.Quit() // the message is delivered, however the server parts
	}
	if ctx.Err() != nil && err != nil {
		return "", ctx.Err() // that the connection is closed is only what follows
	}
	return answer, err
}

func (s *sender) dial(ctx context.Context) (net.Conn, error) {
	conn, err := s.network.Dial(ctx, "tcp", net.JoinHostPort(s.HostName, strconv.Itoa(s.Port)))
	if err != nil || s.TLS != Implicit {
		return conn, err
	}
	secured := tls.Client(conn, s.network.TLS(s.HostName))
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("encrypt the connection: %w", err)
	}
	return secured, nil
}

// client speaks SMTP over a connection. With implicit TLS the connection is
// encrypted already, and the mechanisms check that it is.
func (s *sender) client(conn net.Conn) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(s.Port),
		mail.WithTimeout(connectionTime),
		mail.WithTLSConfig(s.network.TLS(s.HostName)),
		mail.WithTLSPolicy(map[Encryption]mail.TLSPolicy{StartTLS: mail.TLSMandatory, Implicit: mail.NoTLS, None: mail.NoTLS}[s.TLS]),
		mail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil }),
	}
	if s.Username != "" {
		options = append(options, mail.WithUsername(s.Username), mail.WithPassword(s.Password),
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	return mail.NewClient(s.HostName, options...)
}

// transfer is one mail transaction. A recipient that the server refuses does
// not keep the others from their message; the answer names it.
func transfer(session *smtp.Client, message *mail.Msg) (string, error) {
	from, err := message.GetSender(false)
	if err != nil {
		return "", err
	}
	recipients, err := message.GetRecipients()
	if err != nil {
		return "", err
	}
	var content bytes.Buffer
	if _, err := message.WriteTo(&content); err != nil {
		return "", err
	}
	if err := session.Mail(from); err != nil {
		return "", err
	}
	var missed []string
	var failures []error
	for _, to := range recipients {
		if err := session.Rcpt(to); err != nil {
			missed = append(missed, to)
			failures = append(failures, fmt.Errorf("%s: %w", to, err))
		}
	}
	if len(missed) == len(recipients) {
		return "", nearest(failures)
	}
	answer, err := write(session, content.Bytes())
	if len(missed) > 0 {
		answer += " (refused: " + strings.Join(missed, ", ") + ")"
	}
	return answer, err
}

// nearest is the failure that leaves most hope: one that is for now only,
// where there is one.
func nearest(failures []error) error {
	for _, err := range failures {
		if !refused(err) {
			return err
		}
	}
	return failures[0]
}

func write(session *smtp.Client, content []byte) (string, error) {
	w, err := session.Data()
	if err != nil {
		return "", err
	}
	if _, err := w.Write(content); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	answer := "250"
	if d, ok := w.(*smtp.DataCloser); ok {
		answer += " " + d.ServerResponse()
	}
	return answer, nil
}
