package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// documents is a table of what people make in small numbers: JSON by id, in
// the order of making.
type documents[T any] struct {
	table string // constant text
	what  string // what a person calls one of them
}

func (d documents[T]) all(ctx context.Context, db querier) ([]T, error) {
	return read(ctx, db, scanDocument[T], "SELECT body FROM "+d.table+" ORDER BY no")
}

// save makes or replaces a document inside the transaction of its caller.
func (d documents[T]) save(ctx context.Context, s *Store, id string, document T) error {
	if id == "" {
		return haltd.Errorf(haltd.CodeInvalid, "the %s has none", d.what).In("id")
	}
	text, err := json.Marshal(document)
	if err != nil {
		return table.Unfit(d.what, err)
	}
	return s.exec(ctx, "INSERT INTO "+d.table+" (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
		id, string(text))
}

// remove deletes a document inside the transaction of its caller.
func (d documents[T]) remove(ctx context.Context, s *Store, id string) error {
	gone, err := s.affect(ctx, "DELETE FROM "+d.table+" WHERE id = ?", id)
	if err == nil && gone == 0 {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no %s %q", d.what, id)
	}
	return err
}

func scanDocument[T any](row scanner) (document T, err error) {
	var text []byte
	if err := row.Scan(&text); err != nil {
		return document, err
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return document, fmt.Errorf("read %T: %w", document, err)
	}
	return document, nil
}
