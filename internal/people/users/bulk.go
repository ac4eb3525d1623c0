package users

import (
	"context"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// BulkLookup finds many users of a team with one query. AddTo adds the query to a
// batch of statements. Users returns the result once the batch has run.
type BulkLookup struct{ rows []row }

// AddTo adds the query for the active users among ids.
func (l *BulkLookup) AddTo(tx *store.Tx, b *store.Batch, team teams.ID, ids []ID) {
	take := func(from store.Scanner) error {
		r, err := scan(from)
		l.rows = append(l.rows, r)
		return err
	}
	if tx.Engine() == store.Postgres {
		b.Query(take, `SELECT `+columns+` FROM `+usersByKey, team, ArrayOf(ids))
		return
	}
	AddForUsers(ids, func(operator string, list ...any) {
		b.Query(take, `SELECT `+columns+` FROM users WHERE team_id = $1 AND deleted_at IS NULL AND user_id `+operator, append([]any{team}, list...)...)
	})
}

// usersByKey looks up the active users of an array on PostgreSQL. LATERAL, OFFSET 0 and
// COALESCE make each user one lookup by key. Without statistics, PostgreSQL would read
// the whole team for = ANY, or through an index of active users.
const usersByKey = `UNNEST($2::uuid[]) AS n(id) CROSS JOIN LATERAL (SELECT * FROM users
	WHERE team_id = $1 AND COALESCE(deleted_at, 0) = 0 AND user_id = n.id OFFSET 0) AS users`

// AddForUsers calls add for parts of ids, so that few texts need to be prepared on
// SQLite. operator compares a column of user ids with a list, whose parameters begin
// with $2. On PostgreSQL an array costs half of what a list does: see usersByKey.
func AddForUsers(ids []ID, add func(operator string, list ...any)) {
	store.SplitPadded(ids, []int{32, 8, 2, 1}, func(part []ID) {
		list := make([]any, len(part))
		for i, id := range part {
			list[i] = id
		}
		add(`IN `+store.Placeholders(2, len(part)), list...)
	})
}

// ArrayOf returns ids as an array for PostgreSQL.
func ArrayOf(ids []ID) [][16]byte {
	all := make([][16]byte, len(ids))
	for i, id := range ids {
		all[i] = id
	}
	return all
}

// Users returns the users that were found. It unseals, so it needs the
// transaction.
func (l *BulkLookup) Users(ctx context.Context, tx *store.Tx) (map[ID]User, error) {
	all := make(map[ID]User, len(l.rows))
	for i := range l.rows {
		user, err := l.rows[i].open(ctx, tx)
		if err != nil {
			return nil, err
		}
		all[user.ID] = user
	}
	return all, nil
}
