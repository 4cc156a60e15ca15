package admin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

const (
	cookieName = haltd.AdminCookie
	signedIn   = 7 * 24 * time.Hour
	// csrfHeader cannot be sent by a form or a link of another site.
	csrfHeader = "X-Haltd-Csrf"
)

// SignIn makes one-time codes for links that sign in who opens them first, at
// this node or another that shares the store, and keeps count of who tries.
type SignIn struct {
	clock haltd.Clock
	base  func() string // where people reach the dashboard, without a slash
	key   [sha256.Size]byte

	attempts attempts
}

const (
	codeLasts = 10 * time.Minute
	// inviteLasts is longer: an admin sends such a link to somebody else.
	inviteLasts = 72 * time.Hour
	// invited marks the code of such a link.
	invited = "invited:"
)

// NewSignIn makes no code yet. base is where people reach the dashboard, and
// codes are signed with a key made from the admin token.
func NewSignIn(clock haltd.Clock, base func() string, token string) *SignIn {
	return &SignIn{clock: clock, base: base, key: sha256.Sum256([]byte("haltd sign-in link " + token))}
}

// Link is a link that signs in who opens it first, within ten minutes, and
// leads to a path of the dashboard.
func (s *SignIn) Link(path string) (link string, expires time.Time) {
	return s.link(path, "", codeLasts)
}

// invite is a link for a user who has no password, or no longer knows it.
func (s *SignIn) invite(user string) (link string, expires time.Time) {
	return s.link("/", invited+user, inviteLasts)
}

// link is Link for a user or the holder of a token, by id.
func (s *SignIn) link(path, id string, lasts time.Duration) (link string, expires time.Time) {
	expires = s.clock().Add(lasts)
	next := ""
	if path != "/" {
		next = "?next=" + strings.ReplaceAll(url.QueryEscape(path), "%2F", "/") // a slash needs no escape there
	}
	return s.base() + "/sign-in" + next + "#code=" + proof(s.key, expires, id), expires
}

// read says whose a code is, since when and until when. It may have been used.
func (s *SignIn) read(code string) (id string, since, until time.Time, ok bool) {
	id, until, ok = readProof(s.key, code, s.clock())
	if user, is := strings.CutPrefix(id, invited); is {
		return user, until.Add(-inviteLasts), until, ok
	}
	return id, until.Add(-codeLasts), until, ok
}

type signInInput struct {
	Body struct {
		Name     string `json:"name,omitempty" maxLength:"100" doc:"Of a user, with the password."`
		Password string `json:"password,omitempty" maxLength:"200"`
		Token    string `json:"token,omitempty" maxLength:"1000" doc:"The admin token, or an API token."`
		Code     string `json:"code,omitempty" maxLength:"400" doc:"The code of a link that haltd printed."`
	}
	request *http.Request
}

// Resolve keeps the request, which says where it comes from; huma calls it.
func (in *signInInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humago.Unwrap(ctx)
	return nil
}

type cookieOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type signInLink struct {
	URL     string    `json:"url" doc:"Signs in who opens it first."`
	Expires time.Time `json:"expires_at"`
}

type signInLinkOutput struct{ Body signInLink }

type signOutInput struct {
	Cookie string `cookie:"haltd_session"`
}

type meOutput struct {
	Body struct {
		Actor   string       `json:"actor" doc:"As whom changes are recorded."`
		Role    haltd.Access `json:"role" enum:"viewer,operator,admin"`
		Version string       `json:"version"`

		Password string `json:"password,omitempty" enum:"chosen,missing" doc:"Whether the user has chosen a password; left out for who came with a token."`
	}
}

// registerSignIn adds how a browser gets in: the token or a one-time code
// becomes a cookie that scripts cannot read and other sites cannot send.
func (s *server) registerSignIn() {
	register(s, public(operation(http.MethodPost, "/v1/sign-in", "sign-in", "Trade a name with its password, a token or a one-time code for a cookie")),
		s.signIn)
	register(s, operation(http.MethodPost, "/v1/sign-in-links", "make-sign-in-link", "Make a link that signs in a browser, once, within ten minutes"),
		func(ctx context.Context, _ *noInput) (*signInLinkOutput, error) {
			link, expires := s.deps.Access.SignIn.link("/", identityOf(ctx).id, codeLasts)
			return &signInLinkOutput{signInLink{link, expires.UTC()}}, nil
		})
	register(s, public(operation(http.MethodPost, "/v1/sign-out", "sign-out", "End the cookie")),
		func(ctx context.Context, in *signOutInput) (*cookieOutput, error) {
			if err := s.revoke(ctx, in.Cookie); err != nil {
				return nil, err
			}
			return &cookieOutput{s.cookie("", -time.Second)}, nil
		})
	register(s, operation(http.MethodGet, "/v1/me", "get-me", "Whether one is signed in"),
		func(ctx context.Context, in *Actor) (*meOutput, error) {
			out := &meOutput{}
			who := identityOf(ctx)
			out.Body.Actor, out.Body.Role, out.Body.Version, out.Body.Password = in.by(), who.role, s.deps.Version, who.password
			return out, nil
		})
}

func (s *server) signIn(ctx context.Context, in *signInInput) (*cookieOutput, error) {
	who, until, right, err := s.presented(ctx, in)
	if err != nil {
		return nil, err
	}
	ok, wait := s.deps.Access.SignIn.attempts.try(ctx, s.deps.Clock, s.callerOf(in.request), func() bool { return right })
	if ok && !until.IsZero() { // whoever is first uses the code up
		if ok, err = s.deps.Access.SignOuts.SignOut(ctx, digestOf(in.Body.Code), s.deps.Clock(), until); err != nil {
			return nil, err
		}
	}
	switch {
	case wait > 0:
		return nil, mustWait(wait)
	case !ok && in.Body.Name != "":
		return nil, haltd.Errorf(haltd.CodeUnauthorized, "This is not the name of a user with its password").
			WithFix("An admin makes a link with which to choose another password: haltd users link NAME.")
	case !ok:
		return nil, haltd.Errorf(haltd.CodeUnauthorized, "This is not the admin token, a valid API token or a code that still works").
			WithFix("The token is in admin.token of the data directory, or as configured; a code works once, for ten minutes, and haltd sign-in makes a new one.")
	}
	return &cookieOutput{s.cookie(s.newSession(who.id), signedIn)}, nil
}

// presented is whose name and password, token or code a request brings; until
// is when the code ends.
func (s *server) presented(ctx context.Context, in *signInInput) (who identity, until time.Time, right bool, err error) {
	if in.Body.Name != "" && s.deps.Access.Users != nil {
		who, right, err = s.byPassword(ctx, in.request, in.Body.Name, in.Body.Password)
		return who, until, right, err
	}
	if who, right, err = s.holder(ctx, in.Body.Token); right || err != nil {
		return who, until, right, err
	}
	id, since, until, ok := s.deps.Access.SignIn.read(in.Body.Code)
	if !ok {
		return identity{}, time.Time{}, false, nil
	}
	who, right, err = s.holderOf(ctx, id, since)
	return who, until, right, err
}

// retryAfter is a wait in whole seconds, as the header has it.
func retryAfter(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }

func (s *server) cookie(value string, age time.Duration) http.Cookie {
	return http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.deps.Access.Secure,
	}
}

// newSession is a cookie that proves by itself that it was handed out. A new
// admin token ends all of them.
func (s *server) newSession(id string) string {
	return proof(s.sessionKey(), s.deps.Clock().Add(signedIn), id)
}

func (s *server) sessionKey() [sha256.Size]byte {
	return sha256.Sum256([]byte("haltd session " + s.deps.Access.Token))
}

// proof is a text that only who has the key can make: when it ends, a random
// name, the id of the user or API token it was handed out for, and a signature.
func proof(key [sha256.Size]byte, until time.Time, id string) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	b = append(b, rand.Text()...)
	b = append(b, id...)
	return base64.RawURLEncoding.EncodeToString(append(b, sign(key, b)...))
}

// readProof says whose a proof is and until when, if it is one and has not
// ended. It takes a proof only as it was handed out: what is used up or signed out
// is known by its text, and a decoder reads the same bytes from many.
func readProof(key [sha256.Size]byte, text string, now time.Time) (id string, until time.Time, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 8+randomText+sha256.Size || base64.RawURLEncoding.EncodeToString(b) != text {
		return "", time.Time{}, false
	}
	signed, mac := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	until = time.Unix(int64(binary.BigEndian.Uint64(signed)), 0)
	if !hmac.Equal(mac, sign(key, signed)) || now.Unix() >= until.Unix() {
		return "", time.Time{}, false
	}
	return string(signed[8+randomText:]), until, true
}

func sign(key [sha256.Size]byte, b []byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(b)
	return mac.Sum(nil)
}

// holdsSession reports a cookie that haltd has handed out and that was not
// signed out, and whose it is. It fails when the store cannot tell.
func (s *server) holdsSession(ctx context.Context, cookie string) (identity, bool, error) {
	id, until, ok := readProof(s.sessionKey(), cookie, s.deps.Clock())
	if !ok || s.deps.Access.Token == "" {
		return identity{}, false, nil
	}
	if out, err := s.deps.Access.SignOuts.SignedOut(ctx, digestOf(cookie)); out || err != nil {
		return identity{}, false, err
	}
	return s.holderOf(ctx, id, until.Add(-signedIn))
}

// randomText is the length of what rand.Text answers.
const randomText = 26

// digestOf stands for a cookie in the store, where nobody may find one.
func digestOf(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// revoke ends a cookie for good: also a haltd that was started anew knows.
func (s *server) revoke(ctx context.Context, cookie string) error {
	if _, holds, err := s.holdsSession(ctx, cookie); err != nil || !holds {
		return err
	}
	now := s.deps.Clock()
	_, err := s.deps.Access.SignOuts.SignOut(ctx, digestOf(cookie), now, now.Add(signedIn))
	return err
}

// byCookie reports whether a browser that is signed in makes this request
// itself. A change needs a header that other sites cannot send, and no sign
// that one of them is behind it.
func (s *server) byCookie(ctx huma.Context) (identity, bool, error) {
	r, _ := humago.Unwrap(ctx)
	c, err := r.Cookie(cookieName)
	if err != nil {
		return identity{}, false, nil
	}
	who, holds, err := s.holdsSession(ctx.Context(), c.Value)
	return who, holds && ownRequest(r), err
}

// ownRequest reports a request that only the dashboard itself can have made.
func ownRequest(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return false
		}
	}
	return r.Header.Get(csrfHeader) != ""
}
