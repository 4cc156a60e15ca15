package scenarios

import (
	"fmt"
	"strings"
	"time"
)

func hPolling() []Family {
	return []Family{
		// The number rises at every look, so each look brings news.
		{Name: "poll-number-rises", Make: hPollNumber},
		// New lines come at the end of the log between the looks.
		{Name: "poll-log-tail", Make: hPollLogTail},
		// A mail with a code takes its time; it is asked for every ten seconds and comes.
		{Name: "poll-one-time-password", Make: hPollPassword},
		// A build says the same for minutes, is asked seldom, and ends.
		{Name: "poll-build-status", Make: hPollBuild},
		// A server needs some tries with a sleep between them until it is up.
		{Name: "poll-server-comes-up", Make: hPollServer},
		// A queue is slow; the looks are half a minute or more apart and the job is done at last.
		{Name: "poll-slow-queue", Make: hPollQueue},
		// One long description of a job, in which one step after the other is ticked off.
		{Name: "poll-job-with-steps", Make: hPollSteps},
		// The coordinator waits for a live process while its workers get on in sessions of their own.
		{Name: "poll-live-process-with-workers", Make: hPollWorkers},
		// A person takes minutes to approve; the agent looks once a minute.
		{Name: "poll-approval", Make: hPollApproval},
		// Several jobs are looked at in turn, and one after the other is done.
		{Name: "poll-many-jobs", Make: hPollManyJobs},
		// Loss and accuracy of a training change at every look.
		{Name: "poll-training", Make: hPollTraining},
		// A tank warms up slowly; some readings are equal, the end is reached.
		{Name: "poll-until-warm", Make: hPollWarm},
	}
}

func hPollNumber(w *words) Case {
	k := hAbroad(w)
	id, thing := hID(w), pick(w, hNouns...)
	tool, key := k.tool("get status", "job status", "check progress", "task info"), k.key("id", "job", "job_id", "task")
	n, top, field := w.between(14, 42), 100, pick(w, "progress", "percent")
	if w.chance(50) {
		top, field = w.between(5000, 900000), pick(w, "rows_copied", "bytes", "processed", "frames")
	}
	look := func(state string, v int) Moves {
		return k.do("", tool, hArgs{key, id}, ok(k.record(hArgs{key, id, "state", state, field, v, "host", thing + "-" + id[len(id)-2:]})))
	}
	task := k.tr("Tell me when %s is finished.", "Sag mir, wann %s fertig ist.", "Avísame cuando termine %s.", "Dis-moi quand %s est terminé.", "Avise quando %s terminar.", "%s完成后告诉我。", "%sが終わったら教えてください。", "Скажи, когда %s закончится.")
	return k.play("You watch "+thing+" jobs for a small company.", k.errands(4), user(fmt.Sprintf(task, id)),
		every(k.secs(4, 40), each(n, func(i int) Moves { return look("running", top*(i+1)/(n+2)) })),
		look("finished", top), k.end(""))
}

func hPollLogTail(w *words) Case {
	k := hNew(w)
	path := "/var/log/" + w.word() + "/" + w.word() + ".log"
	size, log := w.between(10, 30), hNewLogger(w)
	command := fmt.Sprintf("tail -n %d %s", size, path)
	lines := log.lines(size)
	n := w.between(12, 35)
	return k.play("You are an operations agent with a shell.", user("Follow "+path+" while the nightly "+pick(w, hNouns...)+" import runs and report when it ends or goes wrong."), k.prior(8),
		every(k.secs(8, 45), each(n, func(int) Moves {
			lines = append(lines, log.lines(w.between(1, 5))...)
			return k.sh("the log", command, strings.Join(lines[len(lines)-size:], "\n"), 0)
		})),
		k.sh("", command, strings.Join(lines[len(lines)-size+1:], "\n")+"\nimport finished, 0 errors", 0),
		k.end(fmt.Sprintf("The import finished without errors after %d looks at the log.", n)))
}

func hPollPassword(w *words) Case {
	k := hAbroad(w)
	site := w.word() + ".example"
	inbox := k.tool("read inbox", "latest mail", "check messages", "get sms", "fetch otp")
	args := hArgs{k.key("from", "sender", "filter"), "no-reply@" + site}
	empty, code := k.nothing(), fmt.Sprint(w.between(100000, 999999))
	task := k.tr("Log in at %s and download the invoice.", "Melde dich bei %s an und lade die Rechnung herunter.", "Entra en %s y descarga la factura.", "Connecte-toi à %s et télécharge la facture.", "Entre em %s e baixe a fatura.", "登录%s并下载发票。", "%sにログインして請求書をダウンロードしてください。", "Войди на %s и скачай счёт.")
	page := k.tool("browser type", "fill field", "type text")
	return k.play("You do errands on the web for its owner.", user(fmt.Sprintf(task, site)),
		k.do(site, k.tool("open url", "goto", "navigate"), hArgs{"url", "https://" + site + "/login"}, ok(k.page("Sign in", w.between(4, 14)))),
		k.do("", page, hArgs{"field", "email", "text", w.word() + "@" + w.word() + ".example"}, ok("A one-time code was sent to your address. It can take up to two minutes.")),
		every(10*time.Second, each(w.between(5, 12), func(int) Moves { return k.do("", inbox, args, ok(empty)) })),
		k.do("", inbox, args, ok(k.record(hArgs{"from", "no-reply@" + site, "subject", "Your code", "body", code + " is your code for " + w.name()}))),
		k.do("", page, hArgs{"field", "code", "text", code}, ok(k.page("Welcome back", w.between(6, 20)))),
		k.do("", k.tool("download", "save file"), hArgs{"link", "invoice"}, ok(fmt.Sprintf("saved invoice_%d.pdf, %d bytes", w.between(100, 9999), w.between(20000, 90000)))),
		k.end(""))
}

func hPollBuild(w *words) Case {
	k := hNew(w)
	build, branch := w.between(100, 99999), w.word()+"-"+w.word()
	tool := k.tool("build status", "get pipeline", "ci status", "check build")
	args := hArgs{k.key("build", "pipeline_id", "run"), build}
	running := k.record(hArgs{"build", build, "branch", branch, "status", pick(w, "running", "in_progress", "pending"), "conclusion", "none"})
	return k.play("You release software.", user(fmt.Sprintf("Push %s, wait for the pipeline and merge when it is green.", branch)), k.prior(10),
		k.sh(branch, "git push origin "+branch, fmt.Sprintf("To git.%s.example:%s/%s\n * [new branch] %s -> %s", w.word(), w.word(), w.word(), branch, branch), 0),
		every(k.secs(20, 90), each(w.between(8, 28), func(int) Moves { return k.do("the pipeline", tool, args, ok(running)) })),
		k.do("", tool, args, ok(k.record(hArgs{"build", build, "branch", branch, "status", "completed", "conclusion", "success"}))),
		k.sh("", "git merge --no-ff "+branch, fmt.Sprintf("Merge made by the 'ort' strategy.\n %d files changed, %d insertions(+)", w.between(2, 20), w.between(10, 900)), 0),
		k.end("Merged "+branch+"; the pipeline was green."))
}

func hPollServer(w *words) Case {
	k := hNew(w)
	port, wait := w.between(3000, 9999), w.between(10, 30)
	command := fmt.Sprintf("sleep %d && curl -s%s localhost:%d/%s", wait, pick(w, "S", "f", "S -m 5"), port, pick(w, "health", "healthz", "ready", "status", ""))
	down := fmt.Sprintf("curl: (7) Failed to connect to localhost port %d after 0 ms: %s", port, pick(w, "Connection refused", "Couldn't connect to server"))
	start := pick(w, "docker compose up -d", "nohup ./gradlew bootRun &", "npm run dev > dev.log 2>&1 &", "make serve &")
	return k.play("You are a coding agent with a shell.", user("Start the "+w.word()+" server and check that its API answers."), k.prior(12),
		k.sh("", start, pick(w, "[1] "+fmt.Sprint(w.between(1000, 40000)), " Container "+w.word()+"-1  Started"), 0),
		every(time.Duration(wait+2)*time.Second, each(w.between(5, 14), func(int) Moves { return k.sh("the server", command, down, 7) })),
		k.sh("", command, hArgs{"status", "up", "version", fmt.Sprintf("%d.%d", w.IntN(9), w.IntN(30)), "uptime", w.between(1, 20)}.json(), 0),
		k.sh("", fmt.Sprintf("curl -s localhost:%d/api/%s", port, w.word()), hList([]hArgs{{"id", 1, "name", w.name()}, {"id", 2, "name", w.name()}}), 0),
		k.end("The server is up and its API answers."))
}

func hPollQueue(w *words) Case {
	k := hAbroad(w)
	id := hID(w)
	tool, key := k.tool("query job", "queue state", "get ticket", "slurm state"), k.key("job", "id", "ticket")
	look := func(state string) Moves {
		return k.do("", tool, hArgs{key, id}, ok(k.record(hArgs{key, id, "state", state, "queue", "long"})))
	}
	task := k.tr("Send the model to the queue and give me the result tomorrow at the latest.", "Gib das Modell in die Warteschlange und melde mir das Ergebnis.", "Envía el modelo a la cola y dame el resultado.", "Mets le modèle dans la file et donne-moi le résultat.", "Coloque o modelo na fila e me dê o resultado.", "把模型提交到队列，完成后告诉我结果。", "モデルをキューに入れて、結果を教えてください。", "Поставь модель в очередь и сообщи результат.")
	return k.play("You use a shared computing cluster whose queue is often long. Waiting is normal.", k.errands(4), user(task),
		k.do("", k.tool("submit job", "enqueue"), hArgs{"script", w.word() + ".sbatch"}, ok("Submitted batch job "+id)),
		every(k.secs(30, 90), each(w.between(15, 40), func(int) Moves { return look("PENDING") })),
		every(k.secs(30, 90), each(w.between(3, 9), func(int) Moves { return look("RUNNING") })),
		look("COMPLETED"),
		k.do("", k.tool("fetch output", "read result"), hArgs{key, id}, ok(k.prose(w.between(3, 12)))), k.end(""))
}

func hPollSteps(w *words) Case {
	k := hNew(w)
	id, steps := hID(w), w.several(w.between(8, 16))
	tool := k.tool("describe workflow", "get job", "workflow status")
	look := func(done int) Moves {
		var list []hArgs
		for i, s := range steps {
			state := "waiting"
			if i < done {
				state = "succeeded"
			} else if i == done {
				state = "active"
			}
			list = append(list, hArgs{"name", s, "status", state, "image", s + ":" + fmt.Sprint(len(s)), "retries", 0})
		}
		return k.do("", tool, hArgs{"id", id}, ok(hArgs{"id", id, "status", "RUNNING", "owner", k.server, "steps", hRaw(hList(list))}.json()))
	}
	return k.play("You supervise data workflows.", user("Start workflow "+id+" and tell me when all of its steps are through."), k.prior(4),
		every(k.secs(5, 60), each(len(steps), func(i int) Moves { return seq(look(i), each(w.between(0, 2), func(int) Moves { return look(i) })) })),
		look(len(steps)), k.end(fmt.Sprintf("All %d steps succeeded.", len(steps))))
}

func hPollWorkers(w *words) Case {
	k := hNew(w)
	k.manner, k.header = hNative, 0
	tool, args := pick(w, "write_stdin", "read_process", "bash_output"), hArgs{k.key("session_id", "process"), w.between(1, 90000), "chars", ""}
	empty := pick(w, "", "(no new output)", `{"output":"","running":true}`)
	workers := k.several(w.between(2, 4))
	var polls, work []Moves
	for range w.between(40, 95) {
		polls = append(polls, every(k.secs(6, 30), k.do("", tool, args, ok(empty))))
	}
	begun := map[string]bool{}
	for range w.between(25, 50) {
		name := pick(w, workers...)
		p := hPath(w, k.ending)
		step := every(k.secs(1, 9), k.do(p, "edit", hArgs{"path", p, "old", w.word(), "new", w.word()}, ok(hNumbered(k.code(w.between(4, 15)), w.between(1, 300)))))
		if !begun[name] {
			begun[name] = true
			step = seq(user("You are worker "+name+". Migrate the "+name+" module and report."), step)
		}
		work = append(work, in(name, step))
	}
	return k.play("You coordinate workers. Wait for the process that runs them; it is silent until it ends.", user("Run the migration with "+fmt.Sprint(len(workers))+" workers and report."),
		k.do("", pick(w, "exec", "start_process"), hArgs{"cmd", "./orchestrate --workers " + strings.Join(workers, ",")}, ok("Process running")),
		hMixed(w, polls, work), k.do("", tool, args, ok("all workers done\nexit 0")), k.end("The migration is through."))
}

func hPollApproval(w *words) Case {
	k := hAbroad(w)
	boss, id := k.person(w), hID(w)
	tool := k.tool("approval state", "get request", "check approval")
	pending := k.record(hArgs{"request", id, "approver", boss, "decision", pick(w, "pending", "open", "waiting")})
	task := k.tr("Order the laptops; %s has to approve it first and may take a while.", "Bestelle die Laptops; %s muss erst zustimmen, das kann dauern.", "Pide los portátiles; %s tiene que aprobarlo y puede tardar.", "Commande les portables ; %s doit d'abord approuver, cela peut durer.", "Encomende os portáteis; %s precisa aprovar, pode demorar.", "订购笔记本电脑；要先等%s批准，可能需要一些时间。", "ノートパソコンを注文してください。先に%sさんの承認が必要で、時間がかかるかもしれません。", "Закажи ноутбуки; сначала нужно согласие: %s. Это может занять время.")
	return k.play("You buy things for an office. Look for approvals about once a minute.", user(fmt.Sprintf(task, boss)),
		k.do("", k.tool("request approval", "ask approval"), hArgs{"approver", boss, "amount", w.between(900, 40000)}, ok(k.record(hArgs{"request", id}))),
		every(k.secs(55, 90), each(w.between(8, 30), func(int) Moves { return k.do(boss, tool, hArgs{"request", id}, ok(pending)) })),
		k.do("", tool, hArgs{"request", id}, ok(k.record(hArgs{"request", id, "approver", boss, "decision", "approved", "note", k.sentence()}))),
		k.do("", k.tool("place order", "buy"), hArgs{"request", id}, ok("order "+hID(w)+" placed")), k.end(""))
}

func hPollManyJobs(w *words) Case {
	k := hNew(w)
	jobs := hIDs(w, w.between(4, 7))
	left := map[string]int{}
	for _, j := range jobs {
		left[j] = w.between(2, 7)
	}
	tool, key := k.tool("job state", "get run", "export status"), k.key("run", "job", "export")
	var rounds Moves
	for range 7 {
		for _, j := range jobs {
			switch left[j]--; {
			case left[j] > 0:
				rounds = append(rounds, every(k.secs(5, 25), k.do(j, tool, hArgs{key, j}, ok(k.record(hArgs{key, j, "status", "running", "worker", k.server}))))...)
			case left[j] == 0:
				rounds = append(rounds, k.do(j, tool, hArgs{key, j}, ok(k.record(hArgs{key, j, "status", "done", "rows", w.between(100, 99999), "file", w.word() + ".parquet"})))...)
			}
		}
	}
	return k.play("You run exports.", user("Wait for these exports and collect the names of their files: "+strings.Join(jobs, ", ")), k.prior(5), rounds, k.end("All exports are done."))
}

func hPollTraining(w *words) Case {
	k := hNew(w)
	loss, acc, n := 2+w.Float64(), 0.1, w.between(20, 45)
	command := pick(w, "tail -1 runs/", "cat runs/") + w.word() + "/metrics.jsonl"
	if w.chance(50) {
		command += " | tail -3"
	}
	return k.play("You train models.", user("Train the "+w.word()+" classifier and stop when the validation accuracy is above 0.9."), k.prior(12),
		every(k.secs(10, 60), each(n, func(i int) Moves {
			loss, acc = loss*(0.93+0.05*w.Float64()), acc+(0.93-acc)*0.1*w.Float64()
			return k.sh("the metrics", command, fmt.Sprintf(`{"epoch": %d, "loss": %.4f, "val_acc": %.4f, "lr": 0.0003}`, i+1, loss, acc), 0)
		})),
		k.sh("", command, fmt.Sprintf(`{"epoch": %d, "loss": %.4f, "val_acc": 0.9132, "lr": 0.0003}`, n+1, loss*0.95), 0), k.end("The accuracy is 0.9132; I stopped the training."))
}

func hPollWarm(w *words) Case {
	k := hAbroad(w)
	tool, unit := k.tool("read sensor", "get temperature", "measure"), pick(w, "°C", "bar", "%", "V")
	v, goal := float64(w.between(12, 20)), float64(w.between(34, 60))
	task := k.tr("Heat the %s until it reaches %.0f %s.", "Heize, bis der Wert von %s %.0f %s erreicht.", "Calienta %s hasta %.0f %s.", "Chauffe %s jusqu'à %.0f %s.", "Aqueça %s até %.0f %s.", "把%s加热到%.0f %s。", "%sを%.0f %sまで温めてください。", "Нагрей %s до %.0f %s.")
	name := w.word()
	var ms Moves
	for v < goal {
		ms = append(ms, k.do("", tool, hArgs{k.key("device", "sensor", "channel"), name}, ok(k.record(hArgs{k.key("device", "sensor", "channel"), name, k.key("value", "reading", "level"), fmt.Sprintf("%.1f %s", v, unit), k.key("state", "phase"), "heating"})))...)
		if w.chance(70) {
			v += 0.1 + goal/30*w.Float64()
		}
	}
	return k.play("You control the devices of a laboratory.", user(fmt.Sprintf(task, name, goal, unit)), k.do(name, k.tool("set heater", "switch on"), hArgs{k.key("device", "sensor", "channel"), name, k.key("on", "enabled"), true}, ok(k.ack())),
		every(k.secs(10, 30), ms), k.do(name, tool, hArgs{k.key("device", "sensor", "channel"), name}, ok(k.record(hArgs{k.key("device", "sensor", "channel"), name, k.key("value", "reading", "level"), fmt.Sprintf("%.1f %s", goal, unit), k.key("state", "phase"), "ready"}))), k.end(""))
}
