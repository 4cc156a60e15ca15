package scenarios

import (
	"fmt"
	"strings"
)

func hTeams() []Family {
	return []Family{
		// Commands in plain text, results with a header; each result is new.
		{Name: "text-commands-with-header", Make: hTextCommands},
		// Commands in plain text over a list, each answered by an empty output.
		{Name: "text-batch-with-empty-output", Make: hTextBatch},
		// The whole history comes as one text that grows.
		{Name: "text-stateless-transcript", Make: hTextStateless},
		// The ledger of an orchestrator repeats its form; the facts in it are new.
		{Name: "team-ledger", Make: hTeamLedger},
		// Sub-agents with one form of prompt, each with a part of its own.
		{Name: "team-sub-agents", Make: hTeamAgents},
		// A plan in a note, with one more item ticked off each time.
		{Name: "team-plan-ticked-off", Make: hTeamPlan},
		// Chapters of a book, one after the other.
		{Name: "write-chapters", Make: hWriteChapters},
		// Letters that the user wants nearly alike, one for each person.
		{Name: "write-near-equal-letters", Make: hWriteLetters},
		// Strings are translated one by one.
		{Name: "write-translations", Make: hWriteTranslations},
		// Host after host gets the release and says the same.
		{Name: "infra-rolling-deployment", Make: hInfraRolling},
		// Thirty hosts are healthy.
		{Name: "infra-health-of-hosts", Make: hInfraHealth},
		// Names are looked up one by one, many have no address.
		{Name: "infra-dns-lookups", Make: hInfraDNS},
		// Hosts are pinged one by one; most answer.
		{Name: "infra-pings", Make: hInfraPings},
		// A scaling up step by step, checked after each step.
		{Name: "infra-scaling-by-steps", Make: hInfraScaling},
	}
}

func hTextCommands(w *words) Case {
	k := hNew(w).plain()
	k.header = w.between(1, 3)
	return k.play("Reply with one command. You get its output.", user("Find out what the service "+w.word()+" does and write a summary."), each(w.between(20, 45), func(int) Moves {
		p := hPath(w, k.ending)
		switch w.IntN(4) {
		case 0:
			return k.sh(p, "ls "+p[:strings.LastIndex(p, "/")], k.listing(w.several(w.between(2, 15))), 0)
		case 1:
			return k.sh(p, "grep -n "+w.word()+" "+p, "", 1)
		case 2:
			return k.sh(p, "head -40 "+p, k.code(w.between(10, 40)), 0)
		}
		return k.sh(p, "cat "+p, k.code(w.between(8, 50)), 0)
	}), k.end(hProse(w, 5)))
}

func hTextBatch(w *words) Case {
	k := hNew(w).plain()
	command := pick(w, "pandoc NAME.md -o NAME.html", "gzip NAME.log", "convert NAME.png NAME.webp", "chmod 640 conf/NAME", "git mv NAME.txt docs/NAME.md", "dos2unix -q NAME.csv", "touch -r base NAME.done")
	names := w.several(w.between(18, 45))
	return k.play("Reply with one command at a time. You get its output.", user("Run `"+command+"` for each of these, one by one: "+hJoin(names)), over(names, func(n string) Moves {
		return k.sh(n, strings.ReplaceAll(command, "NAME", n), "", 0)
	}), k.end("All files are done."))
}

func hTextStateless(w *words) Case {
	k := hNew(w)
	rooms := w.several(40)
	c := k.play("You play a text adventure. You get the story so far and say what you do next.", stateless(w.between(10, 24), "You stand before the gate of "+w.name()+". Find the treasure.", func(i int) (string, string) {
		return pick(w, "go to ", "enter ", "open ", "look into ") + "the " + rooms[i], hProse(w, w.between(1, 3))
	}))
	c.Ledger = w.chance(50)
	return c
}

func hTeamLedger(w *words) Case {
	k := hAbroad(w)
	agents := w.several(w.between(3, 5))
	ask := k.tr("Update the ledger: is the request satisfied, is progress being made, who speaks next?", "Aktualisiere das Protokoll: Ist die Bitte erfüllt, geht es voran, wer spricht als Nächstes?", "Actualiza el registro: ¿está cumplida la petición, hay avances, quién sigue?", "Mets à jour le registre : la demande est-elle satisfaite, avance-t-on, qui parle ensuite ?", "Atualize o registo: o pedido está satisfeito, há progresso, quem fala a seguir?", "更新台账：请求是否完成，是否有进展，下一位是谁？", "台帳を更新してください：依頼は満たされたか、進展はあるか、次は誰か。", "Обнови журнал: выполнена ли просьба, есть ли прогресс, кто следующий?")
	return k.play("You lead a team of agents: "+hJoin(agents)+".", user(k.tr("Prepare the journey of the choir.", "Bereite die Reise des Chors vor.", "Prepara el viaje del coro.", "Prépare le voyage de la chorale.", "Prepare a viagem do coro.", "准备合唱团的旅行。", "合唱団の旅行を準備してください。", "Подготовь поездку хора.")), each(w.between(12, 30), func(int) Moves {
		a := pick(w, agents...)
		order, fact := k.question()
		return seq(user(ask), says(hArgs{"is_request_satisfied", false, "is_in_loop", false, "is_progress_being_made", true, "next_speaker", a, "instruction_or_question", order}.json()),
			user(a+": "+fact+k.glue+k.prose(w.between(0, 4))))
	}), user(ask), k.end(hArgs{"is_request_satisfied", true, "is_in_loop", false, "is_progress_being_made", true, "next_speaker", "none", "instruction_or_question", ""}.json()))
}

func hTeamAgents(w *words) Case {
	k := hAbroad(w)
	k.manner, k.header = hNative, 0
	task := k.tr("Find out about the %s in %s and report in one paragraph.", "Informiere dich über %s in %s und berichte in einem Absatz.", "Infórmate sobre %s en %s y resume en un párrafo.", "Renseigne-toi sur %s à %s et résume en un paragraphe.", "Informe-se sobre %s em %s e resuma num parágrafo.", "了解%s在%s的情况，用一段话报告。", "%sについて%sで調べ、一段落で報告してください。", "Узнай о теме %s, город %s, и доложи одним абзацем.")
	what, search := w.word(), k.tool("search", "web search")
	return k.play("You are a research assistant. Report in one paragraph.", over(hUnique(w.between(8, 14), func() string { return k.city() }), func(city string) Moves {
		return in(city, user(fmt.Sprintf(task, what, city)), each(w.between(1, 4), func(int) Moves {
			return k.do(city, search, hArgs{"q", what + " " + city + " " + w.word()}, ok(k.prose(w.between(3, 12))))
		}), says(city+": "+k.prose(3)))
	}))
}

func hTeamPlan(w *words) Case {
	k := hNew(w)
	var items []string
	for _, t := range some(w, w.between(8, 16), hTopics) {
		items = append(items, pick(w, "Document ", "Test ", "Move ", "Review ", "Measure ")+t+" of "+w.word())
	}
	plan := func(n int) string {
		var b strings.Builder
		for i, t := range items {
			b.WriteString(map[bool]string{true: "- [x] ", false: "- [ ] "}[i < n] + t + "\n")
		}
		return b.String()
	}
	read, write := k.tool("read note", "read file", "view"), k.tool("write note", "write file", "create")
	return k.play("You are an agent with a plan in PLAN.md. Read it before each step and tick off what is done.", user("Work through the plan."), each(len(items), func(i int) Moves {
		return seq(k.do("", read, hArgs{"path", "PLAN.md"}, ok(plan(i))), k.onward(1, 2), k.do(items[i], write, hArgs{"path", "PLAN.md", "content", plan(i + 1)}, ok(k.key("ok", "written", "saved"))))
	}), k.end("The plan is done."))
}

func hWriteChapters(w *words) Case {
	k := hAbroad(w)
	n, done := w.between(8, 24), k.ack()
	outline := k.prose(n)
	title := k.tr("Chapter %d", "Kapitel %d", "Capítulo %d", "Chapitre %d", "Capítulo %d", "第%d章", "第%d章", "Глава %d")
	task := k.tr("Write a book of %d chapters about %s.", "Schreibe ein Buch mit %d Kapiteln über %s.", "Escribe un libro de %d capítulos sobre %s.", "Écris un livre de %d chapitres sur %s.", "Escreva um livro de %d capítulos sobre %s.", "写一本%d章的书，主题是%s。", "%d章の本を書いてください。題は%sです。", "Напиши книгу из %d глав про город %s.")
	return k.play("You write books.", user(fmt.Sprintf(task, n, k.city())), each(n, func(i int) Moves {
		t := fmt.Sprintf(title, i+1)
		ms := k.do(t, k.tool("write file", "save chapter"), hArgs{"path", fmt.Sprintf("book/%02d.md", i+1), "content", "# " + t + "\n\n" + k.prose(w.between(8, 30))}, ok(done))
		if k.long {
			ms = seq(k.do("", k.tool("read outline", "read file"), hArgs{"path", "book/outline.md"}, ok(outline)), ms)
		}
		return ms
	}), k.end(""))
}

func hWriteLetters(w *words) Case {
	k := hAbroad(w)
	body, done := k.prose(w.between(4, 10)), k.ack()
	dear := k.tr("Dear %s,\n\n", "Guten Tag %s,\n\n", "Hola, %s:\n\n", "Bonjour %s,\n\n", "Olá, %s,\n\n", "%s：您好！\n\n", "%s様\n\n", "Здравствуйте, %s!\n\n")
	task := k.tr("Write the same invitation to each of them, in a file of its own: ", "Schreibe jedem dieselbe Einladung in eine eigene Datei: ", "Escribe la misma invitación a cada uno en su propio archivo: ", "Écris la même invitation à chacun dans son fichier : ", "Escreva o mesmo convite a cada um no seu ficheiro: ", "给每个人写同样的邀请函，各存一个文件：", "全員に同じ招待状を、それぞれ別のファイルで書いてください：", "Напиши каждому одно и то же приглашение в отдельном файле: ")
	people := k.people(w.between(12, 35))
	return k.play("You write letters.", user(task+hJoin(people)), each(len(people), func(i int) Moves {
		return k.do(people[i], k.tool("write file", "create document"), hArgs{"path", fmt.Sprintf("letters/%02d.txt", i+1), "content", fmt.Sprintf(dear, people[i]) + body}, ok(done))
	}), k.end(""))
}

func hWriteTranslations(w *words) Case {
	k := hAbroad(w)
	if k.tongue == hEnglish {
		k.tongue, k.hTongue = hGerman, &hTongues[hGerman]
	}
	done, tool := k.ack(), k.tool("set translation", "save string", "update key")
	return k.play("You localise an application.", user("Translate all strings of the file, one by one."), each(w.between(18, 50), func(i int) Moves {
		key := fmt.Sprintf("%s.%s.%d", pick(w, hTopics...), w.word(), i)
		source, text := k.pair()
		return k.do(key, tool, hArgs{"key", key, "source", source, "text", text}, ok(done))
	}), k.end(""))
}

func hInfraRolling(w *words) Case {
	k := hNew(w)
	hosts, version := hHosts(w, w.between(12, 36)), fmt.Sprintf("%d.%d.%d", w.IntN(9), w.IntN(40), w.IntN(9))
	done, fine := pick(w, "deployed "+version, "ok", "changed=1 failed=0"), pick(w, "healthy", `{"status":"UP"}`, "200")
	both := w.chance(60)
	return k.play("You deploy releases, one host at a time.", user("Roll out "+version+" to "+hJoin(hosts)), k.chores(5), every(k.secs(3, 30), over(hosts, func(h string) Moves {
		ms := k.do(h, k.tool("deploy", "update host", "drain and deploy"), hArgs{"host", h, "version", version}, ok(done))
		if both {
			ms = seq(ms, k.do("", k.tool("check health", "probe"), hArgs{"host", h}, ok(fine)))
		}
		return ms
	})), k.end("All hosts run "+version+"."))
}

// hHosts are n hosts with names of one kind.
func hHosts(w *words, n int) []string {
	base := w.word()
	if w.chance(50) {
		return hUnique(n, func() string { return w.word() + "." + base + ".example" })
	}
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%02d", base, i+1))
	}
	return out
}

func hInfraHealth(w *words) Case {
	k := hNew(w)
	path, hosts := pick(w, "/healthz", "/status", "/ping"), hHosts(w, w.between(24, 40))
	fine := pick(w, "HTTP/1.1 200 OK", `{"status":"healthy","checks":{"db":"ok","cache":"ok"}}`, "ok")
	return k.play("You are an operations agent.", user("Check the health of all our hosts and tell me which are not well."), k.chores(5), k.do("", k.tool("list hosts", "get inventory"), hArgs{}, ok(hJoin(hosts))), over(hosts, func(h string) Moves {
		if w.chance(6) {
			return k.sh(h, "curl -s http://"+h+path, fmt.Sprintf(`{"status":"degraded","disk":%d}`, w.between(91, 99)), 0)
		}
		return k.sh(h, "curl -s http://"+h+path, fine, 0)
	}), k.end("All hosts were checked; a full disk here and there."))
}

func hInfraDNS(w *words) Case {
	k := hNew(w)
	none, hosts := pick(w, "", "NXDOMAIN"), hHosts(w, w.between(18, 40))
	return k.play("You manage domains.", user("Which of these old names still point somewhere? "+hJoin(hosts)), k.chores(3), over(hosts, func(h string) Moves {
		if w.chance(60) {
			return k.sh(h, "dig +short "+h+".", none, 0)
		}
		return k.sh(h, "dig +short "+h+".", fmt.Sprintf("198.51.100.%d", w.between(1, 254)), 0)
	}), k.end("About a third of them do."))
}

func hInfraPings(w *words) Case {
	k := hNew(w)
	hosts := hHosts(w, w.between(18, 45))
	return k.play("You look after a network.", user("Ping every switch in inventory.txt and list the slow ones."), k.chores(3), k.sh("", "cat inventory.txt", strings.Join(hosts, "\n"), 0), over(hosts, func(h string) Moves {
		if w.chance(10) {
			return k.sh(h, "ping -c 3 "+h, "PING "+h+"\n3 packets transmitted, 0 received, 100% packet loss", 1)
		}
		return k.sh(h, "ping -c 3 "+h, fmt.Sprintf("PING %s\n3 packets transmitted, 3 received, 0%% packet loss\nrtt min/avg/max = 0.%d/0.%d/1.%d ms", h, w.between(100, 400), w.between(400, 900), w.between(100, 900)), 0)
	}), k.end("Two switches are slow."))
}

func hInfraScaling(w *words) Case {
	k := hNew(w)
	app, n := w.word(), w.between(8, 20)
	scale := pick(w, [2]string{"kubectl scale deploy/%s --replicas=%d", "deployment.apps/%s scaled"}, [2]string{"docker service scale %s=%d", "%s\noverall progress: all tasks running\nverify: Service converged"}, [2]string{"nomad job scale %s %d", "==> Evaluation \"%s\" finished with status \"complete\""})
	probe := pick(w, "./latency.sh "+app, "promtool query instant http://metrics p95:"+app, "curl -s http://"+app+"/metrics/p95")
	return k.play("You operate a cluster. Scale in steps of one and look after each step.", user("Scale "+app+" up until the latency is below 200 ms."), k.chores(5), every(k.secs(10, 60), each(n, func(i int) Moves {
		return seq(k.sh("", fmt.Sprintf(scale[0], app, i+3), fmt.Sprintf(scale[1], app), 0),
			k.sh("", probe, fmt.Sprintf("p95 %d ms", 900-(680/n)*i+w.between(-9, 9)), 0))
	})), k.sh("", probe, fmt.Sprintf("p95 %d ms", w.between(150, 199)), 0), k.end("The latency is below 200 ms."))
}
