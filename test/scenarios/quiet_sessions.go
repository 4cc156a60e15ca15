package scenarios

import (
	"fmt"
	"strings"
)

func quietSessions() []Case {
	slogans := []string{"Warm bread, warm hearts.", "Crumbs of joy since 1962.", "Flour, water, patience.", "Rise early, eat well.", "The oven never sleeps.",
		"A loaf for every mood.", "Baked by Rosa, loved by all.", "Sourdough with a sense of humour.", "Your corner of rye.", "Butter makes it better."}
	tickets := []string{"I was charged twice for March.", "The invoice shows the wrong address.", "Why did my price go up?", "Refund my last payment, please.", "The VAT number is missing on the bill.",
		"My card was declined but money is gone.", "Can I pay by bank transfer?", "The discount code was not applied.", "I need a receipt for February.", "You still bill me after I cancelled.", "Please split the invoice in two.", "Which currency do you bill in?"}
	context := strings.Repeat("The ferry line was founded by two brothers who had made their money with salted herring. Its first ship carried forty passengers and a brass band. ", 40)
	questions := []string{"Who founded the line?", "How many passengers did the first ship carry?", "What had the founders traded before?", "Was there music on board?"}
	rounds := func(n int) Moves {
		return each(n, func(i int) Moves {
			plants := []string{"fern", "ivy", "moss", "oak", "yew", "reed", "sage", "thyme"}
			return seq(user("Tell me about "+plants[i]+"."), call("lookup", fmt.Sprintf(`{"plant":%q}`, plants[i]), ok(fmt.Sprintf("%s: grows %d cm a year, found in %d countries", plants[i], 4*i+3, 9*i+5))),
				says(fmt.Sprintf("The %s grows %d cm a year.", plants[i], 4*i+3)))
		})
	}
	return []Case{
		{
			Name: "sampling-one-prompt", Evidence: "EVIDENCE 4.13 sampling one prompt with different answers", Want: quiet, Ledger: true, System: "You write slogans.",
			Moves: each(10, func(i int) Moves { return in(fmt.Sprint(i), user("A slogan for a bakery."), says(slogans[i])) }),
		},
		{
			Name: "sampling-in-one-session", Evidence: "EVIDENCE 4.13 sampling one prompt with different answers", Want: quiet, Ledger: true, System: "You write slogans.",
			Moves: over(slogans, func(s string) Moves { return seq(forget("A slogan for a bakery, please."), says(s)) }),
		},
		{
			Name: "tokens-counted-often", Evidence: "EVIDENCE 4.13 count_tokens", Want: quiet, System: "You are a coding agent.",
			Moves: seq(user("Explain the parser."), rep(20, count()), says("It is a recursive descent parser."), rep(20, count())),
		},
		{
			Name: "titles-beside-the-talk", Evidence: "EVIDENCE 4.13 title side calls", Want: quiet, Ledger: true, System: "You are helpful.",
			Moves: over(tickets[:9], func(s string) Moves {
				return seq(user(s), says("About \""+s+"\" I can tell you this: "+slogans[len(s)%10]), aside("Give this conversation a title of two words.\n\n"+s, "Billing question"))
			}),
		},
		{
			Name: "many-sessions-one-greeting", Evidence: "EVIDENCE 4.13 many sessions on one key", Want: quiet, Ledger: true, System: "You are the assistant of a library.",
			Moves: each(9, func(i int) Moves {
				return in(fmt.Sprint("visitor", i), user("Hello!"), says("Hello, how can I help you?"), user("Do you have books about "+strings.ToLower(tickets[i])+"?"),
					call("catalogue", fmt.Sprintf(`{"subject":%q}`, tickets[i]), ok(fmt.Sprintf("%d books, the newest of %d", 3*i+1, 1990+i))), says(fmt.Sprintf("Yes, %d of them.", 3*i+1)))
			}),
		},
		{
			Name: "many-users-without-session-ids", Evidence: "EVIDENCE 4.13 many sessions on one key (named by how they begin)", Want: quiet, Unnamed: true, Ledger: true, System: "You answer questions about invoices.",
			Moves: over(tickets, func(s string) Moves { return in(s, user(s), says("An answer to: "+s+" "+slogans[len(s)%10])) }),
		},
		{
			Name: "block-of-history-sent-twice", Evidence: "EVIDENCE 4.13 history sent again (a block twice, user turns included)", Want: quiet, System: "You know plants.",
			Moves: seq(rounds(6), resend(), user("Which of them is the smallest?"), says("The fern."), user("And the tallest?"), call("lookup", `{"plant":"cedar"}`, ok("cedar: grows 40 cm a year, found in 12 countries")), says("The cedar.")),
		},
		{
			Name: "conversation-moved-to-another-session", Evidence: "EVIDENCE 4.13 history sent again (resumed under another id)", Want: quiet, System: "You know plants.",
			Moves: seq(rounds(5), in("second", rounds(5), user("Where were we?"), says("We talked about five plants; the sage is next."))),
		},
		{
			Name: "classifier-says-billing", Evidence: "EVIDENCE 4.13 stateless jobs (a classifier that answers billing to ten tickets)", Want: mayWarn, Ledger: true, System: "Answer with one word: billing, technical or other.",
			Moves: over(tickets, func(s string) Moves { return in(s, user(s), says("billing")) }),
		},
		{
			Name: "moderation-says-safe", Evidence: "EVIDENCE 4.13 stateless jobs", Want: mayWarn, Ledger: true, System: "Answer safe or unsafe.",
			Moves: seq(over(slogans, func(s string) Moves { return seq(forget("Text to judge: "+s), says("safe")) }), over(tickets, func(s string) Moves { return seq(forget("Text to judge: "+s), says("safe")) })),
		},
		{
			Name: "extraction-job", Evidence: "EVIDENCE 4.13 stateless jobs (one template, different documents)", Want: quiet, Ledger: true, System: "Extract fields as JSON.",
			Moves: over(tickets, func(s string) Moves {
				return in(s, user("Extract the topic and length from this text:\n"+s), says(fmt.Sprintf(`{"topic":%q,"length":%d}`, s[:len(s)/2], len(s))))
			}),
		},
		{
			Name: "history-as-text-and-no-session-gets-on", Evidence: "EVIDENCE 4.13 stateless jobs (an agent that tells its history in one message)", Want: mayWarn, Unnamed: true, Retold: true, Ledger: true, System: "You are in a house and answer with one thought and one action.",
			Moves: stateless(16, "You are in the middle of a room. You see sixteen cabinets, a coffee machine, a fridge, a garbage can, a microwave, a shelf and a sink. Your task is to find the clean mug, which is in one of the cabinets, and to put it into the coffee machine.", func(i int) (string, string) {
				return fmt.Sprintf("Thought: the mug is not in the cabinets so far, I look into the next one.\nAction: open cabinet %d", i+1), fmt.Sprintf("The cabinet %d is open. In it you see a %s.", i+1, strings.ToLower(strings.Fields(tickets[i%len(tickets)])[1]))
			}),
		},
		{
			Name: "summary-carried-on-and-no-session", Evidence: "EVIDENCE 4.13 stateless jobs (each asks with the last summary and the next part)", Want: mayWarn, Unnamed: true, Retold: true, Ledger: true, System: "You summarise a book part by part.",
			Moves: carried(12, "Write the summary of the book anew so that it covers the next part as well. Keep names and places, leave out what does not matter any more, and stay below a hundred words.", func(i int) (string, string) {
				return slogans[i%len(slogans)] + " " + tickets[i%len(tickets)], slogans[(i+3)%len(slogans)] + " Then: " + tickets[(i+5)%len(tickets)]
			}),
		},
		{
			Name: "two-questions-one-context", Evidence: "EVIDENCE 4.14 two questions after the same long context (RAG)", Want: quiet, Ledger: true, System: "Answer from the context.",
			Moves: each(2, func(i int) Moves { return in(fmt.Sprint(i), user(context+"\n\n"+questions[i]), says(slogans[i])) }),
		},
		{
			Name: "four-questions-in-one-talk", Evidence: "EVIDENCE 4.14 two questions after the same long context (RAG)", Want: quiet, System: "Answer from the context.",
			Moves: each(4, func(i int) Moves { return seq(user("Context: "+context+"\nQuestion: "+questions[i]), says(slogans[i])) }),
		},
		{
			Name: "twelve-questions-one-context", Evidence: "EVIDENCE 4.14 two questions after the same long context (RAG, many of them)", Want: mayWarn, Ledger: true, System: "Answer from the context.",
			Moves: over(tickets, func(s string) Moves {
				return in(s, user(context+"\n\n"+s), says("From the context on \""+s+"\": "+slogans[len(s)%10]))
			}),
		},
		{
			Name: "prompt-grows-gently", Evidence: "EVIDENCE 4.6 long productive turns (prompts grow, but gently)", Want: quiet, System: "You know plants.",
			Moves: seq(user("Tell me about trees."), each(7, func(i int) Moves {
				tokens := []int64{1000, 1390, 1930, 2680, 3720, 5170, 7180}
				trees := []string{"alder", "birch", "cedar", "elm", "fir", "hazel", "larch"}
				return using(tokens[i], call("lookup", fmt.Sprintf(`{"plant":%q}`, trees[i]), ok(fmt.Sprintf("%s: lives %d years, wood number %d", trees[i], 40+31*i, i))))
			})),
		},
	}
}
