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
	"hale/internal/wearables/reread"
)

// Service runs replays. Set its fields before the first use.
type Service struct {
	DB *store.DB
	// Sink stores the data. It is a reprocessor: payloads say nothing about connections.
	Sink *ingest.Ingester
	// Imports reads files.
	Imports *imports.Service
	Dir     string       // folder for scratch databases; created if absent
	Log     *slog.Logger // nil logs nothing
}

// args of the job. The id of the job is that of the run.
type args struct{}

// Job returns the handler for the job runner.
func (s *Service) Job() jobs.Handler { return s.kind() }

func (s *Service) kind() jobs.Kind[args] {
	return jobs.Define("ledger.renormalise", s.run).With(jobs.Limits{Concurrency: 1, Timeout: 24 * time.Hour}).Cancelable()
}

// attempt is one attempt at a run.
type attempt struct {
	*Service
	run     *Run
	job     *jobs.Run
	scratch *scratch
}

// run processes the users after the last finished one. After an interruption the next
// attempt resumes there.
func (s *Service) run(ctx context.Context, job *jobs.Run, _ args) error {
	w := &attempt{Service: s, job: job}
	var run Run
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		team := ids.FromUUID[teams.Team](job.Team)
		if run, err = Get(ctx, tx, team, ids.FromUUID[Run](job.ID.UUID())); err != nil {
			return err
		}
		run.Status, run.Total = jobs.Running, 1
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
	err = w.processAll(ctx)
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
			ended.Status = jobs.Queued
		case canceled:
			ended.Status, ended.FinishedAt = jobs.Canceled, &now
		default:
			ended.Status, ended.FinishedAt = jobs.Succeeded, &now
		}
		return ended.save(kept, tx)
	})
	if busy && written == nil {
		return jobs.RetryLater(min(max(took, leastPause), longestPause))
	}
	return errors.Join(err, written)
}

// A run postpones users who keep receiving data, for example during an import. It waits as
// long as reading them took, within bounds. That does not count as an attempt.
const (
	leastPause   = 2 * time.Second
	longestPause = 10 * time.Minute
)

// processAll processes the remaining users, and then the postponed ones. It returns errNewer
// if some are postponed again.
func (w *attempt) processAll(ctx context.Context) error {
	if w.run.User != nil {
		return w.finishUser(ctx, *w.run.User, w.processUser(ctx, *w.run.User))
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
			return w.processPostponed(ctx)
		}
		err = w.processUser(ctx, next)
		if errors.Is(err, errNewer) {
			err = w.note(ctx, func(r *Run) { r.last, r.late = next, append(slices.Clone(r.late), next) })
		} else {
			err = w.finishUser(ctx, next, err)
		}
		if err != nil {
			return err
		}
	}
}

// processPostponed processes the postponed users once.
func (w *attempt) processPostponed(ctx context.Context) error {
	for _, id := range slices.Clone(w.run.late) {
		err := w.finishUser(ctx, id, w.processUser(ctx, id))
		if err != nil && !errors.Is(err, errNewer) {
			return err
		}
	}
	if len(w.run.late) > 0 {
		return errNewer
	}
	return nil
}

// processUser processes one user. It returns errNewer if newer data keeps arriving.
func (w *attempt) processUser(ctx context.Context, id users.ID) error {
	var user users.User
	err := w.DB.Read(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, w.run.Team, id)
		return err
	})
	if fault.Is(err, fault.NotFound) { // the user is deleted
		return nil
	}
	if err != nil {
		return err
	}
	return w.person(ctx, user)
}

// finishUser stores that a user is finished, unless err is set.
func (w *attempt) finishUser(ctx context.Context, id users.ID, err error) error {
	if err != nil {
		return err
	}
	if !w.run.DryRun {
		if err := w.DB.Write(ctx, func(tx *store.Tx) error { return reread.Enqueue(ctx, tx, w.run.Team, id) }); err != nil {
			return err
		}
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

// note stores the progress of the run.
func (w *attempt) note(ctx context.Context, change func(r *Run)) error {
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
