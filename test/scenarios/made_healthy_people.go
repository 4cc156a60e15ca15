package scenarios

import "fmt"

func hPeople() []Family {
	return []Family{
		// A person wants more of a story, and gets more.
		{Name: "people-say-continue", Make: hPeopleContinue},
		// A person repairs something between the attempts, and it works at last.
		{Name: "people-say-try-again", Make: hPeopleTryAgain},
		// A person asks the same again and again and gets another answer each time.
		{Name: "people-ask-the-same", Make: hPeopleSame},
		// Many voices, each message with a new fact.
		{Name: "people-group-chat", Make: hPeopleGroup},
		// A survey: one form of question, short answers.
		{Name: "people-survey", Make: hPeopleSurvey},
		// A customer and a desk, question by question to the end.
		{Name: "people-support", Make: hPeopleSupport},
		// Lessons: exercise, answer, correction, over and over with other content.
		{Name: "people-lesson", Make: hPeopleLesson},
		// Every turn begins with the same greeting and the same memory call.
		{Name: "people-greeted-each-turn", Make: hPeopleGreeting},
		// A person approves each step with the same word.
		{Name: "people-approve-each-step", Make: hPeopleApprove},
		// A person switches lamps by voice; call and answer are short and alike.
		{Name: "people-voice-commands", Make: hPeopleVoice},
	}
}

func hPeopleContinue(w *words) Case {
	k := hAbroad(w)
	more := pick(w, k.goOn...)
	task := k.tr("Tell me a long story about %s.", "Erzähl mir eine lange Geschichte über %s.", "Cuéntame una historia larga sobre %s.", "Raconte-moi une longue histoire sur %s.", "Conte-me uma longa história sobre %s.", "给我讲一个关于%s的长故事。", "%sについて長い話をしてください。", "Расскажи длинную историю про город %s.")
	return k.play(k.tr("You tell stories.", "Du erzählst Geschichten.", "Cuentas historias.", "Tu racontes des histoires.", "Você conta histórias.", "你讲故事。", "あなたは語り手です。", "Ты рассказываешь истории."), user(fmt.Sprintf(task, k.city())), each(w.between(8, 30), func(int) Moves {
		return answer(k.prose(w.between(2, 9)), more)
	}), k.end(k.sentence()))
}

func hPeopleTryAgain(w *words) Case {
	k := hNew(w)
	tool, args := k.tool("print document", "connect device", "scan page", "unlock door"), hArgs{k.key("device", "file", "id"), w.word()}
	fail := pick(w, "device not ready", "Error: no response from device", "timeout after 30 s", "paper jam")
	did := some(w, w.between(4, 8), []string{"I plugged the cable in, try again.", "Switched it off and on. Again please.", "The lid was open! Once more.", "I changed the cartridge. Try again.", "Moved it closer to the router, try again.", "Now I pressed the reset button. Again?", "New batteries. Please try again.", "The light is green now, try again.", "I called Ada, she did something. Try again."})
	return k.play("You operate the devices of an office.", user("Please get the "+pick(w, hNouns...)+" papers done."), over(did, func(s string) Moves {
		return seq(every(k.secs(20, 90), k.do("", tool, args, failed(fail))), says(pick(w, "It still does not answer: ", "No luck yet: ", "The device reports: ")+fail+"."), user(s))
	}), k.do("", tool, args, ok("done, "+fmt.Sprint(w.between(1, 30))+" pages")), k.end("It worked now."))
}

func hPeopleSame(w *words) Case {
	k := hAbroad(w)
	ask := k.tr("Give me another one.", "Noch einen, bitte.", "Dame otro.", "Donne-m'en un autre.", "Dê-me outro.", "再来一个。", "もう一つお願いします。", "Дай ещё один.")
	return k.play("You propose facts for a quiz.", user(k.tr("Tell me a fact for the quiz.", "Nenne mir eine Tatsache für das Quiz.", "Dime un dato para el concurso.", "Donne-moi un fait pour le quiz.", "Diga-me um facto para o concurso.", "给我一条知识竞赛的素材。", "クイズ用の豆知識を一つください。", "Назови факт для викторины.")), says(k.sentence()), each(w.between(10, 40), func(int) Moves { return seq(user(ask), says(k.prose(w.between(1, 4)))) }))
}

func hPeopleGroup(w *words) Case {
	k := hAbroad(w)
	people := k.people(w.between(3, 7))
	noted := k.tr("Noted", "Notiert", "Anotado", "Noté", "Anotado", "已记录", "記録しました", "Записано")
	return k.play("You take the minutes of a meeting with "+hJoin(people)+".", each(w.between(15, 45), func(int) Moves {
		who, fact := pick(w, people...), k.sentence()
		return seq(user(who+": "+fact+k.glue+k.sentence()), says(noted+": "+who+" – "+fact))
	}))
}

func hPeopleSurvey(w *words) Case {
	k := hAbroad(w)
	form := k.tr("Thank you. How happy were you with %s? Please say good, fair or bad.", "Danke. Wie zufrieden waren Sie mit %s? Bitte sagen Sie gut, mittel oder schlecht.", "Gracias. ¿Qué le pareció %s? Diga bien, regular o mal.", "Merci. Que pensez-vous de %s ? Dites bien, moyen ou mauvais.", "Obrigado. O que achou de %s? Diga bom, médio ou mau.", "谢谢。您对%s满意吗？请回答好、一般或差。", "ありがとうございます。%sはいかがでしたか。良い、普通、悪いでお答えください。", "Спасибо. Как вам понравилось: %s? Скажите хорошо, средне или плохо.")
	good := k.tr("good", "gut", "bien", "bien", "bom", "好", "良い", "хорошо")
	topics := some(w, w.between(12, 18), hSplit(k.tr("the staff|the food|the room|the view|the bed|the bath|the price|the garden|the pool|the bar|the parking|the lift|the breakfast|the music|the internet|the towels|the quiet|the location",
		"dem Personal|dem Essen|dem Zimmer|der Aussicht|dem Bett|dem Bad|dem Preis|dem Garten|der Bar|dem Frühstück|der Ruhe|der Lage|dem Aufzug|dem Internet", "el personal|la comida|la habitación|la vista|la cama|el baño|el precio|el jardín|el bar|el desayuno|la calma|el ascensor|la piscina",
		"l'accueil|la nourriture|la chambre|la vue|le lit|le bain|le prix|le jardin|le bar|le petit déjeuner|le calme|l'ascenseur|la piscine", "o pessoal|a comida|o quarto|a vista|a cama|o banho|o preço|o jardim|o bar|o silêncio|o elevador|a piscina|a música",
		"服务|饭菜|房间|景色|床|浴室|价格|花园|酒吧|早餐|电梯|泳池|网络", "接客|食事|部屋|眺め|ベッド|お風呂|値段|庭|バー|朝食|静けさ|立地|プール", "персонал|еда|номер|вид|кровать|ванная|цена|сад|бар|завтрак|тишина|лифт|бассейн")))
	return k.play("You ask the questions of a survey.", user(k.tr("Hello?", "Hallo?", "¿Diga?", "Allô ?", "Alô?", "喂？", "もしもし。", "Алло?")), over(topics, func(t string) Moves {
		a := good
		if w.chance(15) {
			a = k.sentence()
		}
		return answer(fmt.Sprintf(form, t), a)
	}), k.end(k.tr("Thank you for your time.", "Danke für Ihre Zeit.", "Gracias por su tiempo.", "Merci de votre temps.", "Obrigado pelo seu tempo.", "感谢您的时间。", "お時間をいただきありがとうございました。", "Спасибо за ваше время.")))
}

func hPeopleSupport(w *words) Case {
	k := hAbroad(w)
	tool := k.tool("search handbook", "find answer", "knowledge base")
	sure := k.tr("Gladly. ", "Gern. ", "Con gusto. ", "Avec plaisir. ", "Com gosto. ", "好的。", "かしこまりました。", "Конечно. ")
	return k.play("You answer the customers of a travel agency.", each(w.between(10, 26), func(int) Moves {
		ask, reply := k.question()
		ms := user(ask)
		if w.chance(50) {
			ms = seq(ms, k.do("", tool, hArgs{k.key("q", "question"), ask}, ok(reply+k.glue+k.prose(w.between(0, 6)))))
		}
		return seq(ms, says(pick(w, "", sure)+reply))
	}), user(k.tr("Thank you, that is all.", "Danke, das war alles.", "Gracias, eso es todo.", "Merci, c'est tout.", "Obrigado, é tudo.", "谢谢，没有别的了。", "ありがとう、以上です。", "Спасибо, это всё.")), k.end(k.tr("You are welcome.", "Gern geschehen.", "De nada.", "Je vous en prie.", "De nada.", "不客气。", "どういたしまして。", "Пожалуйста.")))
}

func hPeopleLesson(w *words) Case {
	k := hAbroad(w)
	form := k.tr("Next exercise: what is %d %s %d?", "Nächste Aufgabe: Was ist %d %s %d?", "Siguiente ejercicio: ¿cuánto es %d %s %d?", "Exercice suivant : combien font %d %s %d ?", "Próximo exercício: quanto é %d %s %d?", "下一题：%d %s %d 等于多少？", "次の問題：%d %s %dはいくつですか。", "Следующее задание: сколько будет %d %s %d?")
	right, wrong := k.tr("Right! ", "Richtig! ", "¡Correcto! ", "Exact ! ", "Certo! ", "对！", "正解です！", "Верно! "), k.tr("Not quite, it is %d. ", "Nicht ganz, es sind %d. ", "No, son %d. ", "Non, cela fait %d. ", "Não, são %d. ", "不对，是%d。", "惜しい、%dです。", "Нет, будет %d. ")
	verdict := ""
	return k.play("You are a patient teacher of arithmetic.", user(k.tr("I am ready.", "Ich bin bereit.", "Estoy listo.", "Je suis prêt.", "Estou pronto.", "我准备好了。", "準備できました。", "Я готов.")), each(w.between(10, 30), func(int) Moves {
		a, b, sign := w.between(11, 99), w.between(3, 60), pick(w, "+", "×")
		sum := map[string]int{"+": a + b, "×": a * b}[sign]
		said := verdict + fmt.Sprintf(form, a, sign, b)
		if verdict = right; w.chance(20) {
			verdict = fmt.Sprintf(wrong, sum)
			return answer(said, fmt.Sprint(sum+w.between(1, 9)))
		}
		return answer(said, fmt.Sprint(sum))
	}), k.end(verdict))
}

func hPeopleGreeting(w *words) Case {
	k := hAbroad(w)
	name, memory := k.person(w), k.prose(w.between(3, 12))
	hello := k.tr("Hello %s! ", "Hallo %s! ", "¡Hola, %s! ", "Bonjour %s ! ", "Olá, %s! ", "%s，您好！", "%sさん、こんにちは。", "Здравствуйте, %s! ")
	tool := k.tool("load memory", "recall", "get profile")
	return k.play("Greet the person by name and load the memory before each answer.", each(w.between(8, 24), func(int) Moves {
		ask, reply := k.question()
		return seq(user(ask), k.do("", tool, hArgs{}, ok(memory)), says(fmt.Sprintf(hello, name)+reply))
	}))
}

func hPeopleApprove(w *words) Case {
	k := hAbroad(w)
	yes := k.tr(pick(w, "yes", "ok", "go ahead"), "ja", "sí", "oui", "sim", "可以", "はい", "да")
	ask := k.tr("May I pay %d to %s?", "Darf ich %d an %s zahlen?", "¿Puedo pagar %d a %s?", "Puis-je payer %d à %s ?", "Posso pagar %d a %s?", "我可以付%d给%s吗？", "%dを%sに支払ってよろしいですか。", "Можно заплатить %d? Получатель: %s")
	tool, done := k.tool("transfer", "pay", "make payment"), k.ack()
	return k.play("You move money; ask before each payment.", user(k.tr("Pay the bills.", "Bezahle die Rechnungen.", "Paga las facturas.", "Paie les factures.", "Pague as contas.", "付账单。", "請求書を支払ってください。", "Оплати счета.")), over(k.people(w.between(8, 22)), func(p string) Moves {
		sum := w.between(10, 9000)
		return seq(says(fmt.Sprintf(ask, sum, p)), user(yes), k.do("", tool, hArgs{"to", p, "amount", sum}, ok(done)))
	}), k.end(""))
}

func hPeopleVoice(w *words) Case {
	k := hAbroad(w)
	rooms := w.several(w.between(3, 6))
	on, off := k.tr("Light on in %s.", "Licht an in %s.", "Enciende la luz en %s.", "Allume la lumière dans %s.", "Acenda a luz em %s.", "打开%s的灯。", "%sの電気をつけて。", "Включи свет: %s."), k.tr("Light off in %s.", "Licht aus in %s.", "Apaga la luz en %s.", "Éteins la lumière dans %s.", "Apague a luz em %s.", "关掉%s的灯。", "%sの電気を消して。", "Выключи свет: %s.")
	tool, done, fine := k.tool("set light", "switch"), k.ack(), k.tr(pick(w, "Done.", "Okay."), "Erledigt.", "Hecho.", "C'est fait.", "Feito.", "好的。", "はい。", "Сделано.")
	return k.play("You are the voice of a house.", each(w.between(10, 30), func(i int) Moves {
		room, form := pick(w, rooms...), []string{on, off}[i%2]
		return seq(user(fmt.Sprintf(form, room)), every(k.secs(20, 900), k.do("", tool, hArgs{"room", room, "on", i%2 == 0}, ok(done))), every(k.secs(1, 3), says(fine)))
	}))
}
