package postgres

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/jackc/pgx/v5"
)

// PriceFile implements haltd.PriceStore.
func (s *Store) PriceFile(ctx context.Context) (file []byte, err error) {
	err = s.do(ctx, "read the price table", func(ctx context.Context) error {
		var body string
		body, err = readOne(ctx, s.pool, value[string], "SELECT body FROM price_file")
		if isNoRows(err) {
			return nil
		}
		file = []byte(body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// SavePriceFile implements haltd.PriceStore.
func (s *Store) SavePriceFile(ctx context.Context, file []byte) error {
	return s.write(ctx, "keep the price table", func(ctx context.Context, tx pgx.Tx) (err error) {
		if file == nil {
			_, err = exec(ctx, tx, "DELETE FROM price_file")
		} else {
			_, err = exec(ctx, tx, "INSERT INTO price_file (no, body) VALUES (1, $1) ON CONFLICT (no) DO UPDATE SET body = excluded.body", string(file))
		}
		if err != nil {
			return err
		}
		return logChange(ctx, tx, haltd.Change{Prices: true})
	})
}
