package admin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"net/url"
	"sync"
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

// SignIn makes a one-time code for a link that signs in who opens it first.
type SignIn struct {
	mu      sync.Mutex
	code    string
	revoked map[string]time.Time // cookies that were signed out, and when they have expired at the latest
}

// NewSignIn makes a code.
func NewSignIn() *SignIn { return &SignIn{code: rand.Text(), revoked: map[string]time.Time{}} }

// Code is the code that has not been used yet, "" after it was.
func (s *SignIn) Code() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

// redeem uses the code up.
func (s *SignIn) redeem(code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" || subtle.ConstantTimeCompare([]byte(s.code), []byte(code)) != 1 {
		return false
	}
	s.code = ""
	return true
}

type signInInput struct {
	Body struct {
		Token string `json:"token,omitempty" maxLength:"1000" doc:"The admin token."`
		Code  string `json:"code,omitempty" maxLength:"100" doc:"The code of the link that haltd printed at its start."`
	}
}

type cookieOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type signOutInput struct {
	Cookie string `cookie:"haltd_session"`
}

type meOutput struct {
	Body struct {
		Actor   string `json:"actor" doc:"As whom changes are recorded."`
		Version string `json:"version"`
	}
}

// registerSignIn adds how a browser gets in: the token or a one-time code
// becomes a cookie that scripts cannot read and other sites cannot send.
func (s *server) registerSignIn() {
	register(s, public(operation(http.MethodPost, "/v1/sign-in", "sign-in", "Trade the admin token, or a one-time code, for a cookie")),
		func(_ context.Context, in *signInInput) (*cookieOutput, error) {
			if !s.isToken(in.Body.Token) && !s.deps.SignIn.redeem(in.Body.Code) {
				return nil, haltd.Errorf(haltd.CodeUnauthorized, "This is neither the admin token nor an unused code").
					WithFix("The token is in admin.token of the data directory, or as configured; each code works once.")
			}
			return &cookieOutput{s.cookie(s.newSession(), signedIn)}, nil
		})
	register(s, public(operation(http.MethodPost, "/v1/sign-out", "sign-out", "End the cookie")),
		func(_ context.Context, in *signOutInput) (*cookieOutput, error) {
			s.revoke(in.Cookie)
			return &cookieOutput{s.cookie("", -time.Second)}, nil
		})
	register(s, operation(http.MethodGet, "/v1/me", "get-me", "Whether one is signed in"),
		func(_ context.Context, in *Actor) (*meOutput, error) {
			out := &meOutput{}
			out.Body.Actor, out.Body.Version = in.by(), s.deps.Version
			return out, nil
		})
}

func (s *server) cookie(value string, age time.Duration) http.Cookie {
	return http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.deps.Secure,
	}
}

// newSession is a cookie that proves by itself that it was handed out: when
// it ends, a random name, and a signature with a key made from the token. A
// new token ends all of them.
func (s *server) newSession() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.deps.Clock().Add(signedIn).Unix()))
	b = append(b, rand.Text()...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.sign(b)...))
}

func (s *server) sign(b []byte) []byte {
	key := sha256.Sum256([]byte("haltd session " + s.deps.Token))
	mac := hmac.New(sha256.New, key[:])
	mac.Write(b)
	return mac.Sum(nil)
}

func (s *server) holdsSession(cookie string) bool {
	b, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(b) < 8+sha256.Size || s.deps.Token == "" {
		return false
	}
	signed, mac := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(mac, s.sign(signed)) || s.deps.Clock().Unix() >= int64(binary.BigEndian.Uint64(signed)) {
		return false
	}
	s.deps.SignIn.mu.Lock()
	defer s.deps.SignIn.mu.Unlock()
	_, revoked := s.deps.SignIn.revoked[cookie]
	return !revoked
}

// maxRevoked bounds what is remembered of signed-out cookies; nobody signs
// out so often within the time that a cookie lasts.
const maxRevoked = 10_000

func (s *server) revoke(cookie string) {
	if !s.holdsSession(cookie) {
		return
	}
	now, revoked := s.deps.Clock(), s.deps.SignIn.revoked
	s.deps.SignIn.mu.Lock()
	defer s.deps.SignIn.mu.Unlock()
	if len(revoked) >= maxRevoked {
		maps.DeleteFunc(revoked, func(_ string, expired time.Time) bool { return now.After(expired) })
	}
	if len(revoked) < maxRevoked {
		revoked[cookie] = now.Add(signedIn)
	}
}

// byCookie reports whether a browser that is signed in makes this request
// itself. A change needs a header that other sites cannot send, and no sign
// that one of them is behind it.
func (s *server) byCookie(ctx huma.Context) bool {
	r, _ := humago.Unwrap(ctx)
	c, err := r.Cookie(cookieName)
	if err != nil || !s.holdsSession(c.Value) {
		return false
	}
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
