package insurance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/fault"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
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
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT body FROM insurance WHERE team_id = $1 AND user_id = $2 AND insurance_id = $3`, team, user, id).Scan(&sealed)
	if errors.Is(err, store.ErrNoRows) {
		return Record{}, fault.New(fault.NotFound, "Insurance not found")
	}
	if err != nil {
		return Record{}, fmt.Errorf("insurance: reading: %w", err)
	}
	doc, err := tx.Unseal(ctx, team.UUID(), user.UUID(), place(id), sealed)
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(doc, &r); err != nil {
		return Record{}, fmt.Errorf("insurance: stored record %s: %w", id, err)
	}
	return r, nil
}
