package continuous

import (
	"context"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// A new query also covers stored data. A job walks over the team's users and marks the
// query stale for those with data that it asks about. Their runs are jobs of a separate
// kind, so that new data does not wait for them. Their rows are announced like other
// new rows.

// backfillDelay is the time before the walk begins. By then every node has loaded the
// query. So a change that a node did not mark is older than the walk, and the walk
// finds it.
const backfillDelay = 2 * cacheTTL

// usersPerPage limits the users of one transaction, so that other writers do not wait
// for it.
const usersPerPage = 100

// backfillArgs name a query.
type backfillArgs struct {
	Query ID `json:"query"`
}

// BackfillJob fills the result tables of a new query, and those whose sources
// have another order.
var BackfillJob = jobs.Define("queries.backfill", func(ctx context.Context, run *jobs.Run, args backfillArgs) error {
	return backfill(ctx, run.DB(), run.Team, args.Query)
}).With(jobs.Limits{Concurrency: 1, Timeout: 12 * time.Hour})

// FillJob is Job for many users at once, whose data did not change just now:
// one run after the other.
var FillJob = jobs.Define("queries.fill", refresh).With(jobs.Limits{Concurrency: 1, Timeout: runTime, Attempts: attempts})

// scheduleBackfill schedules the walk of a query.
func (q *Query) scheduleBackfill(ctx context.Context, tx *store.Tx) error {
	_, err := BackfillJob.Enqueue(ctx, tx, backfillArgs{q.ID}, jobs.Options{
		Team: q.Team.UUID(), Key: q.ID.String(), At: tx.Now().Add(backfillDelay),
	})
	return err
}

// MarkReordered recomputes results after the team changed its order of providers for some
// types of data. It covers the queries that choose among the sources of those types,
// user by user.
//
// Reference 7.11.
func MarkReordered(ctx context.Context, tx *store.Tx, team teams.ID, dataTypes []string) error {
	if len(dataTypes) == 0 {
		return nil
	}
	all, err := List(ctx, tx, team)
	if err != nil {
		return err
	}
	for i := range all {
		if p := all[i].plan; !p.Prioritised || !slices.Contains(dataTypes, p.Table.Priorities) {
			continue
		}
		if err := all[i].scheduleBackfill(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// backfill marks the query stale for every user with data that it asks about. Running
// it again marks them again; runs that find no new rows send no events.
func backfill(ctx context.Context, db *store.DB, team uuid.UUID, id ID) error {
	for last, more := (users.ID{}), true; more; {
		err := db.Write(ctx, func(tx *store.Tx) error {
			more = false
			q, err := queryOf(ctx, tx, team, id)
			if err != nil || q.Archived {
				return ignoreNotFound(err)
			}
			page, err := users.ListIDs(ctx, tx, q.Team, last, usersPerPage)
			if err != nil || len(page) == 0 {
				return err
			}
			heard, err := storage.StatisticsOf(ctx, tx, team, storage.UserRange{First: page[0].UUID(), Last: page[len(page)-1].UUID()})
			if err != nil {
				return err
			}
			for _, user := range page {
				if !q.concerns(heard[user.UUID()]) {
					continue
				}
				if err := q.mark(ctx, tx, FillJob, user, query.FirstMoment, query.EndOfTime); err != nil {
					return err
				}
			}
			tx.AfterCommit(func() { last, more = page[len(page)-1], len(page) == usersPerPage })
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// concerns reports whether any provider sent data that the query asks about.
func (q *Query) concerns(heard map[string]map[string]storage.Statistics) bool {
	wanted := q.plan.Resources()
	for _, resources := range heard {
		for resource := range resources {
			if slices.Contains(wanted, resource) {
				return true
			}
		}
	}
	return false
}
