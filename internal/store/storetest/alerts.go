package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func channel(id string) haltd.Channel {
	return haltd.Channel{
		ID: id, Name: "on call", Kind: haltd.ChannelWebhook, Enabled: true, Disabled: "410 Gone", Source: "api",
		Settings: json.RawMessage(`{"url":"https://example.com"}`), CreatedAt: start, UpdatedAt: start.Add(time.Hour),
	}
}

func channels(t *testing.T, s Store) {
	want := func(what string, want ...haltd.Channel) {
		t.Helper()
		got, err := s.Channels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, got, append([]haltd.Channel{}, want...))
	}
	want("no channels")
	first, second := channel("z"), channel("a")
	for _, c := range []haltd.Channel{first, second} {
		if err := s.SaveChannel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	want("channels, oldest first", first, second)
	first.Enabled, first.Disabled = false, ""
	if err := s.SaveChannel(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	want("channels after one was replaced", first, second)
	if err := s.DeleteChannel(t.Context(), "z"); err != nil {
		t.Fatal(err)
	}
	want("channels after one was deleted", second)
	wantCode(t, "deleting it again", s.DeleteChannel(t.Context(), "z"), haltd.CodeNotFound)
	wantCode(t, "saving one without id", s.SaveChannel(t.Context(), haltd.Channel{}), haltd.CodeInvalid)
}

func alertRule(id string) haltd.AlertRule {
	return haltd.AlertRule{
		ID: id, Name: "kills", Enabled: true, Topics: []haltd.IncidentKind{haltd.IncidentKillSwitch},
		Agents: []string{"a"}, Channels: []string{}, Cooldown: 60, CreatedAt: start, UpdatedAt: start.Add(time.Hour),
	}
}

func alertRules(t *testing.T, s Store) {
	want := func(what string, want ...haltd.AlertRule) {
		t.Helper()
		got, err := s.AlertRules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, got, append([]haltd.AlertRule{}, want...))
	}
	want("no alert rules")
	first, second := alertRule("z"), alertRule("a")
	for _, r := range []haltd.AlertRule{first, second} {
		if err := s.SaveAlertRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want("alert rules, oldest first", first, second)
	first.Enabled, first.Topics = false, nil
	if err := s.SaveAlertRule(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	want("alert rules after one was replaced", first, second)
	if err := s.DeleteAlertRule(t.Context(), "z"); err != nil {
		t.Fatal(err)
	}
	want("alert rules after one was deleted", second)
	wantCode(t, "deleting it again", s.DeleteAlertRule(t.Context(), "z"), haltd.CodeNotFound)
	wantCode(t, "saving one without id", s.SaveAlertRule(t.Context(), haltd.AlertRule{}), haltd.CodeInvalid)
}
