package wearables

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/store"
	"hale/internal/users"
)

// countDays keeps how many days of an announced history have data, unless that
// is known: counting opens blocks.
func countDays(ctx context.Context, tx *store.Tx, user users.User, provider, resource, run string) error {
	const one = ` WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND run = $5`
	key := []any{user.Team.UUID(), user.ID.UUID(), provider, resource, run}
	var start, end time.Time
	err := tx.QueryRow(ctx, `SELECT start_at, end_at FROM history_announced`+one+` AND days IS NULL`, key...).
		Scan(store.ScanTime(&start), store.ScanTime(&end))
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	days, err := daysWithData(ctx, tx, user.Team.UUID(), user.ID.UUID(), provider, resource, Range{start, end})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE history_announced SET days = $6`+one, append(key, days)...)
	return err
}

// uncount forgets the days of the announced histories that the batch adds to.
// They are counted again when somebody asks, or the end comes again: a large
// history in many batches is not counted with each.
func (j *job) uncount(ctx context.Context, tx *store.Tx) error {
	if j.stage != Historical {
		return nil
	}
	for _, h := range j.heard {
		if !h.changed {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE history_announced SET days = NULL
			WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND days IS NOT NULL`,
			j.team, j.user, j.provider, h.resource); err != nil {
			return err
		}
	}
	return nil
}

// daysWithData counts the days of a range on which a provider's resource has
// data: calendar dates of summaries, UTC days of samples.
//
// Reference 7.10, days_with_data.
func daysWithData(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string, r Range) (n int64, err error) {
	from, to := r.Start.UTC().Format("2006-01-02"), r.End.UTC().Format("2006-01-02")
	if resource == WorkoutStream {
		err = tx.QueryRow(ctx, `SELECT COUNT(DISTINCT s.calendar_date) FROM workout_streams w
			JOIN summaries s ON s.team_id = w.team_id AND s.user_id = w.user_id AND s.id = w.workout_id
			WHERE w.team_id = $1 AND w.user_id = $2 AND s.provider = $3 AND s.calendar_date BETWEEN $4 AND $5`,
			team, user, provider, from, to).Scan(&n)
		return n, err
	}
	if _, ok := DocumentNamed(resource); ok {
		err = tx.QueryRow(ctx, `SELECT COUNT(DISTINCT calendar_date) FROM summaries
			WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4 AND calendar_date BETWEEN $5 AND $6`,
			team, user, resource, provider, from, to).Scan(&n)
		return n, err
	}
	all, err := SeriesOf(ctx, tx, team, user, resource)
	if err != nil {
		return 0, err
	}
	days := map[int64]bool{}
	for _, s := range all {
		if s.Source.Provider != provider {
			continue
		}
		if err := s.addDays(ctx, tx, r, days); err != nil {
			return 0, err
		}
	}
	return int64(len(days)), nil
}

// addDays adds the UTC days of a range on which the series has samples. A
// block of a day or less tells by being there; a longer one is opened.
func (s *Series) addDays(ctx context.Context, tx *store.Tx, r Range, days map[int64]bool) error {
	from, to := r.Start.UnixMicro(), r.End.UnixMicro()
	if s.Width > 24*time.Hour {
		var found Samples
		if err := ReadSeries(ctx, tx, *s, from, to+1, &found); err != nil {
			return err
		}
		for _, at := range found.Time {
			days[floorDiv(at, dayUS)] = true
		}
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT bucket FROM sample_blocks
		WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND bucket BETWEEN $4 AND $5`,
		s.Team, s.User, s.ID, s.bucketOf(from), to)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var bucket int64
		if err := rows.Scan(&bucket); err != nil {
			return err
		}
		days[floorDiv(bucket, dayUS)] = true
	}
	return rows.Err()
}
