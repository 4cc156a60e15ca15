package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/alert"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// office is a haltd with alerts: the real service over a real store, and a
// receiver that it may call.
type office struct {
	*terminal
	alerts   *alert.Service
	store    *sqlite.Store
	receiver *httptest.Server
	answer   int // of the receiver
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{answer: http.StatusOK}
	o.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(o.answer)
		io.WriteString(w, "thanks")
	}))
	t.Cleanup(o.receiver.Close)
	var err error
	if o.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "haltd.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.store.Close() })
	o.alerts, err = alert.New(alert.Options{Outbox: o.store, Channels: o.store, Rules: o.store, Clock: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.alerts.Configure(nil, []string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(admin.New(admin.Options{Alerts: o.alerts, Access: admin.Access{Token: token, Loopback: true}, Clock: func() time.Time { return noon }}))
	t.Cleanup(srv.Close)
	o.terminal = newTerminal(t, srv.URL)
	return o
}

// id is that of the channel with this name.
func (o *office) id(t *testing.T, name string) string {
	t.Helper()
	api, err := o.connect()
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.channel(api, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func TestChannelsFromTheFirstToTheLast(t *testing.T) {
	o := newOffice(t)
	if got := run(t, o.terminal, &ChannelsLsCmd{}); !strings.Contains(got, "haltd channels add") {
		t.Errorf("an empty list = %q, want how to make a channel", got)
	}
	hook := o.receiver.URL + "/services/T000/hush-hush"
	got := run(t, o.terminal, &ChannelsAddSlackCmd{Name: "ops", URL: hook})
	if want := "Channel ops is set up. Try it with `haltd channels test " + o.id(t, "ops") + "`.\n"; got != want {
		t.Errorf("add slack printed %q, want %q", got, want)
	}
	o.Stdin = strings.NewReader("correct horse\n")
	run(t, o.terminal, &ChannelsAddEmailCmd{
		Name: "team", Host: "smtp.example.com", Username: "haltd", Password: "-", From: "haltd@example.com", To: []string{"a@example.com", "b@example.com"},
	})
	want := "ID            NAME  KIND   STATE  FROM  GOES TO\n" +
		o.id(t, "ops") + "  ops   slack  on     api   " + o.receiver.URL + "/…\n" +
		o.id(t, "team") + "  team  email  on     api   a@example.com, b@example.com\n"
	want = strings.Replace(want, "ID          ", pad("ID", len(o.id(t, "ops"))), 1)
	got = run(t, o.terminal, &ChannelsLsCmd{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ls (-want +got):\n%s", diff)
	}
	if got := run(t, o.terminal, &ChannelsTestCmd{Channel: "OPS"}); got != "Channel ops took the test message: 200 OK: thanks\n" {
		t.Errorf("test printed %q", got)
	}
	if got := run(t, o.terminal, &ChannelsRmCmd{Channel: o.id(t, "ops")}); got != "Channel ops is deleted.\n" {
		t.Errorf("rm printed %q", got)
	}
	if err := (&ChannelsRmCmd{Channel: "ops"}).Run(o.Env); haltd.ErrorCode(err) != haltd.CodeNotFound || !strings.Contains(err.Error(), "haltd channels ls") {
		t.Errorf("rm of what is gone = %v", err)
	}
	o.JSON = true
	shown := run(t, o.terminal, &ChannelsLsCmd{})
	var list struct{ Channels []haltd.Channel }
	if err := json.Unmarshal([]byte(shown), &list); err != nil || len(list.Channels) != 1 || strings.Contains(shown, "correct horse") {
		t.Errorf("ls --json = %s (%v); want one channel without its password", shown, err)
	}
}

func TestAWebhookSecretIsShownOnceAndOnlyWhenHaltdMadeIt(t *testing.T) {
	o := newOffice(t)
	made := run(t, o.terminal, &ChannelsAddWebhookCmd{Name: "made", URL: o.receiver.URL})
	if !strings.HasPrefix(made, "whsec_") || strings.Count(made, "\n") != 1 {
		t.Errorf("stdout = %q, want the secret alone", made)
	}
	if !strings.Contains(o.err.String(), "haltd channels test") || strings.Contains(o.err.String(), "whsec_") {
		t.Errorf("stderr = %q, want what to do, without the secret", o.err.String())
	}
	given := strings.TrimSpace(made)
	got := run(t, o.terminal, &ChannelsAddWebhookCmd{Name: "given", URL: o.receiver.URL, SecretFile: writeFile(t, "secret", given+"\n")})
	if strings.Contains(got, "whsec_") {
		t.Errorf("stdout = %q, want a secret that was given not shown", got)
	}
	if got := run(t, o.terminal, &ChannelsLsCmd{}); strings.Contains(got, "whsec_") {
		t.Errorf("ls shows the secret:\n%s", got)
	}
}

func TestSecretsOfTheCommandLine(t *testing.T) {
	for _, c := range []struct{ name, value, file, stdin, want, says string }{
		{"the flag", "s3cret", "", "", "s3cret", ""},
		{"standard input", "-", "", " s3cret\n", "s3cret", ""},
		{"a file", "", "s3cret\n", "", "s3cret", ""},
		{"none", "", "", "", "", ""},
		{"both", "a", "b", "", "", "--password and --password-file are the same thing"},
		{"empty standard input", "-", "", "\n", "", "--password: there is nothing to read"},
	} {
		env := &Env{Stdin: strings.NewReader(c.stdin), Stderr: io.Discard}
		file := ""
		if c.file != "" {
			file = writeFile(t, "password", c.file)
		}
		got, err := env.secret("--password", c.value, file)
		if got != c.want || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.says)
		}
	}
	if _, err := (&Env{}).secret("--url", "", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "--url-file cannot be read") {
		t.Errorf("a missing file = %v", err)
	}
}

func TestWhatIsWrongWithAChannelIsNamed(t *testing.T) {
	o := newOffice(t)
	for field, c := range map[string]interface{ Run(*Env) error }{
		"url:":    &ChannelsAddSlackCmd{Name: "x", URL: "ftp://nowhere"},
		"secret:": &ChannelsAddWebhookCmd{Name: "x", URL: o.receiver.URL, Secret: "hush"},
		"host:":   &ChannelsAddEmailCmd{Name: "x"},
		"tls:":    &ChannelsAddEmailCmd{Name: "x", Host: "h", TLS: "maybe", From: "a@b.c", To: []string{"a@b.c"}},
		"to:":     &ChannelsAddEmailCmd{Name: "x", Host: "h", From: "a@b.c"},
	} {
		if err := c.Run(o.Env); err == nil || !strings.HasPrefix(err.Error(), field) || ExitCode(err) != ExitFailure {
			t.Errorf("error = %v (exit %d), want one about %s", err, ExitCode(err), field)
		}
	}
}

func TestATestThatIsNotDeliveredFails(t *testing.T) {
	o := newOffice(t)
	run(t, o.terminal, &ChannelsAddSlackCmd{Name: "ops", URL: o.receiver.URL})
	o.answer = http.StatusNotFound
	err := (&ChannelsTestCmd{Channel: "ops"}).Run(o.Env)
	if err == nil || !strings.HasPrefix(err.Error(), "Channel ops did not take the test message: 404 Not Found: thanks") || ExitCode(err) != ExitFailure {
		t.Errorf("error = %v (exit %d)", err, ExitCode(err))
	}
	run(t, o.terminal, &ChannelsAddSlackCmd{Name: "inside", URL: "http://169.254.169.254/x"})
	err = (&ChannelsTestCmd{Channel: "inside"}).Run(o.Env)
	var said *haltd.Error
	if !errors.As(err, &said) || !strings.Contains(said.Message, "alerts.allow_internal") || strings.HasSuffix(said.Message, ".") {
		t.Errorf("error = %v, want a sentence that goes on with what to do", err)
	}
	o.JSON = true
	o.out.b.Reset()
	if err := (&ChannelsTestCmd{Channel: "ops"}).Run(o.Env); err == nil || o.out.String() != `{"delivered":false,"answer":"404 Not Found: thanks"}`+"\n" {
		t.Errorf("--json = %s, %v; want the answer and a failure", o.out.String(), err)
	}
}

func TestAlertRulesFromTheFirstToTheLast(t *testing.T) {
	o := newOffice(t)
	run(t, o.terminal, &ChannelsAddSlackCmd{Name: "ops", URL: o.receiver.URL})
	if got := run(t, o.terminal, &AlertRulesLsCmd{}); got != "No alert rule: every alert goes to every channel.\n" {
		t.Errorf("an empty list = %q", got)
	}
	run(t, o.terminal, &AlertRulesAddCmd{Name: "kills", Topic: []string{"kill_switch"}, Agent: []string{"Billing-Bot"}, Channel: []string{"ops"}, Cooldown: 90 * time.Minute})
	run(t, o.terminal, &AlertRulesAddCmd{Name: "rest"})
	rows := strings.Split(run(t, o.terminal, &AlertRulesLsCmd{}), "\n")
	for i, want := range map[int]string{1: "kills on kill_switch billing-bot ops 1h30m", 2: "rest on all all all none"} {
		fields := strings.Fields(rows[i])
		if got := strings.Join(fields[1:], " "); got != want {
			t.Errorf("row %d = %q, want %q", i, got, want)
		}
	}
	last := strings.Fields(rows[2])[0]
	if got := run(t, o.terminal, &AlertRulesRmCmd{Rule: last}); got != "Alert rule "+last+" is deleted.\n" {
		t.Errorf("rm printed %q", got)
	}
	if got := run(t, o.terminal, &AlertRulesRmCmd{Rule: "kills"}); !strings.Contains(got, "every alert goes to every channel") {
		t.Errorf("rm of the last printed %q, want what holds now", got)
	}
	for says, c := range map[string]*AlertRulesAddCmd{
		"topics":                     {Name: "x", Topic: []string{"weather"}},
		"There is no channel nobody": {Name: "x", Channel: []string{"nobody"}},
		"--cooldown":                 {Name: "x", Cooldown: time.Millisecond},
	} {
		if err := c.Run(o.Env); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want one that says %q", err, says)
		}
	}
	if err := (&AlertRulesRmCmd{Rule: last}).Run(o.Env); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("rm of what is gone = %v", err)
	}
}

func TestRuleNamed(t *testing.T) {
	rules := []haltd.AlertRule{{ID: "alr_a", Name: "one"}, {ID: "alr_b", Name: "two"}, {ID: "alr_c", Name: "two"}, {ID: "alr_d", Name: "alr_a"}}
	for name, want := range map[string]string{"one": "alr_a", "alr_a": "alr_a", "alr_c": "alr_c", "two": "", "none": ""} {
		if got, err := ruleNamed(rules, name); got.ID != want || (err == nil) != (want != "") {
			t.Errorf("rule %s = %q, %v; want %q", name, got.ID, err, want)
		}
	}
}

func TestCooldowns(t *testing.T) {
	for seconds, want := range map[int]string{0: "none", 5: "5s", 60: "1m", 90: "1m30s", 3600: "1h", 5400: "1h30m", 3605: "1h0m5s"} {
		if got := cooldown(seconds); got != want {
			t.Errorf("cooldown(%d) = %q, want %q", seconds, got, want)
		}
	}
}

func TestDeliveriesAreListedAndTriedAgain(t *testing.T) {
	o := newOffice(t)
	if got := run(t, o.terminal, &DeliveriesLsCmd{Last: 50}); got != "Nothing has been sent.\n" {
		t.Errorf("an empty list = %q", got)
	}
	run(t, o.terminal, &ChannelsAddSlackCmd{Name: "ops", URL: o.receiver.URL})
	ops := o.id(t, "ops")
	for i, d := range []haltd.Delivery{
		{ID: "dlv_a", Status: haltd.DeliveryDelivered, Attempts: 1, Answers: []string{"200 OK: ok"}},
		{ID: "dlv_b", Status: haltd.DeliveryDead, Attempts: 8, Answers: []string{"503 Service Unavailable", "503 earlier"}},
		{ID: "dlv_c", Status: haltd.DeliveryPending, Attempts: 2, NextAt: noon},
	} {
		n := haltd.Notice{ID: "msg_" + d.ID, Time: noon, Topic: haltd.IncidentKillSwitch, Agent: "billing-bot", Recovery: i == 0}
		d.Notice, d.Channel = n, ops
		if err := o.store.Commit(t.Context(), haltd.Change{Notices: []haltd.Notice{n}}); err != nil {
			t.Fatal(err)
		}
		if err := o.store.Dispatch(t.Context(), n.ID, []haltd.Delivery{d}); err != nil {
			t.Fatal(err)
		}
	}
	want := "ID     TIME              ABOUT             AGENT        CHANNEL  STATUS                   ANSWER\n" +
		"dlv_c  " + minute(noon) + "  kill_switch       billing-bot  ops      failed 2, next " + noon.Local().Format(time.TimeOnly) + "  -\n" +
		"dlv_b  " + minute(noon) + "  kill_switch       billing-bot  ops      given up after 8         503 Service Unavailable\n" +
		"dlv_a  " + minute(noon) + "  kill_switch over  billing-bot  ops      delivered                200 OK: ok\n"
	if diff := cmp.Diff(want, run(t, o.terminal, &DeliveriesLsCmd{Last: 50})); diff != "" {
		t.Errorf("ls (-want +got):\n%s", diff)
	}
	if got := run(t, o.terminal, &DeliveriesLsCmd{Last: 1, Channel: "ops", Status: "dead"}); !strings.Contains(got, "dlv_b") || strings.Count(got, "\n") != 2 {
		t.Errorf("ls --status dead -n 1 = %s", got)
	}
	if got := run(t, o.terminal, &DeliveriesRetryCmd{deadOnes{All: true}}); !strings.HasPrefix(got, "Retrying 1.") {
		t.Errorf("retry --all printed %q", got)
	}
	if got := run(t, o.terminal, &DeliveriesLsCmd{Last: 50, Status: "dead"}); got != "No matches.\n" {
		t.Errorf("ls --status dead = %q", got)
	}
	if got := run(t, o.terminal, &DeliveriesRetryCmd{deadOnes{All: true}}); got != "No delivery was given up.\n" {
		t.Errorf("a second retry --all printed %q", got)
	}
	if err := (&DeliveriesRetryCmd{deadOnes{ID: []string{"dlv_b"}}}).Run(o.Env); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("retry of what is not dead = %v", err)
	}
	for _, c := range []interface{ Run(*Env) error }{&DeliveriesRetryCmd{}, &DeliveriesRetryCmd{deadOnes{All: true, ID: []string{"dlv_b"}}}, &DeliveriesLsCmd{Last: 0}} {
		if err := c.Run(o.Env); ExitCode(err) != ExitUsage {
			t.Errorf("%+v: %v (exit %d), want exit 2", c, err, ExitCode(err))
		}
	}
}

func TestAlertCommandsParse(t *testing.T) {
	var commands struct {
		Channels struct {
			Ls  ChannelsLsCmd `cmd:""`
			Add struct {
				Slack   ChannelsAddSlackCmd   `cmd:""`
				Webhook ChannelsAddWebhookCmd `cmd:""`
				Email   ChannelsAddEmailCmd   `cmd:""`
			} `cmd:""`
			Rm   ChannelsRmCmd   `cmd:""`
			Test ChannelsTestCmd `cmd:""`
		} `cmd:""`
		AlertRules struct {
			Ls  AlertRulesLsCmd  `cmd:""`
			Add AlertRulesAddCmd `cmd:""`
			Rm  AlertRulesRmCmd  `cmd:""`
		} `cmd:""`
		Deliveries struct {
			Ls      DeliveriesLsCmd      `cmd:""`
			Retry   DeliveriesRetryCmd   `cmd:""`
			Dismiss DeliveriesDismissCmd `cmd:""`
		} `cmd:""`
	}
	parser, err := kong.New(&commands)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"channels ls", "channels add slack --name ops --url https://hooks.slack.com/services/x", "channels add slack --name ops --url -",
		"channels add webhook --name w --url https://example.com --secret-file s",
		"channels rm ops", "channels test ops", "alert-rules ls", "alert-rules rm alr_x",
		"alert-rules add --name r --topic growth,kill_switch --agent a --channel ops --cooldown 1h",
		"deliveries ls", "deliveries ls --status dead --channel ops --incident inc_x -n 5", "deliveries retry dlv_a dlv_b", "deliveries retry --all",
		"channels add email --name e --host h --port 587 --tls starttls --username u --password-file p --from a@b.c --to a@b.c,d@e.f --to g@h.i",
	} {
		if _, err := parser.Parse(strings.Fields(line)); err != nil {
			t.Errorf("haltd %s: %v", line, err)
		}
	}
	if got := len(commands.Channels.Add.Email.To); got != 3 {
		t.Errorf("--to holds %d addresses, want 3", got)
	}
}
