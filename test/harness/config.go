package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Token opens the admin API of every haltd of the tests.
const Token = "admin-token-of-the-tests"

// Config is the configuration of one haltd, in a file of a folder of its own.
type Config struct {
	Gateway, Admin string // addresses to listen on
	DataDir        string
	Path           string // of the file
}

// NewConfig is a configuration in folder, on these addresses. Nothing is
// written yet.
func NewConfig(folder, gateway, admin string) *Config {
	return &Config{Gateway: gateway, Admin: admin, DataDir: filepath.Join(folder, "data"), Path: filepath.Join(folder, "haltd.yaml")}
}

// Base is the YAML that every configuration begins with.
func (c *Config) Base() string {
	return fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: %q, token: %q}\ndata_dir: %q\n", c.Gateway, c.Admin, Token, c.DataDir)
}

// Write writes the file: the base and what follows it.
func (c *Config) Write(t testing.TB, more string) {
	t.Helper()
	c.Replace(t, c.Base()+more)
}

// Replace writes a file that has nothing of the base.
func (c *Config) Replace(t testing.TB, yaml string) {
	t.Helper()
	if err := os.WriteFile(c.Path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Providers is YAML that has all providers at one address.
func Providers(url string) string {
	return fmt.Sprintf("providers: {openai: {base_url: %q}, anthropic: {base_url: %[1]q}, gemini: {base_url: %[1]q}}\n", url)
}
