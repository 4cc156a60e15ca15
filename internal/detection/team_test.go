package detection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// colleague begins a session of the agent that another one is of.
func colleague(k *talk, id uint64, opening string) *talk {
	m := &talk{t: k.t, now: k.now, pause: k.pause, set: k.set, st: State{Window: k.st.Window, Session: &Session{}, SessionID: id}}
	m.call = haltd.Call{Model: "m", System: id, Opening: []haltd.Message{{Role: haltd.RoleUser, Text: opening}}}
	m.judge(nil)
	return m
}

// pick is one of some texts, in an order without a period.
func pick(i, n int, of ...string) string { return of[(i*n+i*i/3)%len(of)] }

// Who gives a worker the next task is no person: a worker that is asked for the same again
// and again, and finds the same, is stuck, in whatever words it is asked.
func TestAWorkerThatIsSpokenToAgain(t *testing.T) {
	for name, stuck := range map[string]bool{"for one figure": true, "for place after place": false} {
		lead := newTalk(t, "Write the report on heat pumps, country by country.")
		lead.st.SessionID = 1
		var worker *talk
		last := "" // report of the worker
		for i := range 26 {
			task := fmt.Sprintf("%s the split of sales by capacity class. %s, %s.", pick(i, 1, "Look once more for", "We still lack", "Please find"), pick(i, 5, "It stands in some table", "There has to be a source", "The text waits for it"), pick(i, 7, "try other words", "take your time", "use primary sources"))
			query, found := fmt.Sprintf("heat pumps %s kW", pick(i, 3, "capacity", "classes", "rated output", "statistics annex")), []string{
				`{"title":"Sales fall again","url":"https://a.example/1","text":"349 thousand units, no split is published"}`,
				`{"title":"Survey of the association","url":"https://b.example/2","text":"298400 units in all, classes are for members"}`}
			report := fmt.Sprintf("%s: %s. %s.", pick(i, 2, "I searched again", "Another search is done", "I tried other terms"), pick(i, 5, "the same two pages", "nothing beyond what we know", "identical hits"), pick(i, 3, "The split is not disclosed", "There is no such figure", "I have no number for that"))
			if i%2 == 1 {
				found[0], found[1] = found[1], found[0]
			}
			if !stuck {
				place := topics[i]
				task, query = "Collect the figures on heat pumps for "+place+": sales, share and price.", place+" heat pumps 2024"
				found = []string{fmt.Sprintf(`{"title":"%s %s","url":"https://%s.example/%d","text":"%d units, up %d %%"}`, place, fresh(i), strings.Fields(fresh(i + 60))[0], i, 4321+i*977, i%17)}
				report = fmt.Sprintf("In %s %d units were sold, %d %% more; a kilowatt costs %d cents.", place, 4321+i*977, i%17, 19+i*i%23)
			}
			call := did("ask_worker", fmt.Sprintf(`{"task":%q}`, task), report)
			call.Calls[0].ID = fmt.Sprint("call_", i)
			call.Results[0].CallID = call.Calls[0].ID
			lead.reply(haltd.Reply{Calls: call.Calls, Complete: true})
			if worker == nil {
				worker = colleague(lead, 2, task)
			} else {
				worker.now = lead.now
				worker.judge(&haltd.Round{Text: last, Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: task}}})
			}
			worker.does("search", fmt.Sprintf(`{"query":%q}`, query), "["+strings.Join(found, ",")+"]")
			worker.reply(haltd.Reply{Text: report, Complete: true})
			lead.now, last = worker.now, report
			lead.judge(&call)
		}
		if got := worker.highest() == haltd.LevelKill; got != stuck {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(worker))
		}
	}
}

// Two members of a team who answer each other in words that were all said before get
// nowhere. Prices that move are an agreement on the way.
func TestTwoWhoSayItAgain(t *testing.T) {
	for name, stuck := range map[string]bool{"the same prices": true, "prices that move": false} {
		buyer := newTalk(t, "Buy 500 pallets of oranges for as little as you can.")
		buyer.st.SessionID = 1
		seller := colleague(buyer, 2, "Sell 500 pallets of oranges for as much as you can.")
		last := "" // what the seller said
		bid, ask := 37.84, 42.68
		for i := range 30 {
			if !stuck {
				bid, ask = bid+.07*float64(1+i%5), ask-.06*float64(1+i%3)
			}
			offer := fmt.Sprintf("%s. %s.\nOFFER: %.2f EUR", pick(i, 3, "We value the long view", "The purse allows one figure", "I trust you see a way", "Partnership counts for us", "Our kitchen has a budget"),
				pick(i, 7, "Please reconsider", "Let us meet", "We stay ready to talk"), bid)
			answer := fmt.Sprintf("%s. %s.\nOFFER: %.2f EUR", pick(i, 2, "Quality comes at a cost", "I hear the clear words", "The price is what it is", "Good fruit cannot be pressed", "Growers have to live"),
				pick(i, 5, "Perhaps the council may think again", "We stay ready to talk", "Someone above you may move"), ask)
			buyer.reply(haltd.Reply{Text: offer, Complete: true})
			if seller.now = buyer.now; i > 0 {
				seller.judge(&haltd.Round{Text: last, Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: offer}}})
			}
			seller.reply(haltd.Reply{Text: answer, Complete: true})
			buyer.now = seller.now
			buyer.judge(&haltd.Round{Text: offer, Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: answer}}})
			last = answer
		}
		if got := buyer.highest() == haltd.LevelKill || seller.highest() == haltd.LevelKill; got != stuck {
			t.Errorf("%s: killed %v\n%s\n%s", name, got, drawn(buyer), drawn(seller))
		}
	}
}

// The words of another member are no person's, so that a halted session stays halted.
func TestAMemberIsNoPerson(t *testing.T) {
	const task = "Please look once more for the missing figure in the annual statistics."
	for name, team := range map[string]bool{"a leader": true, "a person": false} {
		lead := newTalk(t, "Write the report.")
		lead.st.SessionID = 1
		worker := colleague(lead, 2, "You search.")
		worker.does("search", `{"query":"figure"}`, "nothing that helps was there")
		halted, at := worker.st.Session.Newest(), worker.now
		if team {
			lead.reply(haltd.Reply{Calls: []haltd.ToolCall{{ID: "1", Name: "ask", Arguments: fmt.Sprintf(`{"task":%q}`, task)}}, Complete: true})
		}
		worker.reply(haltd.Reply{Text: "There is no such figure.", Complete: true})
		worker.call.Rounds = append(worker.call.Rounds, haltd.Round{Text: "There is no such figure.", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: task}}})
		later := worker.now.Add(worker.pause)
		goesOn, byPerson := worker.st.Session.Continues(worker.st, Read(testCache, &worker.call, nil), halted, at, later)
		if !goesOn || byPerson == team {
			t.Errorf("words of %s: goes on %v, by a person %v", name, goesOn, byPerson)
		}
	}
}
