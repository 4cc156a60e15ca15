package table

import (
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
)

// ScanUser reads the columns password and body of users.
func ScanUser(row interface{ Scan(dest ...any) error }) (u haltd.User, err error) {
	var password string
	var text []byte
	if err := row.Scan(&password, &text); err != nil {
		return u, err
	}
	if err := json.Unmarshal(text, &u); err != nil {
		return u, fmt.Errorf("read user: %w", err)
	}
	u.Password = password
	return u, nil
}

// ChangedUser is the one user that was found after a change, and its body.
func ChangedUser(found []haltd.User, change func(*haltd.User)) (u haltd.User, body string, err error) {
	if len(found) == 0 {
		return u, "", haltd.Errorf(haltd.CodeNotFound, "there is no such user")
	}
	u = found[0]
	change(&u)
	u.ID, u.Name = found[0].ID, found[0].Name
	text, err := json.Marshal(u)
	if err != nil {
		return u, "", Unfit("user", err)
	}
	return u, string(text), nil
}

// UserExists refuses a user whose id or name is taken.
func UserExists(u haltd.User) error {
	return haltd.Errorf(haltd.CodeExists, "there is a user %q already", u.Name)
}
