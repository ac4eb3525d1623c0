package demo

import (
	"context"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
)

// Service makes demo connections and keeps them alive.
type Service struct {
	DB   *store.DB
	Sink files.Sink
}

// args name a demo connection.
type args struct {
	User     users.ID `json:"user"`
	Provider string   `json:"provider"`
}

// Connect connects a user to a provider of invented data. Its history of some days
// follows in the background.
func (s *Service) Connect(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, provider string, days int) error {
	who, err := users.Get(ctx, tx, team, user)
	if err != nil {
		return err
	}
	if err := connections.ConnectDemo(ctx, tx, who, provider, byProvider[provider].resources, days); err != nil {
		return err
	}
	if err := ensureDevice(ctx, tx, who, provider); err != nil {
		return err
	}
	return s.schedule(ctx, tx, connections.Demo{Team: team, User: user, Provider: provider})
}

// schedule schedules the missing jobs of a demo.
func (s *Service) schedule(ctx context.Context, tx *store.Tx, d connections.Demo) error {
	_, err := s.fillJob().Enqueue(ctx, tx, args{d.User, d.Provider}, jobs.Options{
		Team: d.Team.UUID(), Key: d.User.String() + "/" + d.Provider,
	})
	return err
}

// Jobs returns the jobs of this package for the runner.
func (s *Service) Jobs() []jobs.Handler { return []jobs.Handler{s.fillJob(), s.tendJob()} }

func (s *Service) fillJob() jobs.Kind[args] {
	return jobs.Define("connections.demo_fill", func(ctx context.Context, run *jobs.Run, a args) error {
		err := s.Fill(ctx, ids.FromUUID[teams.Team](run.Team), a.User, a.Provider)
		if fault.Is(err, fault.NotFound) { // the user is gone
			return nil
		}
		return err
	})
}

// fillInterval is the interval between new data.
//
// Reference 6.8: every couple of hours.
const fillInterval = 2 * time.Hour

// demosAtOnce limits the demos that one transaction reads.
const demosAtOnce = 200

func (s *Service) tendJob() jobs.Kind[struct{}] {
	return jobs.Define("connections.demo", func(ctx context.Context, _ *jobs.Run, _ struct{}) error { return s.Tend(ctx) }).Every(fillInterval)
}

// Tend deletes the users of demos that are over, and asks for new data of every
// other one. ctx is the system's.
func (s *Service) Tend(ctx context.Context) error {
	for {
		var ended []connections.Demo
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if ended, err = connections.EndedDemos(ctx, tx, demosAtOnce); err != nil {
				return err
			}
			for _, d := range ended {
				if err := users.Delete(ctx, tx, d.Team, d.User); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(ended) < demosAtOnce {
			break
		}
	}
	var last connections.Demo
	for {
		var living []connections.Demo
		err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if living, err = connections.ActiveDemos(ctx, tx, last, demosAtOnce); err != nil {
				return err
			}
			for _, d := range living {
				if err := s.schedule(ctx, tx, d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(living) < demosAtOnce {
			return err
		}
		last = living[len(living)-1]
	}
}
