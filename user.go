package haltd

import (
	"context"
	"time"
)

// User is a person who signs in to the dashboard by name and password, in a
// role. The audit log names it.
type User struct {
	ID        string    `json:"id"`
	Name      string    `json:"name" doc:"How the person signs in; the audit log says so."`
	Role      Access    `json:"role" enum:"viewer,operator,admin"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	// PasswordSet says whether the person has followed the link and can come
	// back without one.
	PasswordSet bool `json:"password_set" doc:"Whether the person has chosen a password."`
	// SignedOutAt voids the links and sign-ins from before it: a new password
	// and a new link end what the old ones opened.
	SignedOutAt *time.Time `json:"signed_out_at,omitempty" doc:"Links and sign-ins from before this time are void."`

	Password string `json:"-"` // salted and hashed; "" for none
}

// UserIDPrefix begins the id of every user.
const UserIDPrefix = "usr_"

// UserStore keeps users. A store that does not answer is CodeUnavailable.
type UserStore interface {
	// CreateUser keeps a new user; CodeExists where the id is there already,
	// or the name in any spelling of its case.
	CreateUser(ctx context.Context, u User) error
	// ChangeUser changes all but the id and the name of a user in one step;
	// CodeNotFound where there is none. change may run more than once.
	ChangeUser(ctx context.Context, id string, change func(*User)) (User, error)
	// DeleteUser forgets a user; CodeNotFound where there is none.
	DeleteUser(ctx context.Context, id string) error
	// Users are all, the oldest first.
	Users(ctx context.Context) ([]User, error)
}
