package continuous

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// Task is one run of a query for a user: finished, due or running.
//
// Reference 7.12, ContinuousQueryTaskHistoryEntry.
type Task struct {
	Status      string // scheduled, started, completed, error, skipped
	ScheduledAt time.Time
	StartedAt   *time.Time
	EndedAt     *time.Time
	Error       string // empty for none

	id uuid.UUID
}

// runRetention limits the age of the runs in the history.
const runRetention = 30 * 24 * time.Hour

// record writes the run's line in the history, and deletes lines that are too old.
func (t *task) record(ctx context.Context, tx *store.Tx, status, says string) error {
	_, err := tx.Exec(ctx, `INSERT INTO continuous_query_tasks (team_id, user_id, query_id, id, status, scheduled_at, started_at, ended_at, error)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		t.query.Team, t.user.ID, t.query.ID, tx.NewUUID(), status, store.Micros(t.scheduled), store.Micros(t.startedAt),
		store.Micros(tx.Now()), says)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM continuous_query_tasks WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND ended_at < $4`,
			t.query.Team, t.user.ID, t.query.ID, store.Micros(tx.Now().Add(-runRetention)))
	}
	if err != nil {
		return fmt.Errorf("continuous: recording a run: %w", err)
	}
	return nil
}

// History lists at most most runs for a user, the latest first. It starts with the due
// run, or after another run. next is the start of the following page; nil at the end.
func (q *Query) History(ctx context.Context, tx *store.Tx, user users.ID, before *ids.ID[Task], most int) (all []Task, next *ids.ID[Task], err error) {
	if before == nil {
		if all, err = q.pending(ctx, tx, user); err != nil {
			return nil, nil, err
		}
	}
	last := uuid.Max
	if before != nil {
		last = before.UUID()
	}
	rows, err := tx.Query(ctx, `SELECT id, status, scheduled_at, started_at, ended_at, error FROM continuous_query_tasks
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND id < $4 ORDER BY id DESC LIMIT $5`,
		q.Team, user, q.ID, last, most+1)
	if err != nil {
		return nil, nil, fmt.Errorf("continuous: reading runs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t Task
		if err := rows.Scan(&t.id, &t.Status, store.ScanTime(&t.ScheduledAt), store.ScanNullTime(&t.StartedAt),
			store.ScanNullTime(&t.EndedAt), &t.Error); err != nil {
			return nil, nil, err
		}
		all = append(all, t)
	}
	if len(all) > most {
		all = all[:most]
		id := ids.FromUUID[Task](all[most-1].id)
		next = &id
	}
	return all, next, rows.Err()
}

// pending returns the run that is due or running, or no task if there is none.
func (q *Query) pending(ctx context.Context, tx *store.Tx, user users.ID) ([]Task, error) {
	t := Task{Status: "scheduled", id: uuid.Max}
	var started *time.Time
	err := tx.QueryRow(ctx, `SELECT scheduled_at, started_at FROM continuous_query_states
		WHERE team_id = $1 AND user_id = $2 AND query_id = $3 AND scheduled_at IS NOT NULL`,
		q.Team, user, q.ID).Scan(store.ScanTime(&t.ScheduledAt), store.ScanNullTime(&started))
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("continuous: reading a state: %w", err)
	}
	if started != nil && !started.Before(t.ScheduledAt) {
		t.Status, t.StartedAt = "started", started
	}
	return []Task{t}, nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	all := users.RowsOf("continuous_query_states", "continuous_query_pages", "continuous_query_tasks")
	all[0].OnZone, all[0].OnReturn = renew, renew
	return all
}
