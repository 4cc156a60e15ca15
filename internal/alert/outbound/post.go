package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

const (
	answerBytes = 4 << 10 // of a body that are read
	answerRunes = 200     // of it that are kept
)

// Response is what a receiver answered over HTTP.
type Response struct {
	Status int
	After  time.Duration // that the receiver asks to wait; 0 when it does not
	Text   string        // one line: status and the beginning of the body
}

// OK reports an answer that takes the message.
func (r Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Err is the failure that an answer other than OK is.
func (r Response) Err() error {
	err := fmt.Errorf("the receiver answered %s", r.Text)
	if r.After > 0 {
		return &WaitError{After: r.After, Err: err}
	}
	return err
}

// Post sends JSON. What it answers and its errors never hold the address
// beyond its host, nor one of the secrets.
func (n *Network) Post(ctx context.Context, address *url.URL, header http.Header, body []byte, now time.Time, secrets ...string) (Response, error) {
	secrets = append(secrets, secretsOf(address)...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return Response{}, errors.New("the address of the receiver cannot be called")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "haltd")
	resp, err := n.client().Do(req)
	if err != nil {
		return Response{}, Failure(ctx, withoutAddress(err), secrets...)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerBytes))
	if err != nil {
		return Response{}, Failure(ctx, fmt.Errorf("the receiver's answer %d broke off: %w", resp.StatusCode, err), secrets...)
	}
	text := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	if line := Line(Conceal(string(answer), secrets...), answerRunes); line != "" {
		text += ": " + line
	}
	return Response{Status: resp.StatusCode, After: retryAfter(resp.Header.Get("Retry-After"), now), Text: text}, nil
}

// Failure words an error of the network for people. A timeout says that
// nobody answered, and no secret stays in the text.
func Failure(ctx context.Context, err error, secrets ...string) error {
	var own *haltd.Error
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() == nil && errors.As(err, &timeout) && timeout.Timeout(), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("the receiver did not answer in time")
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the receiver closed the connection before it had answered")
	}
	return errors.New(Line(Conceal(err.Error(), secrets...), answerRunes))
}

// Forbidden reports that the network refused to call an address.
func Forbidden(err error) bool { return haltd.ErrorCode(err) == CodeForbidden }

// withoutAddress is the error without the URL that package http puts around.
func withoutAddress(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// secretsOf are the parts of an address that a receiver may repeat and nobody
// should read. What is too short to be a secret, such as a word of the path,
// would only tear holes into the text.
func secretsOf(address *url.URL) []string {
	parts := append([]string{address.String(), address.RequestURI(), address.EscapedPath(), address.RawQuery},
		strings.Split(address.EscapedPath(), "/")...)
	return slices.DeleteFunc(parts, func(part string) bool { return len(part) < 12 })
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// ParseURL reads the address of a receiver that is called over HTTP. Errors
// name the field and do not repeat the address.
func ParseURL(field, text string) (*url.URL, error) {
	if text == "" {
		return nil, haltd.Errorf(haltd.CodeInvalid, "is missing").In(field).WithFix("Give the address that the receiver told you.")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, haltd.Errorf(haltd.CodeInvalid, "is not the address of a receiver").In(field).
			WithFix("It starts with https:// or http://, names a host and holds no user name or fragment.")
	}
	return u, nil
}

// ShortURL is an address as people may see it: the rest of it lets whoever
// knows it send messages.
func ShortURL(u *url.URL) string { return u.Scheme + "://" + u.Host + "/…" }
