package admin

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

const (
	// hashRounds is what OWASP advises for PBKDF2 with SHA-512.
	hashRounds = 210_000
	hashScheme = "pbkdf2-sha512"
)

// passwords hashes one password at a time: each costs a fraction of a second of a
// processor by intent, and strangers may ask for it.
type passwords struct {
	rounds int
	turn   chan struct{}
}

func newPasswords(rounds int) passwords { return passwords{rounds, make(chan struct{}, 1)} }

// acquire waits for its turn, or until the client leaves.
func (p passwords) acquire(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p passwords) release() { <-p.turn }

// hash is what a store keeps of a password: scheme, rounds, salt and key. Who
// calls holds the turn.
func (p passwords) hash(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	key, err := derive(password, salt, p.rounds)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s$%d$%s$%s", hashScheme, p.rounds, encoded(salt), encoded(key)), nil
}

// matches reports the password of a hash. One without a hash takes as long and
// matches nothing, so that nobody learns which names there are. Who calls
// holds the turn.
func (p passwords) matches(hash, password string) bool {
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[0] != hashScheme {
		_, _ = derive(password, make([]byte, 16), p.rounds) // for the time that it takes
		return false
	}
	rounds, err := strconv.Atoi(parts[1])
	if err != nil {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	key, err := derive(password, salt, rounds)
	return err == nil && subtle.ConstantTimeCompare([]byte(encoded(key)), []byte(parts[3])) == 1
}

func derive(password string, salt []byte, rounds int) ([]byte, error) {
	return pbkdf2.Key(sha512.New, password, salt, rounds, sha512.Size256)
}

func encoded(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }
