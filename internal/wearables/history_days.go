package wearables

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
)

// countDays keeps how many days of the announced histories have data, of those
// of which that is not known. Years are read for it, so it is done beside the
// writer, and kept unless data has come meanwhile: it is counted again then,
// when somebody asks.
func (in *Ingester) countDays(ctx context.Context, user users.User, provider, run string) error {
	var all []counted
	err := in.DB.Scan(ctx, func(tx *store.Tx) (err error) {
		if all, err = uncountedOf(ctx, tx, user, provider, run); err != nil {
			return err
		}
		for i := range all {
			c := &all[i]
			if c.days, err = daysWithData(ctx, tx, user.Team.UUID(), user.ID.UUID(), provider, c.resource, c.within); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return err
	}
	return in.DB.Write(ctx, func(tx *store.Tx) error {
		for _, c := range all {
			if _, err := tx.Exec(ctx, `UPDATE history_announced AS h SET days = $6
				WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND resource = $4 AND run = $5 AND days IS NULL AND `+heardOf+` = $7`,
				user.Team.UUID(), user.ID.UUID(), provider, c.resource, run, c.days, c.heard); err != nil {
				return err
			}
		}
		return nil
	})
}

// counted is how many days of a history had data, when so much was heard.
type counted struct {
	resource string
	within   Range
	days     int64
	heard    string
}

// heardOf is another text after each batch that brought something of the
// resource of a history h.
const heardOf = `COALESCE((SELECT s.attempted_at || '/' || s.sent FROM resource_statistics s
	WHERE s.team_id = h.team_id AND s.user_id = h.user_id AND s.provider = h.provider AND s.resource = h.resource), '')`

func uncountedOf(ctx context.Context, tx *store.Tx, user users.User, provider, run string) (all []counted, err error) {
	rows, err := tx.Query(ctx, `SELECT resource, start_at, end_at, `+heardOf+` FROM history_announced h
		WHERE team_id = $1 AND user_id = $2 AND provider = $3 AND run = $4 AND days IS NULL`, user.Team.UUID(), user.ID.UUID(), provider, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c counted
		if err := rows.Scan(&c.resource, store.ScanTime(&c.within.Start), store.ScanTime(&c.within.End), &c.heard); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, errors.Join(rows.Err(), rows.Close())
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
		err = tx.QueryRow(ctx, `SELECT COUNT(DISTINCT s.calendar_date) FROM summaries s
			WHERE s.team_id = $1 AND s.user_id = $2 AND s.resource = 'workouts' AND s.provider = $3 AND s.calendar_date BETWEEN $4 AND $5
				AND EXISTS (SELECT 1 FROM workout_streams w WHERE w.user_id = s.user_id AND w.workout_id = s.id)`,
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
	// The key alone is read: a block's row lies beside its samples. The series is
	// the team's.
	rows, err := tx.Query(ctx, `SELECT bucket FROM sample_blocks
		WHERE user_id = $1 AND series_id = $2 AND bucket BETWEEN $3 AND $4`,
		s.User, s.ID, s.bucketOf(from), to)
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
