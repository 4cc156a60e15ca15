package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/haltd/haltd"
)

// kind is what a file holds.
type kind int

const (
	stepLines kind = iota
	labelLines
	eventLines // an export of haltd's own record
)

// kindOf looks at the first line of a file.
func kindOf(path string) (k kind, err error) {
	enough := errors.New("seen enough")
	err = eachLine(path, func(line []byte) error {
		if bytes.HasPrefix(line, []byte("id,time,event_type")) {
			return haltd.Errorf(haltd.CodeInvalid, "this export is a table, from which nothing can be replayed").
				WithFix("Export it as JSON lines: GET /v1/events/export?format=jsonl.")
		}
		var l struct {
			Label, Verdict json.RawMessage
			Step           *int
			Type           *haltd.EventType `json:"event_type"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("reading a line: %w", err)
		}
		switch {
		case l.Type != nil:
			k = eventLines
		case l.Step == nil && (l.Label != nil || l.Verdict != nil):
			k = labelLines
		case l.Step == nil:
			return haltd.Errorf(haltd.CodeInvalid, "this is neither a step of a trace, nor an event, nor a label").
				WithFix("A step has the fields run, step and messages_delta; events come from GET /v1/events/export.")
		}
		return enough
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return k, err
}
