package storage

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// ReadPackedStream returns the version of a workout's stream and its packed
// columns, or store.ErrNoRows.
func ReadPackedStream(ctx context.Context, tx *store.Tx, team, user, workout uuid.UUID) (version int64, packed []byte, err error) {
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT version, data FROM workout_streams
		WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, team, user, workout).Scan(&version, &sealed); err != nil {
		return 0, nil, err
	}
	packed, err = tx.Unseal(ctx, team, user, placeOfStream(workout), sealed)
	return version, packed, err
}

// ReadStreamVersion returns the length of a workout's stream and its packed columns.
func ReadStreamVersion(ctx context.Context, tx *store.Tx, team, user, workout uuid.UUID) (n int, packed []byte, err error) {
	_, packed, err = ReadPackedStream(ctx, tx, team, user, workout)
	if err != nil {
		return 0, nil, err
	}
	err = tx.QueryRow(ctx, `SELECT n FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, team, user, workout).Scan(&n)
	return n, packed, err
}

// ReadStream returns the stream of a workout; without one, an empty stream.
func ReadStream(ctx context.Context, tx *store.Tx, workout *StoredSummary) (*wearables.Stream, error) {
	_, packed, err := ReadPackedStream(ctx, tx, workout.Team, workout.User, workout.ID)
	if errors.Is(err, store.ErrNoRows) {
		return &wearables.Stream{}, nil
	}
	if err != nil {
		return nil, err
	}
	return wearables.UnpackStream(packed)
}

// WriteStream stores a version of a workout's stream of n elements. It returns
// ErrStale unless the version before it is stored.
func WriteStream(ctx context.Context, tx *store.Tx, workout *StoredSummary, version int64, n int, packed []byte) error {
	sealed, err := tx.Seal(ctx, workout.Team, workout.User, placeOfStream(workout.ID), packed)
	if err != nil {
		return err
	}
	now := store.Micros(tx.Now())
	return stale(tx.Exec(ctx, `INSERT INTO workout_streams (team_id, user_id, workout_id, version, n, created_at, updated_at, data)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
		ON CONFLICT (user_id, workout_id) DO UPDATE
			SET version = excluded.version, n = excluded.n, updated_at = excluded.updated_at, data = excluded.data
			WHERE workout_streams.version = excluded.version - 1`,
		workout.Team, workout.User, workout.ID, version, n, now, sealed))
}

// placeOfStream names the place that the columns of a stream are sealed for.
func placeOfStream(workout uuid.UUID) string { return "workout_streams.data:" + workout.String() }
