package scenarios

import (
	"fmt"
	"time"
)

func hWaiting() []Family {
	return []Family{
		// The service says how long to wait, the agent waits that long, and the next call goes through.
		{Name: "wait-as-told-by-rate-limit", Make: hWaitRateLimit},
		// The pauses grow with each refusal, and the service comes back.
		{Name: "wait-with-growing-pauses", Make: hWaitGrowing},
		// Another process holds a lock for a while; the agent waits its turn.
		{Name: "wait-for-a-lock", Make: hWaitLock},
		// The connection breaks again and again, but each attempt gets further.
		{Name: "wait-resumed-download", Make: hWaitDownload},
		// A name needs minutes to spread; it is looked up seldom and arrives.
		{Name: "wait-for-dns", Make: hWaitDNS},
		// A watch over a quiet system: equal answers minutes apart are what it is there for.
		{Name: "wait-on-watch-for-hours", Make: hWaitWatch},
	}
}

func hWaitRateLimit(w *words) Case {
	k := hAbroad(w)
	names := k.people(w.between(8, 16))
	tool, key := k.tool("get profile", "enrich contact", "fetch account"), k.key("name", "person", "query")
	wait := w.between(12, 60)
	limit := pick(w, fmt.Sprintf("429 Too Many Requests. Retry after %d seconds.", wait), hArgs{"error", "rate_limited", "retry_after", wait}.json(), fmt.Sprintf("Rate limit reached, please try again in %ds", wait))
	task := k.tr("Complete the addresses of these people: ", "Ergänze die Adressen dieser Leute: ", "Completa las direcciones de estas personas: ", "Complète les adresses de ces personnes : ", "Complete os endereços destas pessoas: ", "补全这些人的地址：", "次の人たちの住所を補ってください：", "Дополни адреса этих людей: ")
	return k.play("You keep an address book. Respect the limits of services.", user(task+hJoin(names)),
		over(names, func(p string) Moves {
			found := k.do(p, tool, hArgs{key, p}, ok(k.record(hArgs{"name", p, "city", k.city(), "street", w.name(), "number", w.between(1, 200)})))
			if w.chance(50) {
				return found
			}
			refused := each(w.between(1, 3), func(int) Moves { return k.do("", tool, hArgs{key, p}, failed(limit)) })
			refused[0].Wait = 0
			change(refused[1:], func(m *Move) { m.Wait = time.Duration(wait) * time.Second })
			return seq(refused, every(time.Duration(wait+1)*time.Second, found))
		}), k.end(""))
}

func hWaitGrowing(w *words) Case {
	k := hAbroad(w)
	tool, id := k.tool("submit report", "post order", "create booking", "upload batch"), hID(w)
	args := hArgs{"id", id, "amount", w.between(10, 900), "note", k.sentence()}
	busy := pick(w, "503 Service Unavailable", "The service is temporarily unavailable. Please try again later.", hArgs{"error", "TEMPORARILY_UNAVAILABLE", "message", "upstream overloaded"}.json(), k.tr("temporarily unavailable", "vorübergehend nicht erreichbar", "no disponible temporalmente", "temporairement indisponible", "temporariamente indisponível", "服务暂时不可用", "一時的に利用できません", "временно недоступно"))
	pause := k.secs(2, 8)
	return k.play("You post documents to a partner's system. When it is busy, wait longer each time.", k.errands(4), user("Post "+id+" and give me the receipt."),
		each(w.between(4, 7), func(i int) Moves {
			ms := k.do("", tool, args, failed(busy))
			if i > 0 {
				change(ms, func(m *Move) { m.Wait = pause })
				pause *= 2
			}
			return ms
		}),
		every(pause, k.do(id, tool, args, ok(k.record(hArgs{"id", id, "receipt", hID(w), "status", "accepted"})))), k.end(""))
}

func hWaitLock(w *words) Case {
	k := hNew(w)
	command, held := "apt-get install -y "+w.word(), fmt.Sprintf("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process %d (unattended-upgr)", w.between(300, 9000))
	if w.chance(50) {
		state := w.word()
		command, held = "terraform apply -auto-approve -target=module."+state, fmt.Sprintf("Error: Error acquiring the state lock\n\nLock Info:\n  ID:        %s\n  Path:      %s.tfstate\n  Operation: OperationTypeApply\n  Who:       %s@ci-%d", w.hex(16), state, w.word(), w.between(1, 40))
	}
	return k.play("You administer servers.", user("Bring the "+pick(w, hNouns...)+" server up to date; the nightly upgrade may still be running, then wait for it."), k.chores(10),
		every(k.secs(12, 40), each(w.between(4, 10), func(int) Moves { return k.sh("the update", command, held, 1) })),
		k.sh("the update", command, hProse(w, 2)+"\n"+pick(w, "Setting up packages ...", "Apply complete! Resources: 3 added, 1 changed, 0 destroyed."), 0),
		k.chores(6), k.end("The server is up to date."))
}

func hWaitDownload(w *words) Case {
	k := hNew(w)
	file := w.word() + pick(w, ".tar.gz", ".iso", ".zip", ".parquet")
	total, have := w.between(800, 4000), 0
	command := "curl -C - -O https://" + w.word() + ".example/data/" + file
	return k.play("You prepare data sets. The line is poor; resume downloads until they are complete.", user("Download "+file+" and check its sum."), k.chores(6),
		each(w.between(8, 20), func(int) Moves {
			have += w.between(10, 38)
			return every(k.secs(10, 60), k.sh("", command, fmt.Sprintf("** Resuming transfer from byte position %d\ncurl: (18) transfer closed with %d bytes remaining to read", have*1048576, (total-have)*1048576), 18))
		}),
		k.sh("", command, fmt.Sprintf("** Resuming transfer from byte position %d\n100 %dM  100 %dM    0     0  9.1M      0", have*1048576, total, total), 0),
		k.sh("", "sha256sum -c "+file+".sha256", file+": OK", 0), k.end(file+" is complete and its sum is right."))
}

func hWaitDNS(w *words) Case {
	k := hNew(w)
	host, ip := w.word()+"."+w.word()+".example", fmt.Sprintf("203.0.113.%d", w.between(2, 250))
	command := pick(w, "dig +short "+host, "dig @1.1.1.1 +short "+host+" A", "host "+host)
	empty := pick(w, "", "Host "+host+" not found: 3(NXDOMAIN)")
	return k.play("You manage domains. Changes need a few minutes; look about twice a minute.", user("Point "+host+" at "+ip+" and tell me when it works."), k.chores(6),
		k.do(host, k.tool("create record", "set dns"), hArgs{"name", host, "type", "A", "value", ip}, ok(k.ack())),
		every(k.secs(25, 60), each(w.between(5, 15), func(int) Moves { return k.sh(host, command, empty, 0) })),
		k.sh(host, command, ip, 0), k.sh("", "curl -sI https://"+host, "HTTP/2 200\ncontent-type: text/html\nserver: "+w.word(), 0), k.end(host+" works."))
}

func hWaitWatch(w *words) Case {
	k := hAbroad(w)
	tool, n := k.tool("list alerts", "open incidents", "check alarms"), w.between(20, 45)
	calm, args := k.nothing(), hArgs{k.key("since", "window"), pick(w, "5m", "10m", "last")}
	task := k.tr("Keep watch over the alarms until six in the morning; look every few minutes.", "Halte bis sechs Uhr früh Wache über die Alarme; sieh alle paar Minuten nach.", "Vigila las alarmas hasta las seis; mira cada pocos minutos.", "Surveille les alarmes jusqu'à six heures ; regarde toutes les quelques minutes.", "Vigie os alarmes até às seis; olhe a cada poucos minutos.", "请值班到早上六点，每隔几分钟查看一次警报。", "朝六時まで数分おきに警報を確認してください。", "Следи за тревогами до шести утра, проверяй каждые несколько минут.")
	at := w.between(n/2, n-2)
	return k.play("You are on night watch.", user(task), every(k.secs(120, 400), each(n, func(i int) Moves {
		if i != at {
			return k.do("", tool, args, ok(calm))
		}
		id := hID(w)
		return seq(k.do("", tool, args, ok(hList([]hArgs{{"id", id, "host", w.word(), "text", k.sentence()}}))),
			k.do(id, k.tool("acknowledge", "page person"), hArgs{"id", id, "note", k.sentence()}, ok(k.ack())))
	})), k.end(k.sentence()))
}
