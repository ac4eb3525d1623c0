package storage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Write stores a version of the summary, of a session with its bounds. It
// returns ErrStale unless the version before it is stored.
func (s *StoredSummary) Write(ctx context.Context, tx *store.Tx, start, end time.Time) error {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfSummary(s.ID), s.Body)
	if err != nil {
		return err
	}
	key := KeyOfSource(s.Source)
	return stale(tx.Exec(ctx, `INSERT INTO summaries (team_id, user_id, id, resource, provider, source_type, app_id, device_id,
			calendar_date, day_stated, start_at, end_at, version, created_at, updated_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		ON CONFLICT (user_id, id) DO UPDATE SET source_type = excluded.source_type, app_id = excluded.app_id,
			device_id = excluded.device_id, calendar_date = excluded.calendar_date, day_stated = excluded.day_stated,
			start_at = COALESCE(excluded.start_at, summaries.start_at), end_at = COALESCE(excluded.end_at, summaries.end_at),
			version = excluded.version, updated_at = excluded.updated_at, body = excluded.body
			WHERE summaries.version = excluded.version - 1`,
		s.Team, s.User, s.ID, s.Resource, key.Provider, key.SourceType, key.AppID, key.Device,
		s.Day, s.DayStated, store.MicrosOrNil(&start), store.MicrosOrNil(&end),
		s.Version, store.Micros(s.CreatedAt), store.Micros(s.UpdatedAt), sealed))
}

// WriteDay stores Day and DayStated of a version, which its body does not show.
func (s *StoredSummary) WriteDay(ctx context.Context, tx *store.Tx) error {
	return stale(tx.Exec(ctx, `UPDATE summaries SET calendar_date = $5, day_stated = $6 WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version, s.Day, s.DayStated))
}

// WriteMeasured stores Measured of a version, unless a later one is stored.
func (s *StoredSummary) WriteMeasured(ctx context.Context, tx *store.Tx) error {
	return stale(tx.Exec(ctx, `UPDATE summaries SET start_at = $1 WHERE team_id = $2 AND user_id = $3 AND id = $4 AND version = $5
		AND (start_at IS NULL OR start_at < $1)`, s.Measured, s.Team, s.User, s.ID, s.Version))
}

// placeOfSummary is what the body of a summary is sealed for.
func placeOfSummary(id uuid.UUID) string { return "summaries.body:" + id.String() }
