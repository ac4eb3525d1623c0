package continuous

import (
	"context"
	"database/sql"
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
	"hale/internal/wearables/aggregate"
	"hale/internal/wearables/aggregate/query"
)

// jobArgs names the query and the user of a job.
type jobArgs struct {
	Query ID       `json:"query"`
	User  users.ID `json:"user"`
}

const (
	attempts = 8 // at a run that fails for reasons of ours
	runTime  = 10 * time.Minute
)

// Job brings one query up to date for one user whose data changed.
var Job = jobs.Define("queries.refresh", refresh).With(jobs.Limits{Concurrency: 2, Timeout: runTime, Attempts: attempts})

// task is one run: its query and time, and the snapshot that it reads.
type task struct {
	query      Query
	user       users.User
	changes    int64 // of the data when the run began
	run        int64 // this run's number
	from, to   int64 // the time that it looks at, UTC microseconds
	scheduled  time.Time
	startedAt  time.Time
	fresh      *aggregate.Table // the rows of that time
	bytes      int              // that they take
	begin, end int64            // that time in buckets, floating microseconds
}

func refresh(ctx context.Context, run *jobs.Run, args jobArgs) error {
	t, wait, err := begin(ctx, run.DB(), run.Team, run.ID, args)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return jobs.RetryLater(wait)
	case t == nil:
		return nil
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

// begin starts a run for a job. t is nil if there is no work, or no work yet: then wait
// is the rest of the gap after the run before.
//
// It reads the state's row before the user. So the user is at least as new as the
// change that marked the state.
func begin(ctx context.Context, db *store.DB, team uuid.UUID, job jobs.ID, args jobArgs) (t *task, wait time.Duration, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		t, wait = nil, 0
		next := &task{startedAt: tx.Now()}
		var err error
		if next.query, err = queryOf(ctx, tx, team, args.Query); err != nil {
			return err
		}
		started, err := next.start(ctx, tx, args.User, job)
		if err == nil && !started {
			wait, err = next.query.gapLeft(ctx, tx, args.User)
		}
		if err != nil || !started {
			return err
		}
		if next.user, err = users.Get(ctx, tx, next.query.Team, args.User); err != nil {
			return err
		}
		if next.query.Archived {
			return next.close(ctx, tx, "skipped", "")
		}
		t = next
		return nil
	})
	return t, wait, ignoreNotFound(err)
}

// ignoreNotFound ignores queries and users that no longer exist. A restored user has
// all queries marked again.
func ignoreNotFound(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// start takes over the stale time and the unfinished time of an earlier run. started is
// false if there is none, and during the gap after the run before. A job that retries
// its own run waits for no gap. Time that gets stale after start belongs to the next
// run.
func (t *task) start(ctx context.Context, tx *store.Tx, user users.ID, job jobs.ID) (started bool, err error) {
	var scheduled sql.NullInt64
	err = tx.QueryRow(ctx, `UPDATE continuous_query_states SET runs = runs + 1, started_at = $4, run_job = $5,
			run_from = CASE WHEN run_from IS NULL OR stale_from < run_from THEN stale_from ELSE run_from END,
			run_to = CASE WHEN run_to IS NULL OR stale_to > run_to THEN stale_to ELSE run_to END,
			stale_from = NULL, stale_to = NULL
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND (stale_from IS NOT NULL OR run_from IS NOT NULL)
			AND (CAST($6 AS BIGINT) IS NULL OR started_at IS NULL OR started_at <= $6 OR run_job = $5)
		RETURNING changes, runs, run_from, run_to, scheduled_at`,
		t.query.Team, user, t.query.ID, store.Micros(t.startedAt), job,
		store.MicrosOrNil(t.query.startedBy(t.startedAt))).Scan(&t.changes, &t.run, &t.from, &t.to, &scheduled)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("continuous: starting a run: %w", err)
	}
	t.scheduled = t.startedAt
	if scheduled.Valid {
		t.scheduled = store.FromMicros(scheduled.Int64)
	}
	return true, nil
}

// finish stores the results of the run, its events and its line in the history.
func (t *task) finish(ctx context.Context, tx *store.Tx) error {
	mine, err := t.release(ctx, tx, true)
	if err != nil || !mine {
		return err
	}
	d, err := t.store(ctx, tx)
	if err != nil {
		return err
	}
	if err := t.announce(ctx, tx, d); err != nil {
		return err
	}
	return t.record(ctx, tx, "completed", "")
}

// fail leaves the result unchanged. The run's stale time stays recorded, so that the
// run after the next change covers it again.
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

// release ends the run in the state's row. mine is false if another run has begun
// since; then the other result counts. A change since the start has scheduled its own
// job.
func (t *task) release(ctx context.Context, tx *store.Tx, done bool) (mine bool, err error) {
	n, err := tx.Exec(ctx, `UPDATE continuous_query_states SET
			run_from = CASE WHEN $6 THEN NULL ELSE run_from END,
			run_to = CASE WHEN $6 THEN NULL ELSE run_to END,
			run_job = NULL,
			scheduled_at = CASE WHEN changes = $5 THEN NULL ELSE CAST($7 AS BIGINT) END
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND runs = $4`,
		t.query.Team, t.user.ID, t.query.ID, t.run, t.changes, done, store.Micros(tx.Now()))
	if err != nil {
		return false, fmt.Errorf("continuous: ending a run: %w", err)
	}
	return n > 0, nil
}

func queryOf(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (Query, error) {
	return Get(ctx, tx, ids.FromUUID[teams.Team](team), id)
}

// stretch is the time that one computation covers at first, in microseconds.
const stretch = int64(32 * 24 * 3600 * 1e6)

// compute finds the rows of the stale time. Every row belongs to one bucket,
// so the time is cut between buckets and never holds more in memory than one
// query may read.
func (t *task) compute(ctx context.Context, tx *store.Tx) error {
	p := t.query.plan
	period := *p.Keys[p.TruncKey()].Trunc
	t.begin, t.end = period.Truncate(query.FirstMoment), query.EndOfTime
	if t.from > query.FirstMoment {
		t.begin = period.Truncate(max(t.from-aggregate.LargestOffset, query.FirstMoment))
	}
	if t.to < query.EndOfTime {
		t.end = period.Add(period.Truncate(t.to+aggregate.LargestOffset), 1)
	}
	t.fresh, t.bytes = aggregate.NewEmptyTable(p), 0
	from, to, err := aggregate.Extent(ctx, tx, t.user, p)
	if err != nil {
		return err
	}
	if p.Table.Document != "" || p.Align != nil {
		return t.add(ctx, tx, max(t.begin, from), min(t.end, to))
	}
	from, to = max(t.begin, period.Truncate(from)), min(t.end, to)
	for buckets := bucketsAtOnce(period); from < to; {
		next := min(to, period.Add(from, buckets))
		err := t.add(ctx, tx, from, next)
		if fault.Is(err, fault.Unprocessable) && buckets > 1 && t.fresh.Len() < aggregate.RowLimit(p) && t.bytes <= mostBytes {
			buckets = max(1, buckets/8)
			continue
		}
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// bucketsAtOnce returns the number of buckets that fit into stretch, at least 1.
func bucketsAtOnce(period query.Period) int {
	width := period.Add(0, 1)
	return max(1, int(stretch/width))
}

var (
	errTooLong  = fault.New(fault.Unprocessable, "the result has too many rows; group by longer periods or select less")
	errTooHeavy = fault.New(fault.Unprocessable, "the result is larger than 256 MiB; group by longer periods, or select fewer columns and shorter texts")
)

// mostBytes and mostCells bound a result that is held while it is stored or read.
var mostBytes, mostCells = aggregate.MostBytes, aggregate.MostCells

func (t *task) add(ctx context.Context, tx *store.Tx, from, to int64) error {
	if from >= to {
		return nil
	}
	rows, err := aggregate.Run(ctx, tx, aggregate.Request{
		User: t.user, Plan: t.query.plan, From: from, To: to, Overrides: t.query.Config.Overrides, Now: t.startedAt,
	})
	if err != nil {
		return err
	}
	if t.fresh.Len()+rows.Len() > aggregate.RowLimit(t.query.plan) {
		return errTooLong
	}
	if t.bytes += rows.Bytes(); t.bytes > mostBytes {
		return errTooHeavy
	}
	t.fresh.Append(rows)
	return nil
}
