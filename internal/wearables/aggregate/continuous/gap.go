package continuous

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// A run is scheduled for the end of the gap after the run before. Changes of data and
// walks over many users schedule jobs of different kinds, so more than one job may ask
// for the same run. A run therefore checks the gap again when it begins, and a longer
// gap also applies to runs that already wait. When the gap gets shorter or is removed,
// a job walks over the waiting users and reschedules their runs.

// startedBy returns the latest start of the run before that still allows a run now; nil
// if every start allows it.
func (q *Query) startedBy(now time.Time) *time.Time {
	if q.MinimumGap == nil || q.Archived {
		return nil
	}
	latest := now.Add(-*q.MinimumGap)
	return &latest
}

// gapLeft returns how long a run for the user still has to wait; 0 if no run waits.
func (q *Query) gapLeft(ctx context.Context, tx *store.Tx, user users.ID) (time.Duration, error) {
	var started sql.NullInt64
	err := tx.QueryRow(ctx, `SELECT started_at FROM continuous_query_states
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND (stale_from IS NOT NULL OR run_from IS NOT NULL)`,
		q.Team, user, q.ID).Scan(&started)
	if errors.Is(err, store.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("continuous: looking for the run before: %w", err)
	}
	return q.notBefore(tx.Now(), started).Sub(tx.Now()), nil
}

// RescheduleJob reschedules the waiting runs of a query.
var RescheduleJob = jobs.Define("queries.reschedule", func(ctx context.Context, run *jobs.Run, args backfillArgs) error {
	return reschedule(ctx, run.DB(), run.Team, args.Query)
}).With(jobs.Limits{Concurrency: 1})

// scheduleReschedule schedules the walk. The walk begins when every node has loaded the
// new gap, so that it finds every run that was scheduled with the old gap.
func (q *Query) scheduleReschedule(ctx context.Context, tx *store.Tx) error {
	_, err := RescheduleJob.Enqueue(ctx, tx, backfillArgs{q.ID}, jobs.Options{
		Team: q.Team.UUID(), Key: q.ID.String(), At: tx.Now().Add(backfillDelay),
	})
	return err
}

// waiter is a user with a due run, and the start of the user's last run.
type waiter struct {
	user    users.ID
	started sql.NullInt64
}

func reschedule(ctx context.Context, db *store.DB, team uuid.UUID, id ID) error {
	for last, more := (users.ID{}), true; more; {
		var page []waiter
		err := db.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = waitingAfter(ctx, tx, team, id, last)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		err = db.Write(ctx, func(tx *store.Tx) error {
			q, err := queryOf(ctx, tx, team, id)
			if err != nil {
				return ignoreNotFound(err)
			}
			for _, w := range page {
				if err := q.schedule(ctx, tx, FillJob, w.user, q.notBefore(tx.Now(), w.started)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		last, more = page[len(page)-1].user, len(page) == usersPerPage
	}
	return nil
}

// waitingAfter returns the next page of waiting users, in the order of their ids. It
// scans all users of the team, so it runs on a reader.
func waitingAfter(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID, after users.ID) (page []waiter, err error) {
	rows, err := tx.Query(ctx, `SELECT user_id, started_at FROM continuous_query_states
		WHERE team_id = $1 AND user_id > $2 AND query_id = $3 AND scheduled_at IS NOT NULL ORDER BY user_id LIMIT $4`,
		team, after, id, usersPerPage)
	if err != nil {
		return nil, fmt.Errorf("continuous: looking for runs that wait: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w waiter
		if err := rows.Scan(&w.user, &w.started); err != nil {
			return nil, err
		}
		page = append(page, w)
	}
	return page, rows.Err()
}
