package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Confirm refuses a reader who has another event of this number than the one that
// is stored: the database was restored from an earlier state, and the number was
// given again. An event that was forgotten can not be compared and is taken for
// the reader's.
func Confirm(ctx context.Context, tx *store.Tx, team uuid.UUID, number int64, has ID) error {
	stored, err := IDOf(ctx, tx, team, number)
	if err != nil || stored == (ID{}) || stored == has {
		return err
	}
	return fault.New(fault.Invalid, fmt.Sprintf("is not the id of your event number %d: the database was restored from an earlier state, "+
		"and this number was given again to another event; go on from before the restore", number)).At("query", "after_id")
}

// IDOf is the id of the event with a number, zero when there is none.
func IDOf(ctx context.Context, tx *store.Tx, team uuid.UUID, number int64) (id ID, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM events WHERE team_id = $1 AND seq = $2`, team, number).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return ID{}, nil
	}
	if err != nil {
		return ID{}, fmt.Errorf("events: reading an id: %w", err)
	}
	return id, nil
}
