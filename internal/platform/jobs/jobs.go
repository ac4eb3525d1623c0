package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
// key, Enqueue returns the id of that job. A queued job gets the new arguments and the
// earlier time. A running job runs once more afterwards.
func (k Kind[Args]) Enqueue(ctx context.Context, tx *store.Tx, args Args, o Options) (ID, error) {
	id, _, err := k.enqueue(ctx, tx, args, o)
	return id, err
}

// EnqueueAt adds a job like Enqueue. It returns the earliest start of the job, which is
// before o.At if the job was queued already.
func (k Kind[Args]) EnqueueAt(ctx context.Context, tx *store.Tx, args Args, o Options) (time.Time, error) {
	_, at, err := k.enqueue(ctx, tx, args, o)
	return store.FromMicros(at), err
}

func (k Kind[Args]) enqueue(ctx context.Context, tx *store.Tx, args Args, o Options) (id ID, start int64, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return ID{}, 0, fmt.Errorf("jobs: arguments of %s: %w", k.name, err)
	}
	at := o.At
	if at.IsZero() {
		at = tx.Now()
	}
	most := o.MaxAttempts
	if most == 0 {
		most = k.limits.Attempts
	}
	id = ids.FromUUID[Job](tx.NewUUID())
	err = tx.QueryRow(ctx, `INSERT INTO jobs (team_id, id, kind, key, args, status, run_at, attempts, max_attempts,
			again, cancel, cancelable, progress_done, progress_total, progress_note, error, created_at)
		VALUES ($1, $2, $3, $4, $5, 'queued', $6, 0, $7, FALSE, FALSE, $8, 0, 0, '', '', $9)
		ON CONFLICT (team_id, kind, key) WHERE key <> '' AND `+hasActiveStatus+` DO UPDATE SET
			args = excluded.args,
			again = (jobs.status = 'running'),
			run_at = CASE WHEN jobs.status = 'running' OR excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END
		RETURNING id, run_at`,
		o.Team, id, k.name, o.Key, string(raw), store.Micros(at), most, k.cancelable, store.Micros(tx.Now())).Scan(&id, &start)
	if err != nil {
		return ID{}, 0, fmt.Errorf("jobs: enqueueing %s: %w", k.name, err)
	}
	tx.Notify(topicChange, uuid.Nil)
	return id, start, nil
}

// IsActive reports whether a kind has a job of the team with a key that runs or is due.
func IsActive(ctx context.Context, tx *store.Tx, team uuid.UUID, kind string) (active bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE team_id = $1 AND kind = $2 AND key <> '' AND `+hasActiveStatus+`
		AND (status = 'running' OR run_at <= $3))`, team, kind, store.Micros(tx.Now())).Scan(&active)
	if err != nil {
		return false, fmt.Errorf("jobs: looking for a job of %s: %w", kind, err)
	}
	return active, nil
}

// Hasten lets the queued jobs of a kind and team start earlier. The clock that their times
// follow was moved forward.
func Hasten(ctx context.Context, tx *store.Tx, team uuid.UUID, kind string, by time.Duration) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET run_at = run_at - $3 WHERE team_id = $1 AND kind = $2 AND key <> '' AND status = 'queued'`,
		team, kind, by.Microseconds())
	if err != nil {
		return fmt.Errorf("jobs: letting %s start earlier: %w", kind, err)
	}
	tx.Notify(topicChange, uuid.Nil)
	return nil
}

// Cancel stops a job of any kind, for the domain that enqueued it. A queued job stops
// at once, a running one when its function checks its context. Cancel reports whether
// the job was queued or running.
func Cancel(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE jobs SET cancel = TRUE, again = FALSE,
			finished_at = CASE WHEN status = 'queued' THEN $3 ELSE finished_at END,
			status = CASE WHEN status = 'queued' THEN 'canceled' ELSE status END
		WHERE team_id = $1 AND id = $2 AND `+hasActiveStatus, team, id, store.Micros(tx.Now()))
	if err != nil {
		return false, fmt.Errorf("jobs: canceling: %w", err)
	}
	tx.Notify(topicChange, uuid.Nil)
	return n > 0, nil
}

// Stop cancels a job like Cancel, for callers of the API. It returns the job afterwards.
// For a job that has ended, or whose kind is not Cancelable, it returns a Conflict.
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

// hasActiveStatus selects the jobs that have not ended.
const hasActiveStatus = `status IN ('queued', 'running')`

// Status is the state of a job.
type Status string

// A job is queued until it is due, and again between attempts.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
)

// Statuses lists the states.
var Statuses = []Status{Queued, Running, Succeeded, Failed, Canceled}

// Job describes a job for callers of the API.
type Job struct {
	ID          ID
	Team        uuid.UUID
	Kind        string
	Key         string
	Status      Status
	RunAt       time.Time
	Attempts    int
	MaxAttempts int
	Progress    Progress
	Cancelable  bool   // by callers of the API
	Error       string // of the last attempt
	CreatedAt   time.Time
	StartedAt   *time.Time // last attempt
	FinishedAt  *time.Time
}

// Progress is the progress that a job reports. Total is 0 while it is unknown.
type Progress struct {
	Done, Total int64
	Note        string
}

const jobColumns = `id, team_id, kind, key, status, run_at, attempts, max_attempts, progress_done, progress_total, progress_note,
	cancelable, error, created_at, started_at, finished_at`

func scanJob(row interface{ Scan(...any) error }) (Job, error) {
	var j Job
	err := row.Scan(&j.ID, &j.Team, &j.Kind, &j.Key, &j.Status, store.ScanTime(&j.RunAt), &j.Attempts, &j.MaxAttempts,
		&j.Progress.Done, &j.Progress.Total, &j.Progress.Note, &j.Cancelable, &j.Error,
		store.ScanTime(&j.CreatedAt), store.ScanNullTime(&j.StartedAt), store.ScanNullTime(&j.FinishedAt))
	return j, err
}

// Get returns a job of a team, or a NotFound error.
func Get(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (Job, error) {
	j, err := scanJob(tx.QueryRow(ctx, `SELECT `+jobColumns+` FROM jobs WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Job{}, fault.New(fault.NotFound, "Job not found")
	}
	if err != nil {
		return Job{}, fmt.Errorf("jobs: reading: %w", err)
	}
	return j, nil
}

// OutcomeOf returns how a job ended without its own function knowing: canceled, failed, or
// deleted. A domain that keeps a row for the job calls it while that row still shows the
// job as active. An empty status means that the job is active.
func OutcomeOf(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (how Status, at *time.Time, problem string, err error) {
	job, err := Get(ctx, tx, team, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return Failed, nil, "its job is gone", nil
	case err != nil:
		return "", nil, "", err
	case job.Status == Canceled, job.Status == Failed:
		return job.Status, job.FinishedAt, "", nil
	}
	return "", nil, "", nil
}

// Filter restricts a list. Empty fields have no effect.
type Filter struct {
	Kinds    []string // any when empty
	Statuses []Status // any when empty
	Before   ID       // only jobs older than this one
	Limit    int
}

// List returns jobs of a team, newest first.
func List(ctx context.Context, tx *store.Tx, team uuid.UUID, f Filter) ([]Job, error) {
	if f.Before.IsZero() {
		f.Before = ids.FromUUID[Job](uuid.Max)
	}
	args := []any{team, f.Before, f.Limit}
	query := `SELECT ` + jobColumns + ` FROM jobs WHERE team_id = $1 AND id < $2` + store.AmongValues(&args, "kind", f.Kinds)
	if slices.Equal(f.Statuses, []Status{Failed}) { // in the words of the index jobs_failed
		query += ` AND status = 'failed'`
	} else {
		query += store.AmongValues(&args, "status", f.Statuses)
	}
	rows, err := tx.Query(ctx, query+` ORDER BY id DESC LIMIT $3`, args...)
	if err != nil {
		return nil, fmt.Errorf("jobs: listing: %w", err)
	}
	defer rows.Close()
	var all []Job
	for rows.Next() {
		j, err := scanJob(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return all, rows.Err()
}
