package users

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// TakenError says that another active user of the team holds the
// client_user_id, and which.
//
// Spec: Errors, first row. Reference 5.3.
type TakenError struct {
	User      ID
	CreatedOn time.Time
}

func (e *TakenError) Error() string { return "Client user id already exists." }

// Kind is Refused: the reference answers 400.
func (e *TakenError) Kind() fault.Kind { return fault.Refused }

// Detail is the object that the reference answers with.
func (e *TakenError) Detail() map[string]any {
	detail := e.Beside()
	detail["error_type"], detail["error_message"] = "INVALID_REQUEST", e.Error()
	return detail
}

// Beside is what the spec wants in the body itself.
func (e *TakenError) Beside() map[string]any {
	return map[string]any{"user_id": e.User.String(), "created_on": e.CreatedOn.UTC().Format("2006-01-02T15:04:05-07:00")}
}

func taken(ctx context.Context, tx *store.Tx, team teams.ID, clientUserID string) error {
	holder, err := findByClient(ctx, tx, team, clientUserID)
	if errors.Is(err, store.ErrNoRows) { // the holder was deleted between our two statements
		return store.ErrLostRace
	}
	if err != nil {
		return fmt.Errorf("users: reading the holder of a client_user_id: %w", err)
	}
	return &TakenError{holder.ID, holder.CreatedOn}
}

func notFound() error { return fault.New(fault.NotFound, "User not found") }

// gone is what a change of an absent user answers, which tells a user in its
// grace period from one that never was.
func gone(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	_, deleted, err := find(ctx, tx, team, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNoRows):
		return fmt.Errorf("users: reading %s: %w", id, err)
	case err == nil && inGrace(deleted, tx.Now()):
		return fault.New(fault.NotFound, "User is already scheduled for deletion")
	}
	return fault.New(fault.NotFound, "User is not, or no longer, in the team")
}

func alreadyExists() error {
	return fault.New(fault.Conflict, "Client user id already exists")
}
