package web

import (
	"bytes"
	"io/fs"
	"testing"
)

func TestThereIsAlwaysAPage(t *testing.T) {
	page, err := fs.ReadFile(FS(), "index.html")
	if err != nil {
		t.Fatalf("read index.html: %v", err)
	}
	if saysHow := bytes.Contains(page, []byte("<code>make</code>")); saysHow == Built() {
		t.Errorf("the page says how to build: %t, and the dashboard is built: %t", saysHow, Built())
	}
}

func TestThePlaceholderIsOnePage(t *testing.T) {
	if _, err := fs.ReadFile(placeholder{}, "index.html"); err != nil {
		t.Errorf("read index.html: %v", err)
	}
	if _, err := fs.ReadFile(placeholder{}, "assets/app.js"); err == nil {
		t.Error("assets/app.js is there, want nothing but the page")
	}
}
