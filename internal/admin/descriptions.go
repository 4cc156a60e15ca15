package admin

// descriptions say of operations what their summaries leave out. The OpenAPI
// document has them, and docs/api-reference.md is written from it.
var descriptions = map[string]string{
	"create-channel":     "A secret that haltd makes is in this answer only.",
	"create-key":         "Only `agent` is needed. The key itself, `secret`, is in this answer only.",
	"create-rule":        "`enabled` is true and `priority` 0 when left out.",
	"create-token":       "The token itself, `secret`, is in this answer only.",
	"create-user":        "`url` is a link that works once, for 72 hours, and is in this answer only.",
	"deactivate-agent":   "It holds at once. 503 says that it is not on disk yet, and haltd tries again. `now` cuts the calls in flight.",
	"decide-incident":    "`resumed` lets the agent call again, and so does `resume` with `false_positive`; `grace_minutes` may go with both. A decision can be changed by another one, and `open` undoes it: who was resumed by it is stopped again. With `expect` nothing is changed where somebody else has decided since: 409 says who.",
	"dismiss-delivery":   "It no longer counts as given up, and stays in the list as `dismissed`.",
	"get-agent":          "Also its `override`, which is what this API has set, and its `spending` in the current day and month.",
	"get-event":          "Where one is kept, with its `excerpt`: `prompt`, `reply` and `tool_calls`, redacted.",
	"get-incident":       "With its evidence and the settings in force then. `money.burned_usd` is what the repeating calls cost. `money.saved_usd` is an estimate: what is left of the hard budget, as far as no later stop of the same day or month saved it; `money.saved_reason` says how it came about.",
	"get-me":             "And as whom changes are recorded.",
	"get-savings":        "Each budget is counted once; the stops that it rests on are listed.",
	"get-stats":          "The sums reach back 400 days. `group_count` says how many groups there are.",
	"get-status":         "Version, addresses, size of the record, the bypass, what is degraded, and how each upstream answered last.",
	"health":             "The gateway's listener has it, too.",
	"list-keys":          "With what each is good for, has spent of its budgets, and when it was last used.",
	"list-sessions":      "`agent_inactive` marks those of which no call passes because their agent is off.",
	"load-prices":        "It is kept, and holds on all nodes.",
	"make-sign-in-link":  "Who opens it first is signed in. `haltd sign-in` prints one.",
	"patch-channel":      "Settings that are left out stay.",
	"patch-rule":         "`condition` and `action_config` are replaced as a whole.",
	"make-user-link":     "The password and the sign-ins until now are void.",
	"remark-on-incident": "It stays open. 100 comments at most.",
	"revoke-key":         "It holds at once. 503 says that it is not on disk yet, and haltd tries again.",
	"set-password":       "`current` is needed where there is a password. Sign-ins with the old one end.",
	"test-channel":       "Tells what the receiver answered, or why it was not reached.",

	"get-incident-excerpt": "Tools, arguments, results and words, redacted and cut; `excerpt` is left out where nothing is kept.",
}
