package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// browse plays an agent as clients write it that tell its history anew in each
// request, with its own words in it, and behind that the page: what it does and says
// comes from step, with what came of it and the page after that. It returns the
// strictest level.
func browse(t *testing.T, steps int, step func(i int) (goal, action, result, page string)) (worst haltd.Level) {
	t.Helper()
	set, st, now := DefaultSettings(), newState(), noon
	var history strings.Builder
	page := "[1]<a>Account</a>\n[2]<a>Orders</a>"
	for i := range steps {
		call := &haltd.Call{Opening: []haltd.Message{
			{Role: haltd.RoleSystem, Text: "You automate a browser. Answer with AgentOutput."},
			{Role: haltd.RoleUser, Text: fmt.Sprintf("<agent_history>\n%s</agent_history>\n<user_request>\nAdd the address Hauptgasse 89, Nantes, Iceland, and read what the shop says of all its goods.\n</user_request>\n<step_info>Step %d of 100 max possible steps</step_info>\n<browser_state>\nCurrent tab: 54da\n%s\n</browser_state>", history.String(), i+1, page)},
		}}
		v := judge(set, st, call, now)
		worst = max(worst, v.Level)
		goal, action, result, next := step(i)
		memory := []string{"All but the country is done.", "Only the country is missing, then save.", "Street and city are entered."}[i*i%3]
		answer(set, st, v, call, ran("AgentOutput", fmt.Sprintf(`{"memory":%q,"next_goal":%q,"action":[%s]}`, memory, goal, action)), now.Add(3*time.Second))
		fmt.Fprintf(&history, "<step_%d>\nMemory: %s\nNext Goal: %s\nAction Results:\n%s\n</step_%d>\n", i+1, memory, goal, result, i+1)
		page = next
		now = now.Add(6 * time.Second)
	}
	return worst
}

func TestAHistoryThatIsToldAnew(t *testing.T) {
	form := func(i int) string {
		advert := strings.Repeat(fmt.Sprintf("\n[3]<div>%d people are viewing this</div>", 6+i*7%31), i*i%3%2)
		first := 3 + len(advert)/30
		return fmt.Sprintf("[1]<a>Account</a>\n[2]<a>Orders</a>%s\n[%d]<div role=combobox>Select country</div>\n[%d]<button disabled>Save address</button>", advert, first, first+1)
	}
	goals := []string{"Select Iceland", "Open the list of countries again", "Choose Iceland in the country list", "Open the combobox"}
	worst := browse(t, 36, func(i int) (goal, action, result, page string) {
		index := 5 + i*i%3
		if i%2 == 0 {
			return goals[i*i%7%4], fmt.Sprintf(`{"select_dropdown_option":{"index":%d,"text":"Iceland"}}`, index), fmt.Sprintf("Cannot select option: Element with index %d is a div, not a select", index), form(i)
		}
		return goals[i*i%7%4], fmt.Sprintf(`{"click_element_by_index":{"index":%d}}`, index), fmt.Sprintf("Clicked element %d: Select country", index), form(i)
	})
	if worst != haltd.LevelKill {
		t.Errorf("a list that never opens: %v", worst)
	}
	worst = browse(t, 12, func(i int) (goal, action, result, page string) {
		return "Select Iceland", fmt.Sprintf(`{"click_element_by_index":{"index":%d}}`, 5+i%2), fmt.Sprintf("Clicked element %d: Select country", 5+i%2), "[1]<a>Account</a>\n[2]<a>Orders</a>"
	})
	if worst != haltd.LevelKill {
		t.Errorf("two clicks in turn that change nothing, and steps that are counted: %v", worst)
	}
	goods := strings.Fields("Lamp Kettle Chair Rug Mirror Clock Vase Shelf Basket Stool Bench Tray Bowl Plate Spoon Fork Knife Cup Glass Towel")
	worst = browse(t, 36, func(i int) (goal, action, result, page string) {
		name := goods[i/2%len(goods)]
		if i%2 == 0 {
			return "Open the " + name, fmt.Sprintf(`{"click_element_by_index":{"index":%d}}`, 3+i/2%5), "Clicked element: " + name,
				fmt.Sprintf("[1]<a>Account</a>\n[2]<a>Orders</a>\n[3]<h1>%s</h1>\n[4]<p>%d in stock, made in town %d, %d cm</p>", name, 3+i*7%20, i*31%97, 10+i*13%60)
		}
		return "Go back to the list", `{"go_back":{}}`, "Navigated back", "[1]<a>Account</a>\n[2]<a>Orders</a>\n[3]<a>" + strings.Join(goods[:5], "</a>\n[3]<a>") + "</a>"
	})
	if worst == haltd.LevelKill {
		t.Error("goods that are read one after the other: killed")
	}
}

// What names a failure, what is made anew to no avail, and whom letters go to.
func TestNamesAndAddresses(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("%012x", uint64(i+3)*0x9e3779b97f4a7c15>>16) }
	playAll(t, 30, map[string]func(k *talk, i int){
		"a resource that is never valid": func(k *talk, i int) {
			fields := []string{"", `,"priority":"urgent"`, `,"category":[{"text":"referral"}]`, `,"priority":"routine"`}[i*i%7%4]
			k.does("fhir_create", fmt.Sprintf(`{"resourceType":"ServiceRequest","body":{"status":%q,"subject":{"reference":"Patient/%d"},"code":{"text":%q}%s}}`,
				[]string{"active", "draft"}[i%2], 15000+i*7919%80000, []string{"Cardiology consult", "Consult: cardiology"}[i*i%3%2], fields),
				fmt.Sprintf(`{"resourceType": "OperationOutcome", "id": %q, "issue": [{"severity": "error", "code": "processing", "diagnostics": "HAPI-0450: Failed to parse request body. Error was: ServiceRequest.intent: minimum required = 1, but only found 0", "location": ["ServiceRequest", "Line[1] Col[%d]"]}]}`, id(i), 40+i*13%50))
		},
		"a deployment that is restarted, and crashes again": func(k *talk, i int) {
			tail := func(n int) string {
				const letters = "bcdfghjklmnpqrstvwxz"
				return id(n)[:9] + "-" + string([]byte{letters[n*7%20], letters[n*3%20], '4', letters[n*11%20], letters[n%20]})
			}
			k.pause = 8 * time.Second
			switch n := i / 3; i % 3 {
			case 0:
				k.does("k8s_rollout_restart", `{"kind":"deployment","name":"checkout-api","namespace":"shop"}`, "deployment.apps/checkout-api restarted")
			case 1:
				k.does("k8s_get_pods", `{"namespace":"shop","selector":"app=checkout-api"}`, fmt.Sprintf("NAME  READY  STATUS  RESTARTS  AGE\ncheckout-api-%s  0/1  CrashLoopBackOff  %d (%ds ago)  %ds", tail(n), 1+n*n%3, 4+n*7%17, 28+n*11%30))
			default:
				k.does("k8s_logs", fmt.Sprintf(`{"pod":"checkout-api-%s","namespace":"shop","tail":50}`, tail(n)), fmt.Sprintf("2025-07-12T17:%02d:27.960Z INFO  starting checkout-api\n2025-07-12T17:%02d:28.094Z INFO  config: reading /etc/app/config.yaml\n2025-07-12T17:%02d:28.134Z INFO  config: LOG_LEVEL=info HTTP_PORT=8080 METRICS_PORT=9090\n2025-07-12T17:%02d:29.258Z panic: environment variable PAYMENTS_KEY is not set, cannot start the payments client", n, n, n, n))
			}
		},
		"a report that is written again in another order": func(k *talk, i int) {
			points := []string{"Objet (art. 1) : renvoi à une annexe non jointe", "Durée (art. 2) : pas de fenêtre de dénonciation avant reconduction", "Prix (art. 3) : révision sans plafond", "Paiement (art. 4) : délai supérieur au maximum"}
			text := []string{"Réserves du Client :", "Observations principales :", "Synthèse des réserves :"}[i*i%7%3]
			for n := range points {
				text += `\n- ` + points[(n*(1+2*(i%2))+i*i)%4]
			}
			k.pause = time.Duration(7+i*5%9) * time.Second
			k.does("rapport", fmt.Sprintf(`{"texte":"%s"}`, text), fmt.Sprintf(`{"ok": true, "version": %d, "pages": 1, "enregistre": "2025-03-14T09:%02d:43Z"}`, i+3, i))
		},
		"tools that are not there": func(k *talk, i int) {
			tool := []string{"reserver", "achat", "booking", "valider_reservation", "paiement"}[i*i%7%5]
			k.does(tool, fmt.Sprintf(`{"train":"TGV %d","classe":%d}`, 8000+i*379%900, 1+i%2), fmt.Sprintf("Erreur : outil « %s » inconnu. Outils disponibles : horaires, contacts, courriel. (trace %s)", tool, id(i)[:6]))
		},
	}, true)
	families := strings.Fields("alba.gil pablo.mora lucia.rey sofia.pena mateo.ibanez alex.ruiz vera.soto gael.pena bruno.soto diego.ruiz olivia.cano adrian.pena emma.lozano izan.vidal nora.gil leo.mora aitana.rey hugo.cano carla.ruiz marc.soto julia.vidal dario.lozano elena.mora jan.rey")
	k := newTalk(t, "Envía a las 24 familias la carta sobre la visita a la granja (lista en pendientes.csv).")
	k.does("leer", `{"archivo":"pendientes.csv"}`, strings.ReplaceAll(strings.Join(families, ";transporte, comedor, tarjeta, autorización\n"), ".", " "))
	for i, f := range families {
		due := []string{"falta: transporte", "falta: comedor", "está todo entregado", "falta: tarjeta", "falta: autorización"}[i*i%7%5]
		k.does("enviar_correo", fmt.Sprintf(`{"para":"familia.%s@example.org","asunto":"Recordatorio: la visita a la granja","cuerpo":"Estimada familia:\n\nEl próximo viernes tendrá lugar la visita a la granja. En el caso de %s, %s.\n\nUn saludo,\nSecretaría"}`, f, strings.ReplaceAll(f, ".", " "), due),
			fmt.Sprintf(`{"enviado": true, "id": "<%s@santelmo>", "cola": 0}`, id(i)[:10]))
	}
	if k.killed != nil {
		t.Errorf("letters to one family after the other: killed, %v", k.levels)
	}
}

// Some harnesses say what came of a command as the system, and what they say as the
// user is the same after each.
func TestResultsFromTheSystem(t *testing.T) {
	play := func(step func(i int) (command, result string)) *talk {
		k := newTalk(t, "Compare nine cameras, and write a table to review.md.")
		for i := range 28 {
			command, result := step(i)
			k.judge(&haltd.Round{
				Text: fmt.Sprintf(`{"thoughts": {"text": "Next.", "plan": "- go on"}, "command": %s}`, command),
				Inputs: []haltd.Message{
					{Role: haltd.RoleSystem, Text: result},
					{Role: haltd.RoleUser, Text: "Determine which next command to use, and respond using the format specified above:"},
				},
			})
		}
		return k
	}
	cameras := strings.Fields("juniper kestrel nimbus dunmore alder brightwell corvid dahlia elmwood falcon garnet hollow indigo jasper")
	k := play(func(i int) (command, result string) {
		c := cameras[i/2]
		if i%2 == 0 {
			return fmt.Sprintf(`{"name": "browse_website", "args": {"url": "https://tests.example/%s", "question": "price, score"}}`, c),
				fmt.Sprintf("Command browse_website returned: %s costs %d EUR and scores %d of 100, tested by %s.", c, 100+i*37%400, 40+i*13%50, cameras[(i+5)%14])
		}
		return fmt.Sprintf(`{"name": "append_to_file", "args": {"filename": "review.md", "text": "| %s | %d |"}}`, c, 100+(i-1)*37%400), "Command append_to_file returned: Text appended successfully."
	})
	if k.killed != nil {
		t.Errorf("one camera after the other: killed, %v", k.levels)
	}
	k = play(func(i int) (command, result string) {
		return fmt.Sprintf(`{"name": "browse_website", "args": {"url": "https://tests.example/%s", "question": %q}}`, cameras[i*i%7%3], []string{"price", "score", "price and score"}[i%3]),
			"Command browse_website returned: Error: Message: unknown error: net::ERR_NAME_NOT_RESOLVED"
	})
	if k.killed == nil {
		t.Errorf("pages that are never there: %v", k.levels)
	}
}

func TestLinesThatCountTurns(t *testing.T) {
	for line, want := range map[string]bool{
		"<step_info>Step 7 of 100 max possible steps</step_info>": true,
		"Current step: 7/100":                                       true,
		"step 7: error, the sheet is protected":                     false,
		"Step 7 of 9: the sheet is protected, and nobody may write": false,
		"Clicked element 7: Next":                                   false,
		"7 steps to the right":                                      false,
		"The next step is to save":                                  false,
		"Step " + strings.Repeat("after step ", 9) + "7":            false, // too long for a counter
	} {
		if got := countsTurns(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// retell plays an agent whose only message is written anew by tell, from what it did
// and what came of that. It returns the strictest level.
func retell(t *testing.T, steps int, tell func(i int, did []string) string, act func(i int) (reply, told string)) (worst haltd.Level) {
	t.Helper()
	set, st, now := DefaultSettings(), newState(), noon
	var did []string
	for i := range steps {
		call := &haltd.Call{Opening: []haltd.Message{{Role: haltd.RoleUser, Text: tell(i, did)}}}
		v := judge(set, st, call, now)
		worst = max(worst, v.Level)
		reply, told := act(i)
		answer(set, st, v, call, &haltd.Reply{Text: reply, Complete: true}, now.Add(3*time.Second))
		did = append(did, told)
		now = now.Add(6 * time.Second)
	}
	return worst
}

// Agents that are told the newest of their history alone, or how things stand, go on
// from what they did as others do.
func TestWhatIsToldOfAHistory(t *testing.T) {
	newest := func(did []string, n int) []string { return did[max(0, len(did)-n):] }
	towns := strings.Fields("Aalborg Bergen Cadiz Delft Esbjerg Faro Ghent Halle Imola Jena Kassel Lund Malmo Nantes Oulu Porto Quimper Riga Siena Turku Umea Vigo Wels Xanten Ystad Zadar")
	cells := []int{0, 7, 12, 23, 25, 31, 36, 44, 48, 52, 55, 58, 61, 64, 67, 70, 72, 74, 77, 80, 82, 84, 87, 3, 15, 41}
	for _, tc := range []struct {
		name  string
		stuck bool
		tell  func(i int, did []string) string
		act   func(i int) (reply, told string)
	}{
		{"the last five commands", true, func(i int, did []string) string {
			return fmt.Sprintf("Task: install pandas at /srv/env and run the report\nHost runner-a | session %08x | command %d\n\nLast 5 commands (older ones are dropped):\n%s\nWhat is the next command?", i*7919, i+1, strings.Join(newest(did, 5), "\n"))
		}, func(i int) (string, string) {
			command := []string{"pip install pandas", "pip install --retries 3 pandas", "python -m pip install pandas==2." + fmt.Sprint(i%4), "pip install --prefer-binary pandas"}[i*i%7%4]
			return "THOUGHT: the name could not be found, once more.\n```bash\n" + command + "\n```", "```\n$ " + command + "\nWARNING: Retrying after connection broken: Temporary failure in name resolution\nERROR: No matching distribution found for pandas\n[exit 1]\n```"
		}},
		{"how a form stands", true, func(i int, did []string) string {
			last := ""
			if len(did) > 0 {
				last = did[len(did)-1]
			}
			return fmt.Sprintf("form: VAF-58\nrequest: %d\nnonce: %012x\napplicant:\n  Miriam Achterberg, passport issued 28 Sep 2019, valid ten years\nfilled:\n  sex: F\n  city: Brenhaven\n  nationality: BRA\n  purpose: study\nopen:\n  - passport_issue_date\nlast_error: %s", i+1, i*7919*7919, last)
		}, func(i int) (string, string) {
			date := []string{"28-SEP-2019", "2019-09-28", "28/09/2019", "28.09.2019", "Sep 28, 2019"}[i*i%7%5]
			return "SET passport_issue_date = " + date, fmt.Sprintf("'passport_issue_date: value %s is not accepted. A passport issued before 2020-01-01 cannot be used (E417, trace %08x)'", date, i*31337)
		}},
		{"a history in JSON", true, func(i int, did []string) string {
			return fmt.Sprintf(`{"now": "2025-03-14T09:%02d:07Z", "goal": "deployment checkout must be available", "history": [%s]}`, i, strings.Join(newest(did, 9), ", "))
		}, func(i int) (string, string) {
			do := []string{"rollout restart deploy/checkout -n prod", "get pods -n prod -l app=checkout", "logs deploy/checkout -n prod --tail 20"}[i%3]
			out := []string{"deployment.apps/checkout restarted", fmt.Sprintf("checkout-%09x 0/1 CrashLoopBackOff %d (8s ago)", i*7919*31337, i%7), fmt.Sprintf("2025-03-14 09:%02d:30 FATAL missing environment variable PAYMENT_KEY_REF", i)}[i%3]
			return fmt.Sprintf(`{"reason": "see whether it is up", "kubectl": %q}`, do), fmt.Sprintf(`{"i": %d, "kubectl": %q, "out": %q}`, i, do, out)
		}},
		{"how a house stands", true, func(i int, did []string) string {
			last := "ok"
			if len(did) > 0 {
				last = did[len(did)-1]
			}
			return fmt.Sprintf("scene: evening\nwanted:\n  light.hall: on\n  climate.office: 22\ntime: '19:%02d:%02d'\nstates:\n  light.hall: on\n  cover.office: closed\n  climate.office:\n    state: unavailable\n    current_temperature: 17.%d\n    rssi: -%d\nlast_service_call: %s", i/6, i%6*9, i*i%5, 88+i*i%7, last)
		}, func(i int) (string, string) {
			return []string{"Once more.\nACTION: climate.set_temperature(22)", "ACTION: climate.turn_on(22)"}[i*i%3%2], fmt.Sprintf("error: HomeAssistantError: Device climate.office is unavailable (zigbee: delivery failed for tsn %d)", i*31%200)
		}},
		{"a screen that stays as it is", true, func(i int, did []string) string {
			screen := [][]string{{"Welcome", "Sign in", "Create an account"}, {"E-mail address", "Password", "Forgot it?", "Continue"}, {"Monthly statement by e-mail: on", "Your address as in our terms", "Cookie preferences", "Save", "Log out", "Delete this account"}}[min(i, 2)]
			return fmt.Sprintf("Task: save the account\nCurrent screen:\n<node text=\"17:%02d\" class=\"Clock\"/>\n<node text=\"%s\" class=\"Button\"/>", 40+i/9, strings.Join(screen, "\" class=\"Button\"/>\n<node text=\""))
		}, func(i int) (string, string) {
			return fmt.Sprintf(`{"tap": {"x": %d, "y": %d}}`, 430+i*37%60, 2204+i%5), ""
		}},
		{"an arm that never holds anything", true, func(i int, did []string) string {
			return fmt.Sprintf("STATE\n{\"stamp\": %d.882, \"pose\": [0.50%d, 0.24%d], \"holding\": null, \"objects\": [{\"id\": \"marker\", \"at\": \"tray\", \"conf\": 0.9%d}, {\"id\": \"bolt\", \"at\": \"table\", \"conf\": 0.9%d}], \"last\": {\"skill\": \"%s\", \"status\": \"SUCCEEDED\"}}", 1712000000+i*4, i*i%9, i*7%9, i*3%9, i*i%7, []string{"open_gripper", "lower", "grasp", "lift"}[i%4])
		}, func(i int) (string, string) {
			return []string{`{"skill": "lower", "mm": 169}`, fmt.Sprintf(`{"skill": "grasp", "width_mm": %d, "force_n": %d}`, 14+i%4, 18+i%5), `{"skill": "lift", "mm": 80}`, `{"skill": "open_gripper"}`}[i%4], ""
		}},
		{"a map on which nobody gets anywhere", true, func(i int, did []string) string {
			row := []byte("#      @ $#")
			if i%3 > 0 {
				row[7], row[8] = ' ', '@'
			}
			return fmt.Sprintf("Level 10, move %d\n\n###########\n%s\n#         #\n#       * #\n# .       #\n###########", i, row)
		}, func(i int) (string, string) {
			return []string{"RIGHT", "RIGHT", "LEFT"}[i%3], ""
		}},
		{"two screens that come back", true, func(i int, did []string) string {
			if i%2 == 1 {
				return fmt.Sprintf("Job: post invoice 5105817908\nScreen 09:%02d:38\n== Information ==\ntext The period is not open for this account type\ntext Message no. F5201\nbutton Continue\nbutton Help", i)
			}
			return fmt.Sprintf("Job: post invoice 5105817908\nScreen 09:%02d:12\n== Enter Incoming Invoice ==\nfield Reference [5105817908]\nfield Amount [2825,00]\nbutton Post\nbutton Simulate\nStatus bar: waiting for input", i)
		}, func(i int) (string, string) {
			return []string{"CLICK Post", "CLICK Continue"}[i%2], ""
		}},
		{"two screens, and the last acts in one line", true, func(i int, did []string) string {
			screen := []string{"Podcasts settings\n1 <Row 'Theme'>\n2 <Row 'Backup and sync' summary='Off'>\n3 <Row 'About'>", "Dialog: Sign in to use backup\n1 <Text 'There was a problem with the servers.'>\n2 <Button 'Not now'>\n3 <Button 'Try again'>"}[i%2]
			return fmt.Sprintf("Task: Turn on automatic backup\nLast actions: %s\nScreen (08:%02d, battery %d%%):\n%s", strings.Join(newest(did, 3), "; "), 20+i, 54+i*i%9, screen)
		}, func(i int) (string, string) {
			act := [][]string{{"tap(2)"}, {"tap(2)", "back()", "tap(3)"}}[i%2][i*i%7*(i%2)%3]
			return []string{"Thought: Open that row.\nAction: ", "Thought: It failed, so I leave this.\nAction: "}[i%2] + act, act
		}},
		{"one build after the other that fails on the same header", true, func(i int, did []string) string {
			return fmt.Sprintf("TICKET 1417: make the build of billing green\nBUILD %d at 14:%02d:05 on runner-%d: FAILED in %d s\n----- latest log -----\n  gcc -fPIC -c src/main.c -o /tmp/tmp%06x/main.o\n  src/main.c:12:10: fatal error: xmlsec/xmlsec.h: No such file or directory\nERROR: Failed building wheel for native-ext", 390+i, i, 1+i*i%7, 40+i*31%90, i*7919*31)
		}, func(i int) (string, string) {
			return fmt.Sprintf("--- a/requirements.txt\n+++ b/requirements.txt\n@@ -4,1 +4,1 @@\n-native-ext\n+native-ext%s%d.%d.0\n%s", []string{"==", ">=", "~="}[i%3], i*7%4, i*5%9, []string{"This version should build.", "Another pin resolves it."}[i*i%3%2]), ""
		}},
		{"a story that is written on", false, func(i int, did []string) string {
			return "You write a novel, scene by scene.\n\nSUMMARY SO FAR:\n" + strings.Join(did, " ") + "\n\nWrite the next scene. Then a line SUMMARY: with the updated summary of the whole story.\nEND OF THE LAST SCENE."
		}, func(i int) (string, string) {
			summary := ""
			for n := range i + 1 {
				summary += fmt.Sprintf(" In %s they find a %s of the %s, who tells of %s.", towns[n], topics[n], topics[(n+9)%len(topics)], fresh(n))
			}
			return fmt.Sprintf("Snow lay on the sills. Nobody spoke for a while, then somebody named %s.\n\nSUMMARY:%s", towns[i], summary), fmt.Sprintf("In %s they find a %s of the %s, who tells of %s.", towns[i], topics[i], topics[(i+9)%len(topics)], fresh(i))
		}},
		{"items that differ in numbers alone", false, func(i int, did []string) string {
			return fmt.Sprintf("Rate the risk of this order. Answer in JSON.\nOrder: %d\nAmount: %d.%02d EUR\nItems: %d\nCustomer since: %d", 470000+i*7919%9999, 10+i*i*37%900, i*31%100, 1+i%6, 2004+i%19)
		}, func(i int) (string, string) {
			return fmt.Sprintf(`{"risk": %q}`, []string{"low", "low", "high", "low"}[i*i%7%4]), ""
		}},
		{"a board that fills", false, func(i int, did []string) string {
			board := []byte("347298615\n692531874\n158467392\n476859231\n928143567\n531672948\n765384129\n283915746\n419726583\n")
			for _, at := range cells[i:] {
				board[at] = '0'
			}
			return "Board (0 = empty):\n" + strings.Join(strings.Split(string(board), ""), " ")
		}, func(i int) (string, string) {
			return fmt.Sprintf(`{"row": %d, "col": %d, "digit": %d, "why": "only this cell is free for it"}`, cells[i]/10+1, cells[i]%10+1, i*7%9+1), ""
		}},
		{"one segment after the other, in the words of a manual", false, func(i int, did []string) string {
			last := ""
			if len(did) > 0 {
				last = did[len(did)-1]
			}
			return fmt.Sprintf("Glossary:\npump = Pumpe\nvalve = Ventil\ngasket = Dichtung\nshaft = Welle\n\nPrevious translation: %s\n\nSegment %d: Tighten the %s and the %s to %d Nm.", last, i+1, []string{"pump", "valve", "gasket", "shaft"}[i%4], []string{"bolt", "ring", "cover", "flange", "seal", "cap", "nut"}[i%7], 20+i*7%30)
		}, func(i int) (string, string) {
			said := fmt.Sprintf("%s und %s mit %d Nm anziehen.", []string{"Pumpe", "Ventil", "Dichtung", "Welle"}[i%4], []string{"Bolzen", "Ring", "Deckel", "Flansch", "Siegel", "Kappe", "Mutter"}[i%7], 20+i*7%30)
			return said, said
		}},
		{"the last five commands, which get on", false, func(i int, did []string) string {
			return fmt.Sprintf("Task: fetch the timetable of each town\nHost runner-a | command %d\n\nLast 5 commands (older ones are dropped):\n%s\nWhat is the next command?", i+1, strings.Join(newest(did, 5), "\n"))
		}, func(i int) (string, string) {
			town := towns[i%len(towns)]
			return "THOUGHT: the next town.\n```bash\ncurl -s https://rail.example/" + town + " -o " + town + ".json && wc -c " + town + ".json\n```", fmt.Sprintf("```\n$ curl -s https://rail.example/%s -o %[1]s.json && wc -c %[1]s.json\n%d %[1]s.json\n[exit 0]\n```", town, 900+i*i*37)
		}},
		{"what others said, one after the other", false, func(i int, did []string) string {
			return fmt.Sprintf("You are %s of the club. Messages so far (the last ten):\n%s\n\nSay what you have to say now.", []string{"Oskar, who builds", "Hanna, who tests", "Pavel, who plans"}[i%3], strings.Join(newest(did, 10), "\n"))
		}, func(i int) (string, string) {
			said := []string{fmt.Sprintf("Done in %s.py, %d lines.", strings.ToLower(towns[i%26]), 70+i*17), fmt.Sprintf("%s: all %d checks pass.", towns[(i-1+26)%26], 9+i%13), fmt.Sprintf("Ticket %d: %s. Needed in spring.", i/3+2, towns[(i+1)%26])}[i%3]
			return said, []string{"Eng: ", "QA: ", "PM: "}[i%3] + said
		}},
	} {
		worst := retell(t, 26, tc.tell, tc.act)
		if tc.stuck != (worst == haltd.LevelKill) {
			t.Errorf("%s: %v, stuck %v", tc.name, worst, tc.stuck)
		}
	}
}

// A line that lists the last acts has the newest at its end.
func TestListsOfTheLastActs(t *testing.T) {
	a := ReadReply(ran("click", `{"x":316,"y":20}`), true)
	for line, want := range map[string]bool{
		"Last actions: back(); click(316, 20)":    true,
		"Last actions: back() → click(316, 20)":   true,
		"Last actions: back() | click(316, 20)":   true,
		"Last actions: click(316, 20); back()":    false,
		"Last actions: back(); click(316, 21)":    false,
		"The list is long; click it when it ends": false,
	} {
		if got := a.quotes(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// A call stands behind a label of one or two words, and a message that says a result
// once more is no message of a harness.
func TestLabelsAndEchoes(t *testing.T) {
	for text, command := range map[string]string{
		"Next one.\n\nTool call: view({\"path\": \"a.rb\"})": `view({"path": "a.rb"})`,
		"Function call 3: search[rivers]":                    "search[rivers]",
		"As I said: it works (mostly)":                       "",
		"A: f(x)":                                            "",
		"Please note THIS: it is done":                       "",
	} {
		if got := labelled(text); got != command {
			t.Errorf("%q has %q", text, got)
		}
	}
	for text, command := range map[string]string{
		"### Thought ###\nA dialog. Action is needed.\n\n### Action ###\nTap (281, 328)\n\n### Operation ###\nAllow it.": "Tap (281, 328)",
		"**Thought:** look\n**Action:**\nopen drawer 2":                                                                  "open drawer 2",
		"## Action items\nNone.": "",
		"Action":                 "",
	} {
		if got := underHeading(text); got != command {
			t.Errorf("under the heading of %q stands %q", text, got)
		}
	}
	edit := "<<<<<<< SEARCH\ndef a():\n    pass\n=======\ndef a():\n    return 1"
	for text, command := range map[string]string{
		"I implement it.\n" + edit + "\n>>>>>>> REPLACE\nDone.": edit,
		"It said <<<<<<< HEAD, and no more.":                    "",
	} {
		if got := replacement(text); got != command {
			t.Errorf("%q replaces %q", text, got)
		}
	}
	results := []haltd.ToolResult{{Text: "Tests: 124 passed\n"}}
	for text, echo := range map[string]bool{"Tests: 124 passed": true, "Tool result: Tests: 124 passed\n": true, "Tests: 123 passed": false, "Now run the others": false, "We want Tests: 124 passed": false} {
		if repeatsResult(text, results) != echo {
			t.Errorf("%q: want %v", text, echo)
		}
	}
	if repeatsResult("Stop here, please.", []haltd.ToolResult{{}}) {
		t.Error("what a person says beside an empty result is taken for it")
	}
}
