package browser

import (
	"testing"
	"time"
)

func TestFirstCall(t *testing.T) {
	n := start(t, "")
	p := newTab(t, n)
	began := time.Now()
	p.open("/")
	p.sees("Send the first call through haltd", "Waiting for the first call…")
	// Told and not limited: under the load of other tests a limit would
	// measure the machine. docs/performance.md has the figure of an idle one.
	t.Logf("usable after %v", time.Since(began).Round(time.Millisecond))
	p.sees("export OPENAI_BASE_URL=http://"+n.gateway+"/agents/my-agent/openai/v1", "from openai import OpenAI",
		"Nothing is blocked yet", "haltd doctor", "haltd demo")
	p.in("button", "Copy the address").there()
	p.in("button", "Copy the call").there()
	p.click("tab", "Anthropic SDK")
	p.sees("export ANTHROPIC_BASE_URL=http://" + n.gateway + "/agents/my-agent/anthropic")
	p.sees("Live") // the stream is open before the call

	n.send(t, call{agent: "my-agent"})
	p.sees("First call received", "my-agent, gpt-4.1-mini, 200 in")
	p.lacks("Waiting for the first call…")
	p.link("Open agent")
	p.at("/agents/my-agent")
	p.sees("my-agent", "Shadow", "Kill Switch")
	p.link("Overview")
	p.sees("Agents calling", "Live events", "No open incidents", "Top agents")
}
