package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/haltd/haltd"
)

// identify finds out where a request goes and who sends it. The session is
// known only after the body is read where no header names it; see sessionOf.
func (g *Gateway) identify(x *exchange) error {
	e := &x.event
	e.Client = clientFamily(x.r.Header)
	g.findTrace(x)
	if m := x.r.Method; strings.EqualFold(m, http.MethodTrace) || strings.EqualFold(m, http.MethodConnect) {
		// One shows the provider's key to the client, the other leads past
		// the gateway.
		return refuse(http.StatusMethodNotAllowed, haltd.Errorf(codeMethod, "haltd does not pass %s", strings.ToUpper(m)).
			WithFix("Send the provider's own requests to the gateway as to a base URL; it is no forward proxy."))
	}
	var err error
	if x.route, err = findRoute(x.r, x.settings); err != nil {
		return err
	}
	e.Provider, e.Path = x.route.upstream.Name, truncate(x.route.path, 300)
	credential := clientKey(x.r)
	g.selectPolicies(x)
	if err := g.authenticate(x); err != nil {
		return err
	}
	name, err := g.agentName(x)
	if err != nil {
		return err
	}
	switch {
	case x.key.ID != "":
		// Under a key a name is a label: an agent must not escape by
		// calling itself something else.
		credential, e.Agent = x.key.ID, x.key.Agent
		if name != e.Agent {
			e.Label = name
		}
	case name != "":
		e.Agent, x.shared = name, isFamily(name)
	default:
		e.Agent, x.shared = e.Client, true
	}
	if x.key.ID == "" && g.keys.Guards(e.Agent) {
		// Whoever borrows a name could have its owner stopped.
		return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "Agent %s has a gateway key and can be called only with it", e.Agent).
			WithFix("Use its key (haltd_…) as the client's API key, or call under another name."))
	}
	if x.shared {
		// Those who share an agent are told apart by what a loop does not
		// change: its key or, without one, its address. No session has a
		// space in its name.
		caller := append(make([]byte, 0, 16), ' ')
		x.caller = string(strconv.AppendUint(caller, g.hasher.request(e.Agent, firstOf(credential, x.clientIP()), &noBody), 36))
	}
	if e.Session = headerSession(x.r.Header); e.Session != "" {
		x.named = true
	} else {
		x.keyDigest = xxhash.Sum64String(credential)
	}
	if isUpgrade(x.r.Header) {
		return refuse(http.StatusUpgradeRequired, haltd.Errorf("upgrade_required", "haltd does not pass WebSockets").
			WithFix("Use plain HTTP; Codex does so by itself."))
	}
	return nil
}

func isUpgrade(h http.Header) bool {
	return len(h["Upgrade"]) > 0 && strings.Contains(strings.ToLower(strings.Join(h["Upgrade"], ",")), "websocket")
}

// agentName is the name that the request gives its agent: path, header, or
// what a native client calls itself; "" when it gives none. A wrong name in
// the path is a mistake to hear about; elsewhere it may mean something else,
// so it is ignored and counted.
func (g *Gateway) agentName(x *exchange) (string, error) {
	if x.route.agent != "" {
		id, ok := haltd.AgentID(x.route.agent)
		if !ok {
			return "", refuse(http.StatusBadRequest, haltd.Errorf("invalid_agent", "%.140q is not a valid agent id", x.route.agent).
				WithFix("Use letters, digits and . _ : @ - in /agents/{agent}/, starting with a letter or digit, 128 at most."))
		}
		return id, nil
	}
	h := x.r.Header
	for _, name := range [...]string{field(h, "X-Agent-Id"), turnMetadata(h).agent, field(h, "X-Title")} {
		if name == "" {
			continue
		}
		if id, ok := haltd.AgentID(name); ok {
			return id, nil
		}
		g.meter.Count(countInvalidAgentID)
	}
	return "", nil
}

// sessionHeaders carry a session id: haltd's own, then those that other
// gateways taught users to send.
var sessionHeaders = [...]string{
	"X-Session-Id",
	"X-Litellm-Trace-Id",
	"Helicone-Session-Id",
	"X-Bf-Session-Id",
	"X-Portkey-Trace-Id",
	"X-Agentwatch-Session-Id",
}

// headerSession is the session as the headers name it; "" when they do not.
// A sub-agent that shares its parent's session id talks in a conversation of
// its own, so its thread is part of the name.
func headerSession(h http.Header) string {
	for _, name := range sessionHeaders {
		if v := field(h, name); v != "" {
			return sessionName(v, "")
		}
	}
	if v := field(h, "X-Claude-Code-Session-Id"); v != "" {
		return sessionName(v, field(h, "X-Claude-Code-Agent-Id"))
	}
	turn := turnMetadata(h)
	session := firstOf(field(h, "Session-Id"), field(h, "Session_id"), turn.session)
	thread := firstOf(field(h, "Thread-Id"), field(h, "Thread_id"))
	switch {
	case session == "":
		session, thread = thread, ""
	case thread == session:
		thread = ""
	}
	if session == "" {
		return ""
	}
	return sessionName(session, thread)
}

// codexTurn is what Codex says of a turn in X-Codex-Turn-Metadata.
type codexTurn struct{ session, agent string }

func turnMetadata(h http.Header) codexTurn {
	var t codexTurn
	raw := field(h, "X-Codex-Turn-Metadata")
	if raw == "" {
		return t
	}
	d := jsontext.NewDecoder(strings.NewReader(raw))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '{' {
		return t
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return t
		}
		field := name.String()
		if d.PeekKind() != '"' {
			if d.SkipValue() != nil {
				return t
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return t
		}
		switch field {
		case "session_id":
			t.session = value.String()
		case "agent_name":
			t.agent = value.String()
		}
	}
	return t
}

// sessionOf names the session of a request whose headers do not: by its
// body, by the reply it continues, else by how the conversation began. named
// says that the client named it.
func (g *Gateway) sessionOf(x *exchange, prompt digested) (session string, named bool) {
	hints := &x.call.Hints
	if hints.Session != "" {
		return sessionName(hints.Session, ""), true
	}
	if x.past.Session != "" {
		return x.past.Session, true
	}
	if isSessionKey(x.event.Client, hints.PromptCacheKey) {
		return sessionName(hints.PromptCacheKey, ""), true
	}
	return g.guessSession(x, prompt), false
}

// findPast finds the reply that a call continues, by its id or as the newest of
// a conversation, whose history the provider counts again.
func (g *Gateway) findPast(x *exchange) {
	hints, err := &x.call.Hints, error(nil)
	if id := hints.PreviousID; id != "" {
		x.past, err = g.replies.Reply(x.r.Context(), x.event.Agent, id)
		if x.past.Session == "" && err == nil && g.awaitReplies(x) {
			x.past, err = g.replies.Reply(x.r.Context(), x.event.Agent, id)
		}
	}
	tokens := x.past.Tokens
	if hints.Conversation != "" && err == nil {
		// No reply has a space in its id.
		x.newest = "newest of " + hints.Conversation
		var newest haltd.PastReply
		newest, err = g.replies.Reply(x.r.Context(), x.event.Agent, x.newest)
		tokens = max(tokens, newest.Tokens)
	}
	if err != nil {
		g.log.Warn("the reply that a call continues is not found: the state cannot be had", "agent", x.event.Agent, "error", err)
	}
	x.estimate += int(tokens)
}

// isSessionKey reports whether a prompt_cache_key names one conversation.
// Codex and OpenCode put their session id there; others often put the same
// word on every call, so only what looks made for one conversation counts.
func isSessionKey(client, key string) bool {
	if key == "" {
		return false
	}
	return client == "codex" || client == "opencode" || looksLikeUUID(key)
}

func looksLikeUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// guessSession names a session by the reply that the only message quotes, else by the
// caller, the user, the system prompt, the first message and, after a pause, by when
// it began. The texts cannot be recovered from it.
func (g *Gateway) guessSession(x *exchange, prompt digested) string {
	c := x.call
	if x.retold = g.readRetold(x); x.retold != nil {
		if session, guess := g.retellings.follow(x.retold, g.clock()); session != "" {
			x.guess = guess
			return session
		}
	}
	var b [40]byte
	binary.LittleEndian.PutUint64(b[0:], x.keyDigest)
	binary.LittleEndian.PutUint64(b[8:], c.System)
	binary.LittleEndian.PutUint64(b[16:], prompt.of(c.FirstUser()))
	binary.LittleEndian.PutUint64(b[24:], xxhash.Sum64String(c.Hints.User))
	x.guess = max(g.hasher.request(x.event.Agent, string(b[:32]), &noBody), 1)
	if session, guess := g.findTurn(x); session != "" && guess != x.guess {
		x.guess = guess
		return session
	}
	began, err := g.guesses.Use(x.r.Context(), x.guess, g.clock())
	if err != nil {
		g.log.Warn("pauses between sessions not recognised: the state cannot be had", "agent", x.event.Agent, "error", err)
	}
	if began.IsZero() {
		return "ses_" + shortDigest(b[:32])
	}
	binary.LittleEndian.PutUint64(b[32:], uint64(began.UnixMicro()))
	return "ses_" + shortDigest(b[:])
}

// sessionName keeps a client's own session id where it is fit to be shown
// and stored, and names it by a digest where it is not.
func sessionName(id, thread string) string {
	if thread != "" {
		id += ":" + thread
	}
	if len(id) <= 200 && utf8.ValidString(id) && strings.IndexFunc(id, unfit) < 0 {
		return id
	}
	return "ses_" + shortDigest([]byte(id))
}

func unfit(r rune) bool { return r <= ' ' || r == 0x7f || r > 0x7e }

var digestText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func shortDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return digestText.EncodeToString(sum[:10])
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
