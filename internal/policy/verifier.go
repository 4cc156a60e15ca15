package policy

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/haltd/haltd"
)

// VerifierConfig is the key of those who issue tokens: a secret that they
// share or the public half of theirs, one of the two. Issuer and Audience are
// demanded when given.
type VerifierConfig struct {
	Secret           []byte
	PublicKeyPEM     []byte
	Issuer, Audience string
}

// Verifier tells which tokens to believe.
type Verifier struct {
	key     any
	options []jwt.ParserOption
}

// minSecret is the size of the shortest hash in use: a shorter secret can be
// guessed from a token.
const minSecret = 32

// NewVerifier accepts tokens signed for this key, by algorithms of its kind
// only: a public key never serves as a secret. An unusable key is an
// *haltd.Error with CodeInvalid that begins with the field under jwt.
func NewVerifier(c VerifierConfig) (*Verifier, error) {
	var v Verifier
	var algorithms []string
	switch {
	case len(c.Secret) > 0 && len(c.PublicKeyPEM) > 0:
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected secret or public_key, got both").In("jwt")
	case len(c.Secret) == 0 && len(c.PublicKeyPEM) == 0:
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected secret or public_key, got neither").In("jwt")
	case len(c.PublicKeyPEM) > 0:
		var err error
		if v.key, algorithms, err = publicKey(c.PublicKeyPEM); err != nil {
			return nil, err
		}
	case len(c.Secret) < minSecret:
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected %d bytes or more, got %d", minSecret, len(c.Secret)).In("jwt.secret")
	default:
		v.key, algorithms = slices.Clone(c.Secret), []string{"HS256", "HS384", "HS512"}
	}
	v.options = []jwt.ParserOption{jwt.WithValidMethods(algorithms), jwt.WithJSONNumber()}
	if c.Issuer != "" {
		v.options = append(v.options, jwt.WithIssuer(c.Issuer))
	}
	if c.Audience != "" {
		v.options = append(v.options, jwt.WithAudience(c.Audience))
	}
	return &v, nil
}

func publicKey(text []byte) (key any, algorithms []string, err error) {
	bad := func(got string) (any, []string, error) {
		return nil, nil, haltd.Errorf(haltd.CodeInvalid, "expected a PEM public key (RSA of 2048 bits or more, ECDSA P-256, P-384 or P-521, Ed25519), got %s", got).In("jwt.public_key")
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return bad("no PEM block")
	}
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	default:
		return bad("a " + block.Type)
	}
	if err != nil {
		return bad("one that cannot be read: " + err.Error())
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() >= 2048 {
			return key, []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
		}
		return bad("a shorter RSA key")
	case *ecdsa.PublicKey:
		algorithm, ok := map[elliptic.Curve]string{elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512"}[k.Curve]
		if ok {
			return key, []string{algorithm}, nil
		}
		return bad("an ECDSA key of another curve")
	case ed25519.PublicKey:
		return key, []string{"EdDSA"}, nil
	}
	return bad("a key of another kind")
}

var errCritical = errors.New("the token demands an extension")

// Claims are those of a token that is signed by the key and valid at now.
func (v *Verifier) Claims(token string, now time.Time) (claims map[string]any, ok bool) {
	if v == nil {
		return nil, false // nobody can say that the token is true
	}
	options := append(slices.Clip(v.options), jwt.WithTimeFunc(func() time.Time { return now }))
	read := jwt.MapClaims{}
	_, err := jwt.NewParser(options...).ParseWithClaims(token, read, func(t *jwt.Token) (any, error) {
		if _, demands := t.Header["crit"]; demands {
			return nil, errCritical
		}
		return v.key, nil
	})
	if err != nil {
		return nil, false // what was read is not to be believed
	}
	return read, true
}
