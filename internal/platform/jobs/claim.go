package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// claimedJob is a job that this node runs.
type claimedJob struct {
	id            ID
	team          uuid.UUID
	kind          string
	key           string
	args          string
	attempts      int
	maxAttempts   int
	node          uuid.UUID
	startedAt     int64    // microseconds, as in the row; distinguishes the attempts of a node
	priorProgress Progress // of the earlier attempt
}

// claim marks up to limit due jobs of a kind as running on the node.
func claim(ctx context.Context, tx *store.Tx, node uuid.UUID, kind string, limit int) ([]claimedJob, error) {
	rows, err := tx.Query(ctx, `UPDATE jobs SET status = 'running', node = $1, attempts = attempts + 1, started_at = $2
		WHERE (team_id, id) IN (
			SELECT team_id, id FROM jobs WHERE kind = $3 AND status = 'queued' AND run_at <= $2
			ORDER BY run_at LIMIT $4`+tx.ForUpdateSkipLocked()+`)
		RETURNING id, team_id, kind, key, args, attempts, max_attempts, node, started_at, progress_done, progress_total, progress_note`,
		node, store.Micros(tx.Now()), kind, limit)
	if err != nil {
		return nil, fmt.Errorf("jobs: claiming %s: %w", kind, err)
	}
	defer rows.Close()
	var all []claimedJob
	for rows.Next() {
		var c claimedJob
		if err := rows.Scan(&c.id, &c.team, &c.kind, &c.key, &c.args, &c.attempts, &c.maxAttempts, &c.node, &c.startedAt,
			&c.priorProgress.Done, &c.priorProgress.Total, &c.priorProgress.Note); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// CountQueued returns the number of queued jobs of a kind, due or not, and when the
// first of them is due.
func CountQueued(ctx context.Context, tx *store.Tx, kind string) (n int64, first time.Time, err error) {
	var due *time.Time
	err = tx.QueryRow(ctx, `SELECT COUNT(*), MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued'`, kind).Scan(&n, store.ScanNullTime(&due))
	if err != nil {
		return 0, first, fmt.Errorf("jobs: counting queued jobs: %w", err)
	}
	if due != nil {
		first = *due
	}
	return n, first, nil
}

// nextDue returns the time at which the next queued job of a kind is due, or zero.
func nextDue(ctx context.Context, tx *store.Tx, kind string) (at time.Time, err error) {
	var due *time.Time
	err = tx.QueryRow(ctx, `SELECT MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued'`, kind).Scan(store.ScanNullTime(&due))
	if err != nil {
		return at, fmt.Errorf("jobs: reading due jobs: %w", err)
	}
	if due != nil {
		at = *due
	}
	return at, nil
}

// isPending reports whether a job of some kinds is running or due, on any node.
func isPending(ctx context.Context, tx *store.Tx, kinds []any) (found bool, err error) {
	among := store.Placeholders(2, len(kinds))
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE kind IN `+among+` AND status = 'running')
		OR EXISTS (SELECT 1 FROM jobs WHERE kind IN `+among+` AND status = 'queued' AND run_at <= $1)`,
		append([]any{store.Micros(tx.Now())}, kinds...)...).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("jobs: reading pending jobs: %w", err)
	}
	return found, nil
}

// requeueOrphans queues the jobs of dead nodes again. A job seldom causes the death of
// its node, so it fails only after three times its attempts. This limit ends a job that
// crashes every node. A job that was enqueued again meanwhile starts from the beginning.
func requeueOrphans(ctx context.Context, tx *store.Tx) (int64, error) {
	n, err := tx.Exec(ctx, `UPDATE jobs SET node = NULL,
			error = 'the node that ran it died or left',
			status = CASE WHEN again THEN 'queued' WHEN cancel THEN 'canceled' WHEN attempts >= 3 * max_attempts THEN 'failed' ELSE 'queued' END,
			run_at = CASE WHEN again THEN run_at ELSE $1 END,
			finished_at = CASE WHEN again THEN NULL WHEN cancel OR attempts >= 3 * max_attempts THEN $1 ELSE NULL END,
			attempts = CASE WHEN again THEN 0 ELSE attempts END,
			progress_done = CASE WHEN again THEN 0 ELSE progress_done END,
			progress_total = CASE WHEN again THEN 0 ELSE progress_total END,
			progress_note = CASE WHEN again THEN '' ELSE progress_note END,
			again = FALSE, cancel = (cancel AND NOT again)
		WHERE status = 'running' AND `+FreeCondition("jobs.node"), store.Micros(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("jobs: queueing jobs of dead nodes: %w", err)
	}
	return n, nil
}

// outcome is the result of one attempt.
type outcome struct {
	claimedJob
	run      *Run // nil for an unstarted job
	status   Status
	failed   bool      // no attempt is left; a periodic job is queued for its next run
	runAt    time.Time // of a job that is queued again
	attempts int
	err      string
	progress *Progress // nil keeps the last progress
	ended    time.Time
}

// record writes an outcome, and reports whether it did. It does not if the attempt has
// lost the job or has ended already. A job that was enqueued again while it ran is
// queued, whatever the outcome. A canceled job is not retried.
//
// The casts are for PostgreSQL, which otherwise reads a parameter next to a literal
// number as an integer of 32 bits.
func record(ctx context.Context, tx *store.Tx, o outcome) (bool, error) {
	var done, total, text any
	if p := o.progress; p != nil {
		done, total, text = p.Done, p.Total, p.Note
	}
	n, err := tx.Exec(ctx, `UPDATE jobs SET
			status = CASE WHEN again THEN 'queued' WHEN cancel AND $1 = 'queued' THEN 'canceled' ELSE $1 END,
			run_at = CASE WHEN again THEN run_at ELSE $2 END,
			attempts = CASE WHEN again THEN 0 ELSE CAST($3 AS BIGINT) END,
			finished_at = CASE WHEN again OR $1 = 'queued' AND NOT cancel THEN NULL ELSE CAST($4 AS BIGINT) END,
			error = $5,
			progress_done = CASE WHEN again THEN 0 ELSE COALESCE(CAST($6 AS BIGINT), progress_done) END,
			progress_total = CASE WHEN again THEN 0 ELSE COALESCE(CAST($7 AS BIGINT), progress_total) END,
			progress_note = CASE WHEN again THEN '' ELSE COALESCE($8, progress_note) END,
			again = FALSE, cancel = (cancel AND NOT again), node = NULL
		WHERE team_id = $9 AND id = $10 AND status = 'running' AND node = $11 AND started_at = $12`,
		string(o.status), store.Micros(o.runAt), o.attempts, store.Micros(o.ended),
		o.err, done, total, text,
		o.team, o.id, o.node, o.startedAt)
	if err != nil {
		return false, fmt.Errorf("jobs: recording: %w", err)
	}
	return n > 0, nil
}

// saveProgress writes progress and reports whether the job must stop. If the attempt has
// lost the job, it writes nothing and returns ErrLost.
func saveProgress(ctx context.Context, tx *store.Tx, c claimedJob, p Progress) (stop bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE jobs SET progress_done = $1, progress_total = $2, progress_note = $3
		WHERE team_id = $4 AND id = $5 AND status = 'running' AND node = $6 AND started_at = $7 RETURNING cancel`,
		p.Done, p.Total, p.Note, c.team, c.id, c.node, c.startedAt).Scan(&stop)
	if errors.Is(err, store.ErrNoRows) {
		return false, ErrLost
	}
	if err != nil {
		return false, fmt.Errorf("jobs: writing progress: %w", err)
	}
	return stop, nil
}

// runningJob is a job that is running on a node according to its row.
type runningJob struct {
	claimedJob // without key, args and progress
	cancel     bool
}

// runningOn returns the jobs that are running on a node according to their rows.
func runningOn(ctx context.Context, tx *store.Tx, node uuid.UUID) ([]runningJob, error) {
	rows, err := tx.Query(ctx, `SELECT id, team_id, kind, attempts, node, started_at, cancel FROM jobs WHERE status = 'running' AND node = $1`, node)
	if err != nil {
		return nil, fmt.Errorf("jobs: reading the jobs of a node: %w", err)
	}
	defer rows.Close()
	var all []runningJob
	for rows.Next() {
		var h runningJob
		if err := rows.Scan(&h.id, &h.team, &h.kind, &h.attempts, &h.node, &h.startedAt, &h.cancel); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, rows.Err()
}

// deleteEnded deletes the jobs that ended before a time.
func deleteEnded(ctx context.Context, tx *store.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE finished_at < $1 AND status IN ('succeeded', 'failed', 'canceled')`, store.Micros(before))
	if err != nil {
		return fmt.Errorf("jobs: deleting ended jobs: %w", err)
	}
	return nil
}
