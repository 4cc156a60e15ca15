package postgres

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// sealer makes what people said and entered unreadable without the key that
// the operator gave the nodes, with AES-256-GCM, bound to its place. A nil one
// has no key.
type sealer struct{ aead cipher.AEAD }

func newSealer(key string) (*sealer, error) {
	if key == "" {
		return nil, nil
	}
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, "haltd seal", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{aead}, err
}

func errNoKey(what string) error {
	return unavailable("seal_key: "+what+" needs one, because several nodes share the store",
		"Set the same seal_key, or HALTD_SEAL_KEY, on every node and restart them.")
}

// channel seals the settings of a channel.
func (k *sealer) channel(c haltd.Channel) (haltd.Channel, error) {
	if c.ID == "" || !bytes.HasPrefix(c.Settings, []byte("{")) {
		return c, nil
	}
	if k == nil {
		return c, errNoKey("a channel")
	}
	sealed, err := json.Marshal(k.aead.Seal(nil, nil, c.Settings, []byte(c.ID)))
	c.Settings = sealed
	return c, err
}

// openChannel is the opposite of channel. One whose settings cannot be read is
// switched off and says why.
func (k *sealer) openChannel(c haltd.Channel) haltd.Channel {
	if !bytes.HasPrefix(c.Settings, []byte(`"`)) {
		return c
	}
	settings, err := k.unseal(c)
	if err != nil {
		c.Enabled, c.Disabled, settings = false, "Its settings cannot be read: "+err.Error(), []byte("{}")
	}
	c.Settings = settings
	return c
}

func (k *sealer) unseal(c haltd.Channel) (json.RawMessage, error) {
	if k == nil {
		return nil, errNoKey("a channel")
	}
	var sealed []byte
	if err := json.Unmarshal(c.Settings, &sealed); err != nil {
		return nil, err
	}
	settings, err := k.aead.Open(nil, nil, sealed, []byte(c.ID))
	if err != nil {
		return nil, unavailable("seal_key is not the one that they were written with",
			"Give all nodes the same seal_key and restart them, or enter the settings of the channel again and switch it on.")
	}
	return settings, nil
}

// excerpt seals what was said in a call.
func (k *sealer) excerpt(e *haltd.Event) ([]byte, error) {
	text, err := json.Marshal(e.Excerpt)
	if err != nil {
		return nil, table.Unfit("excerpt of event "+e.ID.String(), err)
	}
	return k.aead.Seal(nil, nil, text, []byte(e.ID.String())), nil
}

func (k *sealer) openExcerpt(event haltd.EventID, sealed []byte) (e haltd.Excerpt, err error) {
	if k == nil {
		return e, errNoKey("an excerpt")
	}
	text, err := k.aead.Open(nil, nil, sealed, []byte(event.String()))
	if err != nil {
		return e, unavailable("seal_key is not the one that the excerpt of "+event.String()+" was written with",
			"Give all nodes the same seal_key and restart them.")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("read the excerpt of %s: %w", event, err)
	}
	return e, nil
}

// Excerpt implements haltd.ExcerptStore.
func (s *Store) Excerpt(ctx context.Context, event haltd.EventID) (e haltd.Excerpt, ok bool, err error) {
	err = s.do(ctx, "read excerpt", func(ctx context.Context) error {
		sealed, err := readOne(ctx, s.pool, value[[]byte], "SELECT sealed FROM excerpts WHERE event = $1", int64(event))
		if isNoRows(err) {
			return nil
		}
		if err == nil {
			e, err = s.seal.openExcerpt(event, sealed)
			ok = err == nil
		}
		return err
	})
	return e, ok, err
}

// PruneExcerpts implements haltd.ExcerptStore. Canceled on its way, it says
// how many went so far.
func (s *Store) PruneExcerpts(ctx context.Context, t time.Time) (total int64, err error) {
	err = s.inChunks(ctx, "prune excerpts", t, func(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
		gone, err := exec(ctx, tx, "DELETE FROM excerpts WHERE event IN (SELECT event FROM excerpts WHERE time < $1 ORDER BY time LIMIT $2)",
			table.Micros(t), most)
		total += gone
		return gone, err
	})
	if err != nil {
		return total, err
	}
	err = s.inChunks(ctx, "prune excerpts", t, func(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
		gone, err := exec(ctx, tx, "DELETE FROM incident_excerpts WHERE incident IN (SELECT incident FROM incident_excerpts WHERE time < $1 LIMIT $2)",
			table.Micros(t), most)
		total += gone
		return gone, err
	})
	return total, err
}
