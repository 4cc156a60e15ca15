package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// client speaks with the admin API of one haltd.
type client struct {
	base  *url.URL
	token string
	actor string
	help  string
	http  *http.Client
}

// answerTime is how long one answer may take; streams have their own rule.
const answerTime = 30 * time.Second

// connect finds the address and the token of the haltd that is meant. It
// reads the configuration only for what the flags and the environment leave
// open. A broken file is no reason to leave an agent running: what it still
// says is used, and told.
func (e *Env) connect() (*client, error) {
	address, token := e.AdminURL, e.getenv("HALTD_ADMIN_TOKEN")
	if address == "" {
		address = e.getenv("HALTD_ADMIN_URL")
	}
	var local config.TLS // of the haltd on this machine, which has its certificate here
	if address == "" || token == "" {
		place, broken := config.Find(e.ConfigPath, e.Getenv)
		if broken != nil {
			fmt.Fprintf(e.Stderr, "%sthe configuration is not valid (`haltd config check` says why); using admin.listen %s and data_dir %s.\n",
				e.paint("Warning: ", yellow), clean(place.Listen), clean(place.DataDir))
		}
		if address == "" {
			address = callableAddress(place.Listen)
			if local = place.TLS; local.On() {
				address = "https://" + address
			}
			e.awaitStart(callableAddress(place.Listen))
		}
		if token == "" {
			var err error
			if token, err = tokenOf(place); err != nil {
				return nil, err
			}
		}
	}
	base, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	transport, err := transportTo("admin", local)
	if err != nil {
		return nil, err
	}
	return &client{base: base, token: token, actor: e.Actor, help: e.Help, http: &http.Client{
		Transport: transport,
		// A redirect could carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// awaitStart waits until something listens on this machine's own address: a
// haltd that starts for the first time makes its token before that.
// Where nothing comes, the call says so.
func (e *Env) awaitStart(address string) {
	host, _, err := net.SplitHostPort(address)
	if ip, bad := netip.ParseAddr(host); err != nil || bad != nil || !ip.IsLoopback() {
		return
	}
	ctx, cancel := context.WithTimeout(e.Context, e.StartTime)
	defer cancel()
	patience := time.AfterFunc(time.Second, func() { fmt.Fprintf(e.Stderr, "Waiting for a haltd at %s …\n", clean(address)) })
	defer patience.Stop()
	for ctx.Err() == nil {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			c.Close()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// callableAddress is where to call a listener: one that listens everywhere is
// called on loopback.
func callableAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func parseAddress(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, haltd.Errorf(codeUsage, "%s is not an address of a haltd", clean(address)).
			WithFix("Use for example --admin http://127.0.0.1:7071.")
	}
	return u, nil
}

// tokenOf is the token that haltd itself uses under this configuration. A
// file that does not exist is no error yet: haltd may never have run, and
// then the call says so better.
func tokenOf(place config.Place) (string, error) {
	if token := place.Token.Reveal(); token != "" {
		return token, nil
	}
	path := filepath.Join(place.DataDir, "admin.token")
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", haltd.Errorf(haltd.CodeUnauthorized, "The admin token in %s cannot be read: %v", path, errors.Unwrap(err)).
			WithFix("Run this as the user that haltd runs as, or set HALTD_ADMIN_TOKEN.")
	}
	return strings.TrimSpace(string(b)), nil
}

// call asks for one answer and decodes it into out. body is sent as JSON
// where it is not nil.
func (c *client) call(ctx context.Context, method, path string, query url.Values, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	resp, err := c.open(ctx, method, path, query, body, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.notHaltd(resp)
	}
	return nil
}

// list reads a listing to its end; field is where its pages keep the items.
func (c *client) list(ctx context.Context, path, field string, query url.Values) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	q := url.Values{"limit": {"1000"}}
	maps.Copy(q, query)
	for {
		var page map[string]json.RawMessage
		if err := c.call(ctx, http.MethodGet, path, q, nil, &page); err != nil {
			return nil, err
		}
		var items []json.RawMessage
		var next *string
		if err := errors.Join(json.Unmarshal(page[field], &items), json.Unmarshal(page["next"], &next)); err != nil {
			return nil, fmt.Errorf("read the list of %s: %w", field, err)
		}
		if all = append(all, items...); next == nil {
			return all, nil
		}
		q.Set("cursor", *next)
	}
}

// decoded reads each of several JSON values.
func decoded[T any](raw []json.RawMessage) ([]T, error) {
	values := make([]T, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &values[i]); err != nil {
			return nil, fmt.Errorf("read the answer of haltd: %w", err)
		}
	}
	return values, nil
}

// open sends a request and hands out an answer that is a success.
func (c *client) open(ctx context.Context, method, path string, query url.Values, body any, header http.Header) (*http.Response, error) {
	target := c.base.JoinPath(path)
	target.RawQuery = query.Encode()
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.actor != "" {
		req.Header.Set("X-Haltd-Actor", c.actor)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

func (c *client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return haltd.Errorf(codeUnreachable, "No haltd answers at %s", c.base).
			WithFix("Start it with `haltd serve`, or name another address with --admin.")
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the URL, which the sentence names
	}
	return haltd.Errorf(codeUnreachable, "haltd at %s does not answer: %s", c.base, clean(err.Error())).
		WithFix("Look at its log, or name another address with --admin.")
}

// refusal reads the error of an answer that is none of the successes. Errors
// of providers look alike but have no fix: behind the gateway, they answer to
// paths of the admin API.
func (c *client) refusal(resp *http.Response) error {
	var answer struct {
		Error struct {
			Code, Message, See string
			Fix                *string
		}
	}
	err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer)
	if fromGateway := resp.Header.Get("X-Haltd-Reason") != ""; err != nil || answer.Error.Fix == nil || fromGateway {
		return c.notHaltd(resp)
	}
	if answer.Error.Code == haltd.CodeUnauthorized {
		what := "does not accept this admin token; an API token may have expired, or been revoked"
		if c.token == "" {
			what = "needs the admin token, and none was found"
		}
		return haltd.Errorf(haltd.CodeUnauthorized, "haltd at %s %s", c.base, what).
			WithFix("Set HALTD_ADMIN_TOKEN, or use --config with the file that haltd runs with; without a token of its own it keeps one in admin.token in its data directory.")
	}
	return &haltd.Error{Code: clean(answer.Error.Code), Message: clean(answer.Error.Message), Fix: c.fixInTerminal(clean(*answer.Error.Fix), clean(answer.Error.See))}
}

// fixInTerminal says by a command what the API says by the path to look at.
func (c *client) fixInTerminal(fix, see string) string {
	things, isPath := strings.CutPrefix(see, "/v1/")
	switch {
	case !isPath:
		return fix
	case things == "openapi.json":
		return c.help
	}
	return "haltd " + things + " ls lists what there is."
}

func (c *client) notHaltd(resp *http.Response) error {
	return haltd.Errorf(codeUnreachable, "What answers at %s is not a haltd admin API (status %d)", c.base, resp.StatusCode).
		WithFix("Name the right address with --admin; it is not the gateway's.")
}
