package storage

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// SummaryOfRecord returns the summary of a provider's record, or store.ErrNoRows. See
// wearables.RecordID.
func SummaryOfRecord(ctx context.Context, tx *store.Tx, team, user, record uuid.UUID) (s StoredSummary, err error) {
	if err := s.scan(tx.QueryRow(ctx, `SELECT `+summaryColumns+` FROM summaries
		WHERE team_id = $1 AND user_id = $2 AND record_id = $3 ORDER BY id LIMIT 1`, team, user, record)); err != nil {
		return s, err
	}
	return s, s.Open(ctx, tx)
}

// SessionsBetween returns a user's sessions of a resource and provider that share time
// with the range, by day. Open opens their bodies.
func SessionsBetween(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource, provider string, start, end time.Time) ([]StoredSummary, error) {
	from, to := civil.DateOf(start.UTC()).AddDays(-2), civil.DateOf(end.UTC()).AddDays(2) // of any zone, and of any session's end
	return sealedWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND calendar_date BETWEEN $4 AND $5
			AND provider = $6 AND start_at < $7 AND end_at > $8
		ORDER BY calendar_date, id LIMIT $9`,
		team, user, resource, from.String(), to.String(), provider, store.Micros(end), store.Micros(start), maxOverlapping)
}

// SessionsOfDays returns a user's sessions of a resource by calendar date, with their
// bodies sealed. Empty days mean no bound, and an empty provider means all.
func SessionsOfDays(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource, provider, first, last string) ([]StoredSummary, error) {
	return sealedWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND calendar_date BETWEEN $4 AND $5
			AND ($6 = '' OR provider = $6) AND start_at IS NOT NULL AND end_at IS NOT NULL ORDER BY calendar_date, id`,
		team, user, resource, first, cmp.Or(last, "9999-12-31"), provider)
}

// WorkoutOf returns the id of the stored workout of a stream, or store.ErrNoRows. It
// finds the workout with the id of its key, or the one that was recorded at that time.
func WorkoutOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, source wearables.Source, key uuid.UUID, span wearables.Range) (uuid.UUID, error) {
	was, missing := ReadSummary(ctx, tx, team, user, key)
	if missing != nil && !errors.Is(missing, store.ErrNoRows) {
		return key, missing
	}
	from, to := store.Micros(span.Start), store.Micros(span.End)
	if missing == nil && was.start <= to && was.end >= from {
		return key, nil
	}
	stored, err := SessionsBetween(ctx, tx, team, user, "workouts", source.Provider, span.Start, span.End)
	for i := range stored {
		s := &stored[i]
		if 2*(min(s.end, to)-max(s.start, from)) > to-from && source.SameRecorder(&s.Source) {
			return s.ID, nil
		}
	}
	return key, cmp.Or(err, missing)
}

// Bounds returns the start and end of a session, UTC microseconds; 0 for none.
func (s *StoredSummary) Bounds() (start, end int64) { return s.start, s.end }

// Remove deletes a version of a summary that another one has replaced, and its stream.
// It returns ErrStale if there is another version.
func (s *StoredSummary) Remove(ctx context.Context, tx *store.Tx) error {
	if _, err := tx.Exec(ctx, `DELETE FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`,
		s.Team, s.User, s.ID); err != nil {
		return err
	}
	return stale(tx.Exec(ctx, `DELETE FROM summaries WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version))
}

func idOrNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}
