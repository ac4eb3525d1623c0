package reports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ID identifies a job and its report.
type ID = ids.ID[Job]

// Status is the state of a job.
//
// Spec: States, Lab report parsing job. Reference 4.
type Status string

// The states. A job is started when it is created, because its files are stored then.
const (
	Started       Status = "started"
	PendingReview Status = "pending_review"
	Completed     Status = "completed"
	Failed        Status = "failed"
)

// Statuses lists the states.
var Statuses = []Status{Started, PendingReview, Completed, Failed}

// ReviewReason says why a job waits for a reviewer.
type ReviewReason string

// The reasons.
const (
	ReviewRequested ReviewReason = "review_requested"
	// PatientMismatch means that the name, birth date or sex on the report contradicts
	// the user's.
	PatientMismatch ReviewReason = "patient_mismatch"
	// PatientUnidentified means that the report names no person, and the user has a
	// name or a birth date.
	PatientUnidentified ReviewReason = "patient_unknown"
	// ContradictsStored means that a stored result of the same sample has another
	// value.
	ContradictsStored ReviewReason = "contradicts_stored_result"
	// DatesImplausible means that the report was made before its sample or in the
	// future.
	DatesImplausible ReviewReason = "dates_implausible"
	// SeveralCollections means that the report states several days of collection, of which
	// its results have only the first.
	SeveralCollections ReviewReason = "several_collections"
)

// PatientMatch compares the person on the report with the user.
type PatientMatch string

// The outcomes. The match is unknown if either side has neither name nor birth date.
const (
	PatientUnknown PatientMatch = "unknown"
	PatientMatches PatientMatch = "match"
	PatientDiffers PatientMatch = "mismatch"
)

// Job is the reading of one report.
type Job struct {
	ID         ID
	Team       teams.ID
	User       users.ID
	Status     Status
	Requested  bool // the team asked for a review
	Reviewed   bool // a reviewer has accepted the results, or rejected the report
	Failure    extract.FailureReason
	Files      int
	Size       int64
	Pages      int // 0 until the report is read
	Revision   int // of the results; 0 while there are none
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt *time.Time
	details

	digest        []byte
	slot          int
	starts, exits int
}

// details is the sealed part of a job.
type details struct {
	// Message says in plain words why the job failed.
	Message  string             `json:"message,omitempty"`
	Reasons  []ReviewReason     `json:"reasons,omitempty"`
	Patient  PatientMatch       `json:"patient,omitempty"`
	Problems []identity.Problem `json:"problems,omitempty"` // facts of the patient that differ
	// Repeats is the order or report that has every result of this report already.
	Repeats *Origin `json:"repeats,omitempty"`
	// Worst is the most severe interpretation of the results.
	Worst orders.Interpretation `json:"worst,omitempty"`
	// ReviewedBy and ReviewedAt are of the last decision.
	ReviewedBy string     `json:"reviewed_by,omitempty"`
	ReviewedAt *time.Time `json:"reviewed_at,omitempty"`
}

// LogValue names only the job.
func (j Job) LogValue() slog.Value { return slog.StringValue(j.ID.String()) }

// HasResults reports whether results may be returned with the user's other results.
func (j *Job) HasResults() bool { return j.Status == Completed }

// Version is one version of a report's results: the first reading, or the results after
// a reviewer's decision. Personal.
type Version struct {
	extract.Result
	// Author made the version; empty for the first reading.
	Author string `json:"author,omitempty"`
	Note   string `json:"note,omitempty"`
	// Decision is accept or reject; empty for the first reading.
	Decision Decision `json:"decision,omitempty"`
	// Changes lists the corrections that led from the previous version to this one.
	Changes []Change `json:"changes,omitempty"`
	// Confirmed lists the facts of the person that differ from the user; the reviewer
	// confirmed the identity.
	Confirmed []identity.Problem `json:"confirmed,omitempty"`
	// Removed and Added mark rows by index: a reviewer removes rows without changing the
	// indexes of others.
	Removed map[int]bool `json:"removed,omitempty"`
	// Repeated has the stored results that rows repeat, by index of the row.
	Repeated map[int]Origin `json:"repeated,omitempty"`
}

// LogValue keeps results out of logs.
func (Version) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Revision is a version with its number and time.
type Revision struct {
	Number    int
	CreatedAt time.Time
	Version
}

func notFound() error { return fault.New(fault.NotFound, "Job not found") }

// Get returns a job of a user who is not deleted, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Job, error) {
	j, err := readJob(ctx, tx, team, id)
	if err != nil {
		return Job{}, err
	}
	if err := users.Exists(ctx, tx, team, j.User); err != nil {
		if fault.Is(err, fault.NotFound) {
			err = notFound()
		}
		return Job{}, err
	}
	audit.NotePeople(ctx, j.User)
	return j, nil
}

// Results returns the latest version of a job's results, or a NotFound fault while there
// are none.
func Results(ctx context.Context, tx *store.Tx, j *Job) (Revision, error) {
	if j.Revision == 0 {
		return Revision{}, fault.New(fault.NotFound, "The report has no results")
	}
	return readRevision(ctx, tx, j, j.Revision)
}

// Revisions returns all versions, the first reading first.
func Revisions(ctx context.Context, tx *store.Tx, j *Job) ([]Revision, error) {
	all := make([]Revision, 0, j.Revision)
	for n := 1; n <= j.Revision; n++ {
		r, err := readRevision(ctx, tx, j, n)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Filter restricts a list of jobs. Empty fields have no effect.
type Filter struct {
	Statuses []Status   // any when empty
	Compat   bool       // Started includes PendingReview, as in DocumentOf
	Users    []users.ID // any when empty
	Before   ID         // only older jobs
	Limit    int
}

// List returns jobs of a team, newest first.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) ([]Job, error) {
	if f.Before.IsZero() {
		f.Before = ids.FromUUID[Job](uuid.Max)
	}
	all, err := listJobs(ctx, tx, team, f)
	if err != nil {
		return nil, fmt.Errorf("reports: listing: %w", err)
	}
	return all, nil
}

// TeamOf returns the team of a job, for an operator who knows only its id.
func TeamOf(ctx context.Context, tx *store.Tx, all []teams.Team, id ID) (teams.Team, error) {
	for _, team := range all {
		_, err := readJob(ctx, tx, team.ID, id)
		if err == nil {
			return team, nil
		}
		if !fault.Is(err, fault.NotFound) {
			return teams.Team{}, err
		}
	}
	return teams.Team{}, notFound()
}

// errReaderGone is wrapped by errors of a reader whose process ended: it was killed, ran
// out of memory or took too long.
var errReaderGone = errors.New("reports: the reader's process ended")
