package sqlite

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/haltd/haltd"
)

const (
	// keyFile lies beside the database, so that a copy of the database alone
	// gives no secret away.
	keyFile = "secrets.key"
	keySize = 32
)

// secrets seals the settings of channels with AES-256-GCM, bound to the id of
// their channel. The key is made when the first of them is sealed.
type secrets struct {
	path string

	mu   sync.Mutex
	aead cipher.AEAD // nil until the key was read

	unsealed error // why settings are on disk in plain text; set by open only
}

// key is the key on disk; with create, a new one where there is none.
func (k *secrets) key(create bool) (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.aead != nil {
		return k.aead, nil
	}
	key, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) && create {
		key, err = makeKey(k.path)
	}
	const mend = "Put the right file back, or move it away and enter the settings of the channel again."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unavailable("the key file "+k.path+" is missing", "Put it back, or enter the settings of the channel again and switch it on.")
	case err != nil:
		return nil, unavailable("the key file "+k.path+" cannot be used: "+reason(err), mend)
	case len(key) != keySize:
		return nil, unavailable(fmt.Sprintf("the key file %s holds %d bytes and not the %d of a key", k.path, len(key), keySize), mend)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	k.aead, err = cipher.NewGCMWithRandomNonce(block)
	return k.aead, err
}

// makeKey writes a key that is on disk, whole, before anything is sealed with
// it.
func makeKey(path string) (key []byte, err error) {
	key = make([]byte, keySize)
	rand.Read(key)
	f, err := os.CreateTemp(filepath.Dir(path), keyFile+".*") // for the owner's eyes only
	if err != nil {
		return nil, err
	}
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return key, errors.Join(dir.Sync(), dir.Close())
}

// Settings are an object in plain text and, sealed, a text.
func isPlain(settings json.RawMessage) bool  { return bytes.HasPrefix(settings, []byte("{")) }
func isSealed(settings json.RawMessage) bool { return bytes.HasPrefix(settings, []byte(`"`)) }

// seal makes the settings of a channel unreadable without the key.
func (k *secrets) seal(c haltd.Channel) (haltd.Channel, error) {
	if !isPlain(c.Settings) {
		return c, nil
	}
	aead, err := k.key(true)
	if err != nil {
		return c, err
	}
	c.Settings, err = json.Marshal(aead.Seal(nil, nil, c.Settings, []byte(c.ID)))
	return c, err
}

// open is the opposite of seal. A channel whose settings cannot be read is
// switched off and says why.
func (k *secrets) open(c haltd.Channel) haltd.Channel {
	settings, err := k.unseal(c)
	if err != nil {
		c.Enabled, c.Disabled, settings = false, "Its settings cannot be read: "+err.Error(), []byte("{}")
	}
	c.Settings = settings
	return c
}

func (k *secrets) unseal(c haltd.Channel) (json.RawMessage, error) {
	if !isSealed(c.Settings) {
		return c.Settings, nil
	}
	aead, err := k.key(false)
	if err != nil {
		return nil, err
	}
	var sealed []byte
	if err := json.Unmarshal(c.Settings, &sealed); err != nil {
		return nil, err
	}
	settings, err := aead.Open(nil, nil, sealed, []byte(c.ID))
	if err != nil {
		return nil, unavailable("the key file "+k.path+" is not the one that they were written with",
			"Put the right file back and restart haltd, or enter the settings of the channel again and switch it on.")
	}
	return settings, nil
}

// Unsealed is why settings of channels that an earlier haltd kept in plain text
// still are; nil when all are sealed.
func (s *Store) Unsealed() error { return s.secrets.unsealed }

// sealChannels seals what an earlier haltd kept in plain text. Where the key
// cannot be used, that waits for the next start, and Unsealed tells.
func (s *Store) sealChannels(ctx context.Context) error {
	list, err := channels.all(ctx, s.writer.conn)
	if err != nil || !slices.ContainsFunc(list, func(c haltd.Channel) bool { return isPlain(c.Settings) }) {
		return err
	}
	for i := range list {
		if list[i], err = s.secrets.seal(list[i]); err != nil {
			s.secrets.unsealed = fmt.Errorf("seal the settings of channel %s: %w", list[i].ID, err)
			return nil
		}
	}
	return s.rewriteChannels(ctx, list)
}

// rewriteChannels leaves nothing of the old rows on disk, nor of what they were
// before: all pages of the table, which are few, are wiped before they are
// filled again, and the log is cut.
func (s *Store) rewriteChannels(ctx context.Context, list []haltd.Channel) error {
	if err := s.exec(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	err := s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.exec(ctx, "DELETE FROM channels"); err != nil {
			return err
		}
		for _, c := range list {
			if err := channels.save(ctx, s, c.ID, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, s.exec(ctx, "PRAGMA secure_delete = FAST"))
}
