package aggregate

import (
	"context"
	"fmt"
	"time"

	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// summariesAtOnce are in memory as they are stored. None is larger than an
// event may be, so that this is some 50 MB at the very most.
const summariesAtOnce = 200

// each reads the summaries of a kind from all sources, some at a time.
func (r *Request) each(ctx context.Context, tx *store.Tx, document string, do func(*storage.StoredSummary) error) error {
	q := r.days(document)
	q.Limit = summariesAtOnce
	for {
		page, err := storage.ListSummaries(ctx, tx, r.User.Team.UUID(), r.User.ID.UUID(), q)
		if err != nil {
			return err
		}
		for i := range page {
			if err := do(&page[i]); err != nil {
				return err
			}
		}
		if len(page) < q.Limit {
			return nil
		}
		q.After = &page[len(page)-1]
	}
}

// loadSummaries reads the summaries of a kind, or notes, and the stages of the
// nights where they are needed.
func (r *Request) loadSummaries(ctx context.Context, tx *store.Tx) (f *frame, err error) {
	var nights map[uuid.UUID]*stages
	if r.Plan.NeedsCycles() {
		if nights, err = r.nights(ctx, tx); err != nil {
			return nil, err
		}
	}
	f = newFrame(r.Plan)
	err = r.each(ctx, tx, r.Plan.Table.Document, func(s *storage.StoredSummary) error {
		doc, err := parseSummary(s, r.wall.of(s.Source.Provider))
		if err != nil {
			return fmt.Errorf("aggregate: a stored %s summary: %w", s.Resource, err)
		}
		doc.night = nights[s.ID]
		return r.addSummary(f, doc)
	})
	return f, err
}

// addSummary adds a summary whose index lies within the request's time.
func (r *Request) addSummary(f *frame, s *summary) error {
	p := r.Plan
	if p.Table.Name == "derived_readiness" && s.word("type") != "long_sleep" {
		return nil
	}
	at, ok := s.time(&p.Table.Index)
	if !ok || at < r.From || at >= r.To {
		return nil
	}
	f.index = append(f.index, at)
	f.origin = append(f.origin, f.originOf(origin{s.Source.Provider, s.Source.Type}))
	for k, in := range p.Inputs {
		s.appendTo(&f.inputs[k], in)
		if in.Kind == query.Text {
			f.texts += len(f.inputs[k].Text[len(f.index)-1])
		}
	}
	switch {
	case len(f.index) > r.mostRows():
		return errTooMuch
	case !r.holds(f.bytes(0)):
		return errTooHeavy
	}
	return nil
}

// besides is how many days a summary's index may lie from its calendar date: a
// session begins at most three from it and lasts one, and zones reach over
// another.
const besides = 6

// days selects the summaries whose calendar date is near the request's time.
// What has no such date, or one of another meaning, is read whole.
func (r *Request) days(document string) storage.SummaryQuery {
	q := storage.SummaryQuery{Resource: document}
	if document == "profile" || document == "menstrual_cycle" {
		return q
	}
	day := func(us int64, n int) string { return time.UnixMicro(us).UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	if r.From > query.FirstMoment+10*Zones {
		q.From = day(r.From, -besides)
	}
	if r.To < query.EndOfTime-10*Zones {
		q.To = day(r.To, besides)
	}
	return q
}

// nights finds the stages of sleeps, by the sleep's id.
func (r *Request) nights(ctx context.Context, tx *store.Tx) (map[uuid.UUID]*stages, error) {
	nights := map[uuid.UUID]*stages{}
	err := r.each(ctx, tx, "sleep_cycle", func(s *storage.StoredSummary) error {
		if sleep, found := parseStages(s.Body); found != nil {
			nights[sleep] = found
		}
		return nil
	})
	return nights, err
}
