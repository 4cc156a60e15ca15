package browser

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// crowd makes a folder for a haltd that a thousand agents have called a
// hundred times each.
func crowd(t *testing.T) (folder string) {
	t.Helper()
	needDashboard(t)
	folder = t.TempDir()
	if out, err := exec.Command("go", "run", "./cmd/crowd", filepath.Join(folder, "data")).CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	return folder
}

func TestManyAgentsAndEvents(t *testing.T) {
	n := startIn(t, crowd(t), "")
	p := newTab(t, n)
	for path, shows := range map[string]string{"/": "Top agents", "/agents": "agent-0999", "/events": "agent-0999", "/sessions": "session-0999"} {
		began := time.Now()
		p.open(path)
		p.in("main", "").sees(shows)
		t.Logf("%s shows its content after %v", path, time.Since(began).Round(time.Millisecond))
	}

	p.open("/agents")
	p.pages("agent-0…")
	p.fill("Find an agent by a part of its id", "agent-0042")
	p.lacks("agent-0999")
	p.link("agent-0042")
	p.at("/agents/agent-0042")
	p.sees("agent-0042", "session-0042-3")
	p.open("/events")
	p.pages("agent-0…")
}

// pages asks a listing for its next page and waits for more links with such a
// name.
func (p *tab) pages(name string) {
	p.t.Helper()
	rows := p.in("main", "").in("link", name)
	count := func() int { found, _ := rows.find(); return len(found) }
	p.eventually(func() bool { return count() > 0 }, func() string { return "the listing is empty" })
	first := count()
	p.button("Show more")
	p.eventually(func() bool { return count() > first }, func() string { return fmt.Sprintf("%d rows are shown, as before", first) })
}
