package scenarios

import (
	"fmt"
	"strings"
)

func hBatches() []Family {
	return []Family{
		// Many files, each treated once, each with the same short answer.
		{Name: "batch-files-acknowledged", Make: hBatchFiles},
		// Records 1 to 40 in order, each with the same short answer.
		{Name: "batch-numbered-records", Make: hBatchNumbers},
		// The days of a calendar, most of them empty.
		{Name: "batch-calendar-days", Make: hBatchCalendar},
		// Hotels for one date after the other: long answers that look alike and differ in prices.
		{Name: "batch-hotels-by-date", Make: hBatchHotels},
		// Names that the user gave; hardly any is found, which is what the user wants to know.
		{Name: "batch-names-from-user", Make: hBatchNames},
		// Every item gets the same long notice back.
		{Name: "batch-same-long-answer", Make: hBatchLong},
		// Ids from an earlier result, each read and then changed.
		{Name: "batch-ids-from-result", Make: hBatchIDs},
		// Links to be checked, of which many are dead.
		{Name: "batch-dead-links", Make: hBatchLinks},
		// A check of many places that finds nothing, as hoped.
		{Name: "batch-audit-finds-nothing", Make: hBatchAudit},
		// Several items of a list in each reply.
		{Name: "batch-several-at-once", Make: hBatchTogether},
		// Codes tried against a list that the user gave, with the same refusal until the list is through.
		{Name: "batch-vouchers-checked", Make: hBatchVouchers},
	}
}

func hBatchFiles(w *words) Case {
	k := hAbroad(w)
	ending := pick(w, "jpg", "pdf", "wav", "csv", "md", "svg")
	tool, verb := k.tool("convert file", "compress", "move file", "rename", "archive file", "ocr"), k.ack()
	files := hUnique(w.between(18, 48), func() string {
		return pick(w, w.word(), fmt.Sprintf("%s_%03d", pick(w, "IMG", "scan", "DSC"), w.between(1, 999))) + "." + ending
	})
	task := k.tr("Treat every file in the folder.", "Bearbeite jede Datei im Ordner.", "Procesa cada archivo de la carpeta.", "Traite chaque fichier du dossier.", "Trate cada ficheiro da pasta.", "处理文件夹中的每个文件。", "フォルダー内のすべてのファイルを処理してください。", "Обработай каждый файл в папке.")
	return k.play("You tidy folders.", k.errands(3), user(task), k.do("", k.tool("list files", "ls"), hArgs{"path", "/home/" + w.word()}, ok(k.listing(files))),
		over(files, func(f string) Moves {
			return k.do(f, tool, hArgs{k.key("file", "path"), f, "to", strings.TrimSuffix(f, ending) + pick(w, "webp", "txt")}, ok(verb))
		}), k.end(""))
}

func hBatchNumbers(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("approve record", "migrate row", "reindex entry", "lock page", "print label"), k.key("id", "record", "number", "row")
	from, n, verb := pick(w, 1, 1, w.between(100, 9000)), w.between(25, 45), k.ack()
	task := k.tr("Treat records %d to %d one by one.", "Bearbeite die Datensätze %d bis %d einzeln.", "Procesa los registros %d a %d uno por uno.", "Traite les fiches %d à %d une par une.", "Trate os registos %d a %d um por um.", "逐条处理第%d到第%d条记录。", "%d番から%d番までの記録を一件ずつ処理してください。", "Обработай записи с %d по %d по одной.")
	return k.play("You maintain a registry.", k.errands(3), user(fmt.Sprintf(task, from, from+n-1)), each(n, func(i int) Moves {
		return k.do(fmt.Sprint(from+i), tool, hArgs{key, from + i}, ok(verb))
	}), k.end(""))
}

func hBatchCalendar(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("list events", "get calendar", "day schedule"), k.key("date", "day", "on")
	days, empty := hDates(w, w.between(20, 45)), k.nothing()
	task := k.tr("Look through my calendar from %s to %s, day by day, for visits.", "Geh meinen Kalender vom %s bis %s Tag für Tag nach Besuchen durch.", "Revisa mi agenda del %s al %s, día por día, en busca de visitas.", "Parcours mon agenda du %s au %s, jour par jour, pour les visites.", "Veja a minha agenda de %s a %s, dia a dia, à procura de visitas.", "逐日查看我从%s到%s的日历，找出来访。", "%sから%sまでの予定を一日ずつ見て、来客を探してください。", "Просмотри мой календарь с %s по %s день за днём, ищи визиты.")
	return k.play("You keep a calendar; the tool shows one day at a time.", user(fmt.Sprintf(task, days[0], days[len(days)-1])), over(days, func(d string) Moves {
		text := empty
		if w.chance(14) {
			text = k.record(hArgs{"date", d, "time", fmt.Sprintf("%d:30", w.between(8, 18)), "title", k.sentence(), "with", k.person(w)})
		}
		return k.do(d, tool, hArgs{key, d}, ok(text))
	}), k.end(k.sentence()))
}

func hBatchHotels(w *words) Case {
	k := hAbroad(w)
	tool, city := k.tool("search hotels", "find rooms", "hotel offers"), k.city()
	days := hDates(w, w.between(12, 32))
	hotels := hUnique(w.between(6, 16), func() string { return "Hotel " + w.name() })
	task := k.tr("Find the cheapest night in %s between %s and %s.", "Finde die billigste Nacht in %s zwischen %s und %s.", "Busca la noche más barata en %s entre %s y %s.", "Trouve la nuit la moins chère à %s entre le %s et le %s.", "Encontre a noite mais barata em %s entre %s e %s.", "找出%s在%s和%s之间最便宜的一晚。", "%sで%sから%sまでの最安の夜を探してください。", "Найди самую дешёвую ночь, город %s, с %s по %s.")
	return k.play("You plan journeys.", k.errands(3), user(fmt.Sprintf(task, city, days[0], days[len(days)-1])), over(days, func(d string) Moves {
		var rows [][]string
		for _, h := range hotels {
			rows = append(rows, []string{h, city, "2", fmt.Sprint(w.between(60, 300)), pick(w, "yes", "no")})
		}
		return k.do(d, tool, hArgs{"city", city, k.key("date", "checkin"), d, "guests", 2}, ok(k.table([]string{"hotel", "city", "beds", "price", "breakfast"}, rows)))
	}), k.end(pick(w, hotels...)+", "+pick(w, days...)+"."))
}

func hBatchNames(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("search person", "find customer", "lookup member", "screen name"), k.key("name", "query", "full_name")
	names, empty := k.people(w.between(15, 40)), k.nothing()
	task := k.tr("Which of these people are in our register? Most will not be.\n", "Welche dieser Leute stehen in unserem Register? Die meisten wohl nicht.\n", "¿Cuáles de estas personas están en nuestro registro? La mayoría no estará.\n", "Lesquelles de ces personnes sont dans notre registre ? La plupart n'y seront pas.\n", "Quais destas pessoas estão no nosso registo? A maioria não estará.\n", "以下哪些人在我们的名册里？大多数应该不在。\n", "次の人のうち、名簿に載っているのは誰ですか。ほとんどは載っていないはずです。\n", "Кто из этих людей есть в нашем реестре? Большинства там, скорее всего, нет.\n")
	return k.play("You compare lists of people.", user(task+strings.Join(names, "\n")), over(names, func(p string) Moves {
		if w.chance(10) {
			return k.do(p, tool, hArgs{key, p}, ok(k.record(hArgs{"name", p, "city", k.city(), "member_since", w.between(1970, 2025)})))
		}
		return k.do(p, tool, hArgs{key, p}, ok(empty))
	}), k.end(k.sentence()))
}

// hNotices are sentences that services append to whatever they answer.
var hNotices = []string{"Delivery normally takes a few minutes; follow it under Outbox.", "Messages that bounce are reported once a day to the owner of the mailing.", "This action has been written to the audit trail of your organisation.",
	"You can undo it within thirty days from the settings page.", "For questions about this service, contact your administrator or read the handbook, chapter four.", "Do not send the same request twice; duplicates are dropped.",
	"Prices and limits of your plan apply.", "All times are given in the time zone of the account.", "The service is provided without warranty; planned maintenance is announced a week ahead.", "Attachments larger than twenty megabytes are replaced by a link."}

func hBatchLong(w *words) Case {
	k := hAbroad(w)
	tool, key := k.tool("send notice", "enqueue letter", "register device", "book slot"), k.key("recipient", "office", "target")
	notice := k.tr("Your request has been accepted. ", "Ihr Auftrag wurde angenommen. ", "Su solicitud ha sido aceptada. ", "Votre demande a été acceptée. ", "O seu pedido foi aceite. ", "您的请求已被受理。", "ご依頼を受け付けました。", "Ваш запрос принят. ") +
		strings.Join(some(w, w.between(3, 7), hNotices), " ")
	towns := hUnique(w.between(14, 18), func() string { return k.city() })
	if w.chance(60) {
		towns = k.people(w.between(18, 40))
	}
	task := k.tr("Send the notice to everyone on the list.", "Schicke die Mitteilung an alle auf der Liste.", "Envía el aviso a todos los de la lista.", "Envoie l'avis à tous ceux de la liste.", "Envie o aviso a todos da lista.", "把通知发给名单上的所有人。", "リストの全員にお知らせを送ってください。", "Отправь извещение всем из списка.")
	return k.play("You send mailings.", k.errands(2), user(task), k.do("", k.tool("get list", "read recipients"), hArgs{"list", w.word()}, ok(strings.Join(towns, "\n"))), over(towns, func(t string) Moves {
		return k.do(t, tool, hArgs{key, t, "template", "renewal"}, ok(notice))
	}), k.end(""))
}

func hBatchIDs(w *words) Case {
	k := hAbroad(w)
	ids, verb := hIDs(w, w.between(10, 26)), k.ack()
	read, write := k.tool("get ticket", "read order", "load case"), k.tool("set state", "assign", "close ticket", "add tag")
	task := k.tr("Read every open case and give it a fitting label.", "Lies jeden offenen Fall und gib ihm ein passendes Etikett.", "Lee cada caso abierto y ponle una etiqueta.", "Lis chaque dossier ouvert et donne-lui une étiquette.", "Leia cada caso aberto e dê-lhe uma etiqueta.", "读每个未结案件并加上合适的标签。", "未処理の案件を一件ずつ読んでラベルを付けてください。", "Прочитай каждое открытое дело и поставь подходящую метку.")
	return k.play("You sort the cases of a help desk.", user(task), k.do("", k.tool("list open", "search cases"), hArgs{"state", "open"}, ok(strings.Join(ids, "\n"))), over(ids, func(id string) Moves {
		return seq(k.do(id, read, hArgs{"id", id}, ok(k.record(hArgs{"id", id, "from", k.person(w), "text", k.prose(w.between(2, 8))}))),
			k.do("", write, hArgs{"id", id, "label", pick(w, hTopics...)}, ok(verb)))
	}), k.end(""))
}

func hBatchLinks(w *words) Case {
	k := hNew(w)
	tool := k.tool("fetch url", "http get", "open page", "check link")
	links := hUnique(w.between(16, 40), func() string {
		return "https://" + w.word() + "." + pick(w, "example", "test", "invalid") + "/" + w.word() + "/" + fmt.Sprint(w.between(1, 999))
	})
	dead := pick(w, "404 Not Found", "HTTP 404: page not found", hArgs{"status", 404, "body", "Not Found"}.json(), "Error: request failed with status code 404")
	return k.play("You maintain a link directory.", user("Check these links and tell me which are dead:\n"+strings.Join(links, "\n")), over(links, func(l string) Moves {
		if w.chance(62) {
			return k.do(l, tool, hArgs{"url", l}, failed(dead))
		}
		return k.do(l, tool, hArgs{"url", l}, ok(k.page(hSentence(w), w.between(4, 30))))
	}), k.end("Here is the list of the dead links."))
}

func hBatchAudit(w *words) Case {
	k := hNew(w)
	services, pattern := w.several(w.between(12, 32)), pick(w, "BEGIN PRIVATE KEY", "password=", "eval(", "http://", "AKIA", "TODO: remove")
	clean := pick(w, "no matches", "", "0 findings", hArgs{"findings", hRaw("[]"), "scanned", true}.json(), "PASS")
	tool := k.tool("scan repository", "grep", "audit service", "run check")
	return k.play("You are a security auditor.", user("Make sure that none of these repositories contains "+pattern+": "+hJoin(services)), k.prior(4), over(services, func(s string) Moves {
		return k.do(s, tool, hArgs{k.key("repository", "target", "path"), s, "pattern", pattern}, ok(clean))
	}), k.end(fmt.Sprintf("None of the %d repositories contains it.", len(services))))
}

func hBatchTogether(w *words) Case {
	k := hNew(w)
	k.manner = hNative
	tool, verb, key := k.tool("set price", "update stock", "tag photo", "delete row"), k.ack(), k.key("id", "sku", "item")
	ids, each2 := hIDs(w, w.between(40, 120)), w.between(3, 6)
	sheet := strings.Join(ids, "\n")
	var ms Moves
	for len(ids) >= each2 {
		var calls []Moves
		for _, id := range ids[:each2] {
			calls = append(calls, k.do("", tool, hArgs{key, id, "value", w.between(1, 500)}, ok(verb)))
		}
		ms, ids = append(ms, saying(k.about(fmt.Sprintf("%d more", len(ids))), together(calls...))...), ids[each2:]
	}
	return k.play("You maintain a shop.", user("Apply the new price list."), k.do("", k.tool("read sheet", "open csv"), hArgs{"name", "prices"}, ok(sheet)), ms, k.end("All prices are set."))
}

func hBatchVouchers(w *words) Case {
	k := hAbroad(w)
	codes := hUnique(w.between(14, 36), func() string { return strings.ToUpper(w.hex(4) + "-" + w.hex(4)) })
	tool, expired := k.tool("check voucher", "validate code", "lookup coupon"), k.tr("This voucher has expired.", "Dieser Gutschein ist abgelaufen.", "Este cupón ha caducado.", "Ce bon a expiré.", "Este cupão expirou.", "此券已过期。", "このクーポンは期限切れです。", "Срок действия купона истёк.")
	task := k.tr("Here are the vouchers from the old box. Which can still be used? ", "Hier sind die Gutscheine aus der alten Kiste. Welche gelten noch? ", "Estos son los cupones de la caja vieja. ¿Cuáles valen todavía? ", "Voici les bons de la vieille boîte. Lesquels sont encore valables ? ", "Estes são os cupões da caixa velha. Quais ainda valem? ", "这些是旧盒子里的券，哪些还能用？", "古い箱にあったクーポンです。まだ使えるものはどれですか。", "Вот купоны из старой коробки. Какие ещё действуют? ")
	return k.play("You help in a shop.", user(task+hJoin(codes)), over(codes, func(c string) Moves {
		if w.chance(8) {
			return k.do(c, tool, hArgs{"code", c}, ok(k.record(hArgs{"code", c, "value", w.between(5, 50), "valid", true})))
		}
		return k.do(c, tool, hArgs{"code", c}, ok(expired))
	}), k.end(k.sentence()))
}
