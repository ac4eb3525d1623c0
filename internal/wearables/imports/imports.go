package imports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ledger"
)

// ID identifies an import, and its job.
type ID = ids.ID[Import]

// Status is the state of an import, in the words of jobs.
type Status string

// An import is queued before it starts, and between attempts.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
	Undone    Status = "undone" // ended, and its data was deleted
)

// Import is one uploaded export.
type Import struct {
	ID          ID
	Team        teams.ID
	User        users.ID
	Kind        string
	Size        int64 // bytes of the upload
	SHA256      []byte
	HistoryOnly bool // no events about single historical values
	Status      Status
	Progress    Progress
	Report      *Report // nil before data was read
	Error       string
	Attempts    int
	CreatedAt   time.Time
	StartedAt   *time.Time // last attempt
	FinishedAt  *time.Time

	stage wearables.Stage
	spool string
	zone  *string // see migration 0110
}

// Progress describes the progress of an import.
type Progress struct {
	Step             string // reading or summarising; empty before the first attempt
	Done, Total      int64  // bytes of the document, uncompressed
	Records, Skipped int64
}

// Service receives uploads and runs imports. Set its fields before the first use.
type Service struct {
	DB   *store.DB
	Sink files.Sink // stores the data; see deletion.Service.Replacing
	// Ledger stores the files; nil stores none.
	Ledger *ledger.Ledger
	Dir    string // the spool folder; created if absent
	// Node returns the id of this process for claims; nil means none.
	Node func() uuid.UUID
	// MaxUpload bounds an upload, MaxDocument the uncompressed document in it. 0 means
	// 16 GiB and the bound of the kind.
	MaxUpload, MaxDocument int64
	Log                    *slog.Logger // nil logs nothing
	// Records counts records by outcome; nil counts nothing.
	Records func(outcome string, n int)

	// receiving holds the uploads of this service without a row, by name. Sharing a large
	// one takes longer than the age at which files without a row are swept.
	receiving sync.Map
}

const defaultMaxUpload = 16 << 30

// maxUpload returns the size of the largest upload.
func (s *Service) maxUpload() int64 {
	if s.MaxUpload == 0 {
		return defaultMaxUpload
	}
	return s.MaxUpload
}

// Create stores an import of an upload and enqueues its job, in one transaction. If the
// same file of the user is queued or running, it returns that import and removes the new
// file.
func (s *Service) Create(ctx context.Context, tx *store.Tx, user users.User, up *Upload, historyOnly bool) (Import, error) {
	twin, err := s.findSame(ctx, tx, user, up, historyOnly)
	if err != nil || twin != nil {
		tx.AfterCommit(up.Discard)
		return orZero(twin), err
	}
	job, err := s.kind().Enqueue(ctx, tx, args{}, jobs.Options{Team: user.Team.UUID()})
	if err != nil {
		return Import{}, err
	}
	i := Import{
		ID: ids.FromUUID[Import](job.UUID()), Team: user.Team, User: user.ID, Kind: up.Kind, Size: up.Size, SHA256: up.SHA256,
		HistoryOnly: historyOnly, Status: Queued, CreatedAt: tx.Now(), spool: up.name,
	}
	if err := insert(ctx, tx, &i); err != nil {
		return Import{}, fmt.Errorf("imports: creating: %w", err)
	}
	tx.AfterCommit(func() { s.receiving.Delete(up.name) })
	return i, nil
}

func orZero(i *Import) Import {
	if i == nil {
		return Import{}
	}
	return *i
}

// findSame finds a queued or running import of the same file.
func (s *Service) findSame(ctx context.Context, tx *store.Tx, user users.User, up *Upload, historyOnly bool) (*Import, error) {
	all, err := sameFile(ctx, tx, user, up.SHA256, historyOnly)
	if err != nil {
		return nil, fmt.Errorf("imports: finding the same file: %w", err)
	}
	for i := range all {
		if err := reconcile(ctx, tx, &all[i]); err != nil {
			return nil, err
		}
		if all[i].live() {
			return &all[i], nil
		}
	}
	return nil, nil
}

func (i *Import) live() bool { return i.Status == Queued || i.Status == Running }

// Get returns an import of the user; unknown and foreign ones are NotFound.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (Import, error) {
	i, err := read(ctx, tx, team, id)
	switch {
	case errors.Is(err, store.ErrNoRows), err == nil && i.User != user:
		return Import{}, fault.New(fault.NotFound, "Import not found")
	case err != nil:
		return Import{}, fmt.Errorf("imports: reading: %w", err)
	}
	return i, reconcile(ctx, tx, &i)
}

// List returns a user's imports, newest first.
func List(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Import, error) {
	all, err := list(ctx, tx, team, user)
	if err != nil {
		return nil, fmt.Errorf("imports: listing: %w", err)
	}
	for i := range all {
		if err := reconcile(ctx, tx, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reconcile updates a queued or running import whose job was canceled. A canceled job
// does not update its import.
func reconcile(ctx context.Context, tx *store.Tx, i *Import) error {
	if !i.live() {
		return nil
	}
	how, at, problem, err := jobs.OutcomeOf(ctx, tx, i.Team.UUID(), ids.FromUUID[jobs.Job](i.ID.UUID()))
	if err != nil || how == "" {
		return err
	}
	i.Status, i.FinishedAt = Status(how), at
	if problem != "" {
		i.Error = problem
	}
	return nil
}

// Cancel stops an import: a queued one at once, a running one soon. Stored data stays.
// Canceling twice is valid; a finished import is a Conflict.
func (s *Service) Cancel(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id ID) (Import, error) {
	i, err := Get(ctx, tx, team, user, id)
	if err != nil || i.Status == Canceled {
		return i, err
	}
	if !i.live() {
		return i, fault.New(fault.Conflict, "The import is already finished")
	}
	if _, err := jobs.Cancel(ctx, tx, team.UUID(), ids.FromUUID[jobs.Job](id.UUID())); err != nil {
		return i, err
	}
	now := tx.Now()
	i.Status, i.FinishedAt = Canceled, &now
	if err := finish(ctx, tx, &i); err != nil {
		return i, fmt.Errorf("imports: canceling: %w", err)
	}
	tx.AfterCommit(func() { s.remove(i.spool) })
	return i, nil
}

func (s *Service) node() *uuid.UUID {
	if s.Node == nil {
		return nil
	}
	id := s.Node()
	return &id
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
