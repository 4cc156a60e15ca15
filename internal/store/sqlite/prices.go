package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

// PriceFile implements haltd.PriceStore.
func (s *Store) PriceFile(ctx context.Context) (file []byte, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT body FROM price_file").Scan(&file)
	if isNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the price table: %w", explain(s.path, err))
	}
	return file, nil
}

// SavePriceFile implements haltd.PriceStore.
func (s *Store) SavePriceFile(ctx context.Context, file []byte) error {
	err := s.writer.write(ctx, func(ctx context.Context) (err error) {
		if file == nil {
			err = s.exec(ctx, "DELETE FROM price_file")
		} else {
			err = s.exec(ctx, "INSERT OR REPLACE INTO price_file (no, body) VALUES (1, ?)", string(file))
		}
		if err != nil {
			return err
		}
		return s.writeChange(ctx, &haltd.Change{Prices: true})
	})
	if err != nil {
		return fmt.Errorf("keep the price table: %w", explain(s.path, err))
	}
	s.changed.Ring()
	return nil
}
