package postgres

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

var users = documents[haltd.User]{table: "users", what: "user"}

// CreateUser implements haltd.UserStore.
func (s *Store) CreateUser(ctx context.Context, u haltd.User) error {
	return s.do(ctx, "create user", func(ctx context.Context) error {
		text, err := json.Marshal(u)
		if err != nil {
			return table.Unfit("user", err)
		}
		_, err = exec(ctx, s.pool, "INSERT INTO users (id, name, password, body) VALUES ($1, $2, $3, $4)", u.ID, strings.ToLower(u.Name), u.Password, string(text))
		if isConstraint(err) {
			return table.UserExists(u)
		}
		return err
	})
}

// ChangeUser implements haltd.UserStore.
func (s *Store) ChangeUser(ctx context.Context, id string, change func(*haltd.User)) (u haltd.User, err error) {
	err = s.write(ctx, "change user", func(ctx context.Context, tx pgx.Tx) error {
		found, err := read(ctx, tx, scanUser, "SELECT password, body FROM users WHERE id = $1 FOR UPDATE", id)
		if err != nil {
			return err
		}
		var text string
		if u, text, err = table.ChangedUser(found, change); err != nil {
			return err
		}
		_, err = exec(ctx, tx, "UPDATE users SET password = $2, body = $3 WHERE id = $1", id, u.Password, text)
		return err
	})
	if err != nil {
		return haltd.User{}, err
	}
	return u, nil
}

// DeleteUser implements haltd.UserStore.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return s.do(ctx, "delete user", func(ctx context.Context) error { return users.remove(ctx, s.pool, id) })
}

// Users implements haltd.UserStore.
func (s *Store) Users(ctx context.Context) (list []haltd.User, err error) {
	err = s.do(ctx, "list users", func(ctx context.Context) error {
		list, err = read(ctx, s.pool, scanUser, "SELECT password, body FROM users ORDER BY no")
		return err
	})
	return list, err
}

func scanUser(row scanner) (haltd.User, error) { return table.ScanUser(row) }
