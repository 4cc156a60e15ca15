package scenarios

import (
	"fmt"
	"strings"
)

func madeStuckText() []Family {
	return []Family{
		{"stuck-fenced-command", true, stuckFencedCommand},
		{"stuck-react-action", true, stuckReactAction},
		{"stuck-parser-error-and-apology", true, stuckParserErrorAndApology},
		{"stuck-tagged-command-guesses", true, stuckTaggedCommandGuesses},
		{"stuck-walks-against-a-wall", true, stuckWalksAgainstAWall},
		{"stuck-circle-of-rooms", true, stuckCircleOfRooms},
		{"stuck-refused-in-other-words", true, stuckRefusedInOtherWords},
	}
}

// typed is a reply in text, with words of the agent before the command.
func (k *skit) typed(command string) string {
	switch k.manner {
	case 1:
		return k.phrase + "\n\n" + command
	case 2:
		return k.narration() + "\n\n" + command
	}
	return command
}

// The same command in a code block brings the same error.
func stuckFencedCommand(w *words) Case {
	k, file := newSkit(w), "logs/"+w.word()+".log"
	lang := pick(w, "bash", "sh", "shell", "")
	command := fmt.Sprintf(pick(w, "grep -c ERROR %s", "awk '{print $1}' %s | sort | uniq -c", "wc -l %s", "sed -n '1,20p' %s", "python3 count.py --input %s"), file)
	result := fmt.Sprintf(pick(w, "<returncode>2</returncode>\n<output>\n%s\n</output>", "exit code 1\n%s", "Observation:\n%s\n(exit 1)", "%s"), sname(w, k.t.missing, file))
	before := func() Moves {
		f := sfileName(w)
		return answer(sname(w, k.t.look, f)+"\n\n```"+lang+"\ncat "+f+"\n```", "<returncode>0</returncode>\n<output>\n"+scode(w, f)+"</output>")
	}
	return Case{
		System: k.system("Reply with one code block. You get its output.", "You act by shell commands in code blocks."),
		Moves: seq(
			k.asks(file, "Count the errors in "+file+".", "Who appears most in "+file+"?"),
			k.paced(each(w.between(0, 8), func(int) Moves { return before() })),
			k.loop(k.rounds(), func(int) Moves { return answer(k.typed("```"+lang+"\n"+command+"\n```"), result) }),
		),
	}
}

// Thoughts are other words each time; the action and its observation are the
// same.
func stuckReactAction(w *words) Case {
	k, subject := newSkit(w), w.name()
	verb, style := pick(w, "Search", "Lookup", "Open", "Find"), w.IntN(3)
	query := subject + " " + pick(w, sThings...)
	act := func(thought, q string) string {
		switch style {
		case 0:
			return fmt.Sprintf("Thought: %s\nAction: %s[%s]", thought, verb, q)
		case 1:
			return fmt.Sprintf("Thought: %s\nAction: %s\nAction Input: %s", thought, verb, sargs("query", q))
		}
		return fmt.Sprintf("Question: what about %s?\nThought: %s\nAction: %s\nAction Input: %s", subject, thought, strings.ToLower(verb), q)
	}
	seen := "Observation: " + pick(w, sname(w, k.t.missing, "["+query+"]"), sparagraph(w, w.between(2, 9)), "Invalid action: "+verb+" is not a valid tool", "Nothing happens.")
	return Case{
		System: k.system("Answer with Thought: and Action: lines. You get an Observation: for each action."),
		Moves: seq(
			k.asks(subject, "Question: which city is "+subject+" in?", "Who founded "+subject+"?"),
			k.paced(each(w.between(0, 8), func(int) Moves {
				q := w.word()
				return answer(act(sname(w, k.t.look, q), q), "Observation: "+sparagraph(w, w.between(1, 5)))
			})),
			k.loop(k.rounds(), func(int) Moves { return answer(act(k.narration(), query), seen) }),
		),
	}
}

// The harness cannot read the reply; the agent apologises and sends it again.
func stuckParserErrorAndApology(w *words) Case {
	k, subject := newSkit(w), w.name()
	complaint := pick(w, "Could not parse LLM output. Reply in the required format.", "Error: your reply contains no valid command block.", "JSONDecodeError: Expecting ',' delimiter: line 1 column "+fmt.Sprint(w.between(5, 90)), "Invalid Format: Missing 'Action:' after 'Thought:'")
	sorry := [][]string{sl("I apologize for the confusion.|Sorry about that.|My apologies.|You are right, that was wrong.|I am sorry for the mistake."), sl("Here is the corrected command:|I send it in the right format now:|Let me fix the format:|Now in the proper form:|I try again:")}
	if !k.english {
		sorry = [][]string{k.t.open, k.t.body}
	}
	wrong := fmt.Sprintf(pick(w, `{"command": "read_file" "path": "%s"}`, "run(%s", "<tool>open %s", "command = open %s"), sfileName(w))
	return Case{
		System: k.system("Reply with one JSON command.", "You act by commands in a fixed format."),
		Moves: seq(
			k.asks(subject, "Tell me what the file about "+subject+" says."),
			k.loop(k.rounds(), func(int) Moves { return answer(sglue(w, sorry...)+"\n"+wrong, complaint) }),
		),
	}
}

// Commands in tags guess at names; the same refusal comes for each.
func stuckTaggedCommandGuesses(w *words) Case {
	k, subject := newSkit(w), w.name()
	tag, text, command := pick(w, "execute", "command", "run", "tool"), pick(w, k.t.missing...), pick(w, "show", "open", "query", "get")
	back := pick(w, "<result>%s</result>", "[result]\n%s", "Result: %s", "<observation error=\"true\">%s</observation>")
	return Case{
		System: k.system("Write commands in <"+tag+"> tags.", "You act by tags in your text."),
		Moves: seq(
			k.asks(subject, "What is the rate of "+subject+"?", "Show me the record of "+subject+"."),
			k.loop(k.rounds(), func(int) Moves {
				name := strings.ToLower(subject) + pick(w, "_", "-", ".", "/") + w.word()
				return answer(k.typed(fmt.Sprintf("<%s>%s %s</%s>", tag, command, name, tag)), fmt.Sprintf(back, fmt.Sprintf(text, name)))
			}),
		),
	}
}

// sroom is a place in a text game.
func sroom(w *words, exits ...string) string {
	mood := slines(w.between(1, 3), func(int) string {
		return fmt.Sprintf(pick(w, "The walls are %s, and somebody has scratched the name %s into them.", "A %s light falls on a statue of %s.", "It smells of %s %s here.", "Your steps sound %s, as if %s were near."), pick(w, sTraits...), w.name())
	})
	return fmt.Sprintf("%s %s\n%s\nYou see a %s, a %s and a %s. Exits: %s.", w.name(), pick(w, "Hall", "Cellar", "Garden", "Tower", "Corridor", "Library"), mood, w.word(), w.word(), w.word(), strings.Join(exits, ", "))
}

// play is a move of a game: a call of a tool or a command in text.
func (k *skit) play(byTool bool, command, seen string) Moves {
	if byTool {
		return k.say(call(k.tool("play", "move"), sargs("command", command), ok(seen)))
	}
	return answer(k.typed(command), seen)
}

// journey is a healthy walk through rooms that are all new.
func (k *skit) journey(byTool bool) Moves {
	return k.paced(each(k.between(0, 10), func(int) Moves {
		command, seen := "go "+pick(k.words, "north", "south", "east", "west"), sroom(k.words, "north", "east", "south")
		if byTool {
			return call(k.tool("play", "move"), sargs("command", command), ok(seen))
		}
		return answer(command, seen)
	}))
}

// A step in one direction is refused, again and again; the score and the turn
// may be counted.
func stuckWalksAgainstAWall(w *words) Case {
	k, byTool, way := newSkit(w), w.chance(50), pick(w, "north", "south", "east", "west", "up")
	refusal := pick(w, "You can't go that way.", "There is a wall in the way.", "The door is locked.", "Ouch. That is solid rock.")
	counted, whole, room := w.chance(50), w.chance(40), sroom(w, map[bool]string{true: "west", false: "south"}[way == "south"])
	turn := w.between(5, 60)
	return Case{
		System: k.system("You play a text adventure.", "You explore a maze. One command each time."),
		Moves: seq(
			k.asks(w.name(), "Find the lamp of "+w.name()+".", "Leave the maze of "+w.name()+"."),
			k.journey(byTool),
			k.loop(k.rounds(), func(i int) Moves {
				seen := refusal
				if whole {
					seen += "\n" + room
				}
				if counted {
					seen += fmt.Sprintf("\nTurn %d, score 0", turn+i)
				}
				return k.play(byTool, pick(w, "go ", "go ", "walk ")+way, seen)
			}),
		),
	}
}

// The same few rooms are walked through in a circle.
func stuckCircleOfRooms(w *words) Case {
	k, byTool, n := newSkit(w), w.chance(50), w.between(2, 5)
	ways, rooms := some(w, n, strings.Fields("north east south west up down")), make([]string, n)
	for i := range rooms {
		rooms[i] = sroom(w, ways[(i+1)%n], pick(w, "a dark hole", "a narrow gate"))
	}
	counted, turn := w.chance(40), w.between(5, 80)
	return Case{
		System: k.system("You play a text adventure.", "You explore a castle. One command each time."),
		Moves: seq(
			k.asks(w.name(), "Find the treasure of "+w.name()+".", "Find the way out."),
			k.journey(byTool),
			k.loop(max(6, k.rounds()/n)*n, func(i int) Moves {
				seen := rooms[i%n]
				if counted {
					seen += fmt.Sprintf("\n[turn %d]", turn+i)
				}
				return k.play(byTool, "go "+ways[i%n], seen)
			}),
		),
	}
}

// What the game refuses is said in ever other words.
func stuckRefusedInOtherWords(w *words) Case {
	k, byTool, thing := newSkit(w), w.chance(50), w.word()
	refusal := pick(w, "Nothing happens.", "You can't do that.", "The "+thing+" does not move.", "I don't understand that.", "That would achieve nothing.")
	verbs := sl("take|pick up|grab|lift|get|seize|hold|pull|push|turn|open|use|shake|hit|carry|collect|touch|tug|twist|raise")
	return Case{
		System: k.system("You play a text adventure.", "You are in a game. One command each time."),
		Moves: seq(
			k.asks(thing, "Bring the "+thing+" to the hall.", "Get past the "+thing+"."),
			k.journey(byTool),
			k.loop(k.rounds(), func(int) Moves {
				return k.play(byTool, pick(w, verbs...)+" "+pick(w, "", "the ", "old ", "the heavy ")+thing+pick(w, "", " with both hands", " firmly", " again", " carefully", " from the floor"), refusal)
			}),
		),
	}
}
