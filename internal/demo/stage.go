package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/app"
)

// stage is a real haltd with the demo's provider behind it, and a folder that
// holds all that they write.
type stage struct {
	app      *app.App
	config   string // path of its configuration
	token    string // of the admin API, where the environment has one
	folder   string
	provider *http.Server

	stop  context.CancelFunc
	ended chan struct{} // closed when haltd has ended
	err   error         // how it ended; read after ended
}

// raise opens a stage. On an error nothing of it remains.
func raise(ctx context.Context, env Env, think time.Duration) (_ *stage, err error) {
	s := &stage{ended: make(chan struct{})}
	if s.folder, err = os.MkdirTemp("", "haltd-demo-"); err != nil {
		return nil, haltd.Errorf(haltd.CodeUnavailable, "The demo cannot make a temporary folder: %v", err).
			WithFix("Name a folder that can be written in TMPDIR.")
	}
	s.config = filepath.Join(s.folder, "haltd.yaml")
	s.token, _ = env.Getenv(tokenVariable)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.clear())
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the provider of the demo: %w", err)
	}
	s.provider = &http.Server{Handler: &provider{think: think, clock: env.Clock, noted: env.noted}, ReadHeaderTimeout: 10 * time.Second}
	go s.provider.Serve(listener)
	if err := s.startHaltd(ctx, env, "http://"+listener.Addr().String()); err != nil {
		return nil, err
	}
	var serving context.Context
	serving, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		s.err = s.app.Run(serving)
		close(s.ended)
	}()
	return s, nil
}

// obeyed are the variables that have a say in a demo: where it listens, and
// the token that listening for others takes. Nothing else of the user's
// environment: no keys, no alerts to others.
var obeyed = []string{gatewayVariable, adminVariable, tokenVariable}

const (
	gatewayVariable = "HALTD_GATEWAY_LISTEN"
	adminVariable   = "HALTD_ADMIN_LISTEN"
	tokenVariable   = "HALTD_ADMIN_TOKEN"
)

// The addresses of a haltd without configuration.
const (
	gatewayAddress = "127.0.0.1:7070"
	adminAddress   = "127.0.0.1:7071"
)

// attempts is how often a haltd is started: another program may take a free
// port before haltd does.
const attempts = 5

// startHaltd listens where the environment says, else on the default ports
// where they are free, else on free ones.
func (s *stage) startHaltd(ctx context.Context, env Env, upstream string) (err error) {
	getenv := func(name string) (string, bool) {
		if !slices.Contains(obeyed, name) {
			return "", false
		}
		return env.Getenv(name)
	}
	gateway, gatewaySaid := getenv(gatewayVariable)
	admin, adminSaid := getenv(adminVariable)
	gatewaySaid, adminSaid = gatewaySaid && gateway != "", adminSaid && admin != ""
	gateway, admin = cmp.Or(gateway, gatewayAddress), cmp.Or(admin, adminAddress)
	for range attempts {
		if err = os.WriteFile(s.config, s.configuration(gateway, admin, upstream), 0o600); err != nil {
			return fmt.Errorf("write the configuration of the demo: %w", err)
		}
		s.app, err = app.New(ctx, app.Options{
			ConfigPath: s.config, Env: getenv, Stderr: env.Stderr, Version: env.Version, Clock: env.Clock,
		})
		if err == nil || haltd.ErrorCode(err) != haltd.CodeUnavailable || gatewaySaid && adminSaid {
			return err
		}
		freeGateway, freeAdmin, listening := freeAddresses()
		if listening != nil {
			return errors.Join(err, listening)
		}
		if !gatewaySaid {
			gateway = freeGateway
		}
		if !adminSaid {
			admin = freeAdmin
		}
	}
	return err
}

// configuration switches the kill switch on for every agent: the healthy one
// has nothing to fear from it. Two are told that they repeat themselves before
// they are stopped. The log keeps to errors because the demo itself
// tells of the kill.
func (s *stage) configuration(gateway, admin, upstream string) []byte {
	quote := func(text string) string { return strconv.Quote(strings.ReplaceAll(text, "$", "$$")) }
	return fmt.Appendf(nil, `gateway: {listen: %s, shutdown_timeout: 2s}
admin: {listen: %s}
data_dir: %s
providers: {openai: {base_url: %s}}
defaults: {kill_switch: {enabled: true}}
agents:
  %s: {kill_switch: {stall: [warn, steer, kill]}}
  %s: {kill_switch: {stall: [warn, steer, kill]}}
log: {level: error}
`, quote(gateway), quote(admin), quote(filepath.Join(s.folder, "data")), quote(upstream), heedingName, deafName)
}

// freeAddresses are two that nobody listens on now.
func freeAddresses() (gateway, admin string, err error) {
	g, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer g.Close()
	a, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer a.Close()
	return g.Addr().String(), a.Addr().String(), nil
}

// incident asks haltd's API for an incident.
func (s *stage) incident(ctx context.Context, client *http.Client, id string) (haltd.Incident, error) {
	var i haltd.Incident
	err := s.ask(ctx, client, "/v1/incidents/"+url.PathEscape(id), &i)
	return i, err
}

func (s *stage) ask(ctx context.Context, client *http.Client, path string, into any) error {
	token := s.token
	if token == "" {
		made, err := os.ReadFile(filepath.Join(s.app.DataDir(), "admin.token"))
		if err != nil {
			return fmt.Errorf("read the admin token of the demo: %w", err)
		}
		token = strings.TrimSpace(string(made))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.app.AdminURL()+path, nil)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for %s: status %d", path, res.StatusCode)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}

// close ends haltd and then the provider, and removes what they wrote.
func (s *stage) close() error {
	s.stop()
	<-s.ended
	return errors.Join(s.err, s.clear())
}

func (s *stage) clear() error {
	if s.provider != nil {
		s.provider.Close()
	}
	if err := os.RemoveAll(s.folder); err != nil {
		return fmt.Errorf("remove what the demo wrote: %w", err)
	}
	return nil
}
