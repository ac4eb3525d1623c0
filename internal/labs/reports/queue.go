package reports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/reports/extract"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Each team has a queue of its own. Its slots are background jobs. A slot reads one
// report and then goes to the end of the line of all slots. So teams take turns, however
// many reports each of them has. When no other team waits, a team gets further slots.

// maxSlots is the number of reports of one team that are read at once.
const maxSlots = 8

// queueArgs names a slot of the team of the job.
type queueArgs struct {
	Slot int `json:"slot"`
}

func slotKey(slot int) string { return fmt.Sprintf("slot-%d", slot) }

// queueKind is the kind of a slot. Its job must not fail: it ends when no report waits.
var queueKind = jobs.NewKind[queueArgs]("reports.read").With(jobs.Limits{Attempts: 1_000_000_000})

// Job returns the handler of the slots for the runner.
func (s *Service) Job() jobs.Handler {
	return queueKind.With(jobs.Limits{Concurrency: max(1, s.Workers)}).Do(s.runSlot)
}

const (
	// maxExits is the number of readings that may end the reader's process.
	maxExits = 3
	// maxStarts is the number of readings that may begin. A reading that does not end
	// because this process was killed says little about the file.
	maxStarts = 50
	// retryAfter is the pause after a reading that ended the process, and noReaderAfter
	// the pause when no process could be started.
	retryAfter    = time.Second
	noReaderAfter = 15 * time.Second
)

// runSlot reads one report of the team.
func (s *Service) runSlot(ctx context.Context, run *jobs.Run, args queueArgs) error {
	team := ids.FromUUID[teams.Team](run.Team)
	alone := true
	if s.Workers > 1 {
		err := s.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
			others, err := othersWait(ctx, tx, team)
			alone = !others
			return err
		})
		if err != nil {
			return err
		}
	}
	var j Job
	var files []File
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if j, err = takeJob(ctx, tx, team, args.Slot, alone || args.Slot == 0); err != nil || !alone {
			return err
		}
		return s.addSlots(ctx, tx, team, args.Slot)
	})
	if fault.Is(err, fault.NotFound) {
		return nil // creating a job starts the slot again
	}
	if err != nil {
		return err
	}
	err = s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		files, err = readFiles(ctx, tx, &j)
		return err
	})
	if err != nil {
		return err
	}
	result, err := s.Reader.Read(ctx, files)
	return s.record(ctx, &j, result, err)
}

// addSlots starts further slots of the team while no other team waits.
func (s *Service) addSlots(ctx context.Context, tx *store.Tx, team teams.ID, slot int) error {
	if slot != 0 || s.Workers < 2 {
		return nil
	}
	more, err := hasWaiting(ctx, tx, team)
	if err != nil || !more {
		return err
	}
	for n := 1; n < min(s.Workers, maxSlots); n++ {
		if err := enqueue(ctx, tx, team, n); err != nil {
			return err
		}
	}
	return nil
}

// record stores the outcome of a reading. It returns the error that sends the slot to the
// end of the line.
func (s *Service) record(ctx context.Context, j *Job, result extract.Result, err error) error {
	kept := context.WithoutCancel(ctx)
	var failure *extract.Failure
	switch {
	case err == nil:
		return s.finish(kept, j, func(tx *store.Tx, now *Job) error { return complete(kept, tx, now, result) })
	case errors.As(err, &failure):
		return s.finish(kept, j, func(tx *store.Tx, now *Job) error { return fail(kept, tx, now, failure.Reason, failure.Detail) })
	case ctx.Err() != nil: // the node stops, or lost the job
		return errors.Join(err, s.DB.Write(kept, func(tx *store.Tx) error { return returnJob(kept, tx, j, false) }))
	case errors.Is(err, ErrReaderGone) || j.starts >= maxStarts:
		return s.recordExit(kept, j, err)
	}
	if s.Log != nil {
		s.Log.ErrorContext(ctx, "a report could not be read; it will be tried again", "report", j.ID, "error", err)
	}
	if err := s.DB.Write(kept, func(tx *store.Tx) error { return returnJob(kept, tx, j, false) }); err != nil {
		return err
	}
	return jobs.RetryLater(noReaderAfter)
}

// recordExit returns a report whose reading crashed the child process to the queue, at
// most maxExits times.
func (s *Service) recordExit(ctx context.Context, j *Job, cause error) error {
	j.exits++
	if s.Log != nil {
		s.Log.WarnContext(ctx, "the report reader process exited while reading a file", "report", j.ID, "times", j.exits, "error", cause)
	}
	if j.exits >= maxExits || j.starts >= maxStarts {
		return s.finish(ctx, j, func(tx *store.Tx, now *Job) error {
			now.exits = j.exits
			return fail(ctx, tx, now, extract.ProcessingError,
				"The file could not be read: each attempt ended without a result, because it needed too much time or memory or the file is damaged.")
		})
	}
	if err := s.DB.Write(ctx, func(tx *store.Tx) error { return returnJob(ctx, tx, j, true) }); err != nil {
		return err
	}
	return jobs.RetryLater(retryAfter)
}

// finish changes a job in its current state, unless it has ended or its user is gone. It
// then sends the slot to the end of the line, even if it changed nothing.
func (s *Service) finish(ctx context.Context, read *Job, change func(tx *store.Tx, now *Job) error) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		now, err := Get(ctx, tx, read.Team, read.ID)
		if fault.Is(err, fault.NotFound) { // deleted or erased meanwhile; a restored user's reports are queued again
			return nil
		}
		if err != nil || now.Status != Started {
			return err
		}
		return change(tx, &now)
	})
	if err != nil {
		return err
	}
	return jobs.RetryLater(0)
}

// Backlog returns the reports of all teams that are not read yet.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) (err error) {
		b, err = readBacklog(ctx, tx)
		return err
	})
	return b, err
}
