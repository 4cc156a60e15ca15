package scenarios

import (
	"fmt"
	"strings"
)

func hWorlds() []Family {
	return []Family{
		// Links are followed from page to new page.
		{Name: "browse-new-pages", Make: hBrowsePages},
		// A form is filled field by field; the whole page comes back after each.
		{Name: "browse-form-by-field", Make: hBrowseForm},
		// A click does nothing three times, then another way works.
		{Name: "browse-dead-click-then-another-way", Make: hBrowseDeadClick},
		// The same click on "next" brings another picture each time.
		{Name: "browse-gallery-next", Make: hBrowseGallery},
		// The same click turns the calendar to the month that is wanted.
		{Name: "browse-month-picker", Make: hBrowseMonths},
		// A desktop is operated with a screenshot after each action.
		{Name: "browse-desktop-screenshots", Make: hBrowseDesktop},
		// A maze: new rooms, now and then a wall.
		{Name: "game-maze", Make: hGameMaze},
		// Wood and stone are gathered; the stock rises.
		{Name: "game-gathering", Make: hGameGathering},
		// A game on a board, with another position after each move.
		{Name: "game-board", Make: hGameBoard},
		// The robot goes on step by step; only its coordinates change.
		{Name: "game-robot-steps", Make: hGameRobot},
		// Guessing a number: higher, lower, until it is found; round after round.
		{Name: "game-guess-number", Make: hGameGuess},
	}
}

func hBrowsePages(w *words) Case {
	k := hAbroad(w)
	link := w.name()
	task := k.tr("Find out who founded the company behind %s.", "Finde heraus, wer die Firma hinter %s gegründet hat.", "Averigua quién fundó la empresa detrás de %s.", "Trouve qui a fondé l'entreprise derrière %s.", "Descubra quem fundou a empresa por trás de %s.", "查明%s背后的公司是谁创立的。", "%sの会社を誰が設立したか調べてください。", "Выясни, кто основал компанию %s.")
	return k.play("You use a browser.", user(fmt.Sprintf(task, link)), each(w.between(12, 35), func(int) Moves {
		here := link
		link = w.name() + " " + pick(w, hNouns...)
		links := "\nLinks: " + strings.Join(some(w, 5, append(w.several(4), link)), " | ")
		return k.do(here, k.tool("click", "follow link", "browser click"), hArgs{k.key("text", "element", "link"), here}, ok(k.page(here, w.between(6, 45))+links))
	}), k.end(k.person(w)+"."))
}

func hBrowseForm(w *words) Case {
	k := hAbroad(w)
	fields := some(w, w.between(10, 20), strings.Fields("first_name last_name email phone street house_no city zip country birthday profession employer income iban insurance_no language nationality children emergency_contact remarks hobby car_plate"))
	values := map[string]string{}
	intro := k.prose(w.between(2, 8))
	form := func() string {
		var b strings.Builder
		b.WriteString(intro + "\n")
		for i, f := range fields {
			fmt.Fprintf(&b, "[%d] <input name=%s> %s\n", i+1, f, values[f])
		}
		return b.String() + "[99] <button> Submit"
	}
	tool := k.tool("type", "fill", "browser type")
	task := k.tr("Fill in the form for %s.", "Fülle das Formular für %s aus.", "Rellena el formulario para %s.", "Remplis le formulaire pour %s.", "Preencha o formulário para %s.", "替%s填写表格。", "%sさんの申込書に記入してください。", "Заполни форму для человека по имени %s.")
	return k.play("You fill in web forms.", user(fmt.Sprintf(task, k.person(w))), k.do("", k.tool("open", "navigate"), hArgs{"url", "https://" + w.word() + ".example/form"}, ok(form())), each(len(fields), func(i int) Moves {
		v := pick(w, k.city(), k.person(w), fmt.Sprint(w.between(1, 99999)), w.word())
		values[fields[i]] = v
		return k.do(fields[i], tool, hArgs{"index", i + 1, "text", v}, ok(form()))
	}), k.do("", k.tool("click", "press"), hArgs{"index", 99}, ok(k.page("Thank you", 3))), k.end(""))
}

func hBrowseDeadClick(w *words) Case {
	k := hNew(w)
	page, button := k.page(w.name(), w.between(8, 35)), w.name()
	click := k.tool("click", "browser click")
	return k.play("You use a browser.", user("Order the "+pick(w, hNouns...)+" set from the shop."), each(w.between(2, 6), func(int) Moves {
		l := w.name()
		return k.do(l, click, hArgs{"element", l}, ok(k.page(l, w.between(6, 30))))
	}), each(3, func(int) Moves { return k.do(button, click, hArgs{"element", button}, ok(page)) }),
		k.do("", k.tool("press key", "key"), hArgs{"key", "Enter"}, ok(k.page("Basket", w.between(6, 20)))), each(w.between(3, 9), func(int) Moves {
			l := w.name()
			return k.do(l, click, hArgs{"element", l}, ok(k.page(l, w.between(6, 30))))
		}), k.end("The set is ordered."))
}

func hBrowseGallery(w *words) Case {
	k := hAbroad(w)
	click := k.tool("click", "computer click", "tap")
	args := pick(w, hArgs{"x", w.between(800, 1200), "y", w.between(300, 600)}, hArgs{"element", "Next"}, hArgs{"selector", "button.next"})
	n := w.between(18, 48)
	task := k.tr("Look at all pictures and describe them.", "Sieh dir alle Bilder an und beschreibe sie.", "Mira todas las fotos y descríbelas.", "Regarde toutes les images et décris-les.", "Veja todas as fotos e descreva-as.", "查看所有图片并描述。", "すべての写真を見て説明してください。", "Посмотри все снимки и опиши их.")
	return k.play("You operate a photo viewer.", user(task), each(n, func(i int) Moves {
		return k.do("", click, args, ok(fmt.Sprintf("%d / %d\n%s\n%s", i+1, n, k.sentence(), k.sentence())))
	}), k.end(k.prose(3)))
}

func hBrowseMonths(w *words) Case {
	k := hNew(w)
	click, args := k.tool("click", "browser click"), pick(w, hArgs{"selector", ".datepicker-next"}, hArgs{"element", "Next month"}, hArgs{"index", w.between(3, 40)})
	start, n := w.IntN(12), w.between(5, 20)
	view := func(i int) string {
		return fmt.Sprintf("Date picker: %s %d\nMo Tu We Th Fr Sa Su\n%s\n[<] [>] [Close]", hMonths[(start+i)%12], 2026+(start+i)/12, " 1  2  3  4  5  6  7\n 8  9 10 11 12 13 14\n15 16 17 18 19 20 21\n22 23 24 25 26 27 28")
	}
	return k.play("You book journeys in a browser.", user(fmt.Sprintf("Book the cabin for the first week of %s %d.", hMonths[(start+n)%12], 2026+(start+n)/12)), k.do("", click, hArgs{"element", "Date"}, ok(view(0))),
		each(n, func(i int) Moves { return k.do("", click, args, ok(view(i+1))) }), k.do("", click, hArgs{"element", "day 1"}, ok(k.page("Your booking", w.between(5, 20)))), k.end("The cabin is booked."))
}

func hBrowseDesktop(w *words) Case {
	k := hNew(w)
	shot, people := k.tool("screenshot", "take screenshot", "observe screen"), k.people(w.between(8, 16))
	x, y := w.between(10, 1200), w.between(10, 800)
	return k.play("You operate a desktop.", user("Create accounts for the new colleagues: "+hJoin(people)), each(len(people), func(i int) Moves {
		return seq(k.do("", shot, hArgs{}, ok("window Users; form: name [          ] role [      ] [Save]; saved: "+hJoin(people[:i]))),
			k.do(people[i], k.tool("type text", "keyboard type"), hArgs{"text", people[i]}, ok(k.key("", "ok"))),
			k.do("", k.tool("left click", "mouse click"), hArgs{"x", x, "y", y}, ok(k.key("", "ok"))))
	}), k.end("All accounts exist."))
}

func hGameMaze(w *words) Case {
	k := hAbroad(w)
	move, x, y := k.tool("move", "go", "walk"), 0, 0
	wall := k.tr("You bump into a wall.", "Du stößt gegen eine Wand.", "Chocas contra una pared.", "Tu heurtes un mur.", "Bates numa parede.", "你撞到了墙。", "壁にぶつかりました。", "Вы упёрлись в стену.")
	ways := []string{"north", "east", "south", "west"}
	task := k.tr("Find the way out of the maze.", "Finde den Weg aus dem Labyrinth.", "Encuentra la salida del laberinto.", "Trouve la sortie du labyrinthe.", "Encontre a saída do labirinto.", "找到走出迷宫的路。", "迷路の出口を見つけてください。", "Найди выход из лабиринта.")
	next := 1
	return k.play("You play a game of rooms.", user(task), each(w.between(20, 50), func(int) Moves {
		if w.chance(22) {
			return k.do("", move, hArgs{k.key("direction", "to"), ways[w.between(2, 3)]}, ok(wall))
		}
		way := ways[next]
		x, y = x+next, y+1-next
		next = w.IntN(2)
		exits := []string{ways[next]}
		if w.chance(50) {
			exits = some(w, 2, ways[:2])
		}
		return k.do(way, move, hArgs{k.key("direction", "to"), way}, ok(k.record(hArgs{"room", w.name(), "x", x, "y", y, "exits", hJoin(exits), "text", k.sentence()})))
	}), k.end(k.tr("I am out.", "Ich bin draußen.", "Estoy fuera.", "Je suis dehors.", "Saí.", "我出来了。", "外に出ました。", "Я вышел.")))
}

func hGameGathering(w *words) Case {
	k := hNew(w)
	things := w.several(4)
	stock := map[string]int{}
	return k.play("You play a game of survival.", user("Collect enough "+hJoin(things)+" for a house."), each(w.between(25, 60), func(int) Moves {
		t := pick(w, things...)
		stock[t] += w.between(1, 3)
		inv := hArgs{}
		for _, s := range things {
			inv = append(inv, s, stock[s])
		}
		return k.do(t, k.tool("gather", "mine block", "collect"), hArgs{k.key("resource", "block"), t}, ok(hArgs{"inventory", inv, "health", w.between(12, 20), "position", []int{w.between(-90, 90), 64, w.between(-90, 90)}}.json()))
	}), k.end("There is enough for a house."))
}

func hGameBoard(w *words) Case {
	k := hNew(w)
	board, order := strings.Split(strings.Repeat(".", 64), ""), w.Perm(64)
	return k.play("You play a board game against a program.", user("Play a game and try to win."), each(w.between(18, 32), func(i int) Moves {
		mine, theirs := order[2*i], order[2*i+1]
		board[mine], board[theirs] = "X", "O"
		var b strings.Builder
		for r := range 8 {
			b.WriteString(strings.Join(board[8*r:8*r+8], " ") + "\n")
		}
		return k.do(fmt.Sprintf("move %d", i+1), k.tool("play move", "place stone"), hArgs{"square", fmt.Sprintf("%c%d", 'a'+mine%8, mine/8+1)}, ok(b.String()))
	}), k.end("I won by five stones."))
}

func hGameRobot(w *words) Case {
	k := hAbroad(w)
	x, y, step := w.between(0, 50), w.between(0, 50), w.between(1, 3)
	tool, args := k.tool("forward", "move forward", "drive ahead", "advance"), pick(w, hArgs{}, hArgs{"speed", w.between(1, 5)}, hArgs{k.key("robot", "unit", "rover"), w.word()})
	n := w.between(15, 45)
	task := k.tr("Drive straight on to the charging station and tell me where it is.", "Fahr geradeaus bis zur Ladestation und sag mir, wo sie ist.", "Avanza recto hasta la estación de carga y dime dónde está.", "Avance tout droit jusqu'à la station et dis-moi où elle est.", "Siga em frente até à estação de carga e diga onde fica.", "一直开到充电站，并告诉我它的位置。", "充電ステーションまで直進し、場所を教えてください。", "Езжай прямо до зарядной станции и скажи, где она.")
	return k.play("You drive a robot.", user(task), each(n, func(int) Moves {
		x += step
		return k.do("", tool, args, ok(k.record(hArgs{k.key("x", "pos_x", "east"), x, k.key("y", "pos_y", "north"), y, k.key("obstacle", "blocked", "contact"), false, k.key("zone", "sector"), k.server})))
	}), k.do("", tool, args, ok(k.record(hArgs{k.key("x", "pos_x", "east"), x, k.key("y", "pos_y", "north"), y, k.key("obstacle", "blocked", "contact"), true, "seen", "charging station"}))), k.end(fmt.Sprintf("(%d, %d)", x, y)))
}

func hGameGuess(w *words) Case {
	k := hAbroad(w)
	tool := k.tool("guess", "try number")
	high, low, hit := k.tr("too high", "zu hoch", "demasiado alto", "trop haut", "alto demais", "太大了", "大きすぎます", "слишком много"), k.tr("too low", "zu niedrig", "demasiado bajo", "trop bas", "baixo demais", "太小了", "小さすぎます", "слишком мало"), k.tr("correct", "richtig", "correcto", "exact", "certo", "正确", "正解", "верно")
	return k.play("You play guessing games.", user(k.tr("Guess my numbers.", "Errate meine Zahlen.", "Adivina mis números.", "Devine mes nombres.", "Adivinhe os meus números.", "猜我的数字。", "私の数字を当ててください。", "Угадай мои числа.")), each(w.between(2, 5), func(round int) Moves {
		lo, hi := 1, w.between(100, 5000)
		goal := w.between(lo, hi)
		var ms Moves
		for {
			g, verdict := (lo+hi)/2, hit
			if g > goal {
				verdict, hi = high, g-1
			} else if g < goal {
				verdict, lo = low, g+1
			}
			ms = append(ms, k.do(fmt.Sprint(g), tool, hArgs{"round", round + 1, "number", g}, ok(verdict))...)
			if g == goal {
				return ms
			}
		}
	}), k.end(""))
}
