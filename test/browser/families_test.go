package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// family is an agent that runs away in one of the ways that haltd knows.
type family struct {
	name     string
	family   haltd.Family
	messages []message
	// shows is what a stranger must read in the evidence: what was done, with
	// which arguments, what came back, and how often.
	shows []string
}

func families() []family {
	return []family{repeats(), cycles(), futile(), chatters(), refused(), waits()}
}

// rounds are rounds with numbered ids.
func rounds(task string, list ...[3]string) []message {
	messages := []message{user(task)}
	for i, r := range list {
		messages = append(messages, round(fmt.Sprint("call_", i), r[0], r[1], r[2])...)
	}
	return messages
}

func repeats() family {
	list := [][3]string{{"list_invoices", `{"month": "2026-11"}`, "INV-20931 open, INV-20930 paid"}}
	for range 9 {
		list = append(list, [3]string{"find_payment", `{"invoice": "INV-20931"}`, `{"error": "payment_not_found"}`})
	}
	return family{"repeat", haltd.FamilyRepeat, rounds("Reconcile the invoices of November.", list...),
		[]string{"find_payment", "INV-20931", "payment_not_found", "× 9"}}
}

func cycles() family {
	var list [][3]string
	for range 6 {
		list = append(list,
			[3]string{"get_ticket", `{"id": 48213}`, `{"id": 48213, "status": "open", "owner": null}`},
			[3]string{"search_kb", `{"query": "close ticket owner null"}`, "3 articles: KB-112, KB-87, KB-9"},
			[3]string{"update_ticket", `{"id": 48213, "status": "closed"}`, `{"ok": true}`})
	}
	return family{"cycle", haltd.FamilyCycle, rounds("Close ticket 48213.", list...),
		[]string{"get_ticket", "search_kb", "update_ticket", "48213", "KB-112", `"status": "closed"`, "laps"}}
}

func futile() family {
	var list [][3]string
	for _, query := range []string{
		"SELECT * FROM billing.invoices LIMIT 10", "SELECT id, total FROM billing.invoices", "SELECT count(*) FROM billing.invoices",
		"SELECT * FROM billing.invoice_lines LIMIT 5", "SELECT * FROM billing.v_invoices_2026", "SET ROLE reporting; SELECT 1 FROM billing.invoices",
		"TABLE billing.invoices", "SELECT table_name FROM billing.tables", "SELECT * FROM billing.payments", "SELECT 1 FROM billing.ledger",
	} {
		list = append(list, [3]string{"run_sql", fmt.Sprintf(`{"query": %q}`, query), "ERROR: permission denied for schema billing (SQLSTATE 42501)"})
	}
	return family{"futile", haltd.FamilyFutile, rounds("Write the nightly report about invoices.", list...),
		[]string{"run_sql", "invoice_lines LIMIT 5", "v_invoices_2026", "permission denied for schema billing", "× 10", "the same error"}}
}

func chatters() family {
	messages := []message{user("Write the launch post and publish it.")}
	for i := range 12 {
		messages = append(messages,
			message{"role": "assistant", "content": []string{
				"The launch post is now complete. I am waiting for your approval. Once you confirm, I will publish it.",
				"The launch post is complete now. I am waiting for your approval. I will publish it once you confirm.",
			}[i%2]},
			user([]string{"Great work!", "Sounds perfect!", "Wonderful, thanks."}[i%3]))
	}
	return family{"chatter", haltd.FamilyChatter, messages, []string{"launch post", "waiting for your approval", "Sounds perfect!"}}
}

func refused() family {
	var list [][3]string
	steps := [][3]string{
		{"read_file", `{"path": "deploy.yaml"}`, "image: app:41\nreplicas: 3\nregion: eu-north"},
		{"list_pods", `{"namespace": "shop"}`, "shop-7f9 Running\nshop-b21 Running\ncart-0c4 Pending"},
		{"read_logs", `{"pod": "cart-0c4"}`, "waiting for volume claim cart-data"},
		{"describe", `{"claim": "cart-data"}`, "storage class fast, 20Gi, unbound"},
		{"read_file", `{"path": "storage.yaml"}`, "class: fast\nprovisioner: ceph"},
		{"list_nodes", `{}`, "node-1 ready, node-2 ready, node-3 cordoned"},
		{"read_logs", `{"pod": "ceph-mon"}`, "quorum of three, all healthy since noon"},
		{"whoami", `{}`, "deployer"},
	}
	for _, step := range steps {
		list = append(list, step, [3]string{"apply", `{"file": "deploy.yaml"}`, "Error: forbidden: user deployer cannot patch deployments in namespace shop"})
	}
	return family{"refusal", haltd.FamilyRefusal, rounds("Deploy the shop.", list...), []string{"apply", "deploy.yaml", "cannot patch deployments"}}
}

func waits() family {
	var list [][3]string
	for range 27 {
		list = append(list, [3]string{"export_status", `{"job": "exp-118"}`, `{"job": "exp-118", "state": "pending", "percent": 0}`})
	}
	return family{"waiting", haltd.FamilyWaiting, rounds("Export the contacts.", list...), []string{"export_status", "exp-118", "pending"}}
}

// runs sends a conversation that proves its loop by itself, and answers the
// incident.
func (n *node) runs(t *testing.T, f family) incident {
	t.Helper()
	agent := f.name + "-bot"
	n.killSwitch(t, agent, true)
	for k := 0; k < 40; k++ { // a conversation may need a few more of its last rounds
		status, id := n.send(t, call{agent: agent, session: f.name + "-1", messages: f.messages, reply: fakellm.Script{Text: "I go on."}})
		if id != "" {
			return n.incident(t, id)
		}
		if status != http.StatusOK {
			t.Fatalf("%s is answered %d", agent, status)
		}
		f.messages = append(f.messages, f.messages[len(f.messages)-2:]...)
	}
	t.Fatalf("%s was not killed", agent)
	return incident{}
}

// An incident of every family says what the agent did, with which arguments,
// and what came back, right under its headline.
func TestEvidenceOfEveryFamily(t *testing.T) {
	t.Parallel()
	n := start(t, "defaults: {kill_switch: {similarity: warn}}\n")
	p := newTab(t, n)
	script := axe(t)
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			p.during(t)
			i := n.runs(t, f)
			if got := i.family(); got != f.family {
				t.Errorf("it is taken for %s: %s", got, i.Sentence)
			}
			p.show(desktop)
			p.open("/incidents/" + i.ID)
			p.sees(i.Sentence)
			p.in("region", "Evidence").sees(f.shows...)
			p.in("region", "Evidence").sees("Secrets are taken out", "kept for 7 days")
			if f.family == haltd.FamilyWaiting { // who waits is watched for some calls
				p.sees("Burned by the loop")
			} else {
				p.sees("what they cost is not known") // and never that it was nothing
			}
			p.lacks("$0.00 so far")
			p.accessible(script)
			p.show(phone)
			p.fits()
		})
	}
}
