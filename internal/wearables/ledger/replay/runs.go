package replay

import (
	"context"
	"encoding/json"
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
)

// ID identifies a run, and its job.
type ID = ids.ID[Run]

// Order holds the options of a run.
type Order struct {
	User   *users.ID // only this user; nil means all
	DryRun bool      // report changes without storing them
	// Every includes users whose payloads the current mapping has read.
	Every bool
}

// Run is an order and its outcome.
type Run struct {
	Order
	ID          ID
	Team        teams.ID
	Status      jobs.Status // queued before it starts, and between attempts
	Done, Total int64       // users
	Report      Changes
	Error       string
	CreatedAt   time.Time
	FinishedAt  *time.Time

	last users.ID   // the last user who is finished or postponed
	late []users.ID // postponed users, who are processed at the end
}

// storedReport is the report in the row of a run.
type storedReport struct {
	*Changes
	Late []users.ID `json:"late,omitempty"`
}

const columns = `team_id, id, user_id, dry_run, every, status, done, total, last_user, report, error, created_at, finished_at`

func (r *Run) scan(row interface{ Scan(...any) error }) error {
	var user, last *uuid.UUID
	var report string
	if err := row.Scan(&r.Team, &r.ID, &user, &r.DryRun, &r.Every, &r.Status, &r.Done, &r.Total, &last, &report, &r.Error,
		store.ScanTime(&r.CreatedAt), store.ScanNullTime(&r.FinishedAt)); err != nil {
		return err
	}
	if user != nil {
		id := users.ID(*user)
		r.User = &id
	}
	if last != nil {
		r.last = users.ID(*last)
	}
	r.Report = *newChanges()
	kept := storedReport{Changes: &r.Report}
	err := json.Unmarshal([]byte(report), &kept)
	r.late = kept.Late
	return err
}

// Create stores a run and enqueues its job, in one transaction. The user, if set, must be
// one of the team.
func (s *Service) Create(ctx context.Context, tx *store.Tx, team teams.ID, o Order) (Run, error) {
	r := Run{Order: o, Team: team, Status: jobs.Queued, Report: *newChanges(), CreatedAt: tx.Now()}
	var user any
	if o.User != nil {
		if err := users.Exists(ctx, tx, team, *o.User); err != nil {
			return r, err
		}
		user = *o.User
	}
	job, err := s.kind().Enqueue(ctx, tx, args{}, jobs.Options{Team: team.UUID()})
	if err != nil {
		return r, err
	}
	r.ID = ids.FromUUID[Run](job.UUID())
	_, err = tx.Exec(ctx, `INSERT INTO renormalisations (team_id, id, user_id, dry_run, every, status, done, total, report, error, created_at)
		VALUES ($1, $2, $3, $4, $5, 'queued', 0, 0, $6, '', $7)`, team, r.ID, user, o.DryRun, o.Every, "{}", store.Micros(r.CreatedAt))
	if err != nil {
		return r, fmt.Errorf("replay: creating a run: %w", err)
	}
	return r, nil
}

// Get returns a run of the team; an unknown one is NotFound.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (r Run, err error) {
	err = r.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM renormalisations WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return r, fault.New(fault.NotFound, "Run not found")
	}
	if err != nil {
		return r, fmt.Errorf("replay: reading a run: %w", err)
	}
	return r, reconcile(ctx, tx, &r)
}

// maxListed bounds the list of runs.
const maxListed = 100

// List returns the team's runs, newest first.
func List(ctx context.Context, tx *store.Tx, team teams.ID) ([]Run, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM renormalisations WHERE team_id = $1 ORDER BY id DESC LIMIT $2`, team, maxListed)
	if err != nil {
		return nil, fmt.Errorf("replay: listing runs: %w", err)
	}
	defer rows.Close()
	var all []Run
	for rows.Next() {
		var r Run
		if err := r.scan(rows); err != nil {
			return nil, fmt.Errorf("replay: listing runs: %w", err)
		}
		all = append(all, r)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range all {
		if err := reconcile(ctx, tx, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reconcile updates a queued or running run whose job was canceled. A canceled job does not
// update its run.
func reconcile(ctx context.Context, tx *store.Tx, r *Run) error {
	if r.Status != jobs.Queued && r.Status != jobs.Running {
		return nil
	}
	how, at, problem, err := jobs.OutcomeOf(ctx, tx, r.Team.UUID(), ids.FromUUID[jobs.Job](r.ID.UUID()))
	if err != nil || how == "" {
		return err
	}
	r.Status, r.FinishedAt = how, at
	if problem != "" {
		r.Error = problem
	}
	return nil
}

// save stores the progress and the changes of the run.
func (r *Run) save(ctx context.Context, tx *store.Tx) error {
	report, err := json.Marshal(storedReport{&r.Report, r.late})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE renormalisations SET status = $3, done = $4, total = $5, last_user = $6, report = $7, error = $8, finished_at = $9
		WHERE team_id = $1 AND id = $2`, r.Team, r.ID, string(r.Status), r.Done, r.Total, r.last, string(report), r.Error, store.MicrosOrNil(r.FinishedAt))
	if err != nil {
		return fmt.Errorf("replay: storing a run: %w", err)
	}
	return nil
}
