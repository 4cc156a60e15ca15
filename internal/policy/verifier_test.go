package policy

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/haltd/haltd"
)

const secret = "a secret of at least 32 bytes, see"

func secretVerifier(t testing.TB) *Verifier {
	t.Helper()
	return newVerifier(t, VerifierConfig{Secret: []byte(secret)})
}

func newVerifier(t testing.TB, c VerifierConfig) *Verifier {
	t.Helper()
	v, err := NewVerifier(c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sign(t testing.TB, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func publicPEM(t testing.TB, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func rsaKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ecKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestVerifierAcceptsTheAlgorithmsOfItsKey(t *testing.T) {
	r := rsaKey(t, 2048)
	p256, p384, p521 := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384()), ecKey(t, elliptic.P521())
	edPublic, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&r.PublicKey)})
	keys := []struct {
		name     string
		config   VerifierConfig
		key      any
		accepted []jwt.SigningMethod
	}{
		{"secret", VerifierConfig{Secret: []byte(secret)}, []byte(secret), []jwt.SigningMethod{jwt.SigningMethodHS256, jwt.SigningMethodHS384, jwt.SigningMethodHS512}},
		{"RSA", VerifierConfig{PublicKeyPEM: publicPEM(t, &r.PublicKey)}, r, []jwt.SigningMethod{jwt.SigningMethodRS256, jwt.SigningMethodRS512, jwt.SigningMethodPS256, jwt.SigningMethodPS512}},
		{"RSA in PKCS 1", VerifierConfig{PublicKeyPEM: pkcs1}, r, []jwt.SigningMethod{jwt.SigningMethodRS384, jwt.SigningMethodPS384}},
		{"P-256", VerifierConfig{PublicKeyPEM: publicPEM(t, &p256.PublicKey)}, p256, []jwt.SigningMethod{jwt.SigningMethodES256}},
		{"P-384", VerifierConfig{PublicKeyPEM: publicPEM(t, &p384.PublicKey)}, p384, []jwt.SigningMethod{jwt.SigningMethodES384}},
		{"P-521", VerifierConfig{PublicKeyPEM: publicPEM(t, &p521.PublicKey)}, p521, []jwt.SigningMethod{jwt.SigningMethodES512}},
		{"Ed25519", VerifierConfig{PublicKeyPEM: publicPEM(t, edPublic)}, ed, []jwt.SigningMethod{jwt.SigningMethodEdDSA}},
	}
	for i, k := range keys {
		v := newVerifier(t, k.config)
		for _, m := range k.accepted {
			claims, ok := v.Claims(sign(t, m, k.key, jwt.MapClaims{"sub": "x"}), noon)
			if !ok || claims["sub"] != "x" {
				t.Errorf("%s: %s gives %v, %v", k.name, m.Alg(), claims, ok)
			}
		}
		for j, other := range keys {
			if i == j || k.key == other.key {
				continue
			}
			if claims, ok := v.Claims(sign(t, other.accepted[0], other.key, jwt.MapClaims{"sub": "x"}), noon); ok || claims != nil {
				t.Errorf("%s accepts a token of %s", k.name, other.name)
			}
		}
		if k.config.PublicKeyPEM != nil {
			forged := sign(t, jwt.SigningMethodHS256, k.config.PublicKeyPEM, jwt.MapClaims{"sub": "x"})
			if _, ok := v.Claims(forged, noon); ok {
				t.Errorf("%s: the public key serves as a secret", k.name)
			}
		}
		if _, ok := v.Claims(sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"sub": "x"}), noon); ok {
			t.Errorf("%s accepts a token without signature", k.name)
		}
	}
}

func TestVerifierClaims(t *testing.T) {
	open, strict := VerifierConfig{}, VerifierConfig{Issuer: "https://issuer.example", Audience: "haltd"}
	for _, c := range []struct {
		name   string
		config VerifierConfig
		claims jwt.MapClaims
		want   bool
	}{
		{"no times", open, jwt.MapClaims{}, true},
		{"expires later", open, jwt.MapClaims{"exp": noon.Add(time.Second).Unix()}, true},
		{"expires now", open, jwt.MapClaims{"exp": noon.Unix()}, false},
		{"expired at the beginning of time", open, jwt.MapClaims{"exp": 0}, false},
		{"an expiry that is no time", open, jwt.MapClaims{"exp": "never"}, false},
		{"valid from now", open, jwt.MapClaims{"nbf": noon.Unix()}, true},
		{"valid later", open, jwt.MapClaims{"nbf": noon.Add(time.Second).Unix()}, false},
		{"issuer and audience", strict, jwt.MapClaims{"iss": "https://issuer.example", "aud": []string{"other", "haltd"}}, true},
		{"another issuer", strict, jwt.MapClaims{"iss": "https://other.example", "aud": "haltd"}, false},
		{"another audience", strict, jwt.MapClaims{"iss": "https://issuer.example", "aud": "other"}, false},
		{"neither", strict, jwt.MapClaims{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Secret = []byte(secret)
			if _, ok := newVerifier(t, c.config).Claims(sign(t, jwt.SigningMethodHS256, []byte(secret), c.claims), noon); ok != c.want {
				t.Errorf("accepted: %v, want %v", ok, c.want)
			}
		})
	}
}

func TestVerifierRefusesWhatItCannotHonour(t *testing.T) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{})
	token.Header["crit"] = []string{"b64"}
	critical, err := token.SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.MapClaims{})
	for name, token := range map[string]string{
		"empty": "", "no token": "abc", "an extension": critical, "cut": good[:len(good)-1], "more parts": good + ".x",
	} {
		if _, ok := secretVerifier(t).Claims(token, noon); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNewVerifierRefusesWeakAndWrongKeys(t *testing.T) {
	der, err := x509.MarshalPKCS8PrivateKey(ecKey(t, elliptic.P256()))
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	p224, short := ecKey(t, elliptic.P224()), rsaKey(t, 1024)
	for _, c := range []struct {
		name   string
		config VerifierConfig
		want   string
	}{
		{"nothing", VerifierConfig{Issuer: "x"}, "jwt: expected secret or public_key, got neither"},
		{"both", VerifierConfig{Secret: []byte(secret), PublicKeyPEM: private}, "jwt: expected secret or public_key, got both"},
		{"short secret", VerifierConfig{Secret: []byte(secret[:31])}, "jwt.secret: expected 32 bytes or more, got 31"},
		{"no PEM", VerifierConfig{PublicKeyPEM: []byte("key")}, "got no PEM block"},
		{"private key", VerifierConfig{PublicKeyPEM: private}, "got a PRIVATE KEY"},
		{"garbage", VerifierConfig{PublicKeyPEM: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1}})}, "got one that cannot be read"},
		{"short RSA key", VerifierConfig{PublicKeyPEM: publicPEM(t, &short.PublicKey)}, "got a shorter RSA key"},
		{"another curve", VerifierConfig{PublicKeyPEM: publicPEM(t, &p224.PublicKey)}, "got an ECDSA key of another curve"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewVerifier(c.config)
			if err == nil || !strings.HasPrefix(err.Error(), "jwt") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if code := haltd.ErrorCode(err); code != haltd.CodeInvalid {
				t.Errorf("code %q, want %q", code, haltd.CodeInvalid)
			}
		})
	}
}
