package matching

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// RejectedRetention is the time for which a rejected result is kept. After it
// only the decision remains.
const RejectedRetention = 90 * 24 * time.Hour

// UndecidedRetention is the time after which a result without a team is rejected if no
// operator decided: older orders are not looked at.
const UndecidedRetention = lookBack

// forgetBatch bounds the results of one transaction.
const forgetBatch = 100

// ForgetJob deletes the content of rejected results after their retention, and ends the
// wait of results without a team. It also reads the results without a team that an earlier version left.
var ForgetJob = jobs.Define("matching.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	before := func(tx *store.Tx) time.Time { return tx.Now().Add(-RejectedRetention) }
	for _, batch := range []func(tx *store.Tx) (bool, error){
		func(tx *store.Tx) (bool, error) { return readUnread(ctx, tx) },
		func(tx *store.Tx) (bool, error) { return Forget(ctx, tx, before(tx)) },
		func(tx *store.Tx) (bool, error) {
			return endUndecided(ctx, tx, tx.Now().Add(-UndecidedRetention))
		},
		func(tx *store.Tx) (bool, error) { return forgetUnassigned(ctx, tx, before(tx)) },
	} {
		for more := true; more; {
			err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
				more, err = batch(tx)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}).Every(time.Hour).Deletes()

// Forget deletes the personal content of a batch of results that were rejected
// before a time, and reports whether there may be more.
func Forget(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	all, err := itemsOf(ctx, tx, `SELECT team_id, id FROM unmatched_results
		WHERE reviewed_at < $1 AND reviewed_at IS NOT NULL AND summary IS NOT NULL AND user_id IS NULL AND status = 'resolved' LIMIT $2`,
		store.Micros(before), forgetBatch)
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
	return len(all) == forgetBatch, nil
}

// destroy makes a result unreadable that is sealed with its own key, and
// deletes its report from the inbox.
func (i Item) destroy(ctx context.Context, tx *store.Tx) error {
	return errors.Join(
		inbox.Discard(ctx, tx, i.ID.UUID()),
		critical.Forget(ctx, tx, i.Team, i.ID.UUID()),
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

// erase deletes a user's rows of the queue. They are the results that were accepted for
// the user, and the waiting results that can only be the user's. The user is removed
// from the candidates of other results.
func erase(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	theirs, err := itemsOf(ctx, tx, `SELECT r.team_id, r.id FROM unmatched_results r WHERE r.team_id = $1 AND r.user_id IS NULL AND r.id IN (
			SELECT c.result_id FROM unmatched_candidates c WHERE c.team_id = $1 AND c.user_id = $2 AND c.alike = TRUE)
		AND NOT EXISTS (SELECT 1 FROM unmatched_candidates o WHERE o.team_id = $1 AND o.result_id = r.id AND o.user_id <> $2 AND o.alike = TRUE) LIMIT $3`,
		team, user, forgetBatch)
	if err != nil {
		return false, err
	}
	for _, i := range theirs {
		if err := errors.Join(i.destroy(ctx, tx), i.exec(ctx, tx, `DELETE FROM unmatched_results WHERE team_id = $1 AND id = $2`)); err != nil {
			return false, err
		}
	}
	if len(theirs) == forgetBatch {
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
