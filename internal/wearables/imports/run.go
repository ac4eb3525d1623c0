package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
)

// args of the job. The id of the job is that of the import.
type args struct{}

// maxAttempts is the number of attempts after which an import fails.
const maxAttempts = 6

// Job returns the handler for the job runner.
func (s *Service) Job() jobs.Handler { return s.kind() }

func (s *Service) kind() jobs.Kind[args] {
	return jobs.Define("imports.run", s.run).With(jobs.Limits{Concurrency: 1, Timeout: 12 * time.Hour, Attempts: maxAttempts}).Cancelable()
}

// Waits if the file is not on this node.
const (
	waitForNode   = 3 * time.Second
	longestAbsent = 7 * 24 * time.Hour
)

// run executes one import. After an interruption the next attempt starts at the beginning
// of the file; stored data is unchanged.
func (s *Service) run(ctx context.Context, run *jobs.Run, _ args) error {
	a := &attempt{s: s, run: run, kept: context.WithoutCancel(ctx)}
	switch ready, err := a.begin(ctx); {
	case fault.Is(err, fault.NotFound):
		return a.endWithoutUser(nil, err)
	case errors.Is(err, errEnded):
		return nil
	case err != nil || !ready:
		return err
	}
	outcome, err := a.readFile(ctx)
	switch {
	case errors.Is(context.Cause(ctx), jobs.ErrCanceled):
		return errors.Join(a.finish(Canceled, outcome, ""), err)
	case err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return err // the node is stopping: another attempt follows
	}
	if fault.Is(err, fault.NotFound) {
		return a.endWithoutUser(outcome, err)
	}
	return a.end(outcome, err)
}

// userReturns is the interval at which an import looks for its deleted user.
const userReturns = 30 * time.Second

// endWithoutUser ends an attempt whose user was not found. While the user is deleted and
// can be restored, the import waits. It then continues, so that it does not end with a
// part of the file. Other errors end the import.
func (a *attempt) endWithoutUser(outcome *files.Outcome, err error) error {
	deleted := false
	if readErr := a.s.DB.Read(a.kept, func(tx *store.Tx) (err error) {
		deleted, err = users.IsDeleted(a.kept, tx, a.row.Team, a.row.User)
		return err
	}); readErr != nil {
		return readErr
	}
	if !deleted {
		return jobs.Permanent(a.end(outcome, err))
	}
	a.row.Error = "the user is deleted; the import continues if the user is restored"
	if err := a.s.DB.Write(a.kept, func(tx *store.Tx) error { return setQueued(a.kept, tx, &a.row) }); err != nil {
		return err
	}
	return jobs.RetryLater(userReturns)
}

// errEnded is the error of an import that was canceled before the attempt.
var errEnded = errors.New("imports: already ended")

// attempt is one attempt at one import.
type attempt struct {
	s          *Service
	run        *jobs.Run
	kept       context.Context // not canceled, to store the outcome
	user       users.User
	row        Import
	reportedAt time.Time
}

// begin finds the import, its user and its file, and marks it as running.
func (a *attempt) begin(ctx context.Context) (ready bool, err error) {
	err = a.s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		a.row, err = read(ctx, tx, ids.FromUUID[teams.Team](a.run.Team), ids.FromUUID[Import](a.run.ID.UUID()))
		if errors.Is(err, store.ErrNoRows) {
			return jobs.Permanent(errors.New("imports: the import does not exist"))
		}
		return err
	})
	if err != nil || !a.row.live() {
		return false, err
	}
	if _, err := os.Stat(a.s.path(a.row.spool)); errors.Is(err, os.ErrNotExist) {
		switch found, err := a.fetch(ctx); {
		case err != nil:
			return false, err
		case !found:
			return false, a.absent()
		}
	}
	return true, a.s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if a.user, err = users.Get(ctx, tx, a.row.Team, a.row.User); err != nil {
			return err
		}
		return setStarted(ctx, tx, &a.row, a.user.ZoneName())
	})
}

// absent returns the job to the queue for the node that has the file. This node cannot
// get it from the ledger: the node has no ledger, or the ledger was restored without the
// file. After a week the file is lost.
func (a *attempt) absent() error {
	if a.s.DB.Now().Sub(a.row.CreatedAt) < longestAbsent {
		return jobs.RetryLater(waitForNode)
	}
	err := fault.New(fault.Unprocessable, "the uploaded file is on no node any more; upload it again")
	return jobs.Permanent(a.end(nil, err))
}

// stage returns Historical if the user has no history of the provider, or if the sender
// marks the file as history. A later file has new data, and so has a recording of a
// device: its stage is Daily. All attempts of an import have the same stage.
func (a *attempt) stage(ctx context.Context, kind files.Kind, provider string) (wearables.Stage, error) {
	if a.row.stage != "" {
		return a.row.stage, nil
	}
	var stage wearables.Stage
	err := a.s.DB.Write(ctx, func(tx *store.Tx) error {
		stage = wearables.Historical
		if !a.row.HistoryOnly {
			filled, err := a.hasHistory(ctx, tx, provider)
			if err != nil {
				return err
			}
			if filled || kind.Recording {
				stage = wearables.Daily
			}
		}
		return setStage(ctx, tx, &a.row, stage)
	})
	a.row.stage = stage
	return stage, err
}

// device finds or creates a device of the user.
func (a *attempt) device(ctx context.Context, d files.Device) (uuid.UUID, error) {
	var id connections.DeviceID
	err := a.s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		id, err = connections.EnsureDevice(ctx, tx, a.user, connections.Device{
			Provider: d.Provider, SourceType: d.SourceType, Manufacturer: d.Manufacturer,
			Model: d.Model, ExternalID: d.ExternalID, Version: d.Version,
		})
		return err
	})
	return id.UUID(), err
}

// readFile reads the file.
func (a *attempt) readFile(ctx context.Context) (*files.Outcome, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kind, err := openKind(a.row.Kind)
	if err != nil {
		return nil, err
	}
	sink, err := a.keep(ctx)
	if err != nil {
		return nil, err
	}
	return kind.Run(ctx, files.Input{
		Path: a.s.path(a.row.spool), Limit: a.s.MaxDocument, DB: a.s.DB, Sink: sink, User: a.user,
		HistoryOnly: a.row.HistoryOnly, Device: a.device,
		Stage: func(ctx context.Context, provider string) (wearables.Stage, error) {
			return a.stage(ctx, kind, provider)
		},
		Unheard: func(ctx context.Context, provider string) (func(string) bool, error) {
			return a.missingResources(ctx, kind, provider)
		},
		Progress: func(p files.Progress) {
			if err := a.note(ctx, p); err != nil {
				stop(err)
			}
		},
	})
}

// progressInterval is the interval between writes of the progress.
const progressInterval = time.Second

// note stores the progress of the import and of its job.
func (a *attempt) note(ctx context.Context, p files.Progress) error {
	now := a.s.DB.Now()
	if now.Sub(a.reportedAt) < progressInterval {
		return nil
	}
	a.reportedAt = now
	a.row.Progress = Progress{Step: string(p.Step), Done: p.Done, Total: p.Total, Records: p.Records, Skipped: p.Skipped}
	if err := a.run.Progress(ctx, p.Done, p.Total, progressText(p)); err != nil {
		return err
	}
	return a.s.DB.Write(ctx, func(tx *store.Tx) error { return noteProgress(ctx, tx, &a.row) })
}

// progressText returns the progress in words.
func progressText(p files.Progress) string {
	if p.Step == files.Summarising {
		return fmt.Sprintf("%d of %d days summarised", p.Days, p.TotalDays)
	}
	return fmt.Sprintf("%d records", p.Records)
}

// end sets the status of the import after an attempt.
func (a *attempt) end(outcome *files.Outcome, err error) error {
	switch kind := fault.KindOf(err); {
	case err == nil:
		a.count(outcome)
		return a.finish(Succeeded, outcome, "")
	case kind != fault.Internal && kind != fault.Unavailable:
		return jobs.Permanent(errors.Join(err, a.finish(Failed, outcome, publicText(err))))
	case a.run.Attempt >= maxAttempts:
		return errors.Join(err, a.finish(Failed, outcome, publicText(err)))
	}
	a.row.Status, a.row.Error = Queued, "an attempt failed; it will be tried again"
	again := a.s.DB.Write(a.kept, func(tx *store.Tx) error { return setQueued(a.kept, tx, &a.row) })
	return errors.Join(err, again)
}

// finish stores the outcome of the import and removes its file.
func (a *attempt) finish(status Status, outcome *files.Outcome, problem string) error {
	if outcome != nil {
		a.row.Report = reportOf(outcome)
		p := &a.row.Progress
		p.Records, p.Skipped = a.row.Report.Records, a.row.Report.Skipped
		if status == Succeeded {
			p.Step, p.Done, p.Total = string(files.Summarising), outcome.Bytes, outcome.Bytes
		}
	}
	a.row.Status, a.row.Error = status, problem
	err := a.s.DB.Write(a.kept, func(tx *store.Tx) error {
		now := tx.Now()
		a.row.FinishedAt = &now
		return finish(a.kept, tx, &a.row)
	})
	if err != nil {
		return fmt.Errorf("imports: storing the outcome: %w", err)
	}
	a.s.remove(a.row.spool)
	if status == Succeeded {
		total := a.row.Progress.Total
		return a.run.Progress(a.kept, total, total, fmt.Sprintf("%d records", a.row.Progress.Records))
	}
	return nil
}

func (a *attempt) count(o *files.Outcome) {
	if a.s.Records != nil {
		a.s.Records("mapped", int(o.Mapped))
		a.s.Records("skipped", int(o.Skipped()))
	}
}

// publicText returns the part of an error that the caller may read.
func publicText(err error) string {
	var refused *fault.Error
	if errors.As(err, &refused) {
		return refused.Message()
	}
	return "an internal error; the log of the server has more"
}
