// Package zones adds heart-rate zones, the average and highest heart rate and a stream to
// pushed workouts whose provider left them out.
//
// A phone sends a workout before its heart rate, often long before. A stored workout
// enqueues a job. The job looks for stored heart rate, at growing intervals. It keeps the
// zones of a provider, and adds none without heart rate.
//
// The values follow their samples. Renew computes them again after a change of samples, and
// removes them without samples. The jobs of pushed samples and of deletions call it, and so
// do imports at their end.
//
// The maximum heart rate is 220 minus the age on the day of the workout. The age comes
// from the birth date in the provider's profile or from the user's fallback_birth_date.
// Without either it is 30.
//
// Reference 7.5, workouts.
package zones

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

// args identifies the user of a job.
type args struct {
	User users.ID `json:"user"`
	// Since is the time at which a workout was last stored, in UTC microseconds.
	Since int64 `json:"since"`
}

// The job runs again after minWait to maxWait. After incompleteAfter a workout gets zones
// even from incomplete heart rate. After ignoredAfter it is ignored. This is later,
// because nodes may be down for days.
const (
	minWait         = 30 * time.Second
	maxWait         = 6 * time.Hour
	incompleteAfter = 48 * time.Hour
	ignoredAfter    = 7 * 24 * time.Hour
)

// startDelay delays the job, because the workouts of one file are in many batches.
const startDelay = 2 * time.Second

// EnqueueZones enqueues a job if workouts were stored, in the transaction that stores
// them.
func EnqueueZones(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.TouchedData) error {
	for _, c := range changes {
		if c.Resource != "workouts" {
			continue
		}
		_, err := kind().Enqueue(ctx, tx, args{user.ID, store.Micros(tx.Now())}, jobs.Options{
			Team: user.Team.UUID(), Key: user.ID.String(), At: tx.Now().Add(startDelay),
		})
		if err != nil {
			return fmt.Errorf("zones: %w", err)
		}
		return nil
	}
	return nil
}

// Job returns the handler for the job runner.
func Job() jobs.Handler { return kind() }

func kind() jobs.Kind[args] {
	return jobs.Define("wearables.zones", func(ctx context.Context, run *jobs.Run, a args) error {
		waiting, err := AddZones(ctx, run.DB(), ids.FromUUID[teams.Team](run.Team), a.User)
		switch {
		case fault.Is(err, fault.NotFound): // the user is gone
			return nil
		case err != nil || !waiting:
			return err
		}
		age := run.DB().Now().Sub(store.FromMicros(a.Since))
		return jobs.RetryLater(min(max(age, minWait), maxWait))
	})
}

// workoutsAtOnce limits the workouts that are read at once.
const workoutsAtOnce = 100

// AddZones adds zones to a user's recent workouts with heart rate, and reports whether
// others still wait for heart rate.
func AddZones(ctx context.Context, db *store.DB, team teams.ID, id users.ID) (waiting bool, err error) {
	var user users.User
	if err := db.Read(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, team, id)
		return err
	}); err != nil {
		return false, err
	}
	r := renewal{db: db, user: user, incomplete: func(w *storage.StoredSummary) bool {
		p, _ := providers.Find(w.Source.Provider)
		one, ok := derive.ReadWorkout(w)
		return ok && (!one.IsComplete() || p.PushedByPhone() && !one.IsComputed())
	}}
	r.query = func(now time.Time) storage.SummaryQuery { return storage.SummaryQuery{Since: now.Add(-ignoredAfter)} }
	return r.run(ctx)
}

// Renew computes the heart rate of a provider's workouts on some days again: their samples
// have changed. It ignores workouts that were stored at an instant or later; the zero time
// ignores none.
func Renew(ctx context.Context, db *store.DB, user users.User, provider string, days []civil.Date, before time.Time) error {
	for _, span := range spansOf(days) {
		r := renewal{db: db, user: user, incomplete: func(w *storage.StoredSummary) bool {
			return span.meets(w) && (before.IsZero() || w.UpdatedAt.Before(before))
		}}
		r.query = func(time.Time) storage.SummaryQuery {
			return storage.SummaryQuery{Provider: provider, From: span.first.AddDays(-longestDays).String(), To: span.last.AddDays(1).String()}
		}
		if _, err := r.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// deriver returns a deriver with the birth date of the provider's profile.
func deriver(ctx context.Context, tx *store.Tx, user users.User, provider string) (*derive.Deriver, error) {
	d := &derive.Deriver{User: user, Provider: provider}
	profile, err := storage.SummaryByID(ctx, tx, user.Team.UUID(), profileID(user.ID.UUID(), provider), "profile")
	switch {
	case err == nil:
		d.Person = derive.BirthFrom(&profile)
	case !errors.Is(err, store.ErrNoRows):
		return nil, err
	}
	return d, nil
}

// profileID returns the id of the profile of a provider.
func profileID(user uuid.UUID, provider string) uuid.UUID {
	return wearables.SummaryID(user, provider, "profile", "profile")
}
