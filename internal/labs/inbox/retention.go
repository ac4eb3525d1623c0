package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// MessageRetention is the time for which the text of a message without an owner is kept.
// Such a message has no reports, like an acknowledgement, or is about several users, or its
// report has no results and names no known person. The reports of the second kind are stored
// by themselves; those of the third end with the text.
const MessageRetention = 90 * 24 * time.Hour

// forgetBatch bounds the messages of one transaction.
const forgetBatch = 100

// ForgetJob deletes the texts of messages without an owner after their retention, and the
// reports that Forget names.
var ForgetJob = jobs.Define("inbox.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	for more := true; more; {
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			more, err = Forget(ctx, tx, tx.Now().Add(-MessageRetention))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}).Every(time.Hour).Deletes()

// Forget deletes the texts of a batch of messages without an owner that arrived before a
// time, and reports whether there may be more. It deletes their reports without results and
// without an owner too. A message stays while one of its reports waits: in a queue, or for
// the decision of an operator.
func Forget(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	reports, err := tx.Exec(ctx, `DELETE FROM inbox_reports WHERE id IN (
			SELECT r.id FROM inbox_messages m JOIN inbox_reports r ON r.message_id = m.id
			WHERE m.user_id IS NULL AND m.forgotten = FALSE AND m.received_at < $1 AND `+withoutSubject+`
			ORDER BY m.received_at LIMIT $2)`, store.Micros(before), forgetBatch)
	if err != nil {
		return false, fmt.Errorf("inbox: deleting reports without an owner: %w", err)
	}
	texts, err := tx.Exec(ctx, `UPDATE inbox_messages SET raw = $1, forgotten = TRUE WHERE id IN (
			SELECT m.id FROM inbox_messages m WHERE m.user_id IS NULL AND m.forgotten = FALSE AND m.received_at < $2
			AND NOT EXISTS (SELECT 1 FROM inbox_reports r WHERE r.message_id = m.id AND r.user_id IS NULL)
			ORDER BY m.received_at LIMIT $3)`, []byte{}, store.Micros(before), forgetBatch)
	if err != nil {
		return false, fmt.Errorf("inbox: deleting the texts of messages: %w", err)
	}
	return reports == forgetBatch || texts == forgetBatch, nil
}

// withoutSubject selects the reports r that no person and no operator will ever have. Those
// that wait for an operator have a row in unassigned_results.
const withoutSubject = `r.user_id IS NULL AND r.state = 'unmatched' AND NOT EXISTS (SELECT 1 FROM unassigned_results u WHERE u.id = r.id)`

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return append([]users.Records{{Name: "inbox_messages of several users", Erase: eraseShared, AsSystem: true}}, users.RowsOf("inbox_messages", "inbox_reports")...)
}

// eraseShared deletes the texts of messages that are about this user and others, and the
// reports in them that have no owner. The other users keep their reports. No operator
// has to act on a report of this user any more.
func eraseShared(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	const shared = `SELECT o.message_id FROM inbox_reports o WHERE o.team_id = $1 AND o.user_id = $2`
	_, err = tx.Exec(ctx, `DELETE FROM inbox_reports WHERE id IN (
			SELECT r.id FROM inbox_reports r WHERE r.message_id IN (`+shared+`) AND `+withoutSubject+`)`, team, user)
	if err != nil {
		return false, fmt.Errorf("inbox: erasing reports without an owner: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM unassigned_results WHERE team_id = $3 AND state <> 'assigned' AND id IN (
			SELECT r.id FROM inbox_reports r WHERE r.team_id = $1 AND r.user_id = $2)`, team, user, uuid.Nil)
	if err != nil {
		return false, fmt.Errorf("inbox: erasing reports that wait for an operator: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE inbox_messages SET raw = $3, forgotten = TRUE WHERE team_id = $4 AND id IN (`+shared+`)`, team, user, []byte{}, uuid.Nil)
	if err != nil {
		return false, fmt.Errorf("inbox: erasing the texts of messages: %w", err)
	}
	return false, nil
}
