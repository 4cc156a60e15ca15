package scenarios

import "fmt"

func quietPeople() []Case {
	story := []string{
		"The lighthouse keeper found a letter in the sand, sealed with green wax and smelling of pepper.",
		"Inside was a map of an island that no chart had ever shown, drawn by a left-handed sailor.",
		"She borrowed her cousin's boat, packed bread and a sextant, and left before the fog lifted.",
		"On the third night whales sang under the keel, and the compass needle turned like a dancer.",
		"At dawn a wall of basalt rose from the sea; steps were cut into it, worn by bare feet.",
		"At the top stood an orchard whose trees bore keys of iron, copper and bone.",
		"She picked the smallest key, and far below a door opened with a sigh.",
		"Behind it sat the sailor himself, a hundred years old, mending a net of silver thread.",
	}
	return []Case{
		{
			Name: "person-says-continue", Evidence: "EVIDENCE 4.12 a person who says \"continue\"", Want: quiet, System: "You tell stories.",
			Moves: seq(user("Tell me a story about a lighthouse."), over(story, func(s string) Moves { return answer(s, "continue") }), says("And so the net was finished. The end.")),
		},
		{
			Name: "continue-with-tools", Evidence: "EVIDENCE 4.12 a person who says \"continue\" (the agent works on)", Want: quiet, System: "You are a coding agent.",
			Moves: seq(
				user("Write the tests for the parser, one at a time; I say when to go on."),
				each(8, func(i int) Moves {
					return seq(
						call("write_file", fmt.Sprintf(`{"path":"parser/case%d_test.go","content":"func TestCase%d(t *testing.T) { parse(%d) }"}`, i, i, 7*i), ok("written")),
						says(fmt.Sprintf("Test %d is written; it covers nesting depth %d.", i+1, 7*i)),
						user("continue"),
					)
				}),
				says("All eight tests are written."),
			),
		},
		{
			Name: "person-says-try-again", Evidence: "EVIDENCE 4.12 a person who says \"try again\"", Want: mayWarn, System: "You operate a printer.",
			Moves: seq(
				user("Print the menu."),
				over([]string{"I plugged the cable in, try again.", "Now I switched it off and on. Try again please.", "The tray was open! Once more.", "I changed the toner. Again?"}, func(s string) Moves {
					return seq(call("print", `{"file":"menu.pdf"}`, failed("printer not ready")), says("The printer is not ready."), user(s))
				}),
				call("print", `{"file":"menu.pdf"}`, ok("1 page printed")),
				says("Here is your menu."),
			),
		},
		{
			Name: "person-approves-each-step", Evidence: "EVIDENCE 4.12 a person who says the same word (approvals)", Want: quiet, System: "You move money; ask before each transfer.",
			Moves: seq(
				user("Pay the bills."),
				over([]string{"rent 900", "power 84", "water 31", "phone 19", "gym 45", "paper 12", "school 210"}, func(bill string) Moves {
					return seq(says("May I pay "+bill+"?"), user("yes"), call("transfer", fmt.Sprintf(`{"bill":%q}`, bill), ok("paid "+bill)))
				}),
				says("All seven bills are paid."),
			),
		},
		{
			Name: "scaffolding-call-at-every-turn", Evidence: "EVIDENCE 4.12 a person speaks (the same scaffolding call at every turn)", Want: quiet, System: "Load the memory before each answer.",
			Moves: over([]string{"Hello, what do you know about me?", "Right. Where did I go last summer?", "How was the food there?", "Should I go again?", "What else is close by?", "Is there a night train?", "What does it cost?", "Good, remind me in May."}, func(q string) Moves {
				return seq(user(q), call("load_memory", `{}`, ok("Name: Tove. Went to Trieste last summer; liked the fish market.")), says("About \""+q+"\": "+story[len(q)%8]))
			}),
		},
		{
			Name: "lesson-in-french", Evidence: "EVIDENCE 4.12 a person speaks (short answers)", Want: mayWarn, System: "Tu es professeur de français.",
			Moves: over([]string{"le chat|noir|la souris", "la table|ronde|le tapis", "un livre|ancien|une lampe", "la pluie|froide|le vent", "le vélo|rouge|la route", "une pomme|verte|le panier"}, func(s string) Moves {
				return seq(user("Une autre phrase, s'il vous plaît."), says("Complétez avec ces trois mots : "+s+". Attention à l'accord de l'adjectif !"), user("Voilà ma phrase avec "+s+"."), says("Très bien, la phrase avec "+s+" est correcte."))
			}),
		},
		{
			Name: "meeting-of-many-voices", Evidence: "EVIDENCE 4.12 a person speaks (a long healthy group chat)", Want: quiet, System: "You moderate a meeting of five colleagues.",
			Moves: each(18, func(i int) Moves {
				who := []string{"Ana", "Ben", "Cleo", "Dev", "Eli"}
				topic := []string{"budget", "hiring", "office move", "printer lease", "summer party", "parking"}
				return seq(
					user(fmt.Sprintf("%s: on the %s, I propose %d thousand and a review in week %d.", who[i%5], topic[i%6], 12+5*i, 20+i)),
					says(fmt.Sprintf("Noted: %s proposes %d thousand for the %s, review in week %d. %s, do you agree?", who[i%5], 12+5*i, topic[i%6], 20+i, who[(i+1)%5])),
				)
			}),
		},
		{
			Name: "parcel-in-chinese", Evidence: "EVIDENCE 4.12 a person speaks (in a script without spaces, whose characters are soon all known)", Want: quiet, System: "你是客服。",
			Moves: seq(
				user("你好。"),
				answer("您好，请问有什么可以帮您？", "我想问一下快递的事情。"),
				answer("好的，请您说一下快递的情况。", "我的包裹还没有到。"),
				answer("请问您是什么时候下单的？", "上个星期下的单。"),
				answer("请问您的收件地址在哪里？", "在学校的东门。"),
				answer("好的，我帮您查一下，请稍等。", "好的，谢谢。"),
				answer("您的包裹已经到了学校，请问有人通知您吗？", "没有人通知我。"),
				answer("包裹在东门的快递点，您可以去拿。", "快递点几点关门？"),
				answer("快递点晚上关门，您可以下午去。", "下午我有课，可以明天去吗？"),
				answer("可以的，包裹会在那里等您。", "那我明天下午去拿。"),
				answer("好的，请带上您的学生证。", "学生证我有，请问还要带什么？"),
				answer("不用带别的，有学生证就可以了。", "好的，我知道了。"),
				answer("请问还有别的事情吗？", "我还想问一下退货的事。"),
				answer("好的，请您说一下退货的情况。", "上次的东西不好，我想退。"),
				answer("请问是什么东西不好？", "是一个杯子，上面有点问题。"),
				answer("好的，您可以把杯子拿到快递点退。", "退的时候要钱吗？"),
				answer("不要钱的，我们来出。", "那太好了，谢谢您。"),
				answer("不用谢，请问还有什么可以帮您？", "没有了，谢谢。"),
				answer("好的，祝您学习好。", "再见。"),
				says("再见。"),
			),
		},
		{
			Name: "survey-by-telephone", Evidence: "EVIDENCE 4.4 batch work with one template (the questions of a survey, answered alike)", Want: quiet, System: "You ask guests of a hotel the questions of a survey.",
			Moves: seq(
				user("Hello?"),
				over([]string{"the staff", "the food", "the room", "the view", "the bed", "the bath", "the price", "the garden", "the pool", "the bar"}, func(what string) Moves {
					return answer("Thank you. How happy were you with "+what+"? Please say good, fair or bad.", "good")
				}),
				says("Thank you for your time. Good bye."),
			),
		},
	}
}
