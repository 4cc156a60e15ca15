package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// mostUsers bounds them.
const mostUsers = 1000

type usersOutput struct {
	Body struct {
		Users []haltd.User `json:"users"`
	}
}

type createUserInput struct {
	Actor
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100" doc:"How the person signs in; the audit log says so."`
		Role string `json:"role" enum:"viewer,operator,admin" doc:"viewer reads; operator also stops and resumes, and changes policies and rules; admin does everything."`
	}
}

type invitation struct {
	haltd.User
	URL     string    `json:"url" doc:"Signs in who opens it first, to choose a password. It is shown this once."`
	Expires time.Time `json:"expires_at"`
}

type invitationOutput struct{ Body invitation }

type userInput struct {
	Actor
	Name string `path:"name" doc:"Name of the user."`
}

type patchUserInput struct {
	Actor
	Name string `path:"name" doc:"Name of the user."`
	Body struct {
		Role string `json:"role" enum:"viewer,operator,admin"`
	}
}

type userOutput struct{ Body haltd.User }

type passwordInput struct {
	Actor
	Body struct {
		Password string `json:"password" minLength:"12" maxLength:"200" doc:"The new one."`
		Current  string `json:"current,omitempty" maxLength:"200" doc:"The one until now; needed where there is one."`
	}
	request *http.Request
}

// Resolve also keeps the request, which says where it comes from; huma calls it.
func (in *passwordInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humago.Unwrap(ctx)
	return in.Actor.Resolve(ctx)
}

func (s *server) registerUsers() {
	register(s, operation(http.MethodGet, "/v1/users", "list-users", "People who sign in by name and password"),
		func(ctx context.Context, _ *noInput) (*usersOutput, error) {
			list, err := s.deps.Access.Users.Users(ctx)
			out := &usersOutput{}
			out.Body.Users = append([]haltd.User{}, list...)
			return out, err
		})
	create := operation(http.MethodPost, "/v1/users", "create-user", "Add a person, and make a link with which to choose a password")
	create.DefaultStatus = http.StatusCreated
	register(s, create, s.createUser)
	register(s, operation(http.MethodPatch, "/v1/users/{name}", "patch-user", "Change the role of a person"), s.patchUser)
	register(s, operation(http.MethodPost, "/v1/users/{name}/links", "make-user-link", "Make a new link for a person who forgot the password"), s.resetUser)
	register(s, operation(http.MethodDelete, "/v1/users/{name}", "delete-user", "Remove a person; sign-ins and API tokens of that name end"), s.deleteUser)
	register(s, operation(http.MethodPut, "/v1/me/password", "set-password", "Choose a password for oneself"), s.setPassword)
}

func (s *server) createUser(ctx context.Context, in *createUserInput) (*invitationOutput, error) {
	name, err := actorName(in.Body.Name)
	if err != nil {
		return nil, err
	}
	list, err := s.deps.Access.Users.Users(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) >= mostUsers {
		return nil, haltd.Errorf(haltd.CodeInvalid, "there are already %d users", len(list)).WithFix("Remove those who no longer come.")
	}
	now := s.deps.Clock().UTC().Truncate(time.Microsecond)
	u := haltd.User{ID: haltd.NewName(haltd.UserIDPrefix), Name: name, Role: haltd.Access(in.Body.Role), CreatedAt: now, CreatedBy: in.by()}
	if err := s.deps.Access.Users.CreateUser(ctx, u); err != nil {
		return nil, err
	}
	s.note(in.by(), haltd.ChangeUserCreated, "", u.Name+" ("+string(u.Role)+")", nil)
	return s.invite(u), nil
}

func (s *server) invite(u haltd.User) *invitationOutput {
	link, expires := s.deps.Access.SignIn.invite(u.ID)
	return &invitationOutput{invitation{u, link, expires.UTC()}}
}

func (s *server) patchUser(ctx context.Context, in *patchUserInput) (*userOutput, error) {
	u, err := s.changeUser(ctx, in.Name, func(u *haltd.User) { u.Role = haltd.Access(in.Body.Role) })
	s.note(in.by(), haltd.ChangeUserChanged, "", u.Name+" ("+string(u.Role)+")", err)
	return &userOutput{u}, err
}

// resetUser voids the password and all sign-ins, so that whoever learned the
// old password is out.
func (s *server) resetUser(ctx context.Context, in *userInput) (*invitationOutput, error) {
	u, err := s.changeUser(ctx, in.Name, func(u *haltd.User) { s.setHash(u, "") })
	s.note(in.by(), haltd.ChangeUserLinkMade, "", u.Name, err)
	if err != nil {
		return nil, err
	}
	return s.invite(u), nil
}

// setHash replaces a password, and ends what the one before had opened.
func (s *server) setHash(u *haltd.User, hash string) {
	u.Password, u.PasswordSet = hash, hash != ""
	u.SignedOutAt = new(s.deps.Clock().UTC().Truncate(time.Microsecond))
}

func (s *server) deleteUser(ctx context.Context, in *userInput) (*userOutput, error) {
	u, err := s.user(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	// First what the person could still come in with.
	tokens, err := s.deps.Access.Tokens.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock()
	for _, t := range tokens {
		if t.InForce(now) && strings.EqualFold(t.Name, u.Name) {
			_, err := s.deps.Access.Tokens.RevokeToken(ctx, t.ID, now)
			s.note(in.by(), haltd.ChangeTokenRevoked, "", t.Name+" ("+t.ID+")", err)
			if err != nil {
				return nil, err
			}
		}
	}
	err = s.deps.Access.Users.DeleteUser(ctx, u.ID)
	s.note(in.by(), haltd.ChangeUserDeleted, "", u.Name, err)
	return &userOutput{u}, err
}

// setPassword is for the person alone: where there is a password, it takes
// that one, so that a browser left open is not enough.
func (s *server) setPassword(ctx context.Context, in *passwordInput) (*cookieOutput, error) {
	id := identityOf(ctx).id
	if !strings.HasPrefix(id, haltd.UserIDPrefix) {
		return nil, haltd.Errorf(haltd.CodeInvalid, "only a user has a password, and you came with a token").
			WithFix("Ask an admin for a user: haltd users add NAME --role ROLE.")
	}
	u, err := s.userOf(ctx, id)
	if err != nil {
		return nil, err
	}
	right, wait := true, time.Duration(0)
	hash := ""
	err = s.hashing(ctx, in.request, func() error {
		if u.PasswordSet {
			right = s.passwords.matches(u.Password, in.Body.Current)
		}
		if right {
			hash, err = s.passwords.hash(in.Body.Password)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if right, wait = s.deps.Access.SignIn.attempts.try(ctx, s.deps.Clock, s.callerOf(in.request), func() bool { return right }); wait > 0 {
		return nil, mustWait(wait)
	}
	if !right {
		return nil, haltd.Errorf(haltd.CodeInvalid, "this is not the password until now").In("current").
			WithFix("An admin makes a link with which to choose another: haltd users link %s.", u.Name)
	}
	u, err = s.deps.Access.Users.ChangeUser(ctx, id, func(u *haltd.User) { s.setHash(u, hash) })
	s.note(in.by(), haltd.ChangePasswordChosen, "", u.Name, err)
	if err != nil {
		return nil, err
	}
	return &cookieOutput{s.cookie(s.newSession(id), signedIn)}, nil
}

// byPassword tells who comes with a name and a password.
func (s *server) byPassword(ctx context.Context, r *http.Request, name, password string) (who identity, right bool, err error) {
	list, err := s.deps.Access.Users.Users(ctx)
	if err != nil {
		return identity{}, false, err
	}
	var u haltd.User
	if i := slices.IndexFunc(list, func(u haltd.User) bool { return sameName(u, name) }); i >= 0 {
		u = list[i]
	}
	err = s.hashing(ctx, r, func() error {
		right = s.passwords.matches(u.Password, password)
		return nil
	})
	return identityOfUser(u), right, err
}

// hashing runs what hashes in its turn, unless the caller has to wait for
// wrong attempts: those must cost it more than they cost haltd.
func (s *server) hashing(ctx context.Context, r *http.Request, fn func() error) error {
	if err := s.passwords.acquire(ctx); err != nil {
		return err
	}
	defer s.passwords.release()
	if wait := s.deps.Access.SignIn.attempts.wait(s.deps.Clock(), s.callerOf(r)); wait > 0 {
		return mustWait(wait)
	}
	return fn()
}

func sameName(u haltd.User, name string) bool {
	return strings.EqualFold(u.Name, strings.TrimSpace(name))
}

// user finds a person by name.
func (s *server) user(ctx context.Context, name string) (haltd.User, error) {
	return s.findUser(ctx, func(u haltd.User) bool { return sameName(u, name) })
}

// userOf finds a person by id.
func (s *server) userOf(ctx context.Context, id string) (haltd.User, error) {
	return s.findUser(ctx, func(u haltd.User) bool { return u.ID == id })
}

func (s *server) findUser(ctx context.Context, is func(haltd.User) bool) (haltd.User, error) {
	list, err := s.deps.Access.Users.Users(ctx)
	if err != nil {
		return haltd.User{}, err
	}
	i := slices.IndexFunc(list, is)
	if i < 0 {
		return haltd.User{}, haltd.Errorf(haltd.CodeNotFound, "There is no such user").WithFix("haltd users ls lists them.")
	}
	return list[i], nil
}

func (s *server) changeUser(ctx context.Context, name string, change func(*haltd.User)) (haltd.User, error) {
	u, err := s.user(ctx, name)
	if err != nil {
		return u, err
	}
	return s.deps.Access.Users.ChangeUser(ctx, u.ID, change)
}

func identityOfUser(u haltd.User) identity {
	password := "missing"
	if u.PasswordSet {
		password = "chosen"
	}
	return identity{name: u.Name, role: u.Role, id: u.ID, password: password}
}
