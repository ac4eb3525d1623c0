package matching

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/inbox"
	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// KeptRejected is how long a rejected result is kept. What remains then is that
// there was one and what was decided.
const KeptRejected = 90 * 24 * time.Hour

// forgetAtOnce is how many results go in one transaction.
const forgetAtOnce = 100

// ForgetJob ends the retention of rejected results.
var ForgetJob = jobs.Define("matching.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for more := true; more; {
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			more, err = Forget(ctx, tx, tx.Now().Add(-KeptRejected))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}).Every(time.Hour)

// Forget destroys what is personal of results that were rejected before a time,
// some of them, and reports whether there may be more.
func Forget(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	all, err := itemsOf(ctx, tx, `SELECT team_id, id FROM unmatched_results
		WHERE reviewed_at < $1 AND reviewed_at IS NOT NULL AND summary IS NOT NULL AND user_id IS NULL AND status = 'resolved' LIMIT $2`,
		store.Micros(before), forgetAtOnce)
	if err != nil {
		return false, err
	}
	for _, i := range all {
		err := errors.Join(i.destroy(ctx, tx),
			i.exec(ctx, tx, `UPDATE unmatched_results SET summary = NULL, body = NULL WHERE team_id = $1 AND id = $2`))
		if err != nil {
			return false, err
		}
	}
	return len(all) == forgetAtOnce, nil
}

// destroy makes a result unreadable that is sealed with its own key, and
// removes what the inbox has of it.
func (i Item) destroy(ctx context.Context, tx *store.Tx) error {
	return errors.Join(
		inbox.Discard(ctx, tx, i.ID.UUID()),
		i.exec(ctx, tx, `DELETE FROM unmatched_candidates WHERE team_id = $1 AND result_id = $2`),
		tx.Shred(ctx, i.Team.UUID(), i.ID.UUID()),
	)
}

func (i Item) exec(ctx context.Context, tx *store.Tx, query string) error {
	if _, err := tx.Exec(ctx, query, i.Team, i.ID); err != nil {
		return fmt.Errorf("matching: forgetting: %w", err)
	}
	return nil
}

func itemsOf(ctx context.Context, tx *store.Tx, query string, args ...any) ([]Item, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("matching: reading ids: %w", err)
	}
	defer rows.Close()
	var all []Item
	for rows.Next() {
		var i Item
		if err := rows.Scan(&i.Team, &i.ID); err != nil {
			return nil, fmt.Errorf("matching: reading ids: %w", err)
		}
		all = append(all, i)
	}
	return all, rows.Err()
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "unmatched_results", Erase: erase}}
}

// erase removes what the queue has of a user: the results that became theirs,
// and those that wait and can be nobody else's. Of others they are no candidate
// any more.
func erase(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	theirs, err := itemsOf(ctx, tx, `SELECT r.team_id, r.id FROM unmatched_results r WHERE r.team_id = $1 AND r.user_id IS NULL AND r.id IN (
			SELECT c.result_id FROM unmatched_candidates c WHERE c.team_id = $1 AND c.user_id = $2 AND c.alike = TRUE)
		AND NOT EXISTS (SELECT 1 FROM unmatched_candidates o WHERE o.team_id = $1 AND o.result_id = r.id AND o.user_id <> $2 AND o.alike = TRUE) LIMIT $3`,
		team, user, forgetAtOnce)
	if err != nil {
		return false, err
	}
	for _, i := range theirs {
		if err := errors.Join(i.destroy(ctx, tx), i.exec(ctx, tx, `DELETE FROM unmatched_results WHERE team_id = $1 AND id = $2`)); err != nil {
			return false, err
		}
	}
	if len(theirs) == forgetAtOnce {
		return true, nil
	}
	for _, query := range []string{
		`DELETE FROM unmatched_candidates WHERE team_id = $1 AND result_id IN (SELECT r.id FROM unmatched_results r WHERE r.team_id = $1 AND r.user_id = $2)`,
		`DELETE FROM unmatched_results WHERE team_id = $1 AND user_id = $2`,
		`DELETE FROM unmatched_candidates WHERE team_id = $1 AND user_id = $2`,
	} {
		if _, err := tx.Exec(ctx, query, team, user); err != nil {
			return false, fmt.Errorf("matching: erasing: %w", err)
		}
	}
	return false, nil
}
