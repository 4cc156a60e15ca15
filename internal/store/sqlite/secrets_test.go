package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func hook(id, secret string) haltd.Channel {
	return haltd.Channel{
		ID: id, Name: id, Kind: haltd.ChannelWebhook, Enabled: true, Source: "api", CreatedAt: time.Unix(1, 0).UTC(), UpdatedAt: time.Unix(1, 0).UTC(),
		Settings: json.RawMessage(fmt.Sprintf(`{"url":"https://example.com/%s","secret":%q}`, secret, secret)),
	}
}

func save(t *testing.T, s *Store, list ...haltd.Channel) {
	t.Helper()
	for _, c := range list {
		if err := s.SaveChannel(t.Context(), c); err != nil {
			t.Fatalf("SaveChannel(%s): %v", c.ID, err)
		}
	}
}

func wantChannels(t *testing.T, s *Store, want ...haltd.Channel) {
	t.Helper()
	got, err := s.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}

// wantNowhere reads every file of a folder.
func wantNowhere(t *testing.T, when, dir string, texts ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("%s: %s holds %q", when, f.Name(), text)
			}
		}
	}
}

func TestSecretsAreNowhereOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, filepath.Join(dir, "record.db"))
	if _, err := os.Stat(filepath.Join(dir, keyFile)); !os.IsNotExist(err) {
		t.Errorf("a key before there is a secret (error %v)", err)
	}
	first, second := hook("chn_a", secret), hook("chn_b", "another-"+secret)
	save(t, s, first, second, hook("chn_c", "third-"+secret))
	first.Settings = hook("chn_a", "new-"+secret).Settings
	save(t, s, first)
	if err := s.DeleteChannel(t.Context(), "chn_c"); err != nil {
		t.Fatal(err)
	}
	wantChannels(t, s, first, second)
	wantNowhere(t, "while it is open", dir, secret, "https://example.com")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantNowhere(t, "after it was closed", dir, secret, "https://example.com")
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != keySize {
		t.Errorf("key file %v, error %v; want %d bytes for the owner only", info, err, keySize)
	}
	wantChannels(t, openTest(t, filepath.Join(dir, "record.db")), first, second)
}

// A database of before has secrets in its rows, in what rows were before and
// in its log.
func TestUpgradeSealsWhatWasPlain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "record.db")
	before := openTest(t, path)
	plain := func(c haltd.Channel) {
		t.Helper()
		err := before.writer.write(t.Context(), func(ctx context.Context) error { return channels.save(ctx, before, c.ID, c) })
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []haltd.Channel{hook("chn_c", secret), hook("chn_a", secret), hook("chn_b", secret)}
	for i := range 30 {
		plain(hook("chn_gone", fmt.Sprint(i, secret)))
		for _, c := range want {
			c.Settings = hook(c.ID, fmt.Sprint(i, secret)).Settings
			plain(c)
		}
	}
	for _, c := range want {
		plain(c)
	}
	if err := before.DeleteChannel(t.Context(), "chn_gone"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path + "-wal")
	if err != nil || !bytes.Contains(b, []byte(secret)) {
		t.Fatalf("the log holds no secret to get rid of (error %v)", err)
	}
	copied := t.TempDir()
	for _, suffix := range []string{"", "-wal"} { // as a crash leaves them
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, "record.db"+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	for when, dir := range map[string]string{"after an end": dir, "after a crash": copied} {
		s := openTest(t, filepath.Join(dir, "record.db"))
		wantNowhere(t, when, dir, secret)
		wantChannels(t, s, want...)
	}
}

func TestLostAndWrongKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
		reason string // that the channel gives
		save   string // part of the error of a new channel; "" when it is saved
	}{
		{"lost", func(t *testing.T, path string) { remove(t, path) }, " is missing. Put it back", ""},
		{"another", func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("k"), keySize)) }, " is not the one that they were written with. Put the right file back", ""},
		{"cut", func(t *testing.T, path string) { write(t, path, []byte("short")) }, " holds 5 bytes and not the 32 of a key. Put the right file back", " holds 5 bytes"},
		{"no file", func(t *testing.T, path string) {
			remove(t, path)
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, " cannot be used: ", " cannot be used: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, keyPath := filepath.Join(dir, "record.db"), filepath.Join(dir, keyFile)
			s := openTest(t, path)
			old, fresh := hook("chn_old", secret), hook("chn_new", secret)
			save(t, s, old)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			key, err := os.ReadFile(keyPath)
			if err != nil {
				t.Fatal(err)
			}
			c.change(t, keyPath)

			s = openTest(t, path)
			list, err := s.Channels(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("%d channels, error %v; want one", len(list), err)
			}
			if off := list[0]; off.Enabled || !strings.Contains(off.Disabled, "the key file "+keyPath+c.reason) || string(off.Settings) != "{}" {
				t.Errorf("channel %+v with settings %s; want it off and saying%q", off, off.Settings, c.reason)
			}
			err = s.SaveChannel(t.Context(), fresh)
			if c.save != "" {
				wantError(t, "a new channel", err, haltd.CodeUnavailable, c.save)
			} else if err != nil {
				t.Errorf("a new channel: %v", err)
			} else if list, err = s.Channels(t.Context()); err != nil || !list[1].Enabled || list[0].Enabled {
				t.Errorf("channels %+v, error %v; want the new one on and the old one off", list, err)
			} else {
				save(t, s, old) // entered again
				wantChannels(t, s, old, fresh)
				return
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(keyPath); err != nil {
				t.Fatal(err)
			}
			write(t, keyPath, key)
			wantChannels(t, openTest(t, path), old)
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Who can write to the database cannot make one channel send to the receiver
// of another.
func TestSecretsStayWithTheirChannel(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	save(t, s, hook("chn_a", secret), hook("chn_b", secret))
	err := s.writer.write(t.Context(), func(ctx context.Context) error {
		return s.exec(ctx, `UPDATE channels SET body = json_set(body, '$.settings',
			(SELECT body ->> 'settings' FROM channels WHERE id = 'chn_a')) WHERE id = 'chn_b'`)
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Channels(t.Context())
	if err != nil || !list[0].Enabled || list[1].Enabled {
		t.Errorf("channels %+v, error %v; want the second off", list, err)
	}
}
