package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckErrors() []Family {
	return []Family{
		{"stuck-guessed-file-names", true, stuckGuessedFileNames},
		{"stuck-guessed-ids", true, stuckGuessedIDs},
		{"stuck-guessed-tables", true, stuckGuessedTables},
		{"stuck-guessed-selectors", true, stuckGuessedSelectors},
		{"stuck-spelling-variants", true, stuckSpellingVariants},
		{"stuck-hopping-tools", true, stuckHoppingTools},
		{"stuck-validation-never-changes", true, stuckValidationNeverChanges},
		{"stuck-denied-everywhere", true, stuckDeniedEverywhere},
		{"stuck-volatile-error", true, stuckVolatileError},
		{"stuck-no-network", true, stuckNoNetwork},
	}
}

// Names of files are guessed; none exists, and nothing is learnt from that.
func stuckGuessedFileNames(w *words) Case {
	k, fail, topic := newSkit(w), sfault(w), w.word()
	texts, tool, key := pick(w, k.t.missing...), k.tool(pick(w, "read", "open", "find"), "file"), pick(w, "path", "file", "name")
	return Case{
		System: k.system("You are a coding agent.", "You answer from files."),
		Moves: seq(
			k.asks(topic, "Change the timeout of "+topic+".", "Where is "+topic+" configured? Raise its limit."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				name := pick(w, "config", "conf", "etc", "settings", "deploy", ".") + "/" + topic + pick(w, "-", "_", ".", "/") + w.word() + "." + pick(w, "yaml", "json", "toml", "ini", "env", "conf", "xml")
				return k.say(call(tool, sargs(key, name), fail(fmt.Sprintf(texts, name))))
			}),
		),
	}
}

// Numbers of records are guessed one after the other.
func stuckGuessedIDs(w *words) Case {
	k, thing, who, fail := newSkit(w), pick(w, sThings...), sperson(w), sfault(w)
	prefix, tool, text, quoted := strings.ToUpper(w.word()[:2]), k.tool("get", thing), pick(w, k.t.missing...), w.chance(60)
	return Case{
		System: k.system("You are the service desk of "+w.name()+".", "You look "+thing+"s up by their number."),
		Moves: seq(
			k.asks(who, who+" has lost the number of the "+thing+". Tell me its state.", "What is the state of the "+thing+" of "+who+"?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				id := fmt.Sprintf("%s-%d", prefix, w.between(1000, 99999))
				shown := thing
				if quoted {
					shown = id
				}
				return k.say(call(tool, sargs("id", id), fail(fmt.Sprintf(text, shown))))
			}),
		),
	}
}

// Tables are guessed in SQL; the database has none of them.
func stuckGuessedTables(w *words) Case {
	k, thing := newSkit(w), pick(w, sThings...)
	tool, column := k.tool(pick(w, "run", "execute"), pick(w, "sql", "query")), w.word()
	wording := pick(w, `ERROR:  relation "%s" does not exist`+"\nLINE 1: ...\nSQLSTATE: 42P01", "(1146, \"Table '"+w.word()+".%s' doesn't exist\")", "sqlite3.OperationalError: no such table: %s", "ORA-00942: table or view %s does not exist")
	marked := w.chance(50)
	return Case{
		System: k.system("You write SQL.", "You answer questions about the "+thing+" data base of "+w.name()+"."),
		Moves: seq(
			k.asks(thing, "How many "+thing+"s were there last month?", "Which region has the most "+thing+"s?"),
			k.prior(sData),
			k.loop(k.rounds(), func(int) Moves {
				table := pick(w, thing, thing+"s", "tbl_"+thing, "v_"+thing, "dim_"+thing, "fact_"+thing) + "_" + w.word()
				sql := fmt.Sprintf(pick(w, "SELECT count(*) FROM %s", "SELECT "+column+", count(*) FROM %s GROUP BY 1", "SELECT * FROM %s LIMIT 5", "SELECT max("+column+") FROM %s"), table)
				r := ok(fmt.Sprintf(wording, table))
				r.Error = marked
				return k.say(call(tool, sargs("sql", sql), r))
			}),
		),
	}
}

// Selectors are guessed at a page that has none of them.
func stuckGuessedSelectors(w *words) Case {
	k, site, fail := newSkit(w), ssite(w), sfault(w)
	tool, key := k.tool("click", "element"), pick(w, "selector", "css", "locator")
	wording := pick(w, "TimeoutError: locator.click: Timeout %[2]dms exceeded waiting for %[1]s", "No element matches %[1]s", "ElementNotInteractable: %[1]s is not visible (waited %[2]d ms)")
	limit := pick(w, 5000, 10000, 30000)
	return Case{
		System: k.system("You use a browser.", "You fill in forms on the web."),
		Moves: seq(
			k.asks(site, "Download the newest bill from "+site+".", "Order the catalogue at "+site+"."),
			call(k.tool("open", "page"), sargs("url", "https://"+site), ok(spage(w))),
			k.prior(sBrowsing),
			k.loop(k.rounds(), func(int) Moves {
				s := w.word()
				sel := pick(w, "#"+s, "button."+s, "a[href*="+s+"]", "text="+s, "//button[@id='"+s+"']", "."+s+" > a", "[data-test="+s+"]", "form ."+s+" input", "td."+s+":last-child a")
				text := fmt.Sprintf(strings.ReplaceAll(wording, "%[2]d", fmt.Sprint(limit)), sel)
				return k.say(call(tool, sargs(key, sel), fail(text)))
			}),
		),
	}
}

// A name is spelt in ever other ways; it is never found.
func stuckSpellingVariants(w *words) Case {
	k, name, fail := newSkit(w), w.name(), sfault(w)
	tool, text := k.tool(pick(w, "find", "open", "search"), pick(w, "customer", "patient", "file", "member")), pick(w, k.t.missing...)
	letters := strings.Split("a e i o u y ie ei ah eh th dt tt ck", " ")
	return Case{
		System: k.system("You help in an office and open records by name.", "You look up members."),
		Moves: seq(
			k.asks(name, "Open the record of "+name+".", "What is the phone number of "+name+"?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				at := w.between(1, len(name)-1)
				spelt := name[:at] + pick(w, letters...) + name[at+w.IntN(2):] + pick(w, "", "", ", "+pick(w, sPeople...), "s", "-"+w.name())
				return k.say(call(tool, sargs("name", spelt), fail(fmt.Sprintf(text, spelt))))
			}),
		),
	}
}

// After each refusal another tool is tried for the same end; all refuse.
func stuckHoppingTools(w *words) Case {
	k, fail, what := newSkit(w), sfault(w), w.word()+".tgz"
	target, refusal := w.word()+"-production", pick(w, k.t.denied...)
	verbs := strings.Fields("upload copy push write put send sync deploy publish store transfer mirror")
	nouns := strings.Fields("object file bucket artifact release share volume archive blob asset")
	return Case{
		System: k.system("You are a deployment agent.", "You move releases to where they run."),
		Moves: seq(
			k.asks(what, "Bring "+what+" to "+target+".", "Publish "+what+" on "+target+" today."),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				if w.chance(40) {
					command := pick(w, "scp %s %s:/srv/", "aws s3 cp %s s3://%s/", "rsync -a %s %s::rel", "curl -T %s https://%s.example/", "rclone copy %s %s:", "ftp-put %s %s")
					return k.say(call(pick(w, "bash", "shell", "python", "terminal"), sargs("command", fmt.Sprintf(command, what, target)+pick(w, "", " -v", " --force", " # "+w.word())), fail(refusal)))
				}
				return k.say(call(k.tool(pick(w, verbs...), pick(w, nouns...)), sargs(pick(w, "source", "from", "file"), what, pick(w, "to", "target", "destination"), target), fail(refusal)))
			}),
		),
	}
}

// The same field is refused whatever is put into it; the message is long and
// never changes.
func stuckValidationNeverChanges(w *words) Case {
	k, thing, field, fail := newSkit(w), pick(w, sThings...), w.word(), sfault(w)
	tool, who := k.tool(pick(w, "create", "submit", "save"), thing), sperson(w)
	message := pick(w, k.t.invalid...)
	if w.chance(50) {
		message += "\n" + slines(w.between(4, 14), func(int) string {
			return fmt.Sprintf("  - %s.%s: %s", thing, w.word(), pick(w, "required", "must be a string", "extra fields not permitted", "value is not a valid enumeration member"))
		})
	}
	at := smoment(w)
	return Case{
		System: k.system("You enter "+thing+"s into a system.", "You are a clerk."),
		Moves: seq(
			k.asks(who, "Enter the "+thing+" of "+who+".", "File a "+thing+" for "+who+", due soon."),
			k.prior(sOffice),
			k.loop(k.rounds(), func(i int) Moves {
				at = at.AddDate(0, 0, w.IntN(3))
				value := at.Format(pick(w, "2006-01-02", "02.01.2006", "Jan 2, 2006", "01/02/06", "20060102", "2 January 2006", "Monday"))
				return k.say(call(tool, sargs("for", who, field, value, pick(w, "note", "comment", "remark"), w.word()), fail(message)))
			}),
		),
	}
}

// Everything that is tried is refused for want of the same right.
func stuckDeniedEverywhere(w *words) Case {
	k := newSkit(w)
	base := "/" + pick(w, "srv", "data", "mnt", "var", "opt") + "/" + w.word()
	wording := pick(w, "bash: %s: Permission denied", "cat: %s: Permission denied", "EACCES: permission denied, open '%s'", pick(w, k.t.denied...)+" (%s)")
	tool, marked := pick(w, "bash", k.tool("run", "command"), k.tool("execute", "shell")), w.chance(50)
	return Case{
		System: k.system("You operate servers.", "You are an agent with a shell."),
		Moves: seq(
			k.asks(base, "Tidy up "+base+" and tell me what was in it.", "How large are the reports in "+base+"?"),
			k.prior(sCoding),
			k.loop(k.rounds(), func(int) Moves {
				path := base + "/" + w.word() + pick(w, "", "/"+w.word(), ".log", ".csv", "/"+w.word()+".db")
				r := ok(fmt.Sprintf(wording, path))
				r.Error = marked
				return k.say(call(tool, sargs("command", pick(w, "cat ", "sudo cat ", "ls -la ", "head ", "wc -c ", "stat ", "less ", "strings ")+path), r))
			}),
		),
	}
}

// The same fault comes back with other ids and times in it, whatever is asked.
func stuckVolatileError(w *words) Case {
	k, thing, changing := newSkit(w), pick(w, sThings...), svolatile(w)
	tool, message, render, marked := k.tool("list", thing), pick(w, k.t.down...), srender(w), w.chance(50)
	trace := ""
	if w.chance(40) {
		trace = "\n" + slines(w.between(5, 20), func(int) string { return "    at " + sident(w) + " (" + sfileName(w) + ")" })
	}
	return Case{
		System: k.system("You manage "+thing+"s.", "You prepare lists for "+w.name()+"."),
		Moves: seq(
			k.asks(thing, "Make me a list of all "+thing+"s of this year.", "Which "+thing+"s are open?"),
			k.prior(sOffice),
			k.loop(k.rounds(), func(int) Moves {
				r := ok(render(append([]any{"error", message}, changing()...)...) + trace)
				r.Error = marked
				return k.say(call(tool, sargs("from", smoment(w).Format("2006-01-02"), "filter", w.word()), r))
			}),
		),
	}
}

// No address can be reached from here, which holds for the next one, too.
func stuckNoNetwork(w *words) Case {
	k, topic, fail := newSkit(w), w.name(), sfault(w)
	tool := k.tool(pick(w, "fetch", "open", "download"), pick(w, "url", "page"))
	wording := pick(w, "net::ERR_NAME_NOT_RESOLVED at %s", "Could not resolve host: %s", "HTTPSConnectionPool(host='%s', port=443): Max retries exceeded: Network is unreachable", "Blocked by the sandbox: outgoing connections to %s are not allowed")
	return Case{
		System: k.system("You do research on the web.", "You collect facts."),
		Moves: seq(
			k.asks(topic, "Who supplies the parts of "+topic+"?", "Write a page about "+topic+"."),
			k.loop(k.rounds(), func(int) Moves {
				host := pick(w, "www.", "", "en.", "api.", "news.") + ssite(w)
				return k.say(call(tool, sargs("url", "https://"+host+"/"+w.word()), fail(fmt.Sprintf(wording, host))))
			}),
		),
	}
}
