package users

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Grace is how long a deleted user can be brought back.
//
// Spec: Limits, user deletion grace period.
const Grace = 7 * 24 * time.Hour

func inGrace(deleted *time.Time, now time.Time) bool {
	return deleted != nil && now.Before(deleted.Add(Grace))
}

// Delete hides a user at once, ends what the user is connected to, and asks
// for the erasure of all data when the grace period is over.
//
// Spec: States, user deletion grace period. Reference 5.5.
func Delete(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	version, err := nextNameVersion(ctx, tx, team)
	if err != nil {
		return err
	}
	block, err := mark(ctx, tx, `UPDATE users SET deleted_at = $3, info_version = CASE WHEN info_rev > 0 THEN CAST($4 AS BIGINT) ELSE 0 END
		WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING block`, team, id, tx.Now(), version)
	if errors.Is(err, store.ErrNoRows) {
		return gone(ctx, tx, team, id)
	}
	if err != nil {
		return fmt.Errorf("users: deleting %s: %w", id, err)
	}
	if err := count(ctx, tx, team, block, -1); err != nil {
		return err
	}
	if err := runHooks(ctx, tx, team, id, "deleting", func(r Records) Hook { return r.OnDelete }); err != nil {
		return err
	}
	return scheduleErasure(ctx, tx, team, id)
}

func scheduleErasure(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	due := tx.Now().Add(Grace)
	_, err := EraseJob.Enqueue(ctx, tx, eraseArgs{team, id}, jobs.Options{
		Team: team.UUID(), At: due, Key: fmt.Sprintf("users.erase:%s:%d", id, due.UnixMicro()),
	})
	if err != nil {
		return fmt.Errorf("users: scheduling the erasure of %s: %w", id, err)
	}
	return nil
}

// Ref names a user by one of its two references.
type Ref struct {
	ID           *ID
	ClientUserID *string
}

// Undo brings back a user whose grace period still runs. It is refused when
// another user has been created with the same client_user_id since. Provider
// connections are not restored.
//
// Spec: Users, POST /v2/user/undo_delete.
func Undo(ctx context.Context, tx *store.Tx, team teams.ID, ref Ref) error {
	id, clientUserID, err := deletedUser(ctx, tx, team, ref)
	if err != nil {
		return err
	}
	version, err := nextNameVersion(ctx, tx, team)
	if err != nil {
		return err
	}
	block, err := mark(ctx, tx, `UPDATE users SET deleted_at = NULL, info_version = CASE WHEN info_rev > 0 THEN CAST($4 AS BIGINT) ELSE 0 END
		WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM users o
			WHERE o.team_id = $1 AND o.client_user_id = $3 AND o.deleted_at IS NULL) RETURNING block`, team, id, clientUserID, version)
	switch {
	case store.IsUnique(err), errors.Is(err, store.ErrNoRows): // a concurrent transaction can still take the name
		return fault.New(fault.Conflict, "Another user has since been created with the same client_user_id")
	case err != nil:
		return fmt.Errorf("users: bringing back %s: %w", id, err)
	}
	if err := count(ctx, tx, team, block, 1); err != nil {
		return err
	}
	return runHooks(ctx, tx, team, id, "bringing back", func(r Records) Hook { return r.OnReturn })
}

func mark(ctx context.Context, tx *store.Tx, query string, args ...any) (block int64, err error) {
	err = tx.QueryRow(ctx, query, args...).Scan(&block)
	return block, err
}

// deletedUser finds the user that ref names among those in their grace
// period; of several with one client_user_id, the one deleted last.
func deletedUser(ctx context.Context, tx *store.Tx, team teams.ID, ref Ref) (id ID, clientUserID string, err error) {
	since := tx.Now().Add(-Grace)
	switch {
	case ref.ID != nil && ref.ClientUserID == nil:
		err = tx.QueryRow(ctx, `SELECT user_id, client_user_id FROM users
			WHERE team_id = $1 AND user_id = $2 AND deleted_at > $3`, team, *ref.ID, since).Scan(&id, &clientUserID)
	case ref.ClientUserID != nil && ref.ID == nil:
		err = tx.QueryRow(ctx, `SELECT user_id, client_user_id FROM users
			WHERE team_id = $1 AND client_user_id = $2 AND deleted_at IS NOT NULL AND deleted_at > $3
			ORDER BY deleted_at DESC, user_id DESC LIMIT 1`, team, *ref.ClientUserID, since).Scan(&id, &clientUserID)
	default:
		return id, "", fault.New(fault.Invalid, "Value error, exactly one of user_id and client_user_id is needed").At("query", "user_id")
	}
	if errors.Is(err, store.ErrNoRows) {
		return id, "", fault.New(fault.NotFound, "No such user is scheduled for deletion")
	}
	if err != nil {
		return id, "", fmt.Errorf("users: finding a deleted user: %w", err)
	}
	return id, clientUserID, nil
}
