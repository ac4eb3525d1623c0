package storage

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// copiedAtOnce bounds the summaries in memory: one may have a megabyte.
const copiedAtOnce = 100

// CopySummaries copies a user's summaries into a database that has none of that
// user. It causes no events.
func CopySummaries(ctx context.Context, from, to *store.DB, team, user uuid.UUID) error {
	for after, more := uuid.Nil, true; more; {
		var some []summaryRow
		err := from.Read(ctx, func(tx *store.Tx) (err error) {
			some, err = summaryRows(ctx, tx, team, user, after)
			return err
		})
		if err == nil && len(some) > 0 {
			err = to.Write(ctx, func(tx *store.Tx) error {
				for i := range some {
					if err := some[i].insert(ctx, tx, team, user); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("storage: copying summaries: %w", err)
		}
		if more = len(some) == copiedAtOnce; more {
			after = some[len(some)-1].id
		}
	}
	return nil
}

// summaryRow is a row of summaries, its body in the clear.
type summaryRow struct {
	id                                    uuid.UUID
	resource, provider, sourceType, appID string
	device                                uuid.UUID
	day                                   string
	dayStated                             bool
	start, end                            *int64
	version, created, updated             int64
	record                                uuid.NullUUID // of the provider's own id
	body                                  []byte
}

const summaryRowColumns = `id, resource, provider, source_type, app_id, device_id, calendar_date, day_stated, start_at, end_at, version, created_at, updated_at, record_id, body`

// summaryRows reads some rows of a user, after an id.
func summaryRows(ctx context.Context, tx *store.Tx, team, user, after uuid.UUID) (all []summaryRow, err error) {
	rows, err := tx.Query(ctx, `SELECT `+summaryRowColumns+` FROM summaries
		WHERE team_id = $1 AND user_id = $2 AND id > $3 ORDER BY id LIMIT $4`, team, user, after, copiedAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r summaryRow
		if err := rows.Scan(&r.id, &r.resource, &r.provider, &r.sourceType, &r.appID, &r.device,
			&r.day, &r.dayStated, &r.start, &r.end, &r.version, &r.created, &r.updated, &r.record, &r.body); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	for i := range all {
		r := &all[i]
		if r.body, err = tx.Unseal(ctx, team, user, placeOfSummary(r.id), r.body); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *summaryRow) insert(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	sealed, err := tx.Seal(ctx, team, user, placeOfSummary(r.id), r.body)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO summaries (team_id, user_id, `+summaryRowColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		team, user, r.id, r.resource, r.provider, r.sourceType, r.appID, r.device,
		r.day, r.dayStated, r.start, r.end, r.version, r.created, r.updated, idOrNil(r.record.UUID), sealed)
	return err
}

// CopyStreams copies the streams of a user's workouts into a database that has none
// of that user.
func CopyStreams(ctx context.Context, from, to *store.DB, team, user uuid.UUID) error {
	for after, more := uuid.Nil, true; more; {
		var some []streamRow
		err := from.Read(ctx, func(tx *store.Tx) (err error) {
			some, err = streamRows(ctx, tx, team, user, after)
			return err
		})
		if err == nil && len(some) > 0 {
			err = to.Write(ctx, func(tx *store.Tx) error {
				for i := range some {
					if err := some[i].insert(ctx, tx, team, user); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("storage: copying streams: %w", err)
		}
		if more = len(some) == streamsAtOnce; more {
			after = some[len(some)-1].workout
		}
	}
	return nil
}

// streamsAtOnce bounds the streams in memory: a long one has some megabytes.
const streamsAtOnce = 10

// streamRow is a row of workout_streams, its columns packed and in the clear.
type streamRow struct {
	workout          uuid.UUID
	version, n       int64
	created, updated int64
	packed           []byte
}

// streamRows reads some rows of a user, after the id of a workout.
func streamRows(ctx context.Context, tx *store.Tx, team, user, after uuid.UUID) (all []streamRow, err error) {
	rows, err := tx.Query(ctx, `SELECT workout_id, version, n, created_at, updated_at, data FROM workout_streams
		WHERE team_id = $1 AND user_id = $2 AND workout_id > $3 ORDER BY workout_id LIMIT $4`, team, user, after, streamsAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r streamRow
		if err := rows.Scan(&r.workout, &r.version, &r.n, &r.created, &r.updated, &r.packed); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	for i := range all {
		r := &all[i]
		if r.packed, err = tx.Unseal(ctx, team, user, placeOfStream(r.workout), r.packed); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *streamRow) insert(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	sealed, err := tx.Seal(ctx, team, user, placeOfStream(r.workout), r.packed)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO workout_streams (team_id, user_id, workout_id, version, n, created_at, updated_at, data)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, team, user, r.workout, r.version, r.n, r.created, r.updated, sealed)
	return err
}
