package admin

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

func (f *IncidentFilter) query(now time.Time) (haltd.IncidentQuery, error) {
	since, err := instant("since", f.Since, now)
	return haltd.IncidentQuery{
		Agent: strings.ToLower(f.Agent), Search: strings.TrimSpace(f.Search), Session: f.Session, Kind: haltd.IncidentKind(f.Kind), Detector: haltd.Check(f.Detector),
		Status: haltd.IncidentStatus(f.Status), Shadow: choice(f.Shadow), Stops: choice(f.Stops), Since: since,
	}, err
}

func (s *server) incidents(ctx context.Context, in *incidentsInput) (*incidentsOutput, error) {
	q, err := in.query(s.deps.Clock())
	if err != nil {
		return nil, err
	}
	q.Page = in.ask()
	var found []haltd.Incident
	var next string
	out := &incidentsOutput{}
	switch in.Sort {
	case "cost":
		out.Body.Incidents, next, err = s.dearest(ctx, q)
	case "stops":
		found, next, err = s.stopsFirst(ctx, q)
	default:
		found, next, err = s.deps.Incidents.Incidents(ctx, q)
	}
	if err == nil && in.Sort != "cost" {
		out.Body.Incidents, err = s.listed(ctx, found)
	}
	out.Body.Next = nextOf(next)
	return out, err
}

// listed adds to incidents what they cost.
func (s *server) listed(ctx context.Context, incidents []haltd.Incident) ([]listedIncident, error) {
	list := make([]listedIncident, len(incidents))
	for i := range incidents {
		burned, err := s.burned(ctx, &incidents[i])
		if err != nil {
			return nil, err
		}
		list[i] = listedIncident{incidentInUTC(incidents[i]), burned.Cost, burned.Calls}
	}
	return list, nil
}

// The cursors of what stopped somebody and of the rest: the store has one
// listing of each.
const stopsCursor, restCursor = "stops.", "rest."

// stopsFirst lists what stopped somebody, and then the rest.
func (s *server) stopsFirst(ctx context.Context, q haltd.IncidentQuery) (found []haltd.Incident, next string, err error) {
	yes, no := true, false
	cursor, size := q.Cursor, q.Limit
	if q.Stops != nil { // there is one part only
		return s.deps.Incidents.Incidents(ctx, q)
	}
	rest, inRest := strings.CutPrefix(cursor, restCursor)
	if !inRest {
		q.Stops, q.Cursor = &yes, strings.TrimPrefix(cursor, stopsCursor)
		if found, next, err = s.deps.Incidents.Incidents(ctx, q); err != nil || next != "" {
			return found, stopsCursor + next, err
		}
		if len(found) == size {
			return found, restCursor, nil
		}
	}
	q.Stops, q.Cursor, q.Limit = &no, rest, size-len(found)
	others, next, err := s.deps.Incidents.Incidents(ctx, q)
	if next != "" {
		next = restCursor + next
	}
	return append(found, others...), next, err
}

// mostSorted is how many incidents are compared by what they cost.
const mostSorted = 1000

// dearest lists what cost the most first, and then what is older than all that
// was compared. Its cursor is a place in that order, then one of the store.
func (s *server) dearest(ctx context.Context, q haltd.IncidentQuery) ([]listedIncident, string, error) {
	if older, ok := strings.CutPrefix(q.Cursor, restCursor); ok {
		return s.older(ctx, q, older)
	}
	place := 0
	if q.Cursor != "" {
		var err error
		if place, err = strconv.Atoi(q.Cursor); err != nil || place < 0 {
			return nil, "", haltd.Errorf(haltd.CodeInvalid, "%q is not from this list", q.Cursor).In("cursor").WithFix("Pass the next of the page before, unchanged.")
		}
	}
	size := q.Limit
	q.Page = haltd.Page{Limit: mostSorted}
	found, next, err := s.deps.Incidents.Incidents(ctx, q)
	if err != nil {
		return nil, "", err
	}
	list, err := s.listed(ctx, found)
	if err != nil {
		return nil, "", err
	}
	slices.SortStableFunc(list, func(a, b listedIncident) int { return cmp.Compare(b.Burned, a.Burned) })
	list = list[min(place, len(list)):]
	switch {
	case len(list) > size:
		return list[:size], strconv.Itoa(place + size), nil
	case next != "":
		return list, restCursor + next, nil
	}
	return list, "", nil
}

func (s *server) older(ctx context.Context, q haltd.IncidentQuery, cursor string) ([]listedIncident, string, error) {
	q.Cursor = cursor
	found, next, err := s.deps.Incidents.Incidents(ctx, q)
	if err != nil {
		return nil, "", err
	}
	if next != "" {
		next = restCursor + next
	}
	list, err := s.listed(ctx, found)
	return list, next, err
}

func (s *server) incidentCounts(ctx context.Context, in *IncidentFilter) (*incidentCountsOutput, error) {
	q, err := in.query(s.deps.Clock())
	if err != nil {
		return nil, err
	}
	out := &incidentCountsOutput{}
	out.Body.Counts, err = s.deps.Incidents.IncidentCounts(ctx, q)
	for _, c := range out.Body.Counts {
		out.Body.Total += c.Count
	}
	return out, err
}

func (s *server) remark(ctx context.Context, in *remarkInput) (*incidentOutput, error) {
	text := strings.TrimSpace(in.Body.Text)
	if text == "" && !in.Body.Acknowledge {
		return nil, haltd.Errorf(haltd.CodeInvalid, "the comment is empty").In("text").WithFix("Send a text, or \"acknowledge\": true, or both.")
	}
	incident, err := s.deps.Remarks.Remark(ctx, haltd.Remark{Incident: in.ID, Seen: in.Body.Acknowledge, Text: text, By: in.by()})
	if err != nil {
		return nil, err
	}
	return s.priced(ctx, incident)
}
