package users

import (
	"context"
	"fmt"

	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Records describes rows that one domain keeps about users: how to erase them,
// and what to do when a user is deleted, restored or changes zones. The app
// registers the records of every domain (internal/app/registry.go).
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
}

// Hook runs in the transaction that changes a user. Its error undoes the change.
type Hook func(ctx context.Context, tx *store.Tx, team teams.ID, user ID) error

// registered has the records of every domain, for each database.
var registered = store.NewSlot(ownRecords)

// Register sets the records of all other domains. The app and the command line
// call it before they use db. Without it a database has the records of this
// package only.
func Register(db *store.DB, others ...Records) {
	registered.Set(db, append(ownRecords(), others...))
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

// RowsUntilDeletion is RowsOf for rows that are deleted together with the user,
// before the grace period.
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
	for _, r := range registered.Of(tx) {
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

// EraseJob removes everything about a user whose grace period is over. It
// changes nothing when the user was brought back, or deleted again later: the
// later deletion has a job of its own.
var EraseJob = jobs.Define("users.erase", erase).With(jobs.Limits{Attempts: 1000}) // an erasure is never given up

func erase(ctx context.Context, run *jobs.Run, args eraseArgs) error {
	var due bool
	err := run.DB().Read(ctx, func(tx *store.Tx) (err error) {
		due, err = isDue(ctx, tx, args)
		return err
	})
	if err != nil || !due {
		return err
	}
	records := registered.Of(run.DB())
	for i, r := range records {
		if r.Erase == nil {
			continue
		}
		if err := eraseRecords(ctx, run, args, r); err != nil {
			return fmt.Errorf("users: erasing %s of %s: %w", r.Name, args.User, err)
		}
		if err := run.Progress(ctx, int64(i+1), int64(len(records)), r.Name); err != nil {
			return err
		}
	}
	return run.DB().Write(ctx, func(tx *store.Tx) error { return finish(ctx, tx, args) })
}

func isDue(ctx context.Context, tx *store.Tx, args eraseArgs) (bool, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at <= $3`,
		args.Team, args.User, tx.Now().Add(-Grace)).Scan(&n)
	return n > 0, err
}

func eraseRecords(ctx context.Context, run *jobs.Run, args eraseArgs, r Records) error {
	for more := true; more; {
		err := run.DB().Write(ctx, func(tx *store.Tx) error {
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

// finish removes the user itself, and the key. Until then a crash leaves rows
// that can still be read, and the job starts over. Whoever is there again, by a
// node whose clock is slow, keeps the key.
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
	return nil
}
