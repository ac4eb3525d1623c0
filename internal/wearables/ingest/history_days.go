package ingest

import (
	"context"
	"errors"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
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
			if c.days, err = storage.DaysWithData(ctx, tx, user.Team.UUID(), user.ID.UUID(), provider, c.resource, c.within); err != nil {
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
	within   wearables.Range
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
	if j.stage != wearables.Historical {
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
