// Package redis keeps the short-lived state that nodes share in a Redis or a
// Valkey. One script answers all that a call asks, so that it waits for one
// round trip. What is here may be lost: keys are keyed hashes of what they
// name, and expire. Whether Redis can be had is known to whoever asks: see
// state.Guard.
package redis

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/lock"
	"github.com/haltd/haltd/internal/state"
	"github.com/redis/rueidis"
)

// How long is kept what nobody uses.
const (
	keepState   = 24 * time.Hour // what is older means nothing to the detectors
	keepAttempt = time.Hour
	keepReply   = 24 * time.Hour
	keepGuess   = keepState + time.Hour // a session that is gone must not come back under its name
)

// dialTimeout bounds how long a connection takes to be made, and to be given
// up when nothing comes back on it.
const dialTimeout = time.Second

//go:embed open.lua
var openSource string

//go:embed commit.lua
var commitSource string

//go:embed release.lua
var releaseSource string

//go:embed charge.lua
var chargeSource string

//go:embed ended.lua
var endedSource string

//go:embed use.lua
var useSource string

//go:embed probe.lua
var probeSource string

var (
	openScript    = rueidis.NewLuaScript(openSource)
	commitScript  = rueidis.NewLuaScript(commitSource)
	releaseScript = rueidis.NewLuaScript(releaseSource)
	chargeScript  = rueidis.NewLuaScript(chargeSource)
	endedScript   = rueidis.NewLuaScript(endedSource)
	useScript     = rueidis.NewLuaScript(useSource)
	probeScript   = rueidis.NewLuaScript(probeSource)
)

// State is the state of all nodes, as one of them has it.
type State struct {
	options rueidis.ClientOption
	secret  []byte

	connecting sync.Mutex
	client     atomic.Pointer[rueidis.Client] // nil until Ping has connected
	closed     bool

	locks   lock.Keyed // of calls of this node that need the same lock of Redis
	values  *values
	guesses *guesses
}

var _ state.Port = (*State)(nil)

// New is a state at a URL, which is not connected yet: see Ping. The secret
// keys the names of what is kept; nodes with another one have another state.
func New(url string, secret []byte) (*State, error) {
	o, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, haltd.Errorf(haltd.CodeInvalid, "state.url is not the URL of a Redis: %v", err).
			WithFix("Write it as redis://user:password@host:6379/0, or rediss:// for TLS.")
	}
	o.ForceSingleClient = o.Sentinel.MasterSet == ""
	o.DisableCache, o.DisableRetry, o.AlwaysPipelining = true, true, true
	o.ClientSetInfo = rueidis.DisableClientSetInfo
	o.Dialer = net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}
	o.ConnWriteTimeout = dialTimeout
	o.PipelineMultiplex = -1 // one connection: what is sent first arrives first
	// Nobody must wait for a place in the queue while Redis does not answer:
	// until that is noticed all calls go in.
	o.RingScaleEachConn = 14
	o.ReadBufferEachConn, o.WriteBufferEachConn = 64<<10, 64<<10
	return &State{options: o, secret: secret, values: newValues(), guesses: newGuesses()}, nil
}

// Ping reports whether Redis answers and runs scripts that write, and connects
// where there is no connection yet. A server that can never be used is
// CodeInvalid.
func (s *State) Ping(ctx context.Context) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	if err := c.Do(ctx, c.B().Ping().Build()).Error(); err != nil {
		return unavailable(err)
	}
	if isCluster(ctx, c) {
		return haltd.Errorf(haltd.CodeInvalid, "state.url names a Redis Cluster, over which the keys of one call would be spread").WithFix("%s", noCluster)
	}
	err = probeScript.Exec(ctx, c, []string{s.key("p")}, nil).Error()
	if isReplica(err) {
		s.disconnect()
	}
	return unavailable(err)
}

// isReplica reports that the server has become a replica. Its address may lead
// to another one by now, and this connection does not.
func isReplica(err error) bool {
	answer, ok := rueidis.IsRedisErr(err)
	return ok && strings.HasPrefix(answer.Error(), "READONLY")
}

const noCluster = "Name a server that is no cluster, or the sentinels of one (?master_set=…)."

// isCluster asks what every client may ask. Whoever does not say is none.
func isCluster(ctx context.Context, c rueidis.Client) bool {
	server, err := c.Do(ctx, c.B().Hello().Build()).AsMap()
	if err != nil {
		return false
	}
	mode := server["mode"]
	text, err := mode.ToString()
	return err == nil && text == "cluster"
}

func (s *State) connect() (rueidis.Client, error) {
	if c := s.client.Load(); c != nil {
		return *c, nil
	}
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if c := s.client.Load(); c != nil {
		return *c, nil
	}
	if s.closed {
		return nil, errNotConnected
	}
	c, err := rueidis.NewClient(s.options)
	if err != nil {
		return nil, unavailable(err)
	}
	s.client.Store(&c)
	return c, nil
}

// Close ends the connection.
func (s *State) Close() {
	s.connecting.Lock()
	s.closed = true
	s.connecting.Unlock()
	s.disconnect()
}

// disconnect ends the connection; the next Ping makes another.
func (s *State) disconnect() {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if c := s.client.Swap(nil); c != nil {
		(*c).Close()
	}
}

var errNotConnected = haltd.Errorf(haltd.CodeUnavailable, "Redis has not answered yet")

// connected is the client of a call, which does not wait for a connection.
func (s *State) connected() (rueidis.Client, error) {
	c := s.client.Load()
	if c == nil {
		return nil, errNotConnected
	}
	return *c, nil
}

// run runs a script.
func (s *State) run(ctx context.Context, script *rueidis.Lua, keys, args []string) (rueidis.RedisResult, error) {
	c, err := s.connected()
	if err != nil {
		return rueidis.RedisResult{}, err
	}
	r := script.Exec(ctx, c, keys, args)
	return r, unavailable(r.Error())
}

// unavailable is the error of a state that cannot be had. An answer of nothing
// is none, and the end of a context stays what it is.
func unavailable(err error) error {
	switch {
	case err == nil || rueidis.IsRedisNil(err):
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return haltd.Errorf(haltd.CodeUnavailable, "Redis: %v", err).
		WithFix("Look at the server that state.url names; `haltd doctor` says what is wrong.")
}

// Prefix is that of all keys, for an operator who grants them to a user.
const Prefix = "haltd:"

// key names what is kept, so that nobody who does not know the secret can find
// another name for it.
func (s *State) key(kind string, parts ...string) string {
	h := make([]byte, 0, 256)
	h = append(h, s.secret...)
	h = append(append(h, kind...), 0)
	for _, p := range parts {
		h = binary.AppendUvarint(h, uint64(len(p)))
		h = append(h, p...)
	}
	sum := sha256.Sum256(h)
	return Prefix + kind + ":" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

func (s *State) numberKey(kind string, n uint64) string {
	return s.key(kind, string(binary.BigEndian.AppendUint64(nil, n)))
}
