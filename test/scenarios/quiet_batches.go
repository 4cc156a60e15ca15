package scenarios

import (
	"fmt"
	"strings"
)

func quietBatches() []Case {
	towns := []string{"Aarhus", "Bergen", "Cork", "Dresden", "Évora", "Faro", "Ghent", "Haarlem", "Ioannina", "Jena", "Kotor", "Lugano", "Malmö", "Nantes", "Odense", "Porto", "Riga", "Split", "Turku", "Umeå"}
	return []Case{
		{
			Name: "rename-photos", Evidence: "EVIDENCE 4.4 batch work over many files with one template", Want: quiet,
			System: "You tidy folders.",
			Moves: seq(
				user("Put the town in front of each photo's name."),
				over(towns, func(town string) Moves {
					return call("rename", fmt.Sprintf(`{"from":"IMG_%d.jpg","to":"%s.jpg"}`, 4000+len(town)*31+int(town[0]), town), ok("ok"))
				}),
				says("All photos are renamed."),
			),
		},
		{
			Name: "translate-strings", Evidence: "EVIDENCE 4.4 batch work over many items with one template", Want: quiet,
			System: "You localise an application.",
			Moves: seq(
				user("Translate the town guide into Danish, one file per town."),
				over(towns, func(town string) Moves {
					return call("write_file", fmt.Sprintf(`{"path":"da/%s.txt","content":"Velkommen til %s! Byen har %d indbyggere."}`, town, town, 9000*len(town)),
						ok(fmt.Sprintf("File created successfully at: da/%s.txt", town)))
				}),
				says("Twenty files are translated."),
			),
		},
		{
			Name: "insert-rows", Evidence: "EVIDENCE 4.4 batch work (every answer is the same acknowledgement)", Want: quiet,
			System: "You maintain a database.",
			Moves: seq(
				user("Insert the towns."),
				over(towns, func(town string) Moves {
					return call("sql", fmt.Sprintf(`{"statement":"INSERT INTO town(name, letters) VALUES ('%s', %d)"}`, town, len(town)), ok("1 row affected"))
				}),
				says("Done: 20 rows."),
			),
		},
		{
			Name: "label-images", Evidence: "EVIDENCE 4.4 batch work (read, then write)", Want: quiet,
			System: "You label images.",
			Moves: seq(
				user("Label the images of the harbour."),
				each(15, func(i int) Moves {
					things := []string{"crane", "gull", "ferry", "rope", "buoy"}
					return seq(
						call("describe_image", fmt.Sprintf(`{"image":%d}`, 70+i), ok(fmt.Sprintf("a %s in front of warehouse %d", things[i%5], i))),
						call("set_label", fmt.Sprintf(`{"image":%d,"label":"%s"}`, 70+i, things[i%5]), ok("ok")),
					)
				}),
				says("Fifteen images are labelled."),
			),
		},
		{
			Name: "send-invoices", Evidence: "EVIDENCE 4.4 batch work (the same effect for different people)", Want: quiet,
			System: "You send invoices.",
			Moves: seq(
				user("Send the February invoices to all customers."),
				over(towns[:14], func(town string) Moves {
					return call("send_invoice", fmt.Sprintf(`{"customer":"%s Ltd","month":"2026-02"}`, town), ok("sent"))
				}),
				says("Fourteen invoices are sent."),
			),
		},
		{
			Name: "audit-finds-nothing", Evidence: "EVIDENCE 4.4 batch work (a check that finds nothing, file by file)", Want: mayWarn,
			System: "You are a security auditor.",
			Moves: seq(
				user("Check that none of these eight services has a private key in its repository: gate, till, mail, feed, maps, auth, push, cron."),
				over([]string{"gate", "till", "mail", "feed", "maps", "auth", "push", "cron"}, func(name string) Moves {
					return call("grep", fmt.Sprintf(`{"pattern":"BEGIN PRIVATE KEY","repository":%q}`, name), ok("no matches"))
				}),
				says("None of the eight repositories holds a private key."),
			),
		},
		{
			Name: "checksums-of-many-files", Evidence: "EVIDENCE 4.4 batch work (results that differ in a checksum only)", Want: quiet,
			System: "You verify backups.",
			Moves: seq(
				user("Compute the checksums of the tapes."),
				each(14, func(i int) Moves {
					return call("bash", fmt.Sprintf(`{"command":"md5sum /tapes/%02d.tar"}`, i), ok(fmt.Sprintf("%08x%08x%08x%08x  /tapes/%02d.tar", 2654435761*uint32(i+1), 40503*uint32(i+7), 2246822519*uint32(i+3), 3266489917*uint32(i+5), i)))
				}),
				says("Here are the fourteen checksums."),
			),
		},
		{
			Name: "one-template-in-plain-text", Evidence: "EVIDENCE 4.4 batch work (a text-command agent)", Want: quiet,
			System: "Reply with one bash block. You get its output.",
			Moves: seq(
				user("Convert every chapter to HTML."),
				each(12, func(i int) Moves {
					return answer(fmt.Sprintf("Chapter %d is next.\n\n```bash\npandoc chapter%02d.md -o chapter%02d.html\n```", i+1, i+1, i+1), "<returncode>0</returncode>\n<output></output>")
				}),
				says("All chapters are converted."),
			),
		},
		{
			Name: "equal-notices-at-length", Evidence: "EVIDENCE 4.4 batch work over many items with one template (the answer is long and always the same)", Want: mayWarn,
			System: "You send mailings.",
			Moves: seq(
				user("Send the renewal notice to the branch offices."),
				call("list_offices", `{}`, ok(strings.Join(towns, "\n"))),
				over(towns, func(town string) Moves {
					return call("send_notice", fmt.Sprintf(`{"office":%q,"template":"renewal"}`, town),
						ok("The message has been accepted for delivery. Delivery normally takes a few minutes; follow it under Outbox. Messages that bounce are reported once a day to the owner of the mailing."))
				}),
				says("All offices are notified."),
			),
		},
		{
			Name: "most-of-the-list-is-missing", Evidence: "EVIDENCE 4.4 batch work over many items (a list to be checked, most of which fails)", Want: mayWarn,
			System: "You compare lists.",
			Moves: seq(
				user("Which of these towns have a branch in the register? "+strings.Join(towns, ", ")),
				each(len(towns), func(i int) Moves {
					if i%11 == 9 {
						return call("find_branch", fmt.Sprintf(`{"town":%q}`, towns[i]), ok(fmt.Sprintf(`{"branch":%d,"town":%q,"manager":"M. %c."}`, 300+i, towns[i], 'A'+i)))
					}
					return call("find_branch", fmt.Sprintf(`{"town":%q}`, towns[i]), failed("Error: branch not found"))
				}),
				says("Jena alone has one."),
			),
		},
	}
}
