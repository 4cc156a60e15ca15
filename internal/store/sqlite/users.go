package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

var users = documents[haltd.User]{table: "users", what: "user"}

// CreateUser implements haltd.UserStore.
func (s *Store) CreateUser(ctx context.Context, u haltd.User) error {
	text, err := json.Marshal(u)
	if err == nil {
		err = s.writer.write(ctx, func(ctx context.Context) error {
			return s.exec(ctx, "INSERT INTO users (id, name, password, body) VALUES (?, ?, ?, ?)", u.ID, strings.ToLower(u.Name), u.Password, string(text))
		})
	}
	if isConstraint(err) {
		err = table.UserExists(u)
	}
	if err != nil {
		return fmt.Errorf("create user: %w", explain(s.path, err))
	}
	return nil
}

// ChangeUser implements haltd.UserStore.
func (s *Store) ChangeUser(ctx context.Context, id string, change func(*haltd.User)) (u haltd.User, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		found, err := read(ctx, s.writer.conn, scanUser, "SELECT password, body FROM users WHERE id = ?", id)
		if err != nil {
			return err
		}
		var text string
		if u, text, err = table.ChangedUser(found, change); err != nil {
			return err
		}
		return s.exec(ctx, "UPDATE users SET password = ?, body = ? WHERE id = ?", u.Password, text, id)
	})
	if err != nil {
		return haltd.User{}, fmt.Errorf("change user: %w", explain(s.path, err))
	}
	return u, nil
}

// DeleteUser implements haltd.UserStore.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	if err := s.writer.write(ctx, func(ctx context.Context) error { return users.remove(ctx, s, id) }); err != nil {
		return fmt.Errorf("delete user: %w", explain(s.path, err))
	}
	return nil
}

// Users implements haltd.UserStore.
func (s *Store) Users(ctx context.Context) ([]haltd.User, error) {
	list, err := read(ctx, s.readers, scanUser, "SELECT password, body FROM users ORDER BY no")
	if err != nil {
		return nil, fmt.Errorf("list users: %w", explain(s.path, err))
	}
	return list, nil
}

func scanUser(row scanner) (haltd.User, error) { return table.ScanUser(row) }
