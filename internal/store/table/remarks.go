package table

import (
	"encoding/json"

	"github.com/haltd/haltd"
)

// AddComment adds a remark's comment to those of an incident, which are an
// array as JSON, or nothing yet.
func AddComment(comments string, r *haltd.Remark) (string, error) {
	var list []haltd.Comment
	if comments != "" {
		if err := json.Unmarshal([]byte(comments), &list); err != nil {
			return "", err
		}
	}
	if len(list) >= haltd.MaxComments {
		return "", haltd.Errorf(haltd.CodeConflict, "incident %s has %d comments, which is the most", r.Incident, len(list)).In("text").
			WithFix("Say it where the work is tracked, and keep the link in the note of your decision.")
	}
	added, err := json.Marshal(append(list, haltd.Comment{Time: r.At.UTC(), By: r.By, Text: r.Text}))
	return string(added), err
}

// IncidentCounts is the query that counts incidents i.
func IncidentCounts(w *Conditions) string {
	return "SELECT i.kind, i.detector, i.status, i.action, i.shadow, count(*) FROM incidents i" + w.Where() +
		" GROUP BY i.kind, i.detector, i.status, i.action, i.shadow ORDER BY 6 DESC, 1, 2, 3, 4, 5"
}

// ScanIncidentCount reads a row of IncidentCounts.
func ScanIncidentCount(scan func(...any) error) (c haltd.IncidentCount, err error) {
	var kind, status, action string
	if err := scan(&kind, &c.Detector, &status, &action, &c.Shadow, &c.Count); err != nil {
		return c, err
	}
	c.Kind, c.Status = haltd.IncidentKind(kind), haltd.IncidentStatus(status)
	if action == "" { // of an incident whose body does not say
		return c, nil
	}
	return c, c.Action.UnmarshalText([]byte(action))
}

// AgentCounts is the query that counts agents a by their state.
func AgentCounts(w *Conditions) string {
	killed := "coalesce(a.deactivated_by, '') = '" + string(haltd.ByKillSwitch) + "'"
	w.Args = append([]any{true, false, false}, w.Args...)
	return "SELECT count(CASE WHEN a.active = ? THEN 1 END), count(CASE WHEN a.active = ? AND " + killed + " THEN 1 END), count(CASE WHEN a.active = ? AND NOT " +
		killed + " THEN 1 END) FROM agents a" + w.Where()
}

// ScanAgentCounts reads the row of AgentCounts.
func ScanAgentCounts(scan func(...any) error, c *haltd.AgentCounts) error {
	return scan(&c.Active, &c.Stopped, &c.Inactive)
}
