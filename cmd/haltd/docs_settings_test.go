package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// sections are those of the configuration, as the sample has them.
func sections(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "haltd.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^#? ?([a-z_]+):`).FindAllStringSubmatch(string(b), -1) {
		all = append(all, m[1])
	}
	return all
}

var (
	fileKey = regexp.MustCompile(`([a-z_]+_file): *"?(/[^\s",}]+)`)
	dotted  = regexp.MustCompile(`^([a-z_]+)((?:\.(?:[a-z_]+|\{[a-z]+\}|NAME))+)(?:: .*)?$`)
)

// Configurations in the docs load: nothing in them is unknown or refused.
func TestDocsShowConfigurationsThatLoad(t *testing.T) {
	top := sections(t)
	made := secretFiles(t)
	blocks := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language != "yaml" || !isConfiguration(b.text, top) {
				continue
			}
			blocks++
			text := fileKey.ReplaceAllStringFunc(b.text, func(old string) string {
				m := fileKey.FindStringSubmatch(old)
				name := made[m[1]]
				if name == "" {
					name = made["other"]
				}
				return m[1] + ": " + name
			})
			path := filepath.Join(t.TempDir(), "haltd.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(path, variables); err != nil {
				t.Errorf("%s:\n%s\n%v", p.name, b.text, err)
			}
		}
	}
	if blocks < 15 {
		t.Errorf("%d configurations found; the docs have more", blocks)
	}
}

// isConfiguration tells haltd's own YAML from that of others: one of its
// sections stands at the left.
func isConfiguration(text string, top []string) bool {
	var document map[string]any
	if yaml.Unmarshal([]byte(text), &document) != nil {
		return true // which then fails to load
	}
	for key := range document {
		if slices.Contains(top, key) {
			return true
		}
	}
	return false
}

// variables are what configurations in the docs take from the environment.
func variables(name string) (string, bool) {
	switch name {
	case "HALTD_STORE_URL":
		return "postgres://haltd@127.0.0.1:5432/haltd", true
	case "HALTD_STATE_URL":
		return "redis://127.0.0.1:6379/0", true
	case "HALTD_SEAL_KEY":
		return strings.Repeat("0f", 32), true
	case "WEBHOOK_SECRET":
		return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true
	case "HALTD_ADMIN_TOKEN", "LAB_API_KEY":
		return "0123456789abcdef0123456789abcdef", true
	}
	return "", false
}

// secretFiles stand for those that configurations in the docs name, by key.
func secretFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "haltd"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	made := map[string]string{}
	for key, text := range map[string]string{
		"cert_file":       block("CERTIFICATE", der),
		"ca_file":         block("CERTIFICATE", der),
		"key_file":        block("PRIVATE KEY", private),
		"public_key_file": block("PUBLIC KEY", public),
		"url_file":        "https://hooks.slack.com/services/T000/B000/XXXX",
		"secret_file":     "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"other":           "0123456789abcdef0123456789abcdef",
	} {
		made[key] = filepath.Join(dir, key)
		if err := os.WriteFile(made[key], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// Settings that are named in passing exist; TestEveryKeyIsDocumented of package
// config looks for those that exist without docs.
func TestDocsNameSettingsThatExist(t *testing.T) {
	top := sections(t)
	var ofPolicy []string
	for _, s := range haltd.SettingsOf[haltd.Policy]() {
		ofPolicy = append(ofPolicy, s.Name)
	}
	dir := t.TempDir()
	named := 0
	for _, p := range pages(t) {
		for _, code := range p.inline {
			m := dotted.FindStringSubmatch(code)
			if m == nil || strings.HasSuffix(code, ".go") || strings.HasSuffix(code, ".md") {
				continue
			}
			path := m[1] + m[2]
			switch {
			case slices.Contains(top, m[1]):
			case slices.Contains(ofPolicy, m[1]):
				path = "defaults." + path
			default:
				continue
			}
			if named++; !settable(t, dir, path) {
				t.Errorf("%s: there is no setting %s", p.name, path)
			}
		}
	}
	if named < 30 {
		t.Errorf("%d settings found; the docs have more", named)
	}
	if settable(t, dir, "gateway.made_up") || settable(t, dir, "defaults.kill_switch.made_up") || settable(t, dir, "providers.lab.made_up") {
		t.Error("a setting that does not exist passes for one")
	}
}

// settable asks the configuration reader whether it knows a key: whatever it
// says of the value, it must not call the key unknown.
func settable(t *testing.T, dir, path string) bool {
	t.Helper()
	var text strings.Builder
	steps := strings.Split(path, ".")
	for i, step := range steps {
		if strings.HasPrefix(step, "{") || step == "NAME" {
			step = "lab"
		}
		fmt.Fprintf(&text, "%s%s:", strings.Repeat("  ", i), step)
		if i < len(steps)-1 {
			text.WriteString("\n")
		}
	}
	text.WriteString(" 1\n")
	file := filepath.Join(dir, "haltd.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(file, func(string) (string, bool) { return "", false })
	return err == nil || !strings.Contains(err.Error(), "unknown key")
}
