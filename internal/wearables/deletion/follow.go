package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

// Summaries of a day that were derived from deleted samples are derived again from the
// samples that are left. Without any, their derived fields are deleted, and a summary
// without other fields too.

// begin returns the start of a session, or of the day of a summary.
func begin(s *storage.StoredSummary) int64 {
	if s.Begins() != 0 {
		return s.Begins()
	}
	if day, err := civil.ParseDate(s.Day); err == nil {
		return day.In(time.UTC).UnixMicro()
	}
	return 0
}

// within reports whether the filter selects a calendar date.
func (f *Filter) within(day string) bool {
	return day >= f.FirstDay && (f.LastDay == "" || day <= f.LastDay)
}

// follow derives the summaries of the days whose samples were deleted. Providers that
// send totals of days are left out: their summaries are not derived.
func (s *Service) follow(ctx context.Context, user users.User, d *Deletion) error {
	for provider, days := range d.at.Days {
		if p, ok := providers.Find(provider); !ok || !p.PushedByPhone() {
			continue
		}
		for some := range slices.Chunk(days, daysAtOnce) {
			if err := s.derive(ctx, user, provider, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// daysAtOnce bounds the days that are derived together.
const daysAtOnce = 100

// collector keeps derived summaries instead of storing them.
type collector struct{ all []wearables.Batch }

// Ingest keeps a batch.
func (c *collector) Ingest(_ context.Context, _ users.User, b wearables.Batch) (wearables.Result, error) {
	c.all = append(c.all, b)
	return wearables.Result{}, nil
}

func (s *Service) derive(ctx context.Context, user users.User, provider string, days []civil.Date) error {
	var found collector
	deriver := derive.Deriver{DB: s.DB, Ingester: &found, User: user, Provider: provider, Pushed: true}
	if err := deriver.Days(ctx, days); err != nil {
		return err
	}
	left := map[uuid.UUID]bool{}
	for _, b := range found.all {
		for i := range b.Summaries {
			left[wearables.SummaryID(user.ID.UUID(), provider, b.Summaries[i].Resource, b.Summaries[i].Key)] = true
		}
	}
	if err := s.DB.Write(ctx, func(tx *store.Tx) error {
		for _, day := range days {
			if err := s.dropDerived(ctx, tx, user, provider, day, left); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, b := range found.all {
		if _, err := s.Ingester.Ingest(ctx, user, b); err != nil {
			return err
		}
	}
	return nil
}

// dropDerived removes the derived fields of the summaries of a day that are not left.
func (s *Service) dropDerived(ctx context.Context, tx *store.Tx, user users.User, provider string, day civil.Date, left map[uuid.UUID]bool) error {
	for _, resource := range []string{"activity", "body"} {
		all, err := storage.ListSummaries(ctx, tx, user.Team.UUID(), user.ID.UUID(), storage.SummaryQuery{
			Resource: resource, Provider: provider, From: day.String(), To: day.String(),
		})
		if err != nil {
			return err
		}
		for i := range all {
			one := &all[i]
			if left[one.ID] || !derive.IsDerived(one, day) {
				continue
			}
			event, err := dropFields(ctx, tx, user, one)
			if err != nil {
				return err
			}
			if _, err := events.Emit(ctx, tx, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropFields removes the derived fields of a summary, or all of it, and returns the event.
func dropFields(ctx context.Context, tx *store.Tx, user users.User, s *storage.StoredSummary) (events.New, error) {
	e := events.New{Team: s.Team, User: s.User, ClientUserID: user.ClientUserID}
	body, err := derive.WithoutDerived(s)
	if err != nil {
		return e, err
	}
	if body == nil {
		d := Deletion{Team: user.Team, User: user.ID, Report: Report{Resources: map[string]*Count{}}}
		c := d.Report.count(s.Resource, s.Source.Provider, 1, begin(s), begin(s))
		c.add(s.ID)
		e.Type, e.Data = "daily.data."+s.Resource+".deleted", d.payload(tx, s.Resource, c)
		return e, s.Delete(ctx, tx, false)
	}
	was, err := storage.ReadVersion(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return e, err
	}
	was.Body, was.Updated = body, store.Micros(tx.Now())
	if err := s.Restore(ctx, tx, was); err != nil {
		return e, err
	}
	now, err := storage.ReadSummary(ctx, tx, s.Team, s.User, s.ID)
	if err != nil {
		return e, err
	}
	return updated(tx, user, &now)
}

// updated returns the event of a summary that has another value.
func updated(tx *store.Tx, user users.User, s *storage.StoredSummary) (e events.New, err error) {
	e = events.New{Team: s.Team, User: s.User, ClientUserID: user.ClientUserID, Type: "daily.data." + wearables.EventName(s.Resource) + ".updated"}
	e.Data, err = storage.AppendSummary(nil, s, providers.LogosOf(tx))
	return e, err
}
