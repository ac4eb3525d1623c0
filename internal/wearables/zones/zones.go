// Package zones adds heart-rate zones, the average and highest heart rate and a stream to
// pushed workouts whose provider left them out.
//
// A phone sends a workout before its heart rate, often long before. A stored workout
// enqueues a job. The job looks for stored heart rate, at growing intervals. It keeps the
// zones of a provider, and adds none without heart rate.
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
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"
)

// Service computes zones.
type Service struct {
	Ingester derive.Ingester
}

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
		_, err := kind(nil).Enqueue(ctx, tx, args{user.ID, store.Micros(tx.Now())}, jobs.Options{
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
func (s *Service) Job() jobs.Handler { return kind(s) }

func kind(s *Service) jobs.Kind[args] {
	return jobs.Define("wearables.zones", func(ctx context.Context, run *jobs.Run, a args) error {
		waiting, err := s.AddZones(ctx, run.DB(), ids.FromUUID[teams.Team](run.Team), a.User)
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
func (s *Service) AddZones(ctx context.Context, db *store.DB, team teams.ID, id users.ID) (waiting bool, err error) {
	recent := storage.SummaryQuery{Resource: "workouts", Limit: workoutsAtOnce}
	for {
		var user users.User
		var some result
		err := db.Scan(ctx, func(tx *store.Tx) (err error) {
			if user, err = users.Get(ctx, tx, team, id); err != nil {
				return err
			}
			recent.Since = tx.Now().Add(-ignoredAfter)
			workouts, err := storage.ListSummaries(ctx, tx, team.UUID(), id.UUID(), recent)
			if err != nil {
				return err
			}
			some, err = zonesOf(ctx, tx, user, workouts)
			return err
		})
		if err != nil {
			return false, err
		}
		waiting = waiting || some.waiting
		for provider, found := range some.found {
			found.Provider, found.Stage = provider, wearables.Daily
			if _, err := s.Ingester.Ingest(ctx, user, *found); err != nil {
				return waiting, err
			}
		}
		if some.last == nil {
			return waiting, nil
		}
		recent.After = some.last
	}
}

// result is the outcome for some workouts.
type result struct {
	found   map[string]*wearables.Batch // by provider: workouts with new zones
	waiting bool                        // others wait for heart rate
	last    *storage.StoredSummary      // the last workout of this part; nil at the end
}

func zonesOf(ctx context.Context, tx *store.Tx, user users.User, workouts []storage.StoredSummary) (result, error) {
	l := result{found: map[string]*wearables.Batch{}}
	derivers := map[string]*derive.Deriver{}
	for i := range workouts {
		w, ok := derive.WorkoutWithoutZones(&workouts[i])
		if !ok {
			continue
		}
		age := tx.Now().Sub(workouts[i].UpdatedAt)
		provider := workouts[i].Source.Provider
		if derivers[provider] == nil {
			var err error
			if derivers[provider], err = deriver(ctx, tx, user, provider); err != nil {
				return l, err
			}
		}
		heart, err := derivers[provider].Heart(ctx, tx, &w, age >= incompleteAfter)
		if err != nil {
			return l, err
		}
		if heart == nil {
			l.waiting = l.waiting || age < incompleteAfter
			continue
		}
		if l.found[provider] == nil {
			l.found[provider] = &wearables.Batch{Derived: true}
		}
		heart.AddTo(l.found[provider], &w)
	}
	if len(workouts) == workoutsAtOnce {
		l.last = &workouts[workoutsAtOnce-1]
	}
	return l, nil
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
