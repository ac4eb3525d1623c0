package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

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

// Ended reports how a job ended without its own function knowing: canceled, failed,
// or deleted. A domain that keeps a row for the job calls it while that row says that
// the job is active. An empty status means that the job is active.
func Ended(ctx context.Context, tx *store.Tx, team uuid.UUID, id ID) (how Status, at *time.Time, problem string, err error) {
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
	Kind   string
	Status Status
	Before ID // only jobs older than this one
	Limit  int
}

// List returns jobs of a team, newest first.
func List(ctx context.Context, tx *store.Tx, team uuid.UUID, f Filter) ([]Job, error) {
	if f.Before.IsZero() {
		f.Before = ids.From[Job](uuid.Max)
	}
	rows, err := tx.Query(ctx, `SELECT `+jobColumns+` FROM jobs
		WHERE team_id = $1 AND id < $2 AND ($3 = '' OR kind = $3) AND ($4 = '' OR status = $4)
		ORDER BY id DESC LIMIT $5`, team, f.Before, f.Kind, string(f.Status), f.Limit)
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
