package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckPages() []Family {
	return []Family{
		{"stuck-same-click-on-a-living-page", true, stuckSameClickOnALivingPage},
		{"stuck-screens-alternate", true, stuckScreensAlternate},
		{"stuck-scrolls-at-the-bottom", true, stuckScrollsAtTheBottom},
		{"stuck-login-comes-back", true, stuckLoginComesBack},
		{"stuck-captcha-again", true, stuckCaptchaAgain},
		{"stuck-page-comes-as-a-message", true, stuckPageComesAsAMessage},
		{"stuck-field-is-emptied", true, stuckFieldIsEmptied},
		{"stuck-taps-beside-the-button", true, stuckTapsBesideTheButton},
	}
}

// sliving is a long page that only its clock, its visitors and its
// advertisements change.
func sliving(w *words) func() string {
	page, clock, visitors := spage(w), sclock(w, 8e9), w.between(90, 90000)
	ads := make([]string, w.between(3, 6))
	for i := range ads {
		ads[i] = fmt.Sprintf("%s: %s for only %d euros!", w.name(), pick(w, sThings...), w.between(3, 300))
	}
	top, kinds := w.chance(50), some(w, w.between(1, 3), []int{0, 1, 2})
	return func() string {
		visitors += w.between(1, 9)
		lines := []string{"It is " + clock(), fmt.Sprintf("%d visitors today", visitors), "Advertisement - " + pick(w, ads...)}
		var live []string
		for _, kind := range kinds {
			live = append(live, lines[kind])
		}
		if top {
			return strings.Join(live, "\n") + "\n" + page
		}
		return page + "\n" + strings.Join(live, "\n")
	}
}

// sscreen is a screen of an app as the list of its elements.
func sscreen(w *words, app string) string {
	return fmt.Sprintf("[%s > %s]\n", app, w.name()) + slines(w.between(5, 30), func(j int) string {
		return fmt.Sprintf("(%d) %s %q", j, pick(w, "Button", "TextView", "Switch", "ImageView", "EditText"), w.name())
	})
}

// claims says that the last step has worked, in ever other words.
func (k *skit) claims() string {
	return sglue(k.words, k.t.open, k.t.claim, k.t.tail)
}

// The same button is clicked; the page lives on but does not react.
func stuckSameClickOnALivingPage(w *words) Case {
	k, site, page := newSkit(w), ssite(w), sliving(w)
	click, label := k.tool("click", pick(w, "element", "button", "link")), pick(w, "Continue", "Book now", "Next", "Accept", "Weiter", "Comprar")
	args := sargs(pick(w, "index", "ref", "element"), w.between(2, 60), "text", label)
	return Case{
		System: k.system("You use a browser.", "You book and order on the web."),
		Moves: seq(
			k.asks(site, "Book a table at "+site+".", "Order two tickets at "+site+"."),
			k.prior(sBrowsing),
			call(k.tool("open", "page"), sargs("url", "https://"+site), ok(page())),
			k.loop(k.rounds(), func(int) Moves { return saying(k.claims(), call(click, args, ok(page()))) }),
		),
	}
}

// Two or three screens come by turns, and always the same ones.
func stuckScreensAlternate(w *words) Case {
	k, n := newSkit(w), w.between(2, 3)
	tool, app := k.tool(pick(w, "tap", "click"), pick(w, "screen", "point")), w.name()
	act := func() string { return sargs("x", w.between(10, 1000), "y", w.between(10, 2000)) }
	acts, screens := make([]string, n), make([]string, n)
	for i := range n {
		acts[i], screens[i] = act(), sscreen(w, app)
	}
	return Case{
		System: k.system("You operate a phone. You see each screen as a list of its elements.", "You control an app by its screens."),
		Moves: seq(
			k.asks(app, "Turn off the notifications in "+app+".", "Change my address in "+app+"."),
			k.paced(each(w.between(0, 8), func(int) Moves { return call(tool, act(), ok(sscreen(w, app))) })),
			k.loop(k.rounds()/n*n+n, func(i int) Moves { return k.say(call(tool, acts[i%n], ok(screens[i%n]))) }),
		),
	}
}

// The page is at its bottom and scrolling moves it no more.
func stuckScrollsAtTheBottom(w *words) Case {
	k, site := newSkit(w), ssite(w)
	scroll, page := k.tool("scroll", pick(w, "page", "down", "view")), spage(w)
	at := w.between(2000, 30000)
	where := pick(w, fmt.Sprintf("Scroll position %d of %d px.", at, at), "You are at the end of the page.", "0 pixels below the viewport", fmt.Sprintf("Scrolled down. scrollTop=%d", at))
	whole, varied, step := w.chance(60), w.chance(40), pick(w, 300, 500, 800, 1000)
	return Case{
		System: k.system("You use a browser.", "You read web pages to their end."),
		Moves: seq(
			k.asks(site, "Find the first comment on "+site+".", "Find the price of the "+pick(w, sThings...)+" at "+site+"."),
			k.prior(sBrowsing),
			k.loop(k.rounds(), func(int) Moves {
				text, by := where, step
				if whole {
					text = page + "\n" + where
				}
				if varied {
					by = 100 * w.between(2, 20)
				}
				return k.say(call(scroll, sargs("direction", "down", "amount", by), ok(text)))
			}),
		),
	}
}

// Name and password are entered, and the form comes back empty.
func stuckLoginComesBack(w *words) Case {
	k, site, user := newSkit(w), ssite(w), w.word()
	enter, click := k.tool(pick(w, "type", "fill", "enter"), "text"), k.tool("click", "button")
	form := spage(w) + "\n[1] user name: \"\"\n[2] password: \"\"\n[3] Sign in"
	wrong := pick(w, "", "\n"+pick(w, k.t.denied...), "\nYour session has expired. Please sign in.")
	filled := strings.Replace(form, `user name: ""`, `user name: "`+user+`"`, 1)
	ready := strings.Replace(filled, `password: ""`, `password: "********"`, 1)
	return Case{
		System: k.system("You use a browser.", "You fetch bills from portals."),
		Moves: seq(
			k.asks(site, "Get my bill from "+site+"; my name there is "+user+".", "Cancel my subscription at "+site+"."),
			call(k.tool("open", "page"), sargs("url", "https://"+site+"/login"), ok(form)),
			k.loop(k.between(9, 15), func(int) Moves {
				return seq(
					k.say(call(enter, sargs("ref", 1, "text", user), ok(filled))),
					k.say(call(enter, sargs("ref", 2, "text", "<secret>"), ok(ready))),
					saying(k.claims(), call(click, sargs("ref", 3), ok(form+wrong))),
				)
			}),
		),
	}
}

// A puzzle against robots comes again with other numbers after each answer.
func stuckCaptchaAgain(w *words) Case {
	k, site := newSkit(w), ssite(w)
	enter, kind := k.tool(pick(w, "solve", "type", "answer"), "captcha"), w.IntN(3)
	ask := func() (question, solution string) {
		a, b := w.between(2, 60), w.between(2, 60)
		switch kind {
		case 0:
			return fmt.Sprintf("What is %d + %d?", a, b), fmt.Sprint(a + b)
		case 1:
			s := w.hex(6)
			return "Enter the characters you see: " + s, s
		}
		return fmt.Sprintf("Select all tiles with a %s (grid %d).", pick(w, "bus", "bridge", "crosswalk", "boat"), a), fmt.Sprintf("%d,%d", a%9, b%9)
	}
	frame := pick(w, "Please verify that you are human.\n%s", "Security check at "+site+". Verification failed, try again.\n%s", "Attention required! "+site+" uses a protection service.\n%s\nRay "+w.hex(8))
	question, solution := ask()
	return Case{
		System: k.system("You use a browser.", "You collect prices on the web."),
		Moves: seq(
			k.asks(site, "Read the prices at "+site+".", "Register me at "+site+"."),
			k.prior(sBrowsing),
			call(k.tool("open", "page"), sargs("url", "https://"+site), ok(fmt.Sprintf(frame, question))),
			k.loop(k.rounds(), func(int) Moves {
				given := solution
				question, solution = ask()
				return k.say(call(enter, sargs("text", given), ok(fmt.Sprintf(frame, question))))
			}),
		),
	}
}

// The tool says nothing, and the page comes as a message of the user after
// it: always the same page.
func stuckPageComesAsAMessage(w *words) Case {
	k, site, page := newSkit(w), ssite(w), sliving(w)
	click, n, limit := k.tool("click", "element"), w.between(5, 80), pick(w, 50, 100, 200)
	label, silent := w.name(), pick(w, "", "", "ok", "Action executed.")
	step, numbered := 0, w.chance(60)
	state := func() string {
		step++
		head := "Current page: https://" + site + "\n"
		if numbered {
			head = fmt.Sprintf("[Current step %d of %d]\n", step, limit) + head
		}
		return head + fmt.Sprintf("[%d]<button>%s</button>\n", n, label) + page()
	}
	memory := w.chance(50)
	return Case{
		System: k.system("You control a browser. After each action you are shown the page.", "You are a browser agent."),
		Moves: seq(
			k.asks(site, "Subscribe to the newsletter at "+site+".", "Put the cheapest "+pick(w, sThings...)+" at "+site+" into the basket."),
			user(state()),
			k.loop(k.rounds(), func(int) Moves {
				ms := call(click, sargs("index", n), ok(silent))
				if memory {
					ms = saying(sargs("evaluation", k.claims(), "memory", k.narration(), "next_goal", k.narration()), ms)
				} else {
					ms = saying(k.claims(), ms)
				}
				return seq(ms, user(state()))
			}),
		),
	}
}

// A field is filled in, and the page shows it empty again.
func stuckFieldIsEmptied(w *words) Case {
	k, site := newSkit(w), ssite(w)
	fill, field, at := k.tool("fill", "field"), pick(w, "date", "arrival", "birthday", "due date", "valid until"), smoment(w)
	form := spage(w) + fmt.Sprintf("\n%s: [          ]  (required)\n[Submit, disabled]", field)
	varied := w.chance(60)
	return Case{
		System: k.system("You fill in forms on the web.", "You use a browser."),
		Moves: seq(
			k.asks(site, "Send the form at "+site+" for "+sperson(w)+".", "Reserve a place at "+site+"."),
			k.prior(sBrowsing),
			k.loop(k.rounds(), func(int) Moves {
				value := at.Format("2006-01-02")
				if varied {
					value = at.Format(pick(w, "2006-01-02", "02.01.2006", "1/2/2006", "02 Jan 2006", "20060102", "Jan 2", "02-01-06"))
				}
				return saying(k.claims(), call(fill, sargs("label", field, "value", value), ok(form)))
			}),
		),
	}
}

// Points near a button are tapped; the screen stays as it is.
func stuckTapsBesideTheButton(w *words) Case {
	k, app, x, y := newSkit(w), w.name(), w.between(100, 900), w.between(100, 1800)
	tap := k.tool(pick(w, "tap", "click"), pick(w, "point", "screen", "position"))
	screen := sscreen(w, app)
	seen := w.chance(50)
	return Case{
		System: k.system("You operate a computer by its screen.", "You control a phone by taps."),
		Moves: seq(
			k.asks(app, "Start the export in "+app+".", "Open the settings of "+app+"."),
			k.paced(each(w.between(0, 8), func(int) Moves {
				return call(tap, sargs("x", w.between(100, 900), "y", w.between(100, 1800)), ok(sscreen(w, app)))
			})),
			k.loop(k.rounds(), func(int) Moves {
				text := screen
				if seen {
					text = pick(w, "Tapped.", "Tapped.") + " The screen has not changed."
				}
				return k.say(call(tap, sargs("x", x+w.between(-30, 30), "y", y+w.between(-30, 30)), ok(text)))
			}),
		),
	}
}
