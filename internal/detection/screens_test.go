package detection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// screen is a page of a site as browser tools print it: most of it is the same on
// every page, the clock and the advertisement change by themselves.
func screen(i int, title, main string) string {
	ad := []string{"Ad: Cloud hosting with 99.99% uptime", "Sponsored: Learn Spanish in 15 minutes a day", "Ad: Car insurance from $19", "Promoted: Noise-cancelling earbuds"}[i*i%7%4]
	nav := ""
	for n, link := range []string{"Home", "Overview", "Guides", "Updates", "Events", "Topics", "Community", "Support", "Status", "Account", "Help centre"} {
		nav += fmt.Sprintf("\n  - link %q [ref=e%d]", link, 5+n+i*7%13)
	}
	return fmt.Sprintf("Page Title: %s\n- banner%s\n- complementary\n  - link %q\n- main\n%s\n- contentinfo\n  - link \"Privacy\"\n  - link \"Terms\"\n  - text: © 2026 build 65cae2b · %d ms · 10:%02d:%02d", title, nav, ad, main, 100+i*617%800, i/60, i%60)
}

// Items of a list that go through the same screens, one after the other; and screens
// on which nothing comes of it.
func TestItemsThroughTheSameScreens(t *testing.T) {
	const rounds = 44
	who := func(n int) string {
		return strings.ToUpper(topics[n%20][:1]) + topics[n%20][1:] + " " + strings.ToUpper(topics[(n*7+3)%20][:1]) + topics[(n*7+3)%20][1:]
	}
	code := func(n int) int { return 10000 + n*7919%89999 }
	names := ""
	for n := range 12 {
		names += ", " + who(n)
	}
	form := func(i int, name, note string) string {
		return screen(i, "New contact", fmt.Sprintf("  - textbox \"Name\": %s\n  - textbox \"Company\"\n  - button \"Save\"\n  - button \"Discard\"\n%s", name, note))
	}
	healthy := map[string]func(k *talk, i int){
		"names of the task, typed into one form": func(k *talk, i int) {
			switch n := i / 4; i % 4 {
			case 0:
				k.does("tap", fmt.Sprintf(`{"index":%d}`, 9+n%3), form(i, "", ""))
			case 1:
				k.does("input_text", fmt.Sprintf(`{"index":%d,"text":%q}`, 5+n%3, who(n)), form(i, who(n), ""))
			case 2:
				k.does("tap", fmt.Sprintf(`{"index":%d}`, 6+n%3), screen(i, "Contacts", "  - button \"Create contact\"\n  - list \"Recent\""))
			default:
				k.does("tap", `{"index":2}`, screen(i, "Contacts", "  - button \"Create contact\"\n  - list \"All\"\n  - button \"Sort\""))
			}
		},
		"an event on one day after the other": func(k *talk, i int) {
			day := fmt.Sprintf("2026-%02d-%02d", 3+i/4/4, 2+i/4%4*7)
			event := func(title, day string) string {
				return screen(i, "New event", fmt.Sprintf("  - textbox \"Title\": %s\n  - textbox \"Date\": %s\n  - combobox \"Reminder\": 10 minutes\n  - button \"Save\"", title, day))
			}
			switch i % 4 {
			case 0:
				k.does("browser_click", `{"element":"New event","ref":"e19"}`, event("", ""))
			case 1:
				k.does("browser_type", `{"element":"Title","ref":"e16","text":"Physio"}`, event("Physio", ""))
			case 2:
				k.does("browser_type", fmt.Sprintf(`{"element":"Date","ref":"e17","text":%q}`, day), event("Physio", day))
			default:
				k.does("browser_click", `{"element":"Save","ref":"e21"}`, screen(i, "Calendar", "  - button \"Today\"\n  - button \"New event\"\n  - button \"Next week\""))
			}
		},
		"clicks at places, with words that say on what": func(k *talk, i int) {
			list, n := "", i/2
			for m := n; m < 24; m++ {
				list += fmt.Sprintf("\n  - row \"Order K-%d\"", code(m))
			}
			if i%2 == 0 {
				k.doesSaying(fmt.Sprintf("Opening Order K-%d.", code(n)), "computer", fmt.Sprintf(`{"action":"left_click","coordinate":[%d,%d]}`, 150+n%3*20, 390+n%2*38), screen(i, fmt.Sprintf("Order K-%d", code(n)), "  - button \"Confirm\"\n  - button \"Print\"\n  - button \"Back\"\n  - text: paid"))
				return
			}
			k.doesSaying("Confirmed.", "computer", fmt.Sprintf(`{"action":"left_click","coordinate":[%d,%d]}`, 300+n%2*9, 500), screen(i, "Orders", "  - heading \"Orders\""+list))
		},
		"prices that are typed, and saved under their number": func(k *talk, i int) {
			list, n := "", i/2
			for m := range 24 {
				list += fmt.Sprintf("\n  - row \"SKU-%d\"", code(m))
			}
			if price := fmt.Sprintf("%d.%02d", 10+n*37%80, n*53%100); i%2 == 0 {
				k.does("browser_type", fmt.Sprintf(`{"element":"Price SKU-%d","ref":"e%d","text":%q}`, code(n), 17+n%9, price), screen(i, "Articles", list+fmt.Sprintf("\n  - textbox \"Price SKU-%d\": %s", code(n), price)))
				return
			}
			k.does("browser_click", fmt.Sprintf(`{"element":"Save SKU-%d","ref":"e%d"}`, code(n), 18+n%7), screen(i, "Articles", list+fmt.Sprintf("\n  - alert: SKU-%d saved", code(n))))
		},
		"links of a list by their numbers, and back": func(k *talk, i int) {
			list, n := "", i/2
			for m := range 24 {
				list += fmt.Sprintf("\n- link \"#%d\" [ref=e%d]", 1000+code(m)%9000, 30+3*m)
			}
			if i%2 == 1 {
				k.does("browser_navigate_back", `{}`, "Page Title: Orders\n- list [ref=e20]:"+list)
				return
			}
			k.does("browser_click", fmt.Sprintf(`{"element":"%d","ref":"e%d"}`, 1000+code(n)%9000, 30+3*n), fmt.Sprintf("Page Title: %d\n- text: Phone +49 17%d %07d\n- text: Note %s", 1000+code(n)%9000, n%10, n*7919%9999999, []string{"ring twice", "leave at the door", "after 5pm"}[n%3]))
		},
		"the way back through the rooms": func(k *talk, i int) {
			const deep = 20
			room := func(n int) string {
				return fmt.Sprintf("%s. You see a %s and a %s here. Exits: %s.", who(n), topics[(n*3+1)%20], topics[(n*5+2)%20], []string{"north, south", "east, west", "up, down"}[n%3])
			}
			switch {
			case i < deep:
				k.does("go", fmt.Sprintf(`{"direction":%q}`, []string{"north", "east", "up"}[i*i%3]), room(i))
			case i < 2*deep-1:
				k.does("go", fmt.Sprintf(`{"direction":%q}`, []string{"south", "west", "down"}[i*i%3]), room(2*deep-2-i))
			default:
				k.does("examine", fmt.Sprintf(`{"thing":%q}`, topics[i%len(topics)]), fresh(i))
			}
		},
	}
	opening := "Add these people, raise the prices, confirm the orders, enter the events" + names + "."
	playAllWith(t, opening, rounds, healthy, false)
	stuck := map[string]func(k *talk, i int){
		"a form that forgets what was typed": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("input_text", fmt.Sprintf(`{"index":%d,"text":%q}`, 5+i%3, who(0)), form(i, who(0), ""))
				return
			}
			k.does("tap", fmt.Sprintf(`{"index":%d}`, 6+i%3), form(i, "", "  - alert: Name is required"))
		},
		"clicks at places that do nothing": func(k *talk, i int) {
			k.doesSaying("I click Confirm.", "computer", fmt.Sprintf(`{"action":"left_click","coordinate":[%d,%d]}`, 150+i%3*20, 390+i%2*38), screen(i, "Order K-10000", "  - button \"Confirm\"\n  - button \"Print\"\n  - text: open"))
		},
		"to and fro between the same rooms": func(k *talk, i int) {
			n := i % 6
			n = min(n, 6-n)
			k.does("go", fmt.Sprintf(`{"direction":%q}`, []string{"north", "south"}[i/3%2]), fmt.Sprintf("%s. You see a %s and a %s here. Exits: north, south.", who(n), topics[(n*3+1)%20], topics[(n*5+2)%20]))
		},
		"a search in vain, whose answers are counted": func(k *talk, i int) {
			others := []string{"'Arroyo (valle)'", "'Ferrocarril'", "'Sierra Baja'", "'Derecho'"}
			n := i * i % 11
			k.says(fmt.Sprintf("Pensamiento %d: %s\nAcción %d: Buscar[%s]", i+1, []string{"Quizá aparezca de otra forma.", "Pruebo una variante.", "Busco con otro nombre."}[n%3], i+1, []string{"Fundación Arroyo Seco", "Arroyo Seco", "fundación arroyo", "Arroyo Seco historia", "Seco fundación"}[n%5]),
				fmt.Sprintf("Observación %d: No se encontró. Similares: [%s, %s, %s, %s].", i+1, others[n%4], others[(n+1)%4], others[(n+2)%4], others[(n+3)%4]))
		},
		"a record whose version is always another": func(k *talk, i int) {
			tag := fmt.Sprintf("%010x", uint64(i+3)*0x9e3779b97f4a7c15>>24)
			if i%2 == 0 {
				k.does("crm_get", `{"id":5868429}`, fmt.Sprintf(`{"id":5868429,"name":"Liam Ahmed","phone":null,"etag":%q,"modifiedBy":"sync-bot","modifiedAt":"2026-09-11T13:%02d:02Z"}`, tag, i))
				return
			}
			k.does("crm_update", fmt.Sprintf(`{"id":5868429,"if_match":%q,"phone":"+49 30 301361"}`, tag), fmt.Sprintf(`{"status":409,"error":%q,"timestamp":"2026-09-11T13:%02d:14Z"}`, []string{"Version mismatch", "Conflict", "Record was modified by another user"}[i*i%7%3], i))
		},
	}
	playAllWith(t, opening, rounds, stuck, true)
}

// doesSaying is does with words beside the call.
func (k *talk) doesSaying(text, tool, arguments, result string) {
	r := did(tool, arguments, result)
	k.ids++
	id := fmt.Sprintf("call_%08d", k.ids)
	r.Text, r.Calls[0].ID, r.Results[0].CallID = text, id, id
	k.reply(haltd.Reply{Text: text, Calls: r.Calls, Complete: true})
	k.judge(&r)
}
