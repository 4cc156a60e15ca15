package haltd

// Ingest is a call that an agent made without the gateway and reports.
type Ingest struct {
	Agent            string
	Session          string
	Provider         string
	Model            string
	PromptTokens     int64
	CompletionTokens int64
	Latency          Duration
	Iteration        int
	ToolCalls        []ToolCall
	ResponseHash     string // equal for equal replies
}

// IngestAnswer is what haltd makes of it: what the agent should do now.
type IngestAnswer struct {
	Action   Action    `json:"action"`
	Reason   Reason    `json:"reason,omitempty"`
	Sentence string    `json:"sentence,omitempty"`
	Active   bool      `json:"active"` // false: make no further call
	Incident string    `json:"incident,omitempty"`
	Score    float64   `json:"score"`
	Findings []Finding `json:"findings"`
	Event    EventID   `json:"event"`
}
