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

// MessageRetention is the time for which the text of a message without an owner is kept:
// one without reports, such as an acknowledgement, or one about several users. The
// reports of such a message are stored by themselves.
const MessageRetention = 90 * 24 * time.Hour

// forgetBatch bounds the messages of one transaction.
const forgetBatch = 100

// ForgetJob deletes the texts of messages without an owner after their retention.
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
// time, and reports whether there may be more. A message stays while one of its reports
// waits.
func Forget(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	n, err := tx.Exec(ctx, `UPDATE inbox_messages SET raw = $1, forgotten = TRUE WHERE id IN (
			SELECT m.id FROM inbox_messages m WHERE m.user_id IS NULL AND m.forgotten = FALSE AND m.received_at < $2
			AND NOT EXISTS (SELECT 1 FROM inbox_reports r WHERE r.message_id = m.id AND r.user_id IS NULL)
			ORDER BY m.received_at LIMIT $3)`, []byte{}, store.Micros(before), forgetBatch)
	if err != nil {
		return false, fmt.Errorf("inbox: deleting the texts of messages: %w", err)
	}
	return n == forgetBatch, nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return append([]users.Records{{Name: "inbox_messages of several users", Erase: eraseShared}}, users.RowsOf("inbox_messages", "inbox_reports")...)
}

// eraseShared deletes the texts of messages that are about this user and others. The other
// users keep their reports.
func eraseShared(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	_, err = tx.Exec(ctx, `UPDATE inbox_messages SET raw = $1, forgotten = TRUE WHERE team_id = $2 AND id IN (
			SELECT r.message_id FROM inbox_reports r WHERE r.team_id = $3 AND r.user_id = $4)`, []byte{}, uuid.Nil, team, user)
	if err != nil {
		return false, fmt.Errorf("inbox: erasing the texts of messages: %w", err)
	}
	return false, nil
}
