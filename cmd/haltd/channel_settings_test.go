package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/alert/email"
	"github.com/haltd/haltd/internal/alert/slack"
	"github.com/haltd/haltd/internal/alert/webhook"
	"github.com/haltd/haltd/internal/cli"
	"github.com/haltd/haltd/internal/config"
)

// The file, the commands, the API's description and the dashboard's form have the
// settings of a channel, all of them and no others.
func TestChannelSettingsAreTheSameEverywhere(t *testing.T) {
	for kind, of := range map[haltd.ChannelKind]struct{ settings, command reflect.Type }{
		haltd.ChannelSlack:   {reflect.TypeFor[slack.Settings](), reflect.TypeFor[cli.ChannelsAddSlackCmd]()},
		haltd.ChannelWebhook: {reflect.TypeFor[webhook.Settings](), reflect.TypeFor[cli.ChannelsAddWebhookCmd]()},
		haltd.ChannelEmail:   {reflect.TypeFor[email.Settings](), reflect.TypeFor[cli.ChannelsAddEmailCmd]()},
	} {
		var want []string
		for _, f := range reflect.VisibleFields(of.settings) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		for where, got := range map[string][]string{
			"the file":        inFile(t, kind),
			"the command":     inCommand(of.command),
			"the API's words": inAPI(t, kind),
			"the dashboard":   inDashboard(t, kind),
		} {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q for %s, want %q", where, got, kind, want)
			}
		}
	}
}

func inFile(t *testing.T, kind haltd.ChannelKind) []string {
	var settings map[string]any
	if err := json.Unmarshal(config.AlertChannel{Kind: kind}.Channel().Settings, &settings); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(maps.Keys(settings))
}

// inCommand leaves out the name of the channel and other ways to give a secret.
func inCommand(command reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(command) {
		if f.Name != "Name" && !strings.HasSuffix(f.Name, "File") {
			names = append(names, strings.ToLower(f.Name))
		}
	}
	return names
}

var inBrackets = regexp.MustCompile(` \([^)]*\)`)

func inAPI(t *testing.T, kind haltd.ChannelKind) []string {
	document, err := admin.OpenAPI("")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(string(kind) + `: ([a-z, ()]*)\.`).FindSubmatch(inBrackets.ReplaceAll(document, nil))
	if words == nil {
		t.Fatalf("the API's description does not list the settings of %s", kind)
	}
	return strings.Split(string(words[1]), ", ")
}

func inDashboard(t *testing.T, kind haltd.ChannelKind) (names []string) {
	text, err := os.ReadFile(filepath.Join(root, "web", "src", "pages", "alerts", "kinds.ts"))
	if err != nil {
		t.Fatal(err)
	}
	_, form, ok := strings.Cut(string(text), "\n  "+string(kind)+": {")
	form, _, ended := strings.Cut(form, "\n  },")
	if !ok || !ended {
		t.Fatalf("the dashboard has no form for %s", kind)
	}
	for _, m := range regexp.MustCompile(`\{ name: '([a-z_]+)'`).FindAllStringSubmatch(form, -1) {
		names = append(names, m[1])
	}
	return names
}
