// Package zones gives pushed workouts the heart-rate zones that their provider
// left out.
//
// A phone sends its workouts before the heart rate that goes with them, and
// often long before. So a workout that comes in asks for a job, and the job
// looks for heart rate ever more seldom until it is there. Zones that a
// provider gives stay as they are, and nothing is guessed where there is no
// heart rate.
//
// The maximum is 220 less the age on the day of the workout: by the birth date
// in the provider's profile, else the user's fallback_birth_date, else an age
// of 30.
//
// Reference 7.5, workouts.
package zones

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// Service computes zones.
type Service struct {
	Ingester derive.Ingester
}

// args name whose workouts are looked at.
type args struct {
	User users.ID `json:"user"`
	// Since is when a workout came last, UTC microseconds.
	Since int64 `json:"since"`
}

// The waits between two looks grow from first to longest. A workout gets what
// heart rate is there once patience has passed since it came, however many came
// after it, and is looked at no more when it is old: nodes may stand still for
// days in between.
const (
	first    = 30 * time.Second
	longest  = 6 * time.Hour
	patience = 48 * time.Hour
	old      = 7 * 24 * time.Hour
)

// together is how long a job waits before it looks at all: the workouts of one
// file come in many batches.
const together = 2 * time.Second

// Changed asks for a job when workouts have come in. It runs in the
// transaction that stores them.
func (s *Service) Changed(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.Touched) error {
	for _, c := range changes {
		if c.Resource != "workouts" {
			continue
		}
		_, err := s.kind().Enqueue(ctx, tx, args{user.ID, store.Micros(tx.Now())}, jobs.Options{
			Team: user.Team.UUID(), Key: user.ID.String(), At: tx.Now().Add(together),
		})
		if err != nil {
			return fmt.Errorf("zones: %w", err)
		}
		return nil
	}
	return nil
}

// Job is the handler for the runner.
func (s *Service) Job() jobs.Handler { return s.kind() }

func (s *Service) kind() jobs.Kind[args] {
	return jobs.Define("wearables.zones", func(ctx context.Context, run *jobs.Run, a args) error {
		waiting, err := s.Look(ctx, run.DB(), ids.FromUUID[teams.Team](run.Team), a.User)
		switch {
		case fault.Is(err, fault.NotFound): // the user is gone
			return nil
		case err != nil || !waiting:
			return err
		}
		age := run.DB().Now().Sub(store.FromMicros(a.Since))
		return jobs.Later(min(max(age, first), longest))
	})
}

// mostLooked is how many workouts are read at once.
const mostLooked = 100

// Look gives zones to those of a user's recent workouts whose heart rate has
// come, and tells whether others still wait for theirs.
func (s *Service) Look(ctx context.Context, db *store.DB, team teams.ID, id users.ID) (waiting bool, err error) {
	recent := storage.SummaryQuery{Resource: "workouts", Limit: mostLooked}
	for {
		var user users.User
		var some look
		err := db.Scan(ctx, func(tx *store.Tx) (err error) {
			if user, err = users.Get(ctx, tx, team, id); err != nil {
				return err
			}
			recent.Since = tx.Now().Add(-old)
			workouts, err := storage.ListSummaries(ctx, tx, team.UUID(), id.UUID(), recent)
			if err != nil {
				return err
			}
			some, err = lookAt(ctx, tx, user, workouts)
			return err
		})
		if err != nil {
			return false, err
		}
		waiting = waiting || some.waiting
		for provider, found := range some.found {
			if _, err := s.Ingester.Ingest(ctx, user, wearables.Batch{Provider: provider, Stage: wearables.Daily, Summaries: found}); err != nil {
				return waiting, err
			}
		}
		if some.last == nil {
			return waiting, nil
		}
		recent.After = some.last
	}
}

// look is what some workouts show.
type look struct {
	found   map[string][]wearables.Summary // by provider: those that get zones
	waiting bool                           // others wait for their heart rate
	last    *storage.StoredSummary         // where the next ones follow; nil when there are none
}

func lookAt(ctx context.Context, tx *store.Tx, user users.User, workouts []storage.StoredSummary) (look, error) {
	l := look{found: map[string][]wearables.Summary{}}
	derivers := map[string]*derive.Deriver{}
	for i := range workouts {
		w, ok := derive.ZonelessWorkout(&workouts[i])
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
		zones, err := derivers[provider].Zones(ctx, tx, &w, age >= patience)
		if err != nil {
			return l, err
		}
		if zones == nil {
			l.waiting = l.waiting || age < patience
			continue
		}
		l.found[provider] = append(l.found[provider], w.WithZones(zones))
	}
	if len(workouts) == mostLooked {
		l.last = &workouts[mostLooked-1]
	}
	return l, nil
}

// deriver knows how old the user is by the provider's word.
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

// profileID is that of a profile, of which a provider has one.
func profileID(user uuid.UUID, provider string) uuid.UUID {
	return wearables.SummaryID(user, provider, "profile", "profile")
}
