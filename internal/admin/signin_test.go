package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/haltd/haltd"
)

// browser is a signed-in browser, or one that is not yet.
type browser struct {
	handler http.Handler
	cookie  *http.Cookie
}

func (b *browser) send(method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7071"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookie = c
		if c.MaxAge < 0 {
			b.cookie = nil
		}
	}
	return w
}

func newBrowser(t *testing.T, change func(*Options)) (*browser, *SignIn) {
	t.Helper()
	w := newWorld(func(o *Options) {
		if change != nil {
			change(o)
		}
	})
	return &browser{handler: w}, w.signIn
}

func TestSignInByTokenAndByCode(t *testing.T) {
	now := noon
	b, signIn := newBrowser(t, func(o *Options) { o.Clock = func() time.Time { return now } })
	if w := b.send("GET", "/v1/me", ""); w.Code != 401 {
		t.Fatalf("nobody is signed in: %d", w.Code)
	}
	if w := b.send("POST", "/v1/sign-in", `{"token":"wrong"}`); w.Code != 401 || b.cookie != nil {
		t.Errorf("a wrong token: %d, cookie %v", w.Code, b.cookie)
	}
	if w := b.send("POST", "/v1/sign-in", `{}`); w.Code != 401 {
		t.Errorf("nothing at all: %d", w.Code)
	}
	if w := b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`); w.Code >= 300 {
		t.Fatalf("the token: %d %s", w.Code, w.Body)
	}
	if c := b.cookie; c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
		t.Fatalf("cookie %+v", b.cookie)
	}
	if w := b.send("GET", "/v1/me", ""); w.Code != 200 {
		t.Errorf("signed in: %d %s", w.Code, w.Body)
	}

	newCode := func() string {
		link, _ := signIn.Link("/")
		_, code, _ := strings.Cut(link, "#code=")
		return code
	}
	code := newCode()
	first, second := &browser{handler: b.handler}, &browser{handler: b.handler}
	if w := first.send("POST", "/v1/sign-in", `{"code":"`+code+`"}`); w.Code >= 300 {
		t.Fatalf("the code: %d %s", w.Code, w.Body)
	}
	if w := second.send("POST", "/v1/sign-in", `{"code":"`+code+`"}`); w.Code != 401 {
		t.Errorf("the code a second time: %d", w.Code)
	}
	old := newCode()
	now = now.Add(codeLasts)
	if w := second.send("POST", "/v1/sign-in", `{"code":"`+old+`"}`); w.Code != 401 {
		t.Errorf("an expired code: %d", w.Code)
	}
	for what, code := range map[string]string{
		"a code that another token has signed": proof(NewSignIn(signIn.clock, signIn.base, "another admin token").key, now.Add(time.Minute), ""),
		"a cookie":                             first.cookie.Value,
		"half a code":                          newCode()[:40],
	} {
		if w := second.send("POST", "/v1/sign-in", `{"code":"`+code+`"}`); w.Code != 401 {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
}

func TestSignOutEndsTheCookie(t *testing.T) {
	b, _ := newBrowser(t, nil)
	b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`)
	stolen := *b
	if w := b.send("POST", "/v1/sign-out", ""); w.Code >= 300 || b.cookie != nil {
		t.Fatalf("sign-out: %d, cookie %v", w.Code, b.cookie)
	}
	if w := stolen.send("GET", "/v1/me", ""); w.Code != 401 {
		t.Errorf("the old cookie still works: %d", w.Code)
	}
}

func TestACookieEndsWithItsTimeAndItsToken(t *testing.T) {
	now := noon
	b, _ := newBrowser(t, func(o *Options) { o.Clock = func() time.Time { return now } })
	b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`)
	other, _ := newBrowser(t, func(o *Options) { o.Access.Token = "another-token-of-the-tests" })
	other.cookie = b.cookie
	if w := other.send("GET", "/v1/me", ""); w.Code != 401 {
		t.Errorf("a cookie of another token: %d", w.Code)
	}
	forged := *b.cookie
	forged.Value = strings.Repeat("z", 8) + forged.Value[8:] // later by centuries
	if w := (&browser{b.handler, &forged}).send("GET", "/v1/me", ""); w.Code != 401 {
		t.Errorf("a forged cookie: %d", w.Code)
	}
	now = now.Add(signedIn)
	if w := b.send("GET", "/v1/me", ""); w.Code != 401 {
		t.Errorf("a cookie of long ago: %d", w.Code)
	}
}

func TestWhenTheStoreCannotTellWhoSignedOutNobodyIsLetIn(t *testing.T) {
	failing := false
	b, _ := newBrowser(t, func(o *Options) { o.Access.SignOuts = &failingSignOuts{o.Access.SignOuts, &failing} })
	b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`)
	failing = true
	if w := b.send("GET", "/v1/me", ""); w.Code != 503 || !strings.Contains(w.Body.String(), `"fix":"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type failingSignOuts struct {
	haltd.SignOutStore
	failing *bool
}

func (f *failingSignOuts) SignedOut(ctx context.Context, digest string) (bool, error) {
	if *f.failing {
		return false, haltd.Errorf(haltd.CodeUnavailable, "the store does not answer").WithFix("Look at the disk.")
	}
	return f.SignOutStore.SignedOut(ctx, digest)
}

// Another site can make a signed-in browser send a request, but neither the
// header nor an honest origin.
func TestChangesByCookieNeedProofOfOrigin(t *testing.T) {
	b, _ := newBrowser(t, nil)
	b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`)
	const path, body = "/v1/bypass", `{"on":true,"reason":"test"}`
	for _, tc := range []struct {
		name   string
		header []string
		ok     bool
	}{
		{"the dashboard", []string{csrfHeader, "1", "Origin", "http://127.0.0.1:7071", "Sec-Fetch-Site", "same-origin"}, true},
		{"without the header", []string{"Origin", "http://127.0.0.1:7071"}, false},
		{"another origin", []string{csrfHeader, "1", "Origin", "http://evil.example"}, false},
		{"another port", []string{csrfHeader, "1", "Origin", "http://127.0.0.1:9999"}, false},
		{"another site", []string{csrfHeader, "1", "Sec-Fetch-Site", "cross-site"}, false},
		{"a sandboxed page", []string{csrfHeader, "1", "Origin", "null"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if w := b.send("PUT", path, body, tc.header...); (w.Code == 200) != tc.ok {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestTheDashboardIsServed(t *testing.T) {
	b, _ := newBrowser(t, func(o *Options) {
		o.Dashboard = fstest.MapFS{
			"index.html":          {Data: []byte("<!doctype html><title>haltd</title>")},
			"assets/app-1a.js":    {Data: []byte("export{}")},
			"assets/app-1a.js.gz": {Data: []byte("packed")},
		}
	})
	for _, tc := range []struct {
		path   string
		status int
		says   string
		cache  string
	}{
		{"/", 200, "<title>haltd", "no-store"},
		{"/incidents/inc_bcdf", 200, "<title>haltd", "no-store"},
		{"/agents/a.b", 200, "<title>haltd", "no-store"},
		{"/assets/app-1a.js", 200, "export{}", "public, max-age=31536000, immutable"},
		{"/assets/gone.js", 404, "", ""},
		{"/v1/nothing", 404, `"not_found"`, ""},
		{"/../../etc/passwd", 400, "", ""},
	} {
		w := b.send("GET", tc.path, "")
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) || tc.cache != "" && w.Header().Get("Cache-Control") != tc.cache {
			t.Errorf("GET %s: %d, cache %q, %.60s", tc.path, w.Code, w.Header().Get("Cache-Control"), w.Body)
		}
		if tc.status == 200 && !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self';") {
			t.Errorf("GET %s: policy %q", tc.path, w.Header().Get("Content-Security-Policy"))
		}
	}
	w := b.send("GET", "/assets/app-1a.js", "", "Accept-Encoding", "gzip")
	if w.Body.String() != "packed" || w.Header().Get("Content-Encoding") != "gzip" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("to who reads gzip: %q, %v", w.Body, w.Header())
	}
	if w := b.send("GET", "/", "", "Accept-Encoding", "gzip"); !strings.Contains(w.Body.String(), "<title>haltd") || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("a file that was not compressed: %q, %v", w.Body, w.Header())
	}
	if w := b.send("POST", "/incidents/inc_bcdf", ""); w.Code == 200 {
		t.Error("a page takes a POST")
	}
}
