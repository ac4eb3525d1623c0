package replay

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

// Service runs replays. Its fields are set before first use.
type Service struct {
	DB *store.DB
	// Sink is the store of data, which takes what comes Again. It should not
	// connect users to providers: what is read again says nothing about
	// connections.
	Sink *ingest.Ingester
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
		team := ids.FromUUID[teams.Team](job.Team)
		if run, err = Get(ctx, tx, team, ids.FromUUID[Run](job.ID.UUID())); err != nil {
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
	began := s.DB.Now()
	err = w.everybody(ctx)
	canceled := err != nil && errors.Is(context.Cause(ctx), jobs.ErrCanceled)
	busy := errors.Is(err, errNewer) && !canceled
	if err != nil && !canceled && !busy {
		return err
	}
	kept := context.WithoutCancel(ctx)
	var took time.Duration
	written := s.DB.Write(kept, func(tx *store.Tx) error {
		now := tx.Now()
		ended := *w.run
		switch took = now.Sub(began); {
		case busy:
			ended.Status = Queued
		case canceled:
			ended.Status, ended.FinishedAt = Canceled, &now
		default:
			ended.Status, ended.FinishedAt = Succeeded, &now
		}
		return ended.save(kept, tx)
	})
	if busy && written == nil {
		return jobs.Later(min(max(took, leastPause), longestPause))
	}
	return errors.Join(err, written)
}

// A run waits for users to whom data keeps coming, as while an export is
// imported, for as long as it took to find that out, within bounds. That counts
// as no attempt.
const (
	leastPause   = 2 * time.Second
	longestPause = 10 * time.Minute
)

// everybody goes over the users that are left, and then over those who were put
// off. It returns errNewer when some of them are to be put off still.
func (w *walk) everybody(ctx context.Context) error {
	if w.run.User != nil {
		return w.done(ctx, *w.run.User, w.one(ctx, *w.run.User))
	}
	for {
		var next users.ID
		var ok bool
		err := w.DB.Read(ctx, func(tx *store.Tx) (err error) {
			next, ok, err = ledger.NextUser(ctx, tx, w.run.Team, w.run.last)
			return err
		})
		if err != nil {
			return err
		}
		if !ok {
			return w.late(ctx)
		}
		err = w.one(ctx, next)
		if errors.Is(err, errNewer) {
			err = w.note(ctx, func(r *Run) { r.last, r.late = next, append(slices.Clone(r.late), next) })
		} else {
			err = w.done(ctx, next, err)
		}
		if err != nil {
			return err
		}
	}
}

// late goes once over those who were put off.
func (w *walk) late(ctx context.Context) error {
	for _, id := range slices.Clone(w.run.late) {
		err := w.done(ctx, id, w.one(ctx, id))
		if err != nil && !errors.Is(err, errNewer) {
			return err
		}
	}
	if len(w.run.late) > 0 {
		return errNewer
	}
	return nil
}

// one reads one user again. It returns errNewer when something newer kept
// coming in.
func (w *walk) one(ctx context.Context, id users.ID) error {
	var user users.User
	err := w.DB.Read(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, w.run.Team, id)
		return err
	})
	if fault.Is(err, fault.NotFound) { // deleted, and soon erased
		return nil
	}
	if err != nil {
		return err
	}
	return w.person(ctx, user)
}

// done notes that a user is, unless reading them failed.
func (w *walk) done(ctx context.Context, id users.ID, err error) error {
	if err != nil {
		return err
	}
	return w.note(ctx, func(r *Run) {
		at := slices.Index(r.late, id)
		if r.Done++; at < 0 {
			r.last = id
			return
		}
		r.late = slices.Delete(slices.Clone(r.late), at, at+1)
	})
}

// note writes how far the run is.
func (w *walk) note(ctx context.Context, change func(r *Run)) error {
	err := w.DB.Write(ctx, func(tx *store.Tx) error {
		ahead := *w.run
		change(&ahead)
		tx.AfterCommit(func() { *w.run = ahead })
		return ahead.save(ctx, tx)
	})
	if err != nil {
		return err
	}
	return w.job.Progress(ctx, w.run.Done, max(w.run.Total, w.run.Done), "users")
}
