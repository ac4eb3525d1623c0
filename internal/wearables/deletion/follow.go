package deletion

import (
	"context"
	"errors"
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
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
	"hale/internal/wearables/zones"
)

// Summaries of a day that were derived from deleted samples are derived again from the
// samples that are left. Without any, their derived fields are deleted, and a summary
// without other fields too.

// within reports whether the filter selects a calendar date.
func (f *Filter) within(day string) bool {
	return day >= f.FirstDay && (f.LastDay == "" || day <= f.LastDay)
}

// follow derives the summaries of the days whose samples were deleted. Providers that
// send totals of days are left out: their summaries are not derived.
func (s *Service) follow(ctx context.Context, user users.User, d *Deletion) error {
	return errors.Join(
		s.deriveEach(ctx, user, d.at.Days, derive.IsDerived),
		s.deriveEach(ctx, user, d.at.RederiveDays, derive.FollowsSamples),
		s.renewWorkouts(ctx, user, d.at.Days),
		s.renewWorkouts(ctx, user, d.at.WorkoutDays),
	)
}

// renewWorkouts computes the heart rate of workouts again.
func (s *Service) renewWorkouts(ctx context.Context, user users.User, all map[string][]civil.Date) error {
	for provider, days := range all {
		if err := zones.Renew(ctx, s.DB, user, provider, days, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) deriveEach(ctx context.Context, user users.User, all map[string][]civil.Date, follows func(*storage.StoredSummary, civil.Date) bool) error {
	for provider, days := range all {
		if p, ok := providers.Find(provider); !ok || !p.PushedByPhone() && provider != users.Manual {
			continue
		}
		d := derive.Deriver{DB: s.DB, Ingester: s.Ingester, User: user, Provider: provider, Pushed: true}
		for some := range slices.Chunk(days, daysAtOnce) {
			if err := renew(ctx, d, some, follows); err != nil {
				return err
			}
		}
	}
	return nil
}

// daysAtOnce limits the number of days that are derived together.
const daysAtOnce = 100

// collector collects derived summaries instead of storing them.
type collector struct{ all []wearables.Batch }

// Ingest adds a batch to the collection.
func (c *collector) Ingest(_ context.Context, _ users.User, b wearables.Batch) (wearables.Result, error) {
	c.all = append(c.all, b)
	return wearables.Result{}, nil
}

// Renew derives the summaries of days again from all samples. It removes a summary that
// follows from samples if none of them is left: they were corrected, and belong to
// another day. It also removes the derived activity of a day for which a phone pushed
// one.
func Renew(ctx context.Context, d derive.Deriver, days []civil.Date) error {
	return renew(ctx, d, days, derive.FollowsSamples)
}

// renew derives summaries like Renew. follows reports whether to remove a summary that
// the samples no longer give.
func renew(ctx context.Context, d derive.Deriver, days []civil.Date, follows func(*storage.StoredSummary, civil.Date) bool) error {
	var found collector
	ingester := d.Ingester
	d.Ingester = &found
	if err := d.Days(ctx, days); err != nil {
		return err
	}
	r := renewal{user: d.User, provider: d.Provider, follows: follows, left: map[uuid.UUID][]byte{}, superseded: map[uuid.UUID]bool{}}
	for _, b := range found.all {
		for i := range b.Summaries {
			r.left[wearables.SummaryID(d.User.ID.UUID(), d.Provider, b.Summaries[i].Resource, b.Summaries[i].Key)] = b.Summaries[i].Body
		}
	}
	var gone, stale []storage.StoredSummary
	find := func(tx *store.Tx) (err error) {
		gone, stale, err = r.find(ctx, tx, days)
		return err
	}
	if err := d.DB.Read(ctx, find); err != nil {
		return err
	}
	if len(gone)+len(stale) > 0 {
		if err := d.DB.Write(ctx, func(tx *store.Tx) error {
			if err := find(tx); err != nil { // one may have changed
				return err
			}
			return errors.Join(r.drop(ctx, tx, gone), r.dropStale(ctx, tx, stale))
		}); err != nil {
			return err
		}
	}
	for _, b := range found.all {
		if _, err := ingester.Ingest(ctx, d.User, b); err != nil {
			return err
		}
	}
	return nil
}

// renewal finds and drops the derived summaries of days that are not left.
type renewal struct {
	user     users.User
	provider string
	follows  func(*storage.StoredSummary, civil.Date) bool
	left     map[uuid.UUID][]byte // their new bodies

	superseded map[uuid.UUID]bool // removed as a whole
}

func (r *renewal) find(ctx context.Context, tx *store.Tx, days []civil.Date) (gone, stale []storage.StoredSummary, err error) {
	wanted := map[string]civil.Date{}
	for _, day := range days {
		wanted[day.String()] = day
	}
	first, last := slices.MinFunc(days, civil.Date.Compare), slices.MaxFunc(days, civil.Date.Compare)
	for _, resource := range []string{"activity", "body"} {
		all, err := storage.ListSummaries(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), storage.SummaryQuery{
			Resource: resource, Provider: r.provider, From: first.String(), To: last.String(),
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range all {
			one := &all[i]
			day, ok := wanted[one.Day]
			if !ok {
				continue
			}
			if body, left := r.left[one.ID]; left {
				if derive.FollowsSamples(one, day) {
					if body, err = derive.WithoutStale(one, body); err != nil {
						return nil, nil, err
					}
					if body != nil {
						stale = append(stale, *one)
					}
				}
				continue
			}
			if r.superseded[one.ID] = isSuperseded(one, day, all); r.superseded[one.ID] || r.follows(one, day) {
				gone = append(gone, *one)
			}
		}
	}
	return gone, stale, nil
}

// isSuperseded reports whether a derived activity is of a day for which a phone pushed one.
func isSuperseded(s *storage.StoredSummary, day civil.Date, all []storage.StoredSummary) bool {
	return s.Resource == "activity" && derive.IsDerived(s, day) &&
		slices.ContainsFunc(all, func(o storage.StoredSummary) bool { return o.Day == s.Day && o.ID != s.ID })
}

// drop removes the derived fields of summaries, or all of a summary, and sends the events.
func (r *renewal) drop(ctx context.Context, tx *store.Tx, gone []storage.StoredSummary) error {
	for i := range gone {
		event, err := dropFields(ctx, tx, r.user, &gone[i], r.superseded[gone[i].ID])
		if err != nil {
			return err
		}
		if err := emit(ctx, tx, gone[i].Source.Provider, event); err != nil {
			return err
		}
	}
	return nil
}

// dropStale removes the derived fields of summaries whose samples are gone, while others
// are left. Its new body is merged with the rest afterwards.
func (r *renewal) dropStale(ctx context.Context, tx *store.Tx, stale []storage.StoredSummary) error {
	for i := range stale {
		one := &stale[i]
		body, err := derive.WithoutStale(one, r.left[one.ID])
		if err != nil {
			return err
		}
		event, err := rewrite(ctx, tx, r.user, one, body)
		if err != nil {
			return err
		}
		if err := emit(ctx, tx, one.Source.Provider, event); err != nil {
			return err
		}
	}
	return nil
}

// dropFields removes the derived fields of a summary, or all of it, and returns the event.
func dropFields(ctx context.Context, tx *store.Tx, user users.User, s *storage.StoredSummary, whole bool) (events.New, error) {
	e := events.New{Team: s.Team, User: s.User, ClientUserID: user.ClientUserID}
	body, err := derive.WithoutDerived(s)
	if err != nil {
		return e, err
	}
	if body == nil || whole {
		d := Deletion{Team: user.Team, User: user.ID, Report: Report{Resources: map[string]*Count{}}}
		c := d.Report.count(s.Resource, s.Source.Provider, 1, s.BeginsOrDay(), s.BeginsOrDay())
		c.add(s.ID)
		e.Type, e.Data = resources.DailyEvent(s.Resource, resources.Deleted), d.payload(tx, s.Resource, c)
		return e, s.Delete(ctx, tx, false)
	}
	return rewrite(ctx, tx, user, s, body)
}

// rewrite gives a summary another body, and returns the event.
func rewrite(ctx context.Context, tx *store.Tx, user users.User, s *storage.StoredSummary, body []byte) (e events.New, err error) {
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
	e = events.New{Team: s.Team, User: s.User, ClientUserID: user.ClientUserID, Type: resources.DailyEvent(wearables.EventName(s.Resource), resources.Updated)}
	e.Data, err = storage.AppendSummary(nil, s, providers.LogosOf(tx))
	return e, err
}

// emit sends an event about the data of a provider, and counts it for introspection.
func emit(ctx context.Context, tx *store.Tx, provider string, e events.New) error {
	if _, err := events.Emit(ctx, tx, e); err != nil {
		return err
	}
	return countSent(ctx, tx, provider, &e)
}

// countSent counts an event about the data of a provider.
func countSent(ctx context.Context, tx *store.Tx, provider string, e *events.New) error {
	resource, _ := resources.NameInDailyEvent(e.Type)
	return storage.CountSent(ctx, tx, e.Team, e.User, provider, resource)
}
