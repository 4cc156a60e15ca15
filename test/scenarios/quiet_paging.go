package scenarios

import "fmt"

func quietPaging() []Case {
	return []Case{
		{
			Name: "cursor-through-orders", Evidence: "EVIDENCE 4.2 paging and cursors", Want: quiet,
			System: "You export shop data.",
			Moves: seq(
				user("How many orders were refunded this year?"),
				each(15, func(i int) Moves {
					return call("list_orders", fmt.Sprintf(`{"cursor":"c%03d","state":"refunded"}`, i), ok(fmt.Sprintf(
						`{"orders":[{"id":%d,"state":"refunded"},{"id":%d,"state":"refunded"}],"next":"c%03d"}`, 9000+2*i, 9001+2*i, i+1)))
				}),
				says("Thirty orders were refunded."),
			),
		},
		{
			Name: "equal-looking-pages", Evidence: "EVIDENCE 4.2 paging (pages that look the same)", Want: quiet,
			System: "You read meters.",
			Moves: seq(
				user("Sum the consumption of all meters."),
				each(12, func(i int) Moves {
					return call("meters", fmt.Sprintf(`{"page":%d}`, i+1), ok(fmt.Sprintf("page %d of 12\nmeter %d: 0 kWh\nmeter %d: 0 kWh\nmeter %d: 0 kWh", i+1, 3*i+1, 3*i+2, 3*i+3)))
				}),
				says("The sum is 0 kWh; no meter has reported yet."),
			),
		},
		{
			Name: "read-output-of-a-terminal", Evidence: "EVIDENCE 4.2 read_output that returns new data for equal arguments", Want: quiet,
			System: "You run a migration in a terminal.",
			Moves: seq(
				user("Run the migration and report errors."),
				call("type", `{"text":"./migrate --all\n"}`, ok("")),
				each(16, func(i int) Moves {
					tables := []string{"users", "orders", "items", "carts", "prices", "stock", "vendors", "tags"}
					return call("read_output", `{}`, ok(fmt.Sprintf("migrated table %s_%d (%d rows)\n", tables[i%8], i/8, 1000+317*i)))
				}),
				says("All tables are migrated without errors."),
			),
		},
		{
			Name: "scrolling-a-page", Evidence: "EVIDENCE 4.2 paging (scrolling)", Want: quiet,
			System: "You read web pages.",
			Moves: seq(
				user("Does the article mention the harbour strike?"),
				over([]string{
					"The city was founded by fishermen who settled on the eastern bank.", "In the following century the market square was paved.",
					"A fire destroyed most of the wooden houses.", "The new cathedral took ninety years to build.", "Trade with the islands brought wealth and disputes.",
					"Railways connected the port with the coal fields.", "Dock workers formed their first union in a tavern.", "The strike of the harbour lasted eleven weeks.",
				}, func(text string) Moves { return call("scroll_down", `{}`, ok(text)) }),
				says("Yes: the strike of the harbour lasted eleven weeks."),
			),
		},
		{
			Name: "free-slot-day-by-day", Evidence: "EVIDENCE 4.2 paging (some pages are empty)", Want: mayWarn,
			System: "You make appointments.",
			Moves: seq(
				user("Find me the next free appointment at the dentist."),
				each(5, func(i int) Moves {
					return call("slots", fmt.Sprintf(`{"practice":"Dr Amsel","day":"2026-03-%02d"}`, 9+i), ok("[]"))
				}),
				call("slots", `{"practice":"Dr Amsel","day":"2026-03-16"}`, ok(`[{"time":"08:40"},{"time":"11:20"}]`)),
				says("The next free appointment is on 16 March at 8:40."),
			),
		},
		{
			Name: "dequeue-items", Evidence: "EVIDENCE 4.2 equal arguments that return new data", Want: quiet,
			System: "You process a work queue.",
			Moves: seq(
				user("Work through the queue of complaints."),
				each(10, func(i int) Moves {
					what := []string{"late delivery", "broken lid", "wrong colour", "missing screws", "rude driver", "double charge", "no invoice", "scratched glass", "short cable", "odd smell"}
					return seq(
						call("next_item", `{}`, ok(fmt.Sprintf(`{"ticket":%d,"text":"%s"}`, 500+i, what[i]))),
						call("answer_ticket", fmt.Sprintf(`{"ticket":%d,"text":"We are sorry about the %s."}`, 500+i, what[i]), ok("sent")),
					)
				}),
				says("The queue is empty."),
			),
		},
		{
			Name: "scrolls-that-show-nothing", Evidence: "EVIDENCE 4.2 paging (the answer says that it scrolled, not what came into view)", Want: mayWarn,
			System: "You use a browser.",
			Moves: seq(
				user("Summarise the long read about salt."),
				call("goto", `{"url":"https://mag.example/salt"}`, ok("Navigated to https://mag.example/salt")),
				over([]string{
					"The mines of Wieliczka had horses that never saw daylight, chapels cut by miners and chandeliers of crystal",
					"Caravans left Taoudenni with slabs tied to camels, forty days through sand to reach the river at Timbuktu",
					"France taxed it: the gabelle made smugglers of peasants, who trained dogs and hid sacks beneath their coats",
					"Along Guérande people still rake shallow pans while herons wait over the marsh for evening tides and crabs",
				}, func(part string) Moves {
					return seq(
						rep(4, call("scroll", `{"direction":"down","pixels":600}`, ok("Scrolled down by 600 pixels"))),
						call("extract_text", `{"part":"visible"}`, ok("In view: "+part)),
					)
				}),
				says("It tells of mines, caravans, taxes and pans."),
			),
		},
		{
			Name: "each-story-read-twice", Evidence: "EVIDENCE 4.2 read_output that returns new data for equal arguments (each of them twice)", Want: mayWarn,
			System: "You follow a news wire.",
			Moves: seq(
				user("Collect what the wire says about the regatta."),
				over([]string{
					"Regatta: the Danish crew leads after strong westerly gusts tore two spinnakers near Skagen lighthouse.",
					"Organisers shorten tomorrow's course because fog banks drift across Kattegat; pilots advise caution until noon.",
					"Swedish skipper Lindholm retires with a cracked rudder; her team tows the yacht towards Gothenburg harbour.",
					"Jury rejects the protest filed by Finland: video shows clear water between both bows at mark seven.",
					"Spectators fill the piers; ferries add evening trips and bakeries sell out of cardamom buns before dusk.",
					"Final leg: Denmark wins by eleven lengths, Norway second, while France overtakes Germany on the line.",
					"Medals were handed over beneath lanterns; Prince Consort museum lends its oldest silver cup for photographs.",
					"Clean-up begins: volunteers gather bottles, divers lift anchors and councils count damaged moorings along quays.",
				}, func(story string) Moves { return rep(2, call("read_wire", `{}`, ok(story))) }),
				says("Denmark has won the regatta."),
			),
		},
	}
}
