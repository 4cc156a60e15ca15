package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

func fireChatter() []Case {
	thanks := []string{"Thank you so much for your help!", "You're very welcome! It was a pleasure working with you.", "Likewise! Thanks again, and have a great day.",
		"Thank you! Wishing you a wonderful day as well.", "You too! Take care.", "Thanks, you take care too!"}
	return []Case{
		{
			Name: "two-agents-thank-each-other", Evidence: "EVIDENCE 3 two agents thanking each other", Want: kill(20),
			System: "You are the seller's agent. You talk to the buyer's agent.",
			Moves: seq(
				user("We accept the price of 4,200 euros and pick the piano up on Friday at ten."),
				says("Agreed: 4,200 euros, pick-up on Friday at ten. I have noted it. Thank you!"),
				loop(),
				each(24, func(i int) Moves { return seq(user(thanks[(2*i)%6]), says(thanks[(2*i+1)%6])) }),
			),
		},
		{
			Name: "congratulations-in-new-words", Evidence: "EVIDENCE 3 two agents thanking each other (in ever other words)", Want: warn(24),
			System: "You are a project manager agent in a team of agents.",
			Moves: seq(
				user("The launch page is live and all tests are green."),
				says("Great, the launch page is live. Well done, everyone!"),
				loop(),
				each(28, func(i int) Moves {
					praise := []string{"wonderful", "fantastic", "brilliant", "excellent", "superb", "amazing", "splendid"}
					thing := []string{"teamwork", "effort", "spirit", "collaboration", "dedication"}
					return seq(
						user(fmt.Sprintf("What %s %s from all of you, I am so grateful!", praise[i%7], thing[i%5])),
						says(fmt.Sprintf("Thank you, it is %s to be part of such %s. Let us keep it up!", praise[(i+3)%7], thing[(i+2)%5])),
					)
				}),
			),
		},
		{
			Name: "blocked-and-told-to-continue", Evidence: "EVIDENCE 3 hook-injected user turns (decay into \"I am blocked\")", Want: kill(13),
			System: "You are an autonomous agent. Never stop before the task is done.",
			Moves: seq(
				user("Deploy the site to the customer's server."),
				call("ssh", `{"host":"web1.customer.example"}`, failed("Permission denied (publickey).")),
				says("I am blocked: I have no SSH key for web1. I need a person to add one."),
				loop(),
				rep(16, user("Please continue with the task. If it is finished, call done."), says("I am blocked: I have no SSH key for web1. I need a person to add one.")),
			),
		},
		{
			Name: "stop-hook-feedback", Evidence: "EVIDENCE 3 hook-injected user turns (343 M tokens in nine hours)", Want: kill(14),
			System: "You are a coding agent.",
			Moves: seq(
				user("Bump the version to 2.4.0."),
				call("edit", `{"file":"package.json","from":"2.3.9","to":"2.4.0"}`, ok("The file package.json has been updated.")),
				says("The version is now 2.4.0."),
				loop(),
				each(17, func(i int) Moves {
					replies := []string{"There are no uncommitted changes left that I may commit; the hook needs a signed commit, which I cannot make.",
						"I cannot make a signed commit. The version is 2.4.0 and nothing else is to be done.",
						"As before: a signed commit is not possible for me; the version is 2.4.0."}
					return seq(user("Stop hook feedback:\n[check-commit.sh]: changes must be committed with a signature before stopping"), says(replies[i%3]))
				}),
			),
		},
		{
			Name: "empty-replies", Evidence: "EVIDENCE 3 hook-injected user turns (empty replies against a reminder)", Want: kill(16),
			System: "You are an autonomous agent with a browser.",
			Moves: seq(
				user("Find the opening hours of the public pool in Graz."),
				call("open", `{"url":"https://pool.example"}`, failed("net::ERR_NAME_NOT_RESOLVED")),
				loop(),
				rep(19, says(""), user("Your last reply was empty. Use a tool or give the final answer.")),
				says(""),
			),
		},
		{
			Name: "promises-to-work", Evidence: "EVIDENCE 3 hook-injected user turns (an automatic Continue)", Want: kill(13).as(haltd.FamilyChatter),
			System: "You write a novel. Save chapters with tools.",
			Moves: seq(
				user("Write chapter two."),
				loop(),
				rep(16, answer("I will now begin to write chapter two and save it when it is ready.", "Continue.")),
			),
		},
		{
			Name: "disculpas-sin-fin", Evidence: "EVIDENCE 3 two agents thanking each other (apologies, in Spanish)", Want: kill(20),
			System: "Eres el agente de reservas de un hotel.",
			Moves: seq(
				user("Quiero cambiar la reserva al 14 de mayo."),
				loop(),
				rep(12,
					answer("Lamento mucho las molestias. En cuanto el sistema responda, cambiaré su reserva.", "Gracias, espero su confirmación."),
					answer("Le pido disculpas de nuevo; el sistema todavía no responde y cambiaré su reserva en cuanto pueda.", "Muchas gracias, quedo a la espera."),
				),
			),
		},
		{
			Name: "apologies-in-japanese", Evidence: "EVIDENCE 3 two agents thanking each other (apologies, in Japanese)", Want: kill(20),
			System: "あなたはホテルの予約係です。",
			Moves: seq(
				user("予約を変更してください。"),
				loop(),
				rep(12,
					answer("ご迷惑をおかけして申し訳ございません。システムが戻り次第、予約を変更いたします。", "ありがとうございます。お待ちしています。"),
					answer("誠に申し訳ございません。まだシステムが戻りませんので、もう少しお待ちください。", "わかりました。ご連絡をお待ちしています。"),
				),
			),
		},
	}
}
