package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// fakeUsers keeps users in memory.
type fakeUsers struct {
	mu   sync.Mutex
	list []haltd.User
}

func (f *fakeUsers) CreateUser(_ context.Context, u haltd.User) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, u)
	return nil
}

func (f *fakeUsers) ChangeUser(_ context.Context, id string, change func(*haltd.User)) (haltd.User, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		if f.list[i].ID == id {
			change(&f.list[i])
			return f.list[i], nil
		}
	}
	return haltd.User{}, haltd.Errorf(haltd.CodeNotFound, "there is no such user")
}

func (f *fakeUsers) DeleteUser(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(u haltd.User) bool { return u.ID == id })
	return nil
}

func (f *fakeUsers) Users(context.Context) ([]haltd.User, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), nil
}

// peopled is a haltd with users at a clock that the test moves.
type peopled struct {
	http.Handler
	now   time.Time
	users *fakeUsers
}

func newPeopled(t *testing.T) (*peopled, *browser) {
	t.Helper()
	p := &peopled{now: noon, users: &fakeUsers{}}
	b, _ := newBrowser(t, func(o *Options) { o.Clock, o.Access.Users = func() time.Time { return p.now }, p.users })
	p.Handler = b.handler
	if w := b.send("POST", "/v1/sign-in", `{"token":"`+token+`"}`); w.Code >= 300 {
		t.Fatal(w.Code, w.Body)
	}
	return p, b
}

// invited is the code of the link that an admin was given.
func invitedBy(t *testing.T, admin *browser, path, body string) string {
	t.Helper()
	w := admin.send("POST", path, body, csrfHeader, "1")
	var made struct{ URL string }
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code >= 300 {
		t.Fatal(w.Code, w.Body, err)
	}
	_, code, _ := strings.Cut(made.URL, "#code=")
	return code
}

// A new link voids the link, the password and the sign-ins of before; a new
// password voids the sign-ins; a link ends after three days.
func TestANewLinkEndsWhatWasBefore(t *testing.T) {
	p, admin := newPeopled(t)
	signIn := func(what, body string, want int) *browser {
		t.Helper()
		b := &browser{handler: p}
		if w := b.send("POST", "/v1/sign-in", body); w.Code != want {
			t.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, want)
		}
		return b
	}
	me := func(what string, b *browser, want int) {
		t.Helper()
		if w := b.send("GET", "/v1/me", ""); w.Code != want {
			t.Errorf("%s: %d, want %d", what, w.Code, want)
		}
	}
	first := invitedBy(t, admin, "/v1/users", `{"name":"anna","role":"operator"}`)
	p.now = p.now.Add(time.Hour)
	second := invitedBy(t, admin, "/v1/users/anna/links", "")
	signIn("the first link", `{"code":"`+first+`"}`, 401)
	anna := signIn("the second link", `{"code":"`+second+`"}`, 204)
	const password, another = "correct horse battery", "staple of the battery"
	if w := anna.send("PUT", "/v1/me/password", `{"password":"`+password+`"}`, csrfHeader, "1"); w.Code != 204 {
		t.Fatal(w.Code, w.Body)
	}
	elsewhere := signIn("the password", `{"name":"anna","password":"`+password+`"}`, 204)
	me("signed in twice", elsewhere, 200)

	p.now = p.now.Add(time.Hour)
	if w := anna.send("PUT", "/v1/me/password", `{"password":"`+another+`","current":"`+password+`"}`, csrfHeader, "1"); w.Code != 204 {
		t.Fatal(w.Code, w.Body)
	}
	me("who changed the password", anna, 200)
	me("who signed in with the one before", elsewhere, 401)

	p.now = p.now.Add(time.Hour)
	third := invitedBy(t, admin, "/v1/users/anna/links", "")
	me("who was signed in before the link", anna, 401)
	signIn("the password of before the link", `{"name":"anna","password":"`+another+`"}`, 401)
	p.now = p.now.Add(inviteLasts)
	signIn("a link of three days ago", `{"code":"`+third+`"}`, 401)
}

// Wrong passwords are counted, and beyond the limit not even computed.
func TestWrongPasswordsAreSlowedDown(t *testing.T) {
	p, _ := newPeopled(t)
	p.users.list = []haltd.User{{ID: "usr_anna", Name: "anna", Role: haltd.AccessViewer, PasswordSet: true, Password: hashScheme + "$1$AA$AA"}}
	stranger := &browser{handler: p}
	guess := func() int {
		return stranger.send("POST", "/v1/sign-in", `{"name":"anna","password":"a guess"}`, "X-Forwarded-For", "198.51.100.7").Code
	}
	for range attemptsOfOne {
		if status := guess(); status != 401 {
			t.Fatalf("a wrong password: %d", status)
		}
	}
	p.users.list[0].Password = hashScheme + "$2000000000$AA$AA" // minutes
	began := time.Now()
	if status := guess(); status != 429 {
		t.Errorf("the eleventh wrong password: %d", status)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it was computed, in %v", took)
	}
}
