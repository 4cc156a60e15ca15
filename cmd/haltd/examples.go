package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// examples are what --help, the man page and the reference show of each
// command, as one types them. A test parses them all.
var examples = map[string][]string{
	"haltd": {
		"haltd demo",
		"haltd serve --config haltd.yaml",
		"haltd agents set billing-bot --kill-switch on --budget-day 10",
		"haltd events tail",
	},
	"serve":                {"haltd", "haltd serve --config /etc/haltd/haltd.yaml"},
	"demo":                 {"haltd demo"},
	"migrate":              {"haltd migrate --config haltd.yaml"},
	"agents ls":            {"haltd agents ls", "haltd agents ls --inactive"},
	"agents show":          {"haltd agents show billing-bot"},
	"agents set":           {"haltd agents set billing-bot --kill-switch on --budget-day 10", "haltd agents set billing-bot kill_switch.kill_at=98 rate_limits.requests_per_minute=60", "haltd agents set billing-bot kill_switch.stall=warn,steer,kill session.calls=200 session.turn.usd=1", "haltd agents set billing-bot --default budgets"},
	"agents kill":          {"haltd agents kill billing-bot --now --reason 'writes to the wrong table'", "haltd agents kill claude-code --session 8f14e45f"},
	"agents resume":        {"haltd agents resume billing-bot --grace 30m"},
	"incidents ls":         {"haltd incidents ls", "haltd incidents ls --agent billing-bot --status all --since 7d"},
	"incidents show":       {"haltd incidents show inc_rkdwmt"},
	"bypass on":            {"haltd bypass on --reason 'haltd blocks the release'"},
	"bypass off":           {"haltd bypass off"},
	"bypass status":        {"haltd bypass status"},
	"sign-in":              {"haltd sign-in"},
	"events tail":          {"haltd events tail", "haltd events tail --json"},
	"rules ls":             {"haltd rules ls"},
	"rules add":            {"haltd rules add --name 'no big models at night' --action block --when model_pattern='*opus*' --when hour_min=22 --when hour_max=6", "haltd rules add --name 'slow batch' --action throttle --delay 500 --when agent=batch"},
	"rules on":             {"haltd rules on 'no big models at night'"},
	"rules off":            {"haltd rules off 'no big models at night'"},
	"rules rm":             {"haltd rules rm 'no big models at night'"},
	"channels ls":          {"haltd channels ls"},
	"channels add slack":   {"haltd channels add slack --name ops --url-file slack.url"},
	"channels add webhook": {"haltd channels add webhook --name pager --url https://pager.example.com/haltd > pager.secret"},
	"channels add email":   {"haltd channels add email --name team --host smtp.example.com --username haltd --password-file smtp.password --from haltd@example.com --to team@example.com"},
	"channels rm":          {"haltd channels rm ops"},
	"channels test":        {"haltd channels test ops"},
	"alert-rules ls":       {"haltd alert-rules ls"},
	"alert-rules add":      {"haltd alert-rules add --name kills --topic kill_switch --channel ops --cooldown 10m"},
	"alert-rules rm":       {"haltd alert-rules rm kills"},
	"deliveries ls":        {"haltd deliveries ls --status dead"},
	"deliveries retry":     {"haltd deliveries retry --all"},
	"deliveries dismiss":   {"haltd deliveries dismiss --all"},
	"prices ls":            {"haltd prices", "haltd prices ls gpt-5"},
	"prices load":          {"haltd prices load prices.json"},
	"prices reset":         {"haltd prices reset"},
	"completion":           {"haltd completion bash > /etc/bash_completion.d/haltd", "haltd completion zsh > /usr/local/share/zsh/site-functions/_haltd", "haltd completion fish > ~/.config/fish/completions/haltd.fish"},
	"man":                  {"haltd man > haltd.1 && man ./haltd.1"},
	"keys create":          {"haltd keys create --agent billing-bot --name 'nightly job' > billing-bot.key", "haltd keys create --agent ci-fixer --expires 90d --models 'gpt-5*,claude-haiku-*' --budget-day 5"},
	"keys ls":              {"haltd keys ls"},
	"keys set":             {"haltd keys set key_01JD8Q --budget-day 5 --models 'gpt-5*,claude-haiku-*'", "haltd keys set key_01JD8Q --expires never --models '*' --budget-day 0"},
	"keys revoke":          {"haltd keys revoke key_01JD8Q"},
	"users add":            {"haltd users add ann --role operator"},
	"users ls":             {"haltd users ls"},
	"users set":            {"haltd users set ann --role admin"},
	"users link":           {"haltd users link ann"},
	"users rm":             {"haltd users rm ann"},
	"tokens create":        {"haltd tokens create --name ann --role operator", "haltd tokens create --name ci --role viewer --expires 90d > ci.token"},
	"tokens ls":            {"haltd tokens ls"},
	"tokens revoke":        {"haltd tokens revoke tok_01JD8Q"},
	"audit":                {"haltd audit --since 7d", "haltd audit --export csv > audit.csv"},
	"config check":         {"haltd config check --config haltd.yaml"},
	"config print":         {"haltd config print"},
	"backup":               {"haltd backup haltd-backup.tar.gz", "haltd backup - | gpg -e -r ops > haltd-backup.tar.gz.gpg"},
	"restore":              {"haltd restore haltd-backup.tar.gz --replace"},
	"replay":               {"haltd replay steps.jsonl", "haltd replay --config haltd.yaml --json steps.jsonl"},
	"doctor":               {"haltd doctor", "haltd doctor --network"},
	"openapi":              {"haltd openapi > openapi.json"},
	"version":              {"haltd version"},
}

// addExamples puts the examples of each command into its help. A group of
// commands shows the first of each.
func addExamples(n *kong.Node) {
	if lines := examplesOf(n); lines != nil {
		n.Detail = "Examples:\n\n    " + strings.Join(lines, "\n    ")
	}
	for _, child := range n.Children {
		addExamples(child)
	}
}

func examplesOf(n *kong.Node) (lines []string) {
	if own := examples[commandPath(n)]; own != nil {
		return own
	}
	for _, child := range n.Children {
		if below := examplesOf(child); below != nil {
			lines = append(lines, below[0])
		}
	}
	return lines
}

// commandPath is what one types to get to a command, without the program.
func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	if n.Parent.Parent == nil {
		return n.Name
	}
	return commandPath(n.Parent) + " " + n.Name
}
