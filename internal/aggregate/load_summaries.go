package aggregate

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/aggregate/query"
	"hale/internal/store"
	"hale/internal/wearables"
)

// loadSummaries reads the summaries of a kind from all sources. One query
// brings them, and another the stages of the nights where they are needed.
func (r *Request) loadSummaries(ctx context.Context, tx *store.Tx) (*frame, error) {
	p := r.Plan
	stored, err := wearables.ListSummaries(ctx, tx, r.User.Team.UUID(), r.User.ID.UUID(), r.days(p.Table.Document))
	if err != nil {
		return nil, err
	}
	if len(stored) > r.mostRows() {
		return nil, errTooMuch
	}
	var nights map[uuid.UUID]*stages
	if p.NeedsCycles() {
		if nights, err = r.nights(ctx, tx); err != nil {
			return nil, err
		}
	}
	f := newFrame(p)
	for i := range stored {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s := &stored[i]
		doc, err := parseSummary(s, &r.wall)
		if err != nil {
			return nil, fmt.Errorf("aggregate: a stored %s summary: %w", s.Resource, err)
		}
		doc.night = nights[s.ID]
		if p.Table.Name == "derived_readiness" && doc.word("type") != "long_sleep" {
			continue
		}
		at, ok := doc.time(&p.Table.Index)
		if !ok || at < r.From || at >= r.To {
			continue
		}
		f.index = append(f.index, at)
		f.origin = append(f.origin, f.originOf(origin{s.Source.Provider, s.Source.Type}))
		for k, in := range p.Inputs {
			doc.appendTo(&f.inputs[k], in)
		}
	}
	return f, nil
}

// days selects the summaries whose calendar date is near the request's time. A
// session's date and its bounds may lie a day apart, and zones another. What
// has no such date, or one of another meaning, is read whole.
func (r *Request) days(document string) wearables.SummaryQuery {
	q := wearables.SummaryQuery{Resource: document}
	if document == "profile" || document == "menstrual_cycle" {
		return q
	}
	day := func(us int64, n int) string { return time.UnixMicro(us).UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	if r.From > query.FirstMoment+Zones {
		q.From = day(r.From, -3)
	}
	if r.To < query.EndOfTime-10*Zones {
		q.To = day(r.To, 3)
	}
	return q
}

// nights finds the stages of sleeps, by the sleep's id.
func (r *Request) nights(ctx context.Context, tx *store.Tx) (map[uuid.UUID]*stages, error) {
	stored, err := wearables.ListSummaries(ctx, tx, r.User.Team.UUID(), r.User.ID.UUID(), r.days("sleep_cycle"))
	if err != nil {
		return nil, err
	}
	nights := map[uuid.UUID]*stages{}
	for i := range stored {
		if sleep, s := parseStages(stored[i].Body); s != nil {
			nights[sleep] = s
		}
	}
	return nights, nil
}
