package replay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"hale/internal/fault"
	"hale/internal/ids"
	"hale/internal/imports"
	"hale/internal/jobs"
	"hale/internal/ledger"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
	"hale/internal/wearables"
)

// Service runs replays. Its fields are set before first use.
type Service struct {
	DB *store.DB
	// Sink is the store of data, which takes what comes Again. It should not
	// connect users to providers: what is read again says nothing about
	// connections.
	Sink *wearables.Ingester
	// Imports reads files again.
	Imports *imports.Service
	Dir     string       // folder for scratch databases; made when absent
	Log     *slog.Logger // nil logs nothing
}

// args of the job: the job's own id and team say which run it is.
type args struct{}

// Job is the handler for the runner.
func (s *Service) Job() jobs.Handler { return s.kind() }

func (s *Service) kind() jobs.Kind[args] {
	return jobs.Define("ledger.renormalise", s.run).With(jobs.Limits{Concurrency: 1, Timeout: 24 * time.Hour}).Cancelable()
}

// walk is one attempt at a run.
type walk struct {
	*Service
	run     *Run
	job     *jobs.Run
	scratch *scratch
}

// run goes over the users behind the last one that is finished. Killed at any
// moment, the next attempt goes on from there.
func (s *Service) run(ctx context.Context, job *jobs.Run, _ args) error {
	w := &walk{Service: s, job: job}
	var run Run
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		team := ids.From[teams.Team](job.Team)
		if run, err = Get(ctx, tx, team, ids.From[Run](job.ID.UUID())); err != nil {
			return err
		}
		run.Status, run.Total = Running, 1
		if run.User == nil {
			if run.Total, err = ledger.CountUsers(ctx, tx, team); err != nil {
				return err
			}
		}
		return run.save(ctx, tx)
	})
	if fault.Is(err, fault.NotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	w.run = &run
	defer func() { w.scratch.drop() }()
	err = w.everybody(ctx)
	if err != nil && !errors.Is(context.Cause(ctx), jobs.ErrCanceled) {
		return err
	}
	kept := context.WithoutCancel(ctx)
	return errors.Join(err, s.DB.Write(kept, func(tx *store.Tx) error {
		now := tx.Now()
		ended := *w.run
		ended.Status, ended.FinishedAt = Succeeded, &now
		if err != nil {
			ended.Status = Canceled
		}
		return ended.save(kept, tx)
	}))
}

func (w *walk) everybody(ctx context.Context) error {
	if w.run.User != nil {
		return w.one(ctx, *w.run.User)
	}
	for {
		var next users.ID
		var ok bool
		err := w.DB.Read(ctx, func(tx *store.Tx) (err error) {
			next, ok, err = ledger.NextUser(ctx, tx, w.run.Team, w.run.last)
			return err
		})
		if err != nil || !ok {
			return err
		}
		if err := w.one(ctx, next); err != nil {
			return err
		}
	}
}

// one reads one user again and notes that it is done.
func (w *walk) one(ctx context.Context, id users.ID) error {
	var user users.User
	err := w.DB.Read(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, w.run.Team, id)
		return err
	})
	switch {
	case err == nil:
		err = w.person(ctx, user)
	case fault.Is(err, fault.NotFound): // deleted, and soon erased
		err = nil
	}
	if err != nil {
		return err
	}
	err = w.DB.Write(ctx, func(tx *store.Tx) error {
		ahead := *w.run
		ahead.Done, ahead.last = ahead.Done+1, id
		if err := ahead.save(ctx, tx); err != nil {
			return err
		}
		tx.AfterCommit(func() { w.run.Done, w.run.last = ahead.Done, id })
		return nil
	})
	if err != nil {
		return err
	}
	return w.job.Progress(ctx, w.run.Done, max(w.run.Total, w.run.Done), "users")
}
