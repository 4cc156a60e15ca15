package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Work that goes on step by step is work however known the words of each step are: six
// draws of a made-up family had hidden that some of these were killed.
func TestStepsOfKnownWordsAreWork(t *testing.T) {
	day := func(i int) time.Time { return time.Date(2026, 12, 18, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i) }
	number := func(i, k int) int { return (i*i*31 + k*k*97 + i*k*53) % 230 }
	for _, tc := range []struct {
		name   string
		rounds int
		task   string
		pause  func(i int) time.Duration
		round  func(k *talk, i int)
	}{
		{"days as 18.12.2026, of which a few have an entry", 34, "予定を18.12.2026から28.01.2027まで一日ずつ見て、来客を探してください。", nil, func(k *talk, i int) {
			answer := "結果が見つかりませんでした。"
			if i == 11 || i == 12 || i == 22 {
				answer = fmt.Sprintf(`{"on":"%s","title":"来客%d名、%s","with":"高松"}`, day(i).Format("02.01.2006"), i, []string{"会議室", "工場", "図書館"}[i%3])
			}
			k.does("day_schedule", fmt.Sprintf(`{"on":%q}`, day(i).Format("02.01.2006")), answer)
		}},
		{"prices of the same hotels, night after night", 34, "Find the cheapest night in Wells between 2026-12-18 and 2027-01-28.", nil, func(k *talk, i int) {
			var b strings.Builder
			for h, name := range []string{"Klil", "Querk", "Rerd", "Shuf", "Trea", "Noar", "Putf", "Joat", "Drou", "Wusp"} {
				fmt.Fprintf(&b, `{"hotel":"Hotel %svilm","city":"Wells","beds":"2","price":"%d","breakfast":"%s"},`, name, 60+number(i, h), []string{"yes", "no"}[(i+h)%2])
			}
			k.does("find_rooms", fmt.Sprintf(`{"city":"Wells","date":%q,"guests":2}`, day(i).Format(time.DateOnly)), "["+strings.TrimSuffix(b.String(), ",")+"]")
		}},
		{"a job whose steps succeed one after the other", 34, "Start workflow 57d2 and tell me when all of its steps are through.", func(int) time.Duration { return 6 * time.Second }, func(k *talk, i int) {
			var b strings.Builder
			for step, name := range []string{"fetch", "unpack", "compile", "link", "test", "sign", "pack", "scan", "upload", "tag", "notify", "clean", "report", "archive", "index", "publish", "mirror", "close"} {
				fmt.Fprintf(&b, `{"name":"%s","status":"%s","retries":0},`, name, []string{"waiting", "active", "succeeded"}[min(2, max(0, i/2+1-step))])
			}
			k.does("describe_workflow", `{"id":"57d2"}`, `{"id":"57d2","status":"RUNNING","steps":[`+strings.TrimSuffix(b.String(), ",")+"]}")
		}},
		{"a silent process, asked without hurry, but for one time in five", 26, "Run the migration and report.", func(i int) time.Duration {
			if i%5 == 4 {
				return 3 * time.Second
			}
			return 25 * time.Second
		}, func(k *talk, _ int) { k.does("read_process", `{"session_id":64149,"chars":""}`, "(no new output)") }},
		{"a survey whose answers are all alike", 15, "もしもし。", nil, func(k *talk, i int) {
			things := strings.Split("バー 接客 値段 静けさ お風呂 ベッド 眺め 朝食 駐車場 受付 廊下 照明 空調 音楽 庭", " ")
			k.says("ありがとうございます。"+things[i%len(things)]+"はいかがでしたか。良い、普通、悪いでお答えください。", "良い")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := newTalk(t, tc.task)
			for i := range tc.rounds {
				if tc.pause != nil {
					k.pause = tc.pause(i)
				}
				tc.round(k, i)
			}
			if k.killed != nil {
				t.Errorf("killed: %s\n%s", k.killed.Signals[0].Sentence("the agent"), drawn(k))
			}
		})
	}
}

// What a person orders in the middle of a conversation counts like the task that began it.
func TestAnOrderInTheMiddle(t *testing.T) {
	for _, tc := range []struct {
		name, order string
		want        bool
	}{
		{"so many times", "Good. Now press the shutter 20 times, once every 22 seconds.", false},
		{"none", "Good. Now take a picture of the garden.", true},
	} {
		k := newTalk(t, "Where is the camera?")
		k.says("It stands in the garden.", tc.order)
		for range 20 {
			k.does("take_photo", `{"device":"garden"}`, "200 OK")
		}
		if killed := k.killed != nil; killed != tc.want {
			t.Errorf("%s: killed %v, want %v\n%s", tc.name, killed, tc.want, drawn(k))
		}
	}
}

// The same results in another order are the same page, and so are states that come back.
func TestKnownStatesInAnotherOrder(t *testing.T) {
	hits := strings.Split("weather station on the hill|opening hours of the library|timetable of the ferry|map of the old harbour|list of public fountains|history of the town hall|fees for the car park|names of the bridges", "|")
	for name, shown := range map[string]func(i int) string{
		"in another order": func(i int) string {
			all := append([]string(nil), hits...)
			for k := range all {
				j := (k*(2*i+1) + i) % len(all)
				all[k], all[j] = all[j], all[k]
			}
			return strings.Join(all, "\n")
		},
		"three in turn": func(i int) string {
			return "status of the service: " + []string{"starting up, please stand by", "waiting for its neighbours, please stand by", "restarting after a crash, please stand by"}[i%3] + "\n" + strings.Join(hits, "\n")
		},
	} {
		k := newTalk(t, "Find the page about the lighthouse.")
		for i := range 30 {
			k.does("search", `{"query":"lighthouse"}`, shown(i))
		}
		if k.killed == nil {
			t.Errorf("%s: not killed\n%s", name, drawn(k))
		}
	}
}

// A person asks a thing again, once, and something else in between; a harness goes on with it.
func TestWhoAsksAgainIsAPerson(t *testing.T) {
	questions := []string{"When does the museum open?", "And the library?", "Is there a ferry today?", "When does the museum open?", "What does it cost?", "Who runs it?", "Is there a ferry today?", "Where do I park?"}
	c := comparison{}
	for _, q := range questions {
		f := readRound(&haltd.Round{Text: "It is so.", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: q}}}, true)
		c.rounds = append(c.rounds, seenRound{round: f})
	}
	for i := range questions {
		if c.cameAgain(i) {
			t.Errorf("%q passes for a harness", questions[i])
		}
	}
	for _, harness := range [][]string{{"Go on.", "Go on."}, {"Step 1 of 9.", "Good.", "Step 2 of 9.", "Fine.", "Step 3 of 9."}} {
		c := comparison{}
		for _, q := range harness {
			f := readRound(&haltd.Round{Text: "It is so.", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: q}}}, true)
			c.rounds = append(c.rounds, seenRound{round: f})
		}
		if !c.cameAgain(0) {
			t.Errorf("%q passes for a person", harness)
		}
	}
}

func TestDatesAndVersionsAsNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"04.03.2026": 20260304, "4.3.2026": 20260304, "31.12.2026": 20261231, "4.3.": 304, "1.234.567": 1234567, "1.2.3": 123, "12.5": 12.5, "2026-03-04": 20260304, "7": 7, "..": 0,
	} {
		if got := numberOf(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
