package scenarios

import (
	"fmt"
	"strings"
)

func hActing() []Family {
	return []Family{
		// Different edits of one file, each answered by the same line.
		{Name: "act-edits-of-one-file", Make: hActEdits},
		// The whole task list is written again each time, with one more item done.
		{Name: "act-task-list-ticked", Make: hActTasks},
		// Notes of different facts, each answered by the same word.
		{Name: "act-memory-notes", Make: hActNotes},
		// One row after the other, each answered by "1 row affected".
		{Name: "act-database-inserts", Make: hActInserts},
		// The same message to many people, or different ones; the answer is always "sent".
		{Name: "act-messages-to-many", Make: hActMessages},
		// The task says how often the motor must step; the agent counts.
		{Name: "act-motor-steps-as-asked", Make: hActMotor},
		// A controller sets a value and reads it back; the world changes slowly.
		{Name: "act-thermostat", Make: hActThermostat},
		// The user asked for one press per interval, so many times.
		{Name: "act-press-as-often-as-asked", Make: hActPress},
		// A plan is drawn object by object, each answered alike.
		{Name: "act-drawing-shapes", Make: hActDrawing},
		// A spreadsheet is filled cell by cell.
		{Name: "act-cells-of-a-sheet", Make: hActCells},
	}
}

func hActEdits(w *words) Case {
	k := hNew(w)
	path := hPath(w, pick(w, k.ending, "md", "yaml", "tex", "css"))
	tool, done := k.tool("edit file", "str replace", "apply edit", "replace in file"), pick(w, "The file "+path+" has been updated.", "Edit applied.", k.ack(), "1 replacement made in "+path)
	return k.play("You are a coding agent.", user("Rename the old terms in "+path+" to the new ones of the glossary, one by one."), k.prior(8),
		k.do(path, k.tool("read file", "view"), hArgs{"path", path}, ok(hNumbered(k.code(w.between(20, 60)), 1))),
		each(w.between(15, 45), func(int) Moves {
			old := w.word()
			return k.do(old, tool, hArgs{"path", path, k.key("old", "old_string", "search"), old + "(" + w.word() + ")", k.key("new", "new_string", "replace"), w.word() + "()"}, ok(done))
		}), k.end("All terms in "+path+" are renamed."))
}

func hActTasks(w *words) Case {
	k := hAbroad(w)
	k.manner = hNative
	form := k.tr("Describe the office in %s for %s", "Beschreibe das Büro in %s für %s", "Describe la oficina de %s para %s", "Décris le bureau de %s pour %s", "Descreva o escritório de %s para %s", "为%[2]s介绍%[1]s的办公室", "%[2]sさんのために%[1]sの事務所を紹介する", "Опиши офис в городе %s, читает %s")
	tasks := hUnique(w.between(8, 14), func() string { return fmt.Sprintf(form, k.city(), k.person(w)) })
	tool, done := k.tool("todo write", "update plan", "set tasks"), pick(w, "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.", "Plan updated", k.ack())
	list := func(n int) Moves {
		var items []hArgs
		for i, t := range tasks {
			state := "pending"
			if i < n {
				state = "completed"
			} else if i == n {
				state = "in_progress"
			}
			items = append(items, hArgs{"content", t, "status", state})
		}
		return k.do("", tool, hArgs{k.key("todos", "plan", "items"), hRaw(hList(items))}, ok(done))
	}
	task := k.tr("Do these things and keep the list up to date:\n", "Erledige diese Dinge und halte die Liste aktuell:\n", "Haz estas cosas y mantén la lista al día:\n", "Fais ces choses et tiens la liste à jour :\n", "Faça estas coisas e mantenha a lista em dia:\n", "完成这些事情并随时更新清单：\n", "次のことを行い、リストを更新してください：\n", "Сделай это и веди список:\n")
	return k.play("You are a careful assistant with a task list.", user(task+strings.Join(tasks, "\n")), each(len(tasks), func(i int) Moves {
		return seq(list(i), each(w.between(1, 3), func(int) Moves {
			p := fmt.Sprintf("offices/%02d-%s.md", i+1, w.word())
			return k.do(p, k.tool("write file", "save document"), hArgs{"path", p, "content", tasks[i] + "\n\n" + k.prose(w.between(2, 9))}, ok(k.key("ok", "written", "saved")))
		}))
	}), list(len(tasks)), k.end(""))
}

func hActNotes(w *words) Case {
	k := hAbroad(w)
	tool, done := k.tool("save memory", "remember", "add note", "add observation"), pick(w, "Memory saved.", k.ack(), `{"stored":true}`)
	who := k.people(w.between(3, 6))
	task := k.tr("Here are the minutes; remember every fact in a note of its own.\n", "Hier ist das Protokoll; merke dir jede Tatsache in einer eigenen Notiz.\n", "Aquí está el acta; recuerda cada hecho en una nota.\n", "Voici le compte rendu ; retiens chaque fait dans une note.\n", "Aqui está a ata; lembre cada facto numa nota.\n", "这是会议纪要，请把每个事实单独记下来。\n", "議事録です。事実を一つずつメモしてください。\n", "Вот протокол; запомни каждый факт отдельной заметкой.\n")
	var facts []string
	for range w.between(15, 40) {
		facts = append(facts, pick(w, who...)+": "+k.sentence())
	}
	return k.play("You have a long-term memory.", user(task+strings.Join(facts, "\n")), over(facts, func(f string) Moves {
		return k.do("", tool, hArgs{k.key("text", "content", "fact"), f}, ok(done))
	}), k.end(""))
}

func hActInserts(w *words) Case {
	k := hNew(w)
	table, cols := w.word(), w.several(w.between(2, 4))
	tool, done := k.tool("run sql", "execute sql", "query"), pick(w, "1 row affected", "INSERT 0 1", "Query OK, 1 row affected (0.01 sec)", `{"rowCount":1}`)
	var sheet, statements []string
	for range w.between(20, 50) {
		var values []string
		for range cols {
			values = append(values, pick(w, "'"+w.word()+"'", fmt.Sprint(w.between(1, 9999))))
		}
		sheet = append(sheet, strings.Join(values, ";"))
		statements = append(statements, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(cols, ", "), strings.Join(values, ", ")))
	}
	return k.play("You maintain a database.", user("Put these rows into "+table+" ("+hJoin(cols)+"):\n"+strings.Join(sheet, "\n")), k.prior(5), over(statements, func(s string) Moves {
		return k.do("", tool, hArgs{k.key("sql", "statement", "query"), s}, ok(done))
	}), k.do("", tool, hArgs{k.key("sql", "statement", "query"), "SELECT count(*) FROM " + table}, ok(fmt.Sprint(len(statements)))), k.end(fmt.Sprintf("%d rows are in.", len(statements))))
}

func hActMessages(w *words) Case {
	k := hAbroad(w)
	people, done := k.people(w.between(16, 40)), k.ack()
	tool, same, text := k.tool("send message", "send sms", "send mail", "post dm"), w.chance(50), k.prose(2)
	task := k.tr("Write to everyone about the date: ", "Schreibe allen wegen des Termins: ", "Escribe a todos por la fecha: ", "Écris à tous au sujet de la date : ", "Escreva a todos sobre a data: ", "给所有人写信通知日期：", "日程について全員に連絡してください：", "Напиши всем о дате: ")
	return k.play("You write for a club.", k.errands(3), user(task+hJoin(people)), over(people, func(p string) Moves {
		body := text
		if !same {
			body = p + ": " + k.prose(w.between(1, 3))
		}
		return k.do(p, tool, hArgs{k.key("to", "recipient"), p, k.key("text", "body"), body}, ok(done))
	}), k.end(""))
}

func hActMotor(w *words) Case {
	k := hAbroad(w)
	n, step := w.between(12, 40), pick(w, 1, 5, 10, 15, 90)
	tool, done := k.tool("step motor", "rotate", "advance belt", "turn valve"), k.ack()
	args := hArgs{k.key("steps", "degrees", "amount"), step}
	task := k.tr("Move the motor %d times by %d and count along.", "Bewege den Motor %d-mal um %d und zähle mit.", "Mueve el motor %d veces %d y ve contando.", "Fais tourner le moteur %d fois de %d et compte.", "Mova o motor %d vezes em %d e vá contando.", "让电机转动%d次，每次%d，并计数。", "モーターを%d回、%dずつ動かし、数えてください。", "Поверни мотор %d раз на %d и считай.")
	k.talk = pick(w, 0, 1, 1)
	return k.play("You operate a machine. Do exactly what is asked.", user(fmt.Sprintf(task, n, step)), each(n, func(i int) Moves {
		return k.do(fmt.Sprintf("%d/%d", i+1, n), tool, args, ok(done))
	}), k.end(fmt.Sprintf("%d × %d.", n, step)))
}

func hActThermostat(w *words) Case {
	k := hAbroad(w)
	room, done, v := w.word(), k.ack(), 10+5*w.Float64()
	set, get := k.tool("set valve", "set heating", "set fan"), k.tool("read temperature", "get state", "measure")
	task := k.tr("Bring %s to 21 degrees and hold it there for an hour.", "Bring %s auf 21 Grad und halte das eine Stunde.", "Lleva %s a 21 grados y mantenlo una hora.", "Amène %s à 21 degrés et tiens une heure.", "Leve %s a 21 graus e mantenha uma hora.", "把%s升到21度并保持一小时。", "%sを21度にして一時間保ってください。", "Доведи %s до 21 градуса и держи час.")
	return k.play("You are the controller of a building. Regulate in small steps.", user(fmt.Sprintf(task, room)), every(k.secs(30, 150), each(w.between(12, 25), func(int) Moves {
		v += (21-v)*0.3 + w.Float64() - 0.5
		return seq(k.do("", get, hArgs{"room", room}, ok(k.record(hArgs{"room", room, "celsius", fmt.Sprintf("%.1f", v)}))),
			k.do("", set, hArgs{"room", room, "percent", max(0, min(100, int((23-v)*12)))}, ok(done)))
	})), k.end(""))
}

func hActPress(w *words) Case {
	k := hAbroad(w)
	n, gap := w.between(10, 30), k.secs(10, 60)
	tool, done := k.tool("press button", "water plants", "take photo", "ring bell", "feed"), k.ack()
	device := w.word()
	task := k.tr("Operate %s %d times, once every %.0f seconds.", "Betätige %s %d-mal, alle %.0f Sekunden.", "Acciona %s %d veces, cada %.0f segundos.", "Actionne %s %d fois, toutes les %.0f secondes.", "Acione %s %d vezes, a cada %.0f segundos.", "操作%s共%d次，每%.0f秒一次。", "%sを%d回、%.0f秒ごとに動かしてください。", "Включи %s %d раз, каждые %.0f секунд.")
	return k.play("You operate devices at the times that people ask for.", k.errands(3), user(fmt.Sprintf(task, device, n, gap.Seconds())), every(gap, each(n, func(i int) Moves {
		return k.do(fmt.Sprintf("%d/%d", i+1, n), tool, hArgs{k.key("device", "id"), device}, ok(done))
	})), k.end(""))
}

func hActDrawing(w *words) Case {
	k := hNew(w)
	tool, done := k.tool("add shape", "draw", "create object", "insert element"), k.ack()
	return k.play("You draw plans with a drawing tool.", user("Draw the plan of a "+pick(w, "school", "library", "clinic", "theatre", "bakery", "museum", "station", "farmhouse")+" with its rooms, doors and windows."), each(w.between(20, 55), func(int) Moves {
		kind, label := pick(w, "rect", "line", "circle", "text", "arc"), pick(w, hNouns...)+" "+w.word()
		return k.do(label, tool, hArgs{k.key("kind", "type", "shape"), kind, k.key("label", "title", "id"), label, "x", w.between(0, 900), "y", w.between(0, 600), k.key("w", "width"), w.between(5, 90), k.key("h", "height"), w.between(5, 90), k.key("colour", "fill", "stroke"), pick(w, hColours...)}, ok(done))
	}), k.do("", k.tool("export", "save drawing"), hArgs{"format", "svg"}, ok(fmt.Sprintf("saved, %d objects", w.between(20, 60)))), k.end("The plan is drawn."))
}

func hActCells(w *words) Case {
	k := hAbroad(w)
	tool, done := k.tool("set cell", "write cell", "update range"), k.ack()
	cities := hUnique(w.between(10, 15), func() string { return k.city() })
	task := k.tr("Fill the sheet with the figures for each town.", "Trage die Zahlen jeder Stadt in die Tabelle ein.", "Rellena la hoja con las cifras de cada ciudad.", "Remplis la feuille avec les chiffres de chaque ville.", "Preencha a folha com os números de cada cidade.", "把每个城市的数字填入表格。", "各都市の数字を表に入力してください。", "Заполни таблицу числами по городам.")
	var figures strings.Builder
	ms := each(len(cities), func(i int) Moves {
		return each(3, func(j int) Moves {
			v := w.between(10, 99999)
			fmt.Fprintf(&figures, "\n%s: %d", cities[i], v)
			return k.do(cities[i], tool, hArgs{"cell", fmt.Sprintf("%c%d", 'B'+j, i+2), "value", v}, ok(done))
		})
	})
	return k.play("You work in spreadsheets.", user(task+figures.String()), ms, k.end(""))
}
