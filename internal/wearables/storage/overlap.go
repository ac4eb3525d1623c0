package storage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// mostOverlapping bounds the workouts of one app that are looked at together:
// nobody does so many at once.
const mostOverlapping = 100

// WorkoutsBetween returns a user's workouts of a provider and an app that have
// begun by last and not ended before first, by day.
func WorkoutsBetween(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, app string, first, last time.Time) ([]StoredSummary, error) {
	from, to := civil.DateOf(first.UTC()).AddDays(-1), civil.DateOf(last.UTC()).AddDays(1) // of any zone
	return summariesWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = 'workouts' AND calendar_date BETWEEN $3 AND $4
			AND provider = $5 AND app_id = $6 AND start_at <= $7 AND end_at >= $8
		ORDER BY calendar_date, id LIMIT $9`,
		team, user, from.String(), to.String(), provider, app, store.Micros(last), store.Micros(first), mostOverlapping)
}
