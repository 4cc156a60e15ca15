package scenarios

import (
	"fmt"
	"strings"
)

func quietContent() []Case {
	table := func(rows int) string {
		var b strings.Builder
		b.WriteString("| day | high | low | rain |\n|---|---|---|---|\n")
		for i := range rows {
			fmt.Fprintf(&b, "| %d | 0 | 0 | 0 |\n", i+1)
		}
		return b.String()
	}
	return []Case{
		{
			Name: "tables-of-zeros", Evidence: "EVIDENCE 4.9 tables, zero-filled data in a stream", Want: quiet, System: "You write empty templates.",
			Moves: seq(
				user("Make an empty weather table for January."), says(table(31)),
				user("And for February."), says(table(28)),
				user("Now April."), says(table(30)),
				user("May too, please."), says(table(31)),
			),
		},
		{
			Name: "dividers-and-banners", Evidence: "EVIDENCE 4.9 dividers", Want: quiet, System: "You format text for terminals.",
			Moves: over([]string{"News", "Weather", "Sports", "Arts", "Letters"}, func(title string) Moves {
				return seq(user("Make a banner with the title "+title+"."), says(strings.Repeat("=", 400)+"\n"+title+"\n"+strings.Repeat("-", 400)))
			}),
		},
		{
			Name: "repetitive-code", Evidence: "EVIDENCE 4.9 code in a stream", Want: quiet, System: "You write Go.",
			Moves: over([]string{"Red", "Green", "Blue", "Cyan", "Pink", "Gold"}, func(c string) Moves {
				var b strings.Builder
				for i := range 40 {
					fmt.Fprintf(&b, "func (c Colour) Is%s%d() bool { return c.%s == %d }\n", c, i, c, i)
				}
				return seq(user("Write forty predicates for "+c+"."), says("```go\n"+b.String()+"```"))
			}),
		},
		{
			Name: "lists-of-names", Evidence: "EVIDENCE 4.9 lists in a stream", Want: quiet, System: "You invent names.",
			Moves: over([]string{"boats", "cats", "pubs", "bands"}, func(what string) Moves {
				var b strings.Builder
				for i := range 30 {
					fmt.Fprintf(&b, "- %s number %d\n", what, i*i+len(what))
				}
				return seq(user("Thirty names for "+what+", please."), says(b.String()))
			}),
		},
		{
			Name: "hexdump-of-zeros", Evidence: "EVIDENCE 4.9 zero-filled data", Want: quiet,
			System: "You analyse sensor dumps.",
			Moves: seq(
				user("Is there anything in the dump?"),
				each(6, func(i int) Moves {
					return call("hexdump", fmt.Sprintf(`{"offset":%d,"length":256}`, 256*i), ok(fmt.Sprintf("%08x  %s\n", 256*i, strings.Repeat("00 ", 64))))
				}),
				call("hexdump", `{"offset":1536,"length":256}`, ok("00000600  de ad be ef 00 00 00 00")),
				says("Yes, at offset 1536."),
			),
		},
		{
			Name: "scripts-that-look-for-errors", Evidence: "EVIDENCE 4.9 code in a stream (the answer quotes a script that speaks of errors)", Want: quiet,
			System: "Reply with one bash block. You get its output.",
			Moves: seq(
				user("Which service logged how many errors in each month?"),
				over([]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October"}, func(month string) Moves {
					script := "grep -c -e error -e failed -e refused logs/" + month + "/*.log | sort -t: -k2 -n | tail -n 1"
					return answer("Next, "+month+".\n\n```bash\n"+script+"\n```", fmt.Sprintf("<command>%s</command> printed:\nlogs/%s/billing.log:%d", script, month, 31*len(month)))
				}),
				says("Billing logged the most in every month."),
			),
		},
		{
			Name: "news-in-the-last-line", Evidence: "EVIDENCE 4.1 results change, if only in a number (under a line that stays)", Want: quiet,
			System: "Reply with one bash block. You get its output.",
			Moves: seq(
				user("Find the batch size that fits into memory."),
				each(9, func(i int) Moves {
					return answer(fmt.Sprintf("I try another size.\n\n```bash\n./fit --batch %d\n```", 512-56*i),
						fmt.Sprintf("model loaded on the first card\nThe run would need %d megabytes more than there are.", 9000-997*i))
				}),
				says("A batch of 64 fits."),
			),
		},
	}
}
