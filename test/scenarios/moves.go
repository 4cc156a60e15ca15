package scenarios

import (
	"time"

	"github.com/haltd/haltd"
)

// seq plays moves one after the other.
func seq(parts ...Moves) Moves { return join(parts...) }

// rep plays moves n times.
func rep(n int, parts ...Moves) Moves {
	return each(n, func(int) Moves { return seq(parts...) })
}

// each plays n moves that differ by their number, from 0.
func each(n int, f func(i int) Moves) Moves {
	var all Moves
	for i := range n {
		all = append(all, f(i)...)
	}
	return all
}

// over plays a move for each item.
func over[T any](items []T, f func(T) Moves) Moves {
	return each(len(items), func(i int) Moves { return f(items[i]) })
}

// user and system add a message to the history.
func user(text string) Moves {
	return Moves{{Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: text}}}}
}

func system(text string) Moves {
	return Moves{{Inputs: []haltd.Message{{Role: haltd.RoleSystem, Text: text}}}}
}

// says is a reply without a tool call.
func says(text string) Moves { return Moves{{Turn: &Turn{Text: text}}} }

// call is a reply that calls a tool, and the result.
func call(tool, arguments string, result haltd.ToolResult) Moves {
	return Moves{{Turn: &Turn{
		Calls:   []haltd.ToolCall{{Name: tool, Arguments: arguments}},
		Results: []haltd.ToolResult{result},
	}}}
}

func ok(text string) haltd.ToolResult { return haltd.ToolResult{Text: text} }

// failed is a result with the format's own error mark, where it has one.
func failed(text string) haltd.ToolResult { return haltd.ToolResult{Text: text, Error: true} }

// together makes one reply of several calls.
func together(calls ...Moves) Moves {
	t := &Turn{}
	for _, m := range calls {
		t.Calls = append(t.Calls, m[0].Turn.Calls...)
		t.Results = append(t.Results, m[0].Turn.Results...)
	}
	return Moves{{Turn: t}}
}

// saying puts words before a tool call.
func saying(text string, ms Moves) Moves {
	ms[0].Turn.Text = text
	return ms
}

// answer is a text and the next message from the other side: how agents act
// that have no native tools.
func answer(text, comesBack string) Moves { return seq(says(text), user(comesBack)) }

// change applies f to every move that makes a call.
func change(ms Moves, f func(*Move)) Moves {
	for i := range ms {
		if ms[i].Turn != nil {
			f(&ms[i])
		}
	}
	return ms
}

// every sets the time between calls.
func every(d time.Duration, parts ...Moves) Moves {
	return change(seq(parts...), func(m *Move) { m.Wait = d })
}

// in plays moves in a conversation of their own.
func in(session string, parts ...Moves) Moves {
	ms := seq(parts...)
	for i := range ms {
		ms[i].Session = session
	}
	return ms
}

// loop marks where the loop begins.
func loop() Moves { return Moves{{Loop: true}} }

// forget drops the history and begins again with a message.
func forget(text string) Moves {
	ms := user(text)
	ms[0].Forget = true
	return ms
}

// keep lets go of all but the first and the newest n entries of the history.
func keep(n int) Moves { return Moves{{Keep: n}} }

// resend appends the history to itself.
func resend() Moves { return Moves{{Resend: true}} }

// aside is a call of its own, outside the conversation.
func aside(prompt, reply string) Moves {
	ms := seq(user(prompt), says(reply))
	return Moves{{Aside: true, Inputs: ms[0].Inputs, Turn: ms[1].Turn}}
}

// count asks for the number of tokens.
func count() Moves { return Moves{{Count: true, Turn: &Turn{}}} }

// using says how many tokens the provider counts in the prompts.
func using(tokens int64, ms Moves) Moves {
	return change(ms, func(m *Move) { m.Turn.Usage = &haltd.Usage{Input: tokens, Output: 40} })
}

// despite lets calls fail in transport before they succeed.
func despite(faults []Fault, ms Moves) Moves {
	return change(ms, func(m *Move) { m.Turn.Faults = faults })
}

// carried is an agent that sends its last reply with the next part of a text. act
// gives the i-th reply and the part that it is about.
func carried(n int, task string, act func(i int) (reply, part string)) Moves {
	last := "none"
	return each(n, func(i int) Moves {
		reply, part := act(i)
		ms := seq(forget(task+"\n\nSummary so far: "+last+"\n\nNext part: "+part), says(reply))
		last = reply
		return ms
	})
}

// stateless is an agent that sends its whole history as text in one user
// message. act gives the i-th reply and what it leads to.
func stateless(n int, task string, act func(i int) (reply, observation string)) Moves {
	transcript := task
	return each(n, func(i int) Moves {
		reply, observation := act(i)
		ms := seq(forget(transcript+"\n\nWhat do you do next?"), says(reply))
		transcript += "\n\nYou: " + reply + "\nResult: " + observation
		return ms
	})
}
