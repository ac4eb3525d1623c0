package insurance

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// InForce is the identifier of a user's newest primary record: the one that an
// order is billed to. False when there is none.
//
// Reference 1.18.
func InForce(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (uuid.UUID, bool, error) {
	var id uuid.UUID
	err := tx.QueryRow(ctx, `SELECT insurance_id FROM insurance WHERE team_id = $1 AND user_id = $2 AND is_primary = TRUE
		ORDER BY created_on DESC, insurance_id DESC LIMIT 1`, team, user).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return uuid.Nil, false, nil
	}
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("insurance: looking for the record in force: %w", err)
	}
	return id, true, nil
}

// Get returns one record of a user, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id uuid.UUID) (Record, error) {
	return one(ctx, tx, team, user, tx.QueryRow(ctx, `SELECT insurance_id, body FROM insurance
		WHERE team_id = $1 AND user_id = $2 AND insurance_id = $3`, team, user, id))
}
