package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// A timetable that was read before is no acknowledgement, however the question is put;
// that of another day is news.
func TestATimetableThatComesAgain(t *testing.T) {
	people := []string{"renata@example.com", "ingrid@example.com", "adaeze@example.com", "louise@example.com"}
	for name, stuck := range map[string]bool{"of the same week": true, "of day after day": false} {
		k := newTalk(t, "Find two hours in which all four can meet.")
		for i := range 30 {
			day := i
			if stuck {
				day = i * i / 3 % 5
			}
			date := time.Date(2026, 6, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			meetings := []string{"Roadmap", "Board prep", "Supplier call", "Claims review", "Stand-up", "Workshop"}
			who := strings.Join([]string{people[i%4], people[(i+1+i%3)%4], people[(i+2+i%2)%4]}, ",")
			k.does("list_events", fmt.Sprintf(`{"calendars":%q,"from":"%sT%02d:%02d:00","to":"%sT%02d:30:00"}`, who, date, 7+i*5%4, i*15%60, date, 17+i%3),
				fmt.Sprintf(`{"items":[{"summary":%q,"start":"%sT08:30:00","end":"%sT11:%02d:00"},{"summary":%q,"start":"%sT11:15:00","end":"%sT15:%02d:00"}]}`,
					meetings[day%6], date, date, 10+day%40, meetings[(day+2)%6], date, date, 5+day%50))
		}
		if got := k.highest() == haltd.LevelKill; got != stuck {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(k))
		}
	}
}

// A task may ask for one path after the other of one host after the other: each pair is
// looked at once, and most have nothing.
func TestPairsOfATask(t *testing.T) {
	hosts, paths := []string{"sso", "billing", "partner", "legacy"}, []string{"metrics", "console", ".git/HEAD", "admin/", "swagger.json", ".env", "old/", "backup.zip"}
	const answer = `{"status": 404, "headers": {"server": "nginx/1.24.0", "content-length": "139"}, "body": "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>"}`
	ask := func(host, path string) string {
		return fmt.Sprintf(`{"method": "GET", "url": "https://%s.acme.example/%s"}`, host, path)
	}
	k := newTalk(t, "Scope: sso.acme.example, billing.acme.example, partner.acme.example, legacy.acme.example\nCheck each host for each of these paths: /"+strings.Join(paths, " /"))
	for _, h := range hosts {
		for _, p := range paths {
			k.does("http_request", ask(h, p), answer)
		}
	}
	if k.killed != nil {
		t.Errorf("each pair once: killed\n%s", drawn(k))
	}
	k = newTalk(t, "Find out what sso.acme.example serves.")
	for i := range 32 {
		k.does("http_request", ask("sso", paths[i*3%8]+[]string{"", "?", "?a", "index"}[i/8]), answer)
	}
	if k.killed == nil {
		t.Errorf("the same paths in other spellings: not killed\n%s", drawn(k))
	}
}

// Who does the same few things in turn gets nowhere by what flies past in some of the answers:
// readings, an advertisement. A page on which other things stand each time is another.
func TestACircleOfAFewActs(t *testing.T) {
	word := func(n int) string {
		const heads, tails = "bdfgklmnprst", "aeiou"
		w := ""
		for n += 977; n > 0; n /= 60 {
			w += string(heads[n%12]) + string(tails[n/12%5])
		}
		return w
	}
	for name, stuck := range map[string]bool{"with readings": true, "with news": false} {
		k := newTalk(t, "Fly to point 6.")
		for i := range 40 {
			tool, arguments := "goto_global", `{"lat":46.464646,"lon":11.600435,"alt":50}`
			if i%2 == 1 {
				tool, arguments = "set_flight_mode", pick(i/2, 1, `{"mode":"HOLD"}`, `{"mode":"GUIDED"}`)
			}
			seen := "nothing to the north, nothing to the south"
			if i%5 < 2 {
				seen = word(i*31) + ", " + word(i*i+5)
			}
			shown := fmt.Sprintf("drone holds, point 6 stays ahead, heading %d, seen from here: %s. sats=%d wind=%.1f m/s", 80+i*i%7, seen, 16+i*3%5, 1+float64(i*7%30)/10)
			if !stuck {
				shown = "drone at"
				for n := range 9 {
					shown += " " + word(i*9+n)
				}
			}
			k.does(tool, arguments, shown)
		}
		if got := k.highest() == haltd.LevelKill; got != stuck {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(k))
		}
	}
}
