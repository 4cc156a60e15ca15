package detection

import (
	"fmt"
	"testing"
	"time"
)

// Numbers that go on by themselves, and those under which a thing is filed, are no
// progress; those that say what is done, where one is and what there is are.
func TestWhatNumbersTell(t *testing.T) {
	playAll(t, 36, map[string]func(k *talk, i int){
		"a game in which the oxygen runs out": func(k *talk, i int) {
			act := []string{"bridge", "look", "knock on bridge", "airlock", "in", "push bridge"}[i*i%6]
			answer := map[string]string{
				"bridge": "The bridge is locked. It needs a retina.", "look": "Corridor. Doors: lab, bridge. Frost covers all.", "knock on bridge": "No answer.",
				"airlock": "Airlock. An empty hook.", "in": "Corridor. Frost covers all.", "push bridge": "The bridge is locked. It needs a retina.",
			}[act]
			k.does("send", fmt.Sprintf(`{"input":%q}`, act), fmt.Sprintf("%s\n(23 points, O2 %d%%)", answer, 90-i))
		},
		"an answer that says for how long it has been running": func(k *talk, i int) {
			k.pause = time.Duration(1+i*i%4) * time.Second
			k.does("get_status", `{"unit":"pump"}`, fmt.Sprintf(`{"unit":"pump","state":"error: no pressure","up_s":%d}`, int(k.now.Sub(noon).Seconds())))
		},
		"what is opened is closed under another handle": func(k *talk, i int) {
			handle := fmt.Sprintf("%06x", 0x1f3a9+7919*(i/2))
			if i%2 == 0 {
				k.does("open_dialog", `{"name":"Export"}`, fmt.Sprintf(`{"handle":%q,"dialog":"Export","state":"open"}`, handle))
				return
			}
			k.does("close_dialog", fmt.Sprintf(`{"handle":%q}`, handle), fmt.Sprintf(`{"handle":%q,"state":"closed"}`, handle))
		},
		"what is posted is taken back under another number": func(k *talk, i int) {
			entry := 70000 + 7919*(i/3)%9999
			switch i % 3 {
			case 0:
				text := []string{"adjustment", "rounding", "correction of the period", "bank fee"}[i/3%4]
				k.does("post_entry", fmt.Sprintf(`{"text":%q,"amount":"2946.44"}`, text), fmt.Sprintf(`{"entry":%d,"status":"posted"}`, entry))
			case 1:
				k.does("reverse_entry", fmt.Sprintf(`{"entry":%d}`, entry), fmt.Sprintf(`{"entry":%d,"status":"reversed"}`, entry+1))
			default:
				k.does("get_difference", `{"account":"1200"}`, "Bank: 51156.77  Ledger: 48210.33  Difference: 2946.44")
			}
		},
		"the same note under another number": func(k *talk, i int) {
			note := []string{"Nutzer verträgt keine Nüsse.", "Keine Nüsse für den Nutzer!", "Unverträglichkeit: Nüsse."}[i*i%3]
			k.does("merke", fmt.Sprintf(`{"note":%q}`, note), fmt.Sprintf("Gespeichert unter Nr. %d.", 100+i*617%899))
		},
		"pages behind the last one, whose number is named": func(k *talk, i int) {
			answer := fmt.Sprintf("La page %d n'existe pas (le document compte 5 pages).", i+1)
			if i < 5 {
				answer = fmt.Sprintf("Page %d. %s %s %s", i+1, fresh(i), fresh(i+100), fresh(i+200))
			}
			k.does("lirePage", fmt.Sprintf(`{"doc":"rapport.pdf","page":%d}`, i+1), answer)
		},
		"a page that counts its visitors": func(k *talk, i int) {
			k.does("load", `{"url":"https://zoo.example/prices"}`, fmt.Sprintf("Zoo  12:01:%02d\nPrices: this page is no longer kept up.\nVisitors today: %d  Views: %d", i, 300+i*7, 90042+3*i))
		},
		"a box that is pushed and put back, each act with its number": func(k *talk, i int) {
			box := func(row string) string { return "\n########\n#  $  .#\n" + row + "\n#   $  #\n########" }
			if i%2 == 0 {
				k.does("move", `{"dir":"up"}`, fmt.Sprintf("move %d", i+1)+box("# @#.  #"))
				return
			}
			k.does("undo", "{}", fmt.Sprintf("undone (action %d)", i+1)+box("#  #.@ #"))
		},
		"a device that is opened under the next number and never answers": func(k *talk, i int) {
			late := "Traceback (most recent call last):\n  File \"/opt/lab/tool.py\", line 71\npyvisa.errors.VisaIOError: VI_ERROR_TMO: Timeout expired before operation completed."
			act := []string{"open", "write", "query", "close"}[i%4]
			k.does(act, []string{`{"resource":"TCPIP0::inst0"}`, `{"cmd":"*RST"}`, `{"cmd":"*IDN?"}`, "{}"}[i%4], []string{fmt.Sprintf("opened, session %d", i/4+1), late, late, fmt.Sprintf("session %d closed", i/4+1)}[i%4])
		},
		"a card that is declined for one seat after the other": func(k *talk, i int) {
			hold := fmt.Sprintf("%06X", 0x2f3a9+7919*31*(i/3))
			switch i % 3 {
			case 0:
				k.does("search_flights", `{"from":"DUB","to":"OSL","flight":"SK874"}`, fmt.Sprintf(`[{"flight":"SK874","eur":276,"offer":"%06X"}]`, 0x3f3a9+104729*i))
			case 1:
				k.does("hold_seat", fmt.Sprintf(`{"flight":"SK874","seat":"%d%c"}`, 5+i*7%29, 'A'+i%6), fmt.Sprintf(`{"hold":%q,"expires_in":900}`, hold))
			default:
				k.does("pay", fmt.Sprintf(`{"hold":%q,"method":"saved_card"}`, hold), fmt.Sprintf(`{"error":"card_declined","message":"Your card has expired.","request_id":"req_%012x"}`, uint64(i+3)*0x9e3779b97f4a7c15>>16))
			}
		},
		"a log with an exception behind the time": func(k *talk, i int) {
			pod := fmt.Sprintf("api-%05x", 0x3f3a9+7919*(i/2))
			if i%2 == 0 {
				k.does("bash", `{"command":"kubectl scale deploy/api --replicas=9"}`, "pod/"+pod+" created")
				return
			}
			k.does("bash", fmt.Sprintf(`{"command":"kubectl logs %s --tail=20"}`, pod), fmt.Sprintf("07:10:%02d INFO starting api\n07:10:%02d java.net.UnknownHostException: kafka-0.kafka", i, i))
		},
	}, true)
	playAll(t, 36, map[string]func(k *talk, i int){
		"days of which all are booked": func(k *talk, i int) {
			k.does("checkVacancy", fmt.Sprintf(`{"inn":"matsunoya","checkin":"2026-%02d-%02d"}`, 3+i/28, 1+i%28), `{"available":false,"message":"fully booked"}`)
		},
		"questions at a counter, some of them again": func(k *talk, i int) {
			k.pause = 40 * time.Second
			to := []string{"Basel", "Hausach", "Lahr", "Kehl"}[i*i%7%4]
			k.does("timetable", fmt.Sprintf(`{"from":"Offenburg","to":%q}`, to), fmt.Sprintf("RE %d at 11:%02d, platform %d", 300+i*617%699, i, 1+i%7))
			k.says("The next train to "+to+" leaves in a moment from the platform that is shown. Have a good journey!", "When does the next train to "+[]string{"Basel", "Hausach", "Lahr", "Kehl"}[(i+1)*(i+1)%7%4]+" leave, please?")
		},
		"forms in an old program, of which it counts those that are saved": func(k *talk, i int) {
			note := fmt.Sprintf("%s\\t%s", fresh(i/3), topics[i/3])
			shown := fmt.Sprintf("Supplier=%s, Note=%s", fresh(i/3), topics[i/3])
			switch i % 3 {
			case 0:
				k.does("computer", fmt.Sprintf(`{"action":"left_click","coordinate":[%d,%d]}`, 110+i%5, 55+i%4), fmt.Sprintf("Window Stock 4.2 New. Fields: Supplier=, Note=. Status bar: %d of 12 saved.", i/3))
			case 1:
				k.does("computer", fmt.Sprintf(`{"action":"type","text":"%s"}`, note), fmt.Sprintf("Window Stock 4.2 Edit. Fields: %s. Status bar: %d of 12 saved.", shown, i/3))
			default:
				k.does("computer", `{"action":"key","text":"ctrl+s"}`, fmt.Sprintf("Window Stock 4.2 Saved. Fields: %s. Status bar: %d of 12 saved.", shown, i/3+1))
			}
		},
		"a robot that goes as far as the seconds": func(k *talk, i int) {
			k.does("forward", `{"rover":"one"}`, fmt.Sprintf(`{"east":%d,"north":50,"blocked":false,"sector":"klour"}`, 50+5*i))
		},
		"the way back with what was found": func(k *talk, i int) {
			end := func(act, answer string, score int) {
				k.says("Action: "+act, fmt.Sprintf("%s\n\n[Score %d/70, moves %d]", answer, score, i))
			}
			room := func(n int) string {
				return fmt.Sprintf("%s\n%s %s %s. There is dust on the floor.\nExits: west, east.", topics[n], fresh(n), fresh(n+50), fresh(n+90))
			}
			out, score := 4, 0
			for ; i >= 2*out+2; out++ { // there, take it, back, and put it into the chest
				i -= 2*out + 2
				score += 10
			}
			switch {
			case i < out:
				end("east", room(i+1), score)
			case i == out:
				end("take "+topics[20+out], "Taken.", score+5)
			case i <= 2*out:
				end("west", room(2*out-i), score+5)
			default:
				end("put "+topics[20+out]+" in chest", "Done. The chest hums.", score+10)
			}
		},
		"nodes by their addresses": func(k *talk, i int) {
			node := fmt.Sprintf("ip-10-%d-%d-%d", 20+i/3*7%9, 10+i/3*5%7, 100+i/3*11%13)
			k.does([]string{"drain_node", "upgrade_node", "uncordon_node"}[i%3], fmt.Sprintf(`{"node":%q}`, node), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"node/%s done"}]}}`, 50+i, node))
		},
	}, false)
}
