package continuous

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// MarkStale marks the queries stale that read the changed data, and schedules their jobs.
// It runs in the transaction that changes the data.
func MarkStale(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.TouchedData) error {
	if len(changes) == 0 {
		return nil
	}
	all, err := cachedQueries.Of(tx).forTeam(ctx, tx, user.Team)
	if err != nil {
		return err
	}
	for i := range all {
		if from, to, concerned := all[i].stale(changes); concerned {
			if err := all[i].mark(ctx, tx, Job, user.ID, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// stale returns the time, in UTC microseconds, whose rows the changes may have touched.
// A summary's index may move with any of its fields, and an aligned row depends on rows
// far away. So those are recomputed for all time.
func (q *Query) stale(changes []wearables.TouchedData) (from, to int64, concerned bool) {
	from, to = query.EndOfTime, query.FirstMoment
	wanted := q.plan.Resources()
	for _, c := range changes {
		if !slices.Contains(wanted, c.Resource) {
			continue
		}
		concerned = true
		if q.plan.Table.Document != "" || q.plan.Align != nil {
			return query.FirstMoment, query.EndOfTime, true
		}
		from, to = min(from, c.Oldest), max(to, c.Newest+1)
	}
	return from, to, concerned
}

// renew marks the queries about the user's data stale for all time. It runs when the
// user's time zone changes. It also runs when the user is restored after a deletion:
// until then runs and backfills skip the user.
func renew(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	all, err := cachedQueries.Of(tx).forTeam(ctx, tx, team)
	if err != nil || len(all) == 0 {
		return err
	}
	heard, err := storage.StatisticsOf(ctx, tx, team.UUID(), storage.UserRange{First: user.UUID(), Last: user.UUID()})
	if err != nil {
		return err
	}
	for i := range all {
		if !all[i].concerns(heard[user.UUID()]) {
			continue
		}
		if err := all[i].mark(ctx, tx, Job, user, query.FirstMoment, query.EndOfTime); err != nil {
			return err
		}
	}
	return nil
}

// mark makes the query stale for the user and schedules a job of a kind. The first
// time, it covers all of the user's data.
func (q *Query) mark(ctx context.Context, tx *store.Tx, kind jobs.Kind[jobArgs], user users.ID, from, to int64) error {
	var started sql.NullInt64
	now := tx.Now()
	err := tx.QueryRow(ctx, `INSERT INTO continuous_query_states AS s (team_id, user_id, query_id, changes, runs, stale_from, stale_to, scheduled_at)
		VALUES ($1, $2, $3, 1, 0, $4, $5, $6)
		ON CONFLICT (team_id, user_id, query_id) DO UPDATE SET
			changes = s.changes + 1,
			stale_from = CASE WHEN s.stale_from IS NULL OR CAST($7 AS BIGINT) < s.stale_from THEN CAST($7 AS BIGINT) ELSE s.stale_from END,
			stale_to = CASE WHEN s.stale_to IS NULL OR CAST($8 AS BIGINT) > s.stale_to THEN CAST($8 AS BIGINT) ELSE s.stale_to END,
			scheduled_at = COALESCE(s.scheduled_at, excluded.scheduled_at)
		RETURNING started_at`,
		q.Team, user, q.ID, query.FirstMoment, query.EndOfTime, store.Micros(now), from, to).Scan(&started)
	if err != nil {
		return fmt.Errorf("continuous: marking a query stale: %w", err)
	}
	return q.schedule(ctx, tx, kind, user, q.notBefore(now, started))
}

// notBefore returns the earliest start of the next run.
func (q *Query) notBefore(now time.Time, started sql.NullInt64) time.Time {
	if q.MinimumGap != nil && started.Valid {
		if next := store.FromMicros(started.Int64).Add(*q.MinimumGap); next.After(now) {
			return next
		}
	}
	return now
}

// schedule schedules the job. Repeated calls for a user schedule it once.
func (q *Query) schedule(ctx context.Context, tx *store.Tx, kind jobs.Kind[jobArgs], user users.ID, at time.Time) error {
	_, err := kind.Enqueue(ctx, tx, jobArgs{Query: q.ID, User: user}, jobs.Options{
		Team: q.Team.UUID(), Key: q.ID.String() + "/" + user.String(), At: at,
	})
	return err
}
