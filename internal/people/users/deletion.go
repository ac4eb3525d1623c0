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

// Grace is the time in which a deleted user can be restored.
//
// Spec: Limits, user deletion grace period.
const Grace = 7 * 24 * time.Hour

func inGrace(deleted *time.Time, now time.Time) bool {
	return deleted != nil && now.Before(deleted.Add(Grace))
}

// Delete hides a user at once, ends the user's connections, and schedules the erasure
// of all data for the end of the grace period.
//
// Spec: States, user deletion grace period. Reference 5.5.
func Delete(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	version, err := nextNameVersion(ctx, tx, team)
	if err != nil {
		return err
	}
	block, err := updateDeletion(ctx, tx, `UPDATE users SET deleted_at = $3, info_version = CASE WHEN info_rev > 0 THEN CAST($4 AS BIGINT) ELSE 0 END
		WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING block`, team, id, tx.Now(), version)
	if errors.Is(err, store.ErrNoRows) {
		return absentError(ctx, tx, team, id, "User is already scheduled for deletion")
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
	if err := announceDeleted(ctx, tx, team, id); err != nil {
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

// Ref names a user by id or by client_user_id.
type Ref struct {
	ID           *ID
	ClientUserID *string
}

// UndoDelete restores a user in the grace period. It is refused if another user was
// created with the same client_user_id. Provider connections are not restored.
//
// Spec: Users, POST /v2/user/undo_delete.
func UndoDelete(ctx context.Context, tx *store.Tx, team teams.ID, ref Ref) error {
	id, clientUserID, err := deletedUser(ctx, tx, team, ref)
	if err != nil {
		return err
	}
	version, err := nextNameVersion(ctx, tx, team)
	if err != nil {
		return err
	}
	block, err := updateDeletion(ctx, tx, `UPDATE users SET deleted_at = NULL, info_version = CASE WHEN info_rev > 0 THEN CAST($4 AS BIGINT) ELSE 0 END
		WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM users o
			WHERE o.team_id = $1 AND o.client_user_id = $3 AND o.deleted_at IS NULL) RETURNING block`, team, id, clientUserID, version)
	switch {
	case store.IsUnique(err), errors.Is(err, store.ErrNoRows): // a concurrent transaction can still take the name
		return fault.New(fault.Conflict, "Another user has since been created with the same client_user_id")
	case err != nil:
		return fmt.Errorf("users: restoring %s: %w", id, err)
	}
	if err := count(ctx, tx, team, block, 1); err != nil {
		return err
	}
	user, err := Get(ctx, tx, team, id)
	if err != nil {
		return err
	}
	if err := user.announce(ctx, tx, RestoredEvent); err != nil {
		return err
	}
	return runHooks(ctx, tx, team, id, "restoring", func(r Records) Hook { return r.OnReturn })
}

func updateDeletion(ctx context.Context, tx *store.Tx, query string, args ...any) (block int64, err error) {
	err = tx.QueryRow(ctx, query, args...).Scan(&block)
	return block, err
}

// deletedUser finds the user that ref names in the grace period. If several have the
// client_user_id, it returns the one that was deleted last.
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

// IsDeleted reports whether a user is deleted and can be restored.
func IsDeleted(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (bool, error) {
	var at *time.Time
	err := tx.QueryRow(ctx, `SELECT deleted_at FROM users WHERE team_id = $1 AND user_id = $2`, team, id).Scan(store.ScanNullTime(&at))
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	return inGrace(at, tx.Now()), err
}

// Records describes rows that one domain stores about users. It contains the functions
// that erase the rows, and the hooks for a user who is deleted, restored or changes
// zones. The app registers the records of every domain (internal/app/registry.go).
type Records struct {
	// Name appears in progress and errors: "connections".
	Name string
	// OnDelete, when set, runs in the transaction that deletes the user.
	OnDelete Hook
	// OnReturn, when set, runs in the transaction that restores a deleted user.
	OnReturn Hook
	// OnZone, when set, runs in the transaction that gives the user another
	// fallback time zone, or none.
	OnZone Hook
	// Erase removes rows for good, a few thousand at most in one transaction,
	// and reports whether there are more.
	Erase func(ctx context.Context, tx *store.Tx, team teams.ID, user ID) (more bool, err error)
	// AsSystem means that Erase also changes rows of no team. PostgreSQL hides these from
	// the job of a team.
	AsSystem bool
}

// Hook runs in the transaction that changes a user. Its error undoes the change.
type Hook func(ctx context.Context, tx *store.Tx, team teams.ID, user ID) error

// registeredRecords has the records of all domains, for each database.
var registeredRecords = store.NewSlot(ownRecords)

// Register sets the records of all other domains. The app and the command line
// call it before they use db. Without it a database has the records of this
// package only.
func Register(db *store.DB, others ...Records) {
	registeredRecords.Set(db, append(ownRecords(), others...))
}

// ownRecords returns the rows of users in this package.
func ownRecords() []Records {
	return append(RowsUntilDeletion("portal_links", "portal_sessions"), RowsOf("user_info", "former_zones")...)
}

// RowsOf returns the records of tables with a few rows for each user. The
// tables have columns team_id and user_id.
func RowsOf(tables ...string) []Records {
	all := make([]Records, len(tables))
	for i, table := range tables {
		all[i] = Records{Name: table, Erase: EraseRows(table)}
	}
	return all
}

// RowsUntilDeletion returns records like RowsOf, for rows that are deleted together with
// the user, before the grace period.
func RowsUntilDeletion(tables ...string) []Records {
	all := RowsOf(tables...)
	for i := range all {
		erase := all[i].Erase
		all[i].OnDelete = func(ctx context.Context, tx *store.Tx, team teams.ID, user ID) error {
			_, err := erase(ctx, tx, team, user)
			return err
		}
	}
	return all
}

// EraseRows returns the Erase of a table with a few rows for each user. The
// table has columns team_id and user_id.
func EraseRows(table string) func(context.Context, *store.Tx, teams.ID, ID) (bool, error) {
	query := `DELETE FROM ` + table + ` WHERE team_id = $1 AND user_id = $2`
	return func(ctx context.Context, tx *store.Tx, team teams.ID, user ID) (bool, error) {
		_, err := tx.Exec(ctx, query, team, user)
		return false, err
	}
}

// runHooks calls one hook of every domain. doing is for errors: "deleting".
func runHooks(ctx context.Context, tx *store.Tx, team teams.ID, user ID, doing string, hookOf func(Records) Hook) error {
	for _, r := range registeredRecords.Of(tx) {
		hook := hookOf(r)
		if hook == nil {
			continue
		}
		if err := hook(ctx, tx, team, user); err != nil {
			return fmt.Errorf("users: %s %s: %s: %w", doing, user, r.Name, err)
		}
	}
	return nil
}

type eraseArgs struct {
	Team teams.ID `json:"team"`
	User ID       `json:"user"`
}

// EraseJob erases a user whose grace period is over. It changes nothing if the user
// was restored, or deleted again later: the later deletion has its own job.
var EraseJob = jobs.Define("users.erase", erase).With(jobs.Limits{Attempts: 1000}).Deletes() // an erasure must succeed

func erase(ctx context.Context, run *jobs.Run, args eraseArgs) error {
	var due bool
	err := run.DB().Read(ctx, func(tx *store.Tx) (err error) {
		due, err = isDue(ctx, tx, args)
		return err
	})
	if err != nil || !due {
		return err
	}
	return eraseAll(ctx, run.DB(), args, func(done, of int, name string) error {
		return run.Progress(ctx, int64(done), int64(of), name)
	})
}

// eraseAll erases the records of a user whose grace period is over, and then the key.
func eraseAll(ctx context.Context, db *store.DB, args eraseArgs, progress func(done, of int, name string) error) error {
	records := registeredRecords.Of(db)
	for i, r := range records {
		if r.Erase == nil {
			continue
		}
		if err := eraseRecords(ctx, db, args, r); err != nil {
			return fmt.Errorf("users: erasing %s of %s: %w", r.Name, args.User, err)
		}
		if err := progress(i+1, len(records), r.Name); err != nil {
			return err
		}
	}
	return db.Write(ctx, func(tx *store.Tx) error { return finish(ctx, tx, args) })
}

func isDue(ctx context.Context, tx *store.Tx, args eraseArgs) (bool, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at <= $3`,
		args.Team, args.User, tx.Now().Add(-Grace)).Scan(&n)
	return n > 0, err
}

func eraseRecords(ctx context.Context, db *store.DB, args eraseArgs, r Records) error {
	if r.AsSystem {
		ctx = store.AsSystem(ctx)
	}
	for more := true; more; {
		err := db.Write(ctx, func(tx *store.Tx) error {
			due, err := isDue(ctx, tx, args)
			if more = due; err != nil || !due {
				return err
			}
			more, err = r.Erase(ctx, tx, args.Team, args.User)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish removes the user and the key. If the process crashes earlier, the rows are
// still readable and the job starts again. A user that a node with a slow clock has
// restored keeps the key.
func finish(ctx context.Context, tx *store.Tx, args eraseArgs) error {
	n, err := tx.Exec(ctx, `DELETE FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at <= $3`,
		args.Team, args.User, tx.Now().Add(-Grace))
	if err != nil {
		return fmt.Errorf("users: erasing %s: %w", args.User, err)
	}
	if n == 0 {
		return nil
	}
	if err := tx.Shred(ctx, args.Team.UUID(), args.User.UUID()); err != nil {
		return fmt.Errorf("users: shredding the key of %s: %w", args.User, err)
	}
	if list := erasures.Of(tx); list != nil {
		if err := list.add(Erasure(args)); err != nil {
			return fmt.Errorf("users: recording the erasure of %s: %w", args.User, err)
		}
	}
	return scheduleScrub(ctx, tx, args.Team)
}
