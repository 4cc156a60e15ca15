package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

const (
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	mailPassword  = "correct-horse-battery-staple"
	hookPath      = "/services/T0000/B0000/hush-hush-hush-hush"
)

// inFile is a webhook channel of the configuration file.
func inFile(name string, r *receiver) string {
	return fmt.Sprintf("    - {name: %s, kind: webhook, url: %q, secret: %s}\n", name, r.URL+hookPath, webhookSecret)
}

// channel finds a channel by its name.
func (n *node) channel(t *testing.T, name string) haltd.Channel {
	t.Helper()
	var list struct{ Channels []haltd.Channel }
	n.API(t, "GET", "/v1/channels", nil, &list)
	i := slices.IndexFunc(list.Channels, func(c haltd.Channel) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no channel %s among %+v", name, list.Channels)
	}
	return list.Channels[i]
}

type deliveryPage struct {
	Deliveries []haltd.Delivery
	Next       *string
}

// deliveries are those of a query, once there are at least want.
func (n *node) deliveries(t *testing.T, query string, want int) []haltd.Delivery {
	t.Helper()
	var page deliveryPage
	n.Eventually(t, fmt.Sprintf("showing %d deliveries of ?%s", want, query), func() bool {
		page = deliveryPage{}
		n.API(t, "GET", "/v1/deliveries?"+query, nil, &page)
		return len(page.Deliveries) >= want
	})
	return page.Deliveries
}

// killed lets an agent loop until it is killed, and answers the incident.
func (s *stage) killed(t *testing.T, suffix ...string) (a *agent, incident string) {
	t.Helper()
	a = s.agent(t, suffix...).with("")
	return a, a.getKilled()
}

func (a *agent) getKilled() string {
	a.t.Helper()
	got, _ := a.loop(20)
	if got.denied.Incident == "" {
		a.t.Fatalf("the loop was not killed: %d %s", got.status, got.body)
	}
	return got.denied.Incident
}

// One kill is told at every channel, whatever its receiver does at first.
func TestAlertsArrive(t *testing.T) {
	t.Parallel()
	steady, hiccup, hanging, broken := newReceiver(t), newReceiver(t, repeat, status(200)), newReceiver(t, hang, status(200)), newReceiver(t, breakOff, status(200))
	forbidden := newReceiver(t)
	redirecting, gone, slack := newReceiver(t, redirectTo(forbidden.URL), status(200)), newReceiver(t, status(410)), newReceiver(t)
	post := newMailbox(t)
	s := newStage(t, "alerts:\n  public_url: https://haltd.example.com\n  channels:\n"+
		inFile("steady", steady)+inFile("hiccup", hiccup)+inFile("hanging", hanging)+inFile("broken", broken)+inFile("redirecting", redirecting)+inFile("gone", gone)+
		fmt.Sprintf("    - {name: slack, kind: slack, url: %q}\n", slack.URL+hookPath)+
		fmt.Sprintf("    - {name: mail, kind: email, host: 127.0.0.1, port: %d, username: haltd, password: %s, from: haltd@example.com, to: [team@example.com]}\n", post.port(), mailPassword),
		"SSL_CERT_FILE="+post.cert)
	a, incident := s.killed(t)

	first := steady.waits(t, s.node, a.id, 1)[0]
	if first.Type != "alert.kill_switch" || first.Data.Incident != incident || first.Data.URL != "https://haltd.example.com/incidents/"+incident {
		t.Errorf("message %s; want the kill and a link to incident %s", first.body, incident)
	}
	for name, r := range map[string]*receiver{"hiccup": hiccup, "hanging": hanging, "broken": broken, "redirecting": redirecting} {
		for _, got := range r.waits(t, s.node, a.id, 2) {
			if got.id() != first.id() || !bytes.Equal(got.body, first.body) {
				t.Errorf("%s: id %s, body %s; want those of every other try", name, got.id(), got.body)
			}
			got.verify(t, webhookSecret)
		}
		if ds := s.deliveries(t, "status=delivered&channel="+s.channel(t, name).ID, 1); len(ds) != 1 || ds[0].Attempts != 2 || len(ds[0].Answers) != 2 {
			t.Errorf("%s: deliveries %+v, want one that took two tries and tells of both", name, ds)
		}
	}
	if n := len(forbidden.got()); n != 0 {
		t.Errorf("the redirect was followed %d times", n)
	}
	if c := s.channel(t, "gone"); c.Enabled || !strings.Contains(c.Disabled, "410") || len(gone.got()) != 1 {
		t.Errorf("channel %+v after %d messages, want it switched off after the first", c, len(gone.got()))
	}
	s.Eventually(t, "sending to Slack", func() bool { return len(slack.got()) == 1 })
	if text := slack.got()[0].Text; !strings.HasPrefix(text, "🚨 *Kill Switch Fired*\n"+a.id+" ") {
		t.Errorf("Slack got %q", text)
	}
	s.checkEmail(t, post, a, first.id())

	// The end of it is told as well, but not to who wants no more messages.
	if status := s.API(t, "POST", "/v1/agents/"+a.id+"/activate", nil, nil); status != 200 {
		t.Fatalf("activate: %d", status)
	}
	over := steady.waits(t, s.node, a.id, 2)[1]
	if over.Type != "alert.kill_switch.recovered" || over.Data.Incident != incident || over.id() == first.id() {
		t.Errorf("message %s; want the end of incident %s with an id of its own", over.body, incident)
	}
	if len(steady.got()) != 2 || len(gone.got()) != 1 {
		t.Errorf("%d and %d messages, want each notice once and none for who is gone", len(steady.got()), len(gone.got()))
	}
	metrics := s.get(t, "/metrics")
	for _, want := range []string{`haltd_alert_deliveries_total{channel="email",result="delivered"}`, `{channel="webhook",result="failed"}`, `{channel="webhook",result="dead"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics show no %s", want)
		}
	}
	s.checkSecrets(t, webhookSecret, strings.TrimPrefix(webhookSecret, "whsec_"), hookPath, "hush-hush-hush-hush", mailPassword,
		base64.StdEncoding.EncodeToString([]byte("\x00haltd\x00"+mailPassword)))
}

func (s *stage) checkEmail(t *testing.T, post *mailbox, a *agent, id string) {
	t.Helper()
	s.Eventually(t, "sending email", func() bool { messages, _ := post.got(); return len(messages) > 0 })
	messages, commands := post.got()
	if len(messages) != 1 || !slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(c, "[tls] AUTH PLAIN") }) ||
		slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(c, "AUTH") || strings.HasPrefix(c, "MAIL") }) {
		t.Errorf("%d emails by %q; want one, all of it encrypted", len(messages), commands)
	}
	got, err := mail.ReadMessage(strings.NewReader(messages[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got.Header.Get("Message-Id") != "<"+id+"@example.com>" || !strings.HasPrefix(got.Header.Get("Subject"), "[haltd] Kill Switch Fired: ") {
		t.Errorf("email with the headers %v; want the id of the notice and the agent %s", got.Header, a.id)
	}
}

// checkSecrets stops the node and looks for secrets in all that it said and
// wrote.
func (n *node) checkSecrets(t *testing.T, secrets ...string) {
	t.Helper()
	var said bytes.Buffer
	for _, path := range []string{
		"/v1/channels", "/v1/alert-rules", "/v1/deliveries?limit=1000", "/v1/incidents", "/v1/events?limit=1000", "/v1/events/export?format=jsonl",
		"/v1/config", "/v1/status", "/metrics",
	} {
		said.WriteString(n.get(t, path))
	}
	n.Stop(t)
	said.WriteString(n.Log())
	for _, secret := range secrets {
		if i := bytes.Index(said.Bytes(), []byte(secret)); i >= 0 {
			t.Errorf("%s is told: …%s…", secret, said.Bytes()[max(0, i-100):i])
		}
	}
	err := filepath.WalkDir(n.Config.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The plug is pulled after a kill was committed and before its receiver has
// said a word.
func TestAnAlertSurvivesACrash(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, hang, status(200))
	s := newStage(t, "alerts:\n  channels:\n"+inFile("ops", r))
	a, incident := s.killed(t)
	before := r.waits(t, s.node, a.id, 1)[0]
	s.Kill(t)
	s.Run(t)
	after := r.waits(t, s.node, a.id, 2)[1]
	if after.id() != before.id() || !bytes.Equal(after.body, before.body) || after.Data.Incident != incident {
		t.Errorf("after the crash %s %s, before %s %s; want the same message", after.id(), after.body, before.id(), before.body)
	}
	after.verify(t, webhookSecret)
	if ds := s.deliveries(t, "status=delivered", 1); len(ds) != 1 || len(r.got()) != 2 {
		t.Errorf("deliveries %+v after %d tries; want one after two", ds, len(r.got()))
	}
	if s.agent(t).view().Active {
		t.Error("the agent is active again")
	}
}

// SLACK_WEBHOOK_URL alone makes a channel for everything.
func TestSlackOfTheEnvironment(t *testing.T) {
	t.Parallel()
	slack := newReceiver(t)
	s := newStage(t, "", "SLACK_WEBHOOK_URL="+slack.URL+hookPath)
	a := s.agent(t)
	for _, tokens := range []int64{100, 150, 220, 330, 495} {
		got := a.send(request{messages: []message{user(fmt.Sprintf("step with %d tokens", tokens))}, session: "ses_8f2k9x3m",
			reply: fakellm.Script{Text: fmt.Sprintf("reply to %d", tokens), Usage: &haltd.Usage{Input: tokens, Output: 5}}})
		if got.status != 200 {
			t.Fatalf("growth must not block: %d %s", got.status, got.body)
		}
	}
	s.Eventually(t, "telling Slack", func() bool { return len(slack.got()) > 0 })
	want := "🚨 *Runaway Agent Detected* 🚨\nSession `ses_8f2k9x3m` showed quadratic growth signature.\nRecent prompt tokens: [100, 150, 220, 330]"
	if diff := cmp.Diff(want, slack.got()[0].Text); diff != "" {
		t.Errorf("the alert (-want +got):\n%s", diff)
	}
	b, _ := s.killed(t, "loop")
	s.Eventually(t, "telling Slack of the kill", func() bool { return len(slack.got()) > 1 })
	if got := slack.got(); len(got) != 2 || !strings.Contains(got[1].Text, b.id) {
		t.Errorf("Slack got %d messages, the last %q; want one for each incident", len(got), got[len(got)-1].Text)
	}
	if out, _, _ := s.CLI(t, "channels", "ls"); !strings.Contains(out, "environment") || strings.Contains(out, "hush") {
		t.Errorf("channels ls:\n%s", out)
	}
	if out, errs, code := s.CLI(t, "channels", "test", "env-slack"); code != 0 || !strings.Contains(out, "200 OK") {
		t.Errorf("channels test: exit %d, %s%s", code, out, errs)
	}
	s.checkSecrets(t, "hush-hush-hush-hush")
}

func TestBudgetsAreToldOncePerPeriod(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s := newStage(t, "alerts:\n  channels:\n"+inFile("ops", r))
	a := s.agent(t).policy(`{"time_zone": "Asia/Tokyo", "budgets": {"day": {"soft_tokens": 100, "hard_tokens": 200, "hard_usd": 1234.5}}}`)
	spend := func(i int) answer {
		return a.send(request{messages: []message{user(fmt.Sprintf("question %d", i))}, maxTokens: 10,
			reply: fakellm.Script{Text: fmt.Sprintf("answer %d", i), Usage: &haltd.Usage{Input: 30, Output: 30}}})
	}
	for i := range 10 {
		if got := spend(i); (got.status == 200) != (i < 4) {
			t.Fatalf("call %d: %d %s; want four calls and no more", i, got.status, got.body)
		}
		if i == 1 { // the soft limit is told before the hard one is near
			r.waits(t, s.node, a.id, 1)
		}
	}
	r.waits(t, s.node, a.id, 2)
	s.Stop(t)
	s.Run(t)
	// All at once, and what this process has raised is not in its memory yet.
	for _, got := range a.atOnce(20, request{messages: []message{user("one more")}, maxTokens: 10, reply: fakellm.Script{Text: "no"}}) {
		if got.status == 200 {
			t.Error("after the restart the budget is not spent any more")
		}
	}
	b, _ := s.killed(t, "loop") // whatever is told of the budget was told before this
	r.waits(t, s.node, b.id, 1)
	var types []string
	for _, got := range r.about(a.id) {
		types = append(types, got.Type)
		size := map[string]string{"alert.budget_soft": "soft daily budget of 100 tokens: ", "alert.budget_hard": "hard daily budget of $1234.50 or 200 tokens: "}[got.Type]
		if says := got.Data.Sentence; !strings.Contains(says, size) || !strings.Contains(says, " tokens are spent. It resets at ") || !strings.HasSuffix(says, " 00:00 JST.") {
			t.Errorf("%s: %q; want how large the budget is, what is spent and when it resets", got.Type, says)
		}
	}
	if diff := cmp.Diff([]string{"alert.budget_soft", "alert.budget_hard"}, types); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if n := len(a.incidents(2)); n != 2 {
		t.Errorf("%d incidents, want one for each limit", n)
	}
}

func TestCooldownLeavesOutWhatFollowsSoon(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s := newStage(t, "alerts:\n  channels:\n"+inFile("ops", r))
	if out, errs, code := s.CLI(t, "alert-rules", "add", "--name", "calm", "--topic", "kill_switch", "--channel", "ops", "--cooldown", "1h"); code != 0 {
		t.Fatalf("alert-rules add: exit %d, %s%s", code, out, errs)
	}
	a, _ := s.killed(t)
	r.waits(t, s.node, a.id, 1)
	s.API(t, "POST", "/v1/agents/"+a.id+"/activate", nil, nil)
	r.waits(t, s.node, a.id, 2)
	a.getKilled() // again, and too soon
	b, _ := s.killed(t, "other")
	r.waits(t, s.node, b.id, 1)
	var types []string
	for _, got := range r.about(a.id) {
		types = append(types, got.Type)
	}
	if diff := cmp.Diff([]string{"alert.kill_switch", "alert.kill_switch.recovered"}, types); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if out, _, _ := s.CLI(t, "alert-rules", "ls"); !strings.Contains(out, "calm") || !strings.Contains(out, "1h") {
		t.Errorf("alert-rules ls:\n%s", out)
	}
}

// A channel of the API reaches nothing internal until the operator allows it;
// what was given up by then can be sent after all.
func TestDeadLettersAndTheGuard(t *testing.T) {
	t.Parallel()
	r, refusing := newReceiver(t), newReceiver(t, status(404), status(200))
	s := newStage(t, "")
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(refusing.URL+hookPath+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret, errs, code := s.CLI(t, "channels", "add", "webhook", "--name", "ops", "--url", r.URL+hookPath)
	if secret = strings.TrimSpace(secret); code != 0 || !strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("channels add: exit %d, %s%s", code, secret, errs)
	}
	if out, errs, code := s.CLI(t, "channels", "add", "slack", "--name", "team", "--url-file", file); code != 0 || strings.Contains(out+errs, "hush") {
		t.Fatalf("channels add: exit %d, %s%s", code, out, errs)
	}
	if _, errs, code := s.CLI(t, "channels", "test", "ops"); code != 1 || !strings.Contains(errs, "127.0.0.1, which is not public") {
		t.Errorf("channels test: exit %d, %s; want it refused by the guard", code, errs)
	}
	a, incident := s.killed(t)
	dead := s.deliveries(t, "status=dead&incident="+incident, 2)
	if n := len(r.got()) + len(refusing.got()); n != 0 {
		t.Errorf("%d messages went to an internal address", n)
	}
	if out, _, _ := s.CLI(t, "deliveries", "ls", "--status", "dead"); !strings.Contains(out, dead[0].ID) || !strings.Contains(out, "which is not public") {
		t.Errorf("deliveries ls:\n%s", out)
	}
	s.page(t, 2)

	body, err := os.ReadFile(s.Config.Path)
	if err != nil {
		t.Fatal(err)
	}
	s.Config.Replace(t, string(body)+"alerts: {allow_internal: [127.0.0.1]}\n")
	s.Reload(t, "configuration reloaded")
	of := func(channel string) string {
		i := slices.IndexFunc(dead, func(d haltd.Delivery) bool { return d.Channel == s.channel(t, channel).ID })
		return dead[i].ID
	}
	var revived haltd.Delivery
	if status := s.API(t, "POST", "/v1/deliveries/"+of("ops")+"/retry", nil, &revived); status != 200 || revived.Status != haltd.DeliveryPending {
		t.Fatalf("retry by the API: %d %+v", status, revived)
	}
	got := r.waits(t, s.node, a.id, 1)[0]
	got.verify(t, secret)
	if got.id() != dead[0].Notice.ID {
		t.Errorf("id %s, want %s as before", got.id(), dead[0].Notice.ID)
	}
	for try := range 2 { // Slack refuses the first for good
		s.deliveries(t, "status=dead&incident="+incident, 1)
		if out, errs, code := s.CLI(t, "deliveries", "retry", of("team")); code != 0 {
			t.Fatalf("retry %d by the command line: exit %d, %s%s", try, code, out, errs)
		}
		s.Eventually(t, "trying again", func() bool { return len(refusing.got()) == try+1 })
	}
	s.deliveries(t, "status=delivered&incident="+incident, 2)
	if out, errs, code := s.CLI(t, "--json", "channels", "test", "ops"); code != 0 || !strings.Contains(out, `"delivered":true,"answer":"200 OK"`) {
		t.Errorf("channels test: exit %d, %s%s", code, out, errs)
	}
	s.checkSecrets(t, secret, strings.TrimPrefix(secret, "whsec_"), "hush-hush-hush-hush")
}

// What was meant for a channel that is no more need not be looked at for ever.
func TestDeliveriesOfADeletedChannelCanBeDismissed(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	if _, errs, code := s.CLI(t, "channels", "add", "webhook", "--name", "gone", "--url", "http://127.0.0.1:1"+hookPath); code != 0 {
		t.Fatalf("channels add: exit %d, %s", code, errs)
	}
	_, incident := s.killed(t)
	dead := s.deliveries(t, "status=dead&incident="+incident, 1)[0]
	if _, errs, code := s.CLI(t, "channels", "rm", "gone"); code != 0 {
		t.Fatalf("channels rm: exit %d, %s", code, errs)
	}
	var dismissed haltd.Delivery
	if status := s.API(t, "POST", "/v1/deliveries/"+dead.ID+"/dismiss", nil, &dismissed); status != 200 || dismissed.Status != haltd.DeliveryDismissed {
		t.Errorf("dismiss: %d %+v", status, dismissed)
	}
	var now haltd.AlertStatus
	if s.API(t, "GET", "/v1/alerts/status", nil, &now); now.Dead != 0 {
		t.Errorf("after it: %+v, want nothing given up", now)
	}
	if out, errs, code := s.CLI(t, "deliveries", "dismiss", dead.ID); code != 1 || !strings.Contains(errs, "was given up") {
		t.Errorf("dismissing it twice: exit %d, %s%s", code, out, errs)
	}
}

// page reads the deliveries one by one.
func (n *node) page(t *testing.T, want int) {
	t.Helper()
	seen, cursor := map[string]bool{}, ""
	for {
		var page deliveryPage
		if status := n.API(t, "GET", "/v1/deliveries?limit=1&cursor="+cursor, nil, &page); status != 200 || len(page.Deliveries) != 1 {
			t.Fatalf("a page: %d %+v", status, page)
		}
		seen[page.Deliveries[0].ID] = true
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if len(seen) != want {
		t.Errorf("the pages hold %d deliveries, want %d", len(seen), want)
	}
	var got refused
	if status := n.API(t, "GET", "/v1/deliveries?cursor=made-up", nil, &got); status != 400 {
		t.Errorf("a cursor that nobody handed out: %d %+v", status, got)
	}
}
