package continuous

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hale/internal/aggregate"
	"hale/internal/fault"
	"hale/internal/jobs"
	"hale/internal/store"
	"hale/internal/users"
)

// jobArgs name what a job brings up to date.
type jobArgs struct {
	Query ID       `json:"query"`
	User  users.ID `json:"user"`
}

// attempts is how often a run that fails for reasons of ours is tried.
const attempts = 8

// Job brings one query up to date for one user.
var Job = jobs.Define("queries.refresh", refresh).With(jobs.Limits{Concurrency: 2, Timeout: 10 * time.Minute, Attempts: attempts})

// task is one run: what it was asked for, and what it sees.
type task struct {
	query      Query
	user       users.User
	changes    int64 // of the data when the run began
	run        int64 // this run's number
	from, to   int64 // the stale time, UTC microseconds
	scheduled  time.Time
	startedAt  time.Time
	fresh      *aggregate.Table // the rows of the stale time
	begin, end int64            // the stale time in buckets, floating microseconds
}

func refresh(ctx context.Context, run *jobs.Run, args jobArgs) error {
	t, err := begin(ctx, run.DB(), run, args)
	if err != nil || t == nil {
		return err
	}
	err = run.DB().Read(ctx, func(tx *store.Tx) error { return t.compute(ctx, tx) })
	if err == nil {
		return run.DB().Write(ctx, func(tx *store.Tx) error { return t.finish(ctx, tx) })
	}
	var refusal *fault.Error
	switch {
	case errors.As(err, &refusal): // the query asks too much: trying again changes nothing
		return run.DB().Write(ctx, func(tx *store.Tx) error { return t.fail(ctx, tx, refusal.Message()) })
	case run.Attempt >= attempts:
		return errors.Join(err, run.DB().Write(ctx, func(tx *store.Tx) error { return t.fail(ctx, tx, "internal error") }))
	}
	return err
}

// begin starts a run; t is nil when there is nothing to do.
func begin(ctx context.Context, db *store.DB, run *jobs.Run, args jobArgs) (t *task, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		t = nil
		next := &task{startedAt: tx.Now()}
		var err error
		if next.query, err = queryOf(ctx, tx, run.Team, args.Query); err != nil {
			return gone(err)
		}
		if next.user, err = users.Get(ctx, tx, next.query.Team, args.User); err != nil {
			return gone(err)
		}
		waiting, err := next.start(ctx, tx)
		if err != nil || !waiting {
			return err
		}
		if next.query.Archived {
			return next.close(ctx, tx, "skipped", "")
		}
		t = next
		return nil
	})
	return t, err
}

// gone passes over queries and users that are not there any more.
func gone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// start takes the next number for a run; waiting is false when nothing is
// stale.
func (t *task) start(ctx context.Context, tx *store.Tx) (waiting bool, err error) {
	var from, to, scheduled sql.NullInt64
	err = tx.QueryRow(ctx, `UPDATE continuous_query_states SET runs = runs + 1, started_at = $4
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND stale_from IS NOT NULL
		RETURNING changes, runs, stale_from, stale_to, scheduled_at`,
		t.query.Team, t.user.ID, t.query.ID, store.Micros(t.startedAt)).Scan(&t.changes, &t.run, &from, &to, &scheduled)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("continuous: starting a run: %w", err)
	}
	t.from, t.to, t.scheduled = from.Int64, to.Int64, t.startedAt
	if scheduled.Valid {
		t.scheduled = store.FromMicros(scheduled.Int64)
	}
	return true, nil
}

// finish stores what the run found, with its events and its line in the
// history.
func (t *task) finish(ctx context.Context, tx *store.Tx) error {
	mine, err := t.release(ctx, tx, true)
	if err != nil || !mine {
		return err
	}
	delta, err := t.store(ctx, tx)
	if err != nil {
		return err
	}
	if err := t.announce(ctx, tx, delta); err != nil {
		return err
	}
	return t.record(ctx, tx, "completed", "")
}

// fail leaves the result as it is. The data stays stale, so that the run after
// the next change looks at it again.
func (t *task) fail(ctx context.Context, tx *store.Tx, says string) error {
	return t.close(ctx, tx, "error", says)
}

func (t *task) close(ctx context.Context, tx *store.Tx, status, says string) error {
	mine, err := t.release(ctx, tx, false)
	if err != nil || !mine {
		return err
	}
	return t.record(ctx, tx, status, says)
}

// release ends the run in the state's row; mine is false when another run
// began meanwhile, whose result counts. Only a run that saw the newest data
// leaves nothing stale; the job of a later change is waiting.
func (t *task) release(ctx context.Context, tx *store.Tx, done bool) (mine bool, err error) {
	n, err := tx.Exec(ctx, `UPDATE continuous_query_states SET
			stale_from = CASE WHEN $6 AND changes = $5 THEN NULL ELSE stale_from END,
			stale_to = CASE WHEN $6 AND changes = $5 THEN NULL ELSE stale_to END,
			scheduled_at = CASE WHEN changes = $5 THEN NULL ELSE CAST($7 AS BIGINT) END
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND runs = $4`,
		t.query.Team, t.user.ID, t.query.ID, t.run, t.changes, done, store.Micros(tx.Now()))
	if err != nil {
		return false, fmt.Errorf("continuous: ending a run: %w", err)
	}
	return n > 0, nil
}
