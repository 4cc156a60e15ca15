package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	healthyName = "research-agent"
	loopingName = "billing-bot"
)

// manner is how all agents are told to work. Its length is that of a short
// real prompt: the files are small beside it, so that prompts do not run away.
const manner = `

# How you work
- Work through the task step by step. Before each step, think about what you know already and what is still missing.
- You have one tool, read_file. It answers with the text of a file in the shared folder of the team. Paths are relative to that folder, in lower case, with a slash between folder and file.
- Read every file that the task names before you answer. Never answer from memory and never make up the content of a file that you have not read.
- Use one tool call at a time and wait for its result. Do not ask the user for permission to read a file; the folder is there for you.
- Where two files contradict each other, say so and quote both.

# How you answer
- Answer in plain English, in full sentences, without headings and without lists. Ten sentences are enough for most tasks.
- Begin with the most important point. A reader who stops after the first sentence should know what to do.
- Name the file behind each statement when it is not obvious.
- Figures keep the unit in which the file gives them. Do not convert currencies.
- When the task is done, say so and stop. Do not propose further tasks.`

const loopingTask = "Read invoices/2026-10.csv, add up the open amounts and write the reminder for each customer."

// healthyTasks take more calls than similarity's window holds, so that
// beginning again at the first one repeats nothing.
var healthyTasks = []string{
	"Read heating/heat-pumps.md, heating/district-heat.md and heating/wood-pellets.md: which one suits the old school building?",
	"What speaks for each kind of power store? The notes are storage/batteries.md, storage/pumped-hydro.md and storage/hydrogen.md.",
	"For the mobility newsletter, sum up travel/city-buses.md, travel/cargo-bikes.md and travel/night-trains.md in one paragraph.",
	"The council asks about drought. Use water/rain-gardens.md, water/desalination.md, water/leak-search.md and nothing else.",
	"In which order should the landlord renovate? See buildings/insulation.md, buildings/windows.md, buildings/green-roofs.md.",
	"Draft three lines for the farmers' market from fields/oats.md, fields/lentils.md and fields/greenhouses.md.",
}

var tools = func() []tool {
	t := tool{Type: "function"}
	t.Function.Name = readFile
	t.Function.Description = "Read a text file from the shared folder of the team and answer with its whole content. Fails with an error when there is no such file."
	t.Function.Parameters = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, relative to the shared folder, for example minutes/monday.md"}},"required":["path"],"additionalProperties":false}`)
	return []tool{t}
}()

func newHealthy(gateway string, client *http.Client, rest time.Duration, seen func(agent, path, result string)) *agent {
	a := &agent{
		name: healthyName, stream: true, gateway: gateway, client: client, seen: seen,
		system: "You are the research assistant of a small team that writes about energy, water and towns. You read the team's notes and answer questions about them." + manner,
	}
	a.rest.Store(int64(rest))
	return a
}

func newLooping(gateway string, client *http.Client, rest time.Duration, seen func(agent, path, result string)) *agent {
	a := &agent{
		name: loopingName, gateway: gateway, client: client, seen: seen,
		system: "You are the billing assistant of a small team. At the end of each month you go through the open invoices and remind customers who have not paid." + manner,
	}
	a.rest.Store(int64(rest))
	return a
}

// healthyTask is the nth task of the healthy agent and the session it gets.
func healthyTask(n int) (session, task string) {
	return fmt.Sprintf("research-%d", n+1), healthyTasks[n%len(healthyTasks)]
}
