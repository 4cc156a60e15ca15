package scenarios

import "fmt"

// hShots are calls without a history, which look alike because they are many.
func hShots() []Family {
	return []Family{
		// Tickets of many people that happen to belong to one class.
		{Name: "shot-classifier", Make: hShotClassifier},
		// One question for each order; the answer is mostly no.
		{Name: "shot-yes-or-no", Make: hShotYesNo},
		// One template over many documents.
		{Name: "shot-extraction", Make: hShotExtraction},
		// Visitors who each say hi in a session of their own, some then ask.
		{Name: "shot-visitors-say-hi", Make: hShotVisitors},
		// A job of the clock: the same question and mostly the same answer, minutes apart.
		{Name: "shot-cron", Make: hShotCron},
		// Texts that are all harmless.
		{Name: "shot-moderation", Make: hShotModeration},
		// A judge that gives marks to many answers.
		{Name: "shot-judge", Make: hShotJudge},
		// Titles for conversations, asked beside them.
		{Name: "shot-titles", Make: hShotTitles},
	}
}

// shot is one call without a history: in a session of its own, or in one that
// forgets.
func (k *hKit) shot(i int, prompt, reply string) Moves {
	if k.long {
		return in(fmt.Sprint("c", i), user(prompt), says(reply))
	}
	return seq(forget(prompt), says(reply))
}

// lone marks a case whose calls have no history.
func (k *hKit) lone(c Case) Case {
	c.Ledger = true
	c.Unnamed = k.long && k.chance(40)
	return c
}

func hShotClassifier(w *words) Case {
	k := hAbroad(w)
	classes := some(w, 4, hTopics)
	return k.lone(k.play("Answer with one word: "+hJoin(classes)+".", each(w.between(25, 60), func(i int) Moves {
		answer := classes[0]
		if w.chance(10) {
			answer = pick(w, classes...)
		}
		ask, _ := k.question()
		return k.shot(i, k.person(w)+": "+ask+k.glue+k.prose(w.between(0, 4)), answer)
	})))
}

func hShotYesNo(w *words) Case {
	k := hAbroad(w)
	from := w.between(1000, 90000)
	form := k.tr("Is order %d late?", "Ist Bestellung %d verspätet?", "¿Está retrasado el pedido %d?", "La commande %d est-elle en retard ?", "O pedido %d está atrasado?", "订单%d晚了吗？", "注文%dは遅れていますか。", "Заказ %d опаздывает?")
	no, yes := k.tr("no", "nein", "no", "non", "não", "没有", "いいえ", "нет"), k.tr("yes", "ja", "sí", "oui", "sim", "是的", "はい", "да")
	state := w.chance(50)
	return k.lone(k.play("Answer yes or no.", each(w.between(25, 60), func(i int) Moves {
		q := fmt.Sprintf(form, from+i)
		if state {
			q = k.record(hArgs{"order", from + i, "sent", w.between(1, 28), "city", k.city()}) + "\n" + q
		}
		if w.chance(10) {
			return k.shot(i, q, yes)
		}
		return k.shot(i, q, no)
	})))
}

func hShotExtraction(w *words) Case {
	k := hAbroad(w)
	fields := w.several(w.between(3, 6))
	return k.lone(k.play("Extract the fields "+hJoin(fields)+" as JSON.", each(w.between(20, 45), func(i int) Moves {
		var out hArgs
		for _, f := range fields {
			out = append(out, f, pick[any](w, k.city(), w.between(1, 9000), nil, k.person(w)))
		}
		return k.shot(i, "Extract from this document:\n\n"+k.prose(w.between(8, 30)), out.json())
	})))
}

func hShotVisitors(w *words) Case {
	k := hAbroad(w)
	hi := k.tr(pick(w, "hi", "Hello", "hey"), "hallo", "hola", "bonjour", "oi", "你好", "こんにちは", "привет")
	welcome := k.tr("Hello! How can I help you?", "Hallo! Wie kann ich helfen?", "¡Hola! ¿En qué puedo ayudarle?", "Bonjour ! Comment puis-je vous aider ?", "Olá! Como posso ajudar?", "您好！请问有什么可以帮您？", "こんにちは。どうなさいましたか。", "Здравствуйте! Чем могу помочь?")
	c := k.play("You are the assistant of "+w.name()+"'s shop.", every(k.secs(3, 90), each(w.between(20, 50), func(i int) Moves {
		ms := seq(user(hi), says(welcome))
		if w.chance(55) {
			ask, reply := k.question()
			ms = seq(ms, user(ask), says(reply))
		}
		return in(fmt.Sprint("visitor-", w.hex(6)), ms)
	})))
	c.Ledger = true
	return c
}

func hShotCron(w *words) Case {
	k := hAbroad(w)
	prompt := k.tr("Are there new orders? Answer in one line.\n\nInbox %s:\n", "Gibt es neue Bestellungen? Antworte in einer Zeile.\n\nPosteingang %s:\n", "¿Hay pedidos nuevos? Responde en una línea.\n\nBandeja %s:\n", "Y a-t-il de nouvelles commandes ? Réponds en une ligne.\n\nBoîte %s :\n", "Há novos pedidos? Responda numa linha.\n\nCaixa %s:\n", "有新订单吗？请用一行回答。\n\n收件箱%s：\n", "新しい注文はありますか。一行で答えてください。\n\n受信箱%s：\n", "Есть новые заказы? Ответь одной строкой.\n\nВходящие %s:\n")
	none := k.tr("No new orders.", "Keine neuen Bestellungen.", "No hay pedidos nuevos.", "Aucune nouvelle commande.", "Sem novos pedidos.", "没有新订单。", "新しい注文はありません。", "Новых заказов нет.")
	one := k.tr("One new order, from %s.", "Eine neue Bestellung von %s.", "Un pedido nuevo de %s.", "Une nouvelle commande de %s.", "Um novo pedido de %s.", "有一个来自%s的新订单。", "%sさんから新しい注文が一件あります。", "Один новый заказ от: %s.")
	if k.tongue == hEnglish && w.chance(60) {
		prompt = pick(w, "Hourly check of %s: summarise the report below in one line.\n\n", "You run every few minutes. Is anything wrong with %s?\n\n", "Watch %s. Reply NOTHING unless a line below needs a person.\n\n")
		none = pick(w, "NOTHING", "All is well.", "Nothing to report.")
	}
	prompt = fmt.Sprintf(prompt, w.word())
	k.long = k.chance(40)
	return k.lone(k.play("You are called by a clock.", every(k.secs(65, 900), each(w.between(20, 60), func(i int) Moves {
		if w.chance(6) {
			who := k.person(w)
			return k.shot(i, prompt+who+": "+k.sentence(), fmt.Sprintf(one, who))
		}
		return k.shot(i, prompt+"–", none)
	}))))
}

func hShotModeration(w *words) Case {
	k := hAbroad(w)
	safe := pick(w, "safe", "SAFE", `{"flagged":false}`, "ok", "0")
	return k.lone(k.play("Judge the text. Answer only with the verdict.", each(w.between(25, 60), func(i int) Moves {
		return k.shot(i, "Text:\n"+k.prose(w.between(1, 6)), safe)
	})))
}

func hShotJudge(w *words) Case {
	k := hNew(w)
	return k.lone(k.play("Give the answer a mark from 1 to 5 and one sentence of reasons.", each(w.between(20, 45), func(i int) Moves {
		ask, reply := k.question()
		return k.shot(i, "Question: "+ask+"\nAnswer: "+reply+" "+hProse(w, w.between(0, 6)), fmt.Sprintf("%d. %s", pick(w, 4, 4, 4, 5, 3), pick(w, "It answers the question but is wordy.", "Correct and short.", "The number is right; the rest is not needed.", "It misses the place.", "Clear, with one needless sentence about "+w.word()+".")))
	})))
}

func hShotTitles(w *words) Case {
	k := hAbroad(w)
	title := k.tr("A question", "Eine Frage", "Una pregunta", "Une question", "Uma pergunta", "一个问题", "質問", "Вопрос")
	return k.play("You are helpful.", each(w.between(8, 24), func(int) Moves {
		q, reply := k.question()
		return seq(user(q), says(reply), aside("Give this conversation a title of two words.\n\n"+q, title))
	}))
}
