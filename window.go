package haltd

import "time"

// WindowView is a window as it is now.
type WindowView struct {
	Size      int           `json:"size" doc:"How many calls are compared at most, the next one among them."`
	Threshold float64       `json:"threshold"`
	Entries   []WindowEntry `json:"entries" doc:"Oldest first."`
}

// WindowEntry is one call in a window. A hash is empty where there was no
// text, or no reply yet.
type WindowEntry struct {
	Time         time.Time `json:"time"`
	PromptHash   string    `json:"prompt_hash"`
	ResponseHash string    `json:"response_hash"`
	Tools        string    `json:"tools" doc:"Digest of the tool calls of the reply; empty when it made none."`
}
