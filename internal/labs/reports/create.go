package reports

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Reader reads files in another process. Its methods may be called at once.
type Reader interface {
	// Read returns the results of a report. The error is an *extract.Failure if the
	// files have no readable results, or wraps ErrReaderGone.
	Read(ctx context.Context, files []File) (extract.Result, error)
	// Image returns a JPEG of a page, from 1.
	Image(ctx context.Context, files []File, page int) ([]byte, error)
}

// ErrReaderGone is wrapped by the error of a reading that ended the reader's process: it
// was killed, used too much memory or took too long.
var ErrReaderGone = errReaderGone

// Service creates and reads jobs. Set its fields before the first use.
type Service struct {
	DB     *store.DB
	Reader Reader
	Limits Limits
	// Workers is the number of reports that this node reads at once.
	Workers int
	Log     *slog.Logger
}

// sameFileTime is the time in which the same files of a user are the same job.
const sameFileTime = 24 * time.Hour

// New describes an upload. Check its files first.
type New struct {
	Files  []File
	Review bool // a person must accept the results
}

// Create stores the files and a job, with its event and its place in the queue. The same
// files of a user within a day are the same job: Create returns it. If the caller asks
// for a review and the job has none yet, the job gets one.
func Create(ctx context.Context, tx *store.Tx, user users.User, n New) (Job, error) {
	digest := Digest(n.Files)
	if err := tx.Lock(ctx, "parsed_reports:"+user.ID.String()+hex.EncodeToString(digest)); err != nil {
		return Job{}, err
	}
	same, err := sameFile(ctx, tx, user, digest, tx.Now().Add(-sameFileTime))
	if err == nil {
		return same, requestReview(ctx, tx, &same, n.Review)
	}
	if !fault.Is(err, fault.NotFound) {
		return Job{}, err
	}
	j := Job{
		ID: newID(tx), Team: user.Team, User: user.ID, Status: Started, Requested: n.Review, Files: len(n.Files),
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(), digest: digest, slot: slotWaiting,
	}
	for _, f := range n.Files {
		j.Size += int64(len(f.Data))
	}
	if err := insertJob(ctx, tx, &j); err != nil {
		return Job{}, err
	}
	if err := insertFiles(ctx, tx, &j, n.Files); err != nil {
		return Job{}, err
	}
	if err := enqueue(ctx, tx, user.Team, 0); err != nil {
		return Job{}, err
	}
	return j, announce(ctx, tx, &j, nil, CreatedEvent)
}

func enqueue(ctx context.Context, tx *store.Tx, team teams.ID, slot int) error {
	_, err := queueKind.Enqueue(ctx, tx, queueArgs{Slot: slot}, jobs.Options{Team: team.UUID(), Key: slotKey(slot)})
	if err != nil {
		return fmt.Errorf("reports: enqueueing: %w", err)
	}
	return nil
}

// requestReview adds the request for a review to a job that was created without one.
// Results that a person has not seen are withdrawn until then.
func requestReview(ctx context.Context, tx *store.Tx, j *Job, wanted bool) error {
	if !wanted || j.Requested || j.Status == Failed || j.Reviewed {
		return nil
	}
	from := j.Status
	j.Requested = true
	if from != Started { // the reading adds the reason
		j.Status, j.FinishedAt = PendingReview, nil
		j.addReason(ReviewRequested)
	}
	if err := saveJob(ctx, tx, j, from); err != nil {
		return err
	}
	return announce(ctx, tx, j, nil, UpdatedEvent)
}
