package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// Options of a job.
type Options struct {
	Team        uuid.UUID // zero for none
	Key         string    // unique among the queued and running jobs of a kind and team, unless empty
	At          time.Time // earliest start; zero means now
	MaxAttempts int       // 0 means the limit of the kind
}

// Enqueue adds a job in the caller's transaction. If a queued or running job has the
// key, Enqueue returns the id of that job. A queued job takes the new arguments and the
// earlier time. A running job runs once more afterwards.
func (k Kind[Args]) Enqueue(ctx context.Context, tx *store.Tx, args Args, o Options) (ID, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return ID{}, fmt.Errorf("jobs: arguments of %s: %w", k.name, err)
	}
	at := o.At
	if at.IsZero() {
		at = tx.Now()
	}
	most := o.MaxAttempts
	if most == 0 {
		most = k.limits.Attempts
	}
	id := ids.From[Job](tx.NewUUID())
	err = tx.QueryRow(ctx, `INSERT INTO jobs (team_id, id, kind, key, args, status, run_at, attempts, max_attempts,
			again, cancel, cancelable, progress_done, progress_total, progress_note, error, created_at)
		VALUES ($1, $2, $3, $4, $5, 'queued', $6, 0, $7, FALSE, FALSE, $8, 0, 0, '', '', $9)
		ON CONFLICT (team_id, kind, key) WHERE key <> '' AND status IN ('queued', 'running') DO UPDATE SET
			args = excluded.args,
			again = (jobs.status = 'running'),
			run_at = CASE WHEN jobs.status = 'running' OR excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END
		RETURNING id`,
		o.Team, id, k.name, o.Key, string(raw), store.Micros(at), most, k.cancelable, store.Micros(tx.Now())).Scan(&id)
	if err != nil {
		return ID{}, fmt.Errorf("jobs: enqueueing %s: %w", k.name, err)
	}
	tx.Notify(topicChange, uuid.Nil)
	return id, nil
}

// Cancel stops a job of any kind, for the domain that enqueued it. A queued job stops
// at once, a running one when its function checks its context. Cancel reports whether
// the job was queued or running.
func Cancel(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE jobs SET cancel = TRUE, again = FALSE,
			finished_at = CASE WHEN status = 'queued' THEN $3 ELSE finished_at END,
			status = CASE WHEN status = 'queued' THEN 'canceled' ELSE status END
		WHERE team_id = $1 AND id = $2 AND status IN ('queued', 'running')`, team, id, store.Micros(tx.Now()))
	if err != nil {
		return false, fmt.Errorf("jobs: canceling: %w", err)
	}
	tx.Notify(topicChange, uuid.Nil)
	return n > 0, nil
}

// Stop is Cancel for callers of the API. It returns the job afterwards. For a job that
// has ended, or whose kind is not Cancelable, it returns a Conflict.
func Stop(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (Job, error) {
	j, err := Get(ctx, tx, team, id)
	if err != nil {
		return Job{}, err
	}
	if !j.Cancelable {
		return Job{}, fault.Newf(fault.Conflict, "a job of kind %s cannot be canceled: it finishes what was decided before", j.Kind)
	}
	live, err := Cancel(ctx, tx, team, id)
	if err != nil {
		return Job{}, err
	}
	if !live {
		return Job{}, fault.New(fault.Conflict, "the job is over")
	}
	return Get(ctx, tx, team, id)
}

// topicChange wakes the runners of this process: a job was queued or canceled.
const topicChange = store.Topic("jobs.changed")
