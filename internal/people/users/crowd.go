package users

import (
	"context"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Found is a user with what stood beside, empty for nothing.
type Found struct {
	User
	Beside string
}

// Crowd is many users of a team, looked up at once: Ask adds its query to a batch, and
// Open tells what came.
type Crowd struct{ rows []found }

type found struct {
	row
	beside string
}

// Ask asks for the active users among ids. beside is a text expression over the
// table users, or empty.
func (l *Crowd) Ask(tx *store.Tx, b *store.Batch, team teams.ID, ids []ID, beside string) {
	if beside == "" {
		beside = "''"
	}
	text := `SELECT ` + columns + `, COALESCE(` + beside + `, '') FROM `
	if tx.Engine() == store.Postgres { // an array costs half of what a list does
		b.Query(l.take, text+usersByKey, team, arrayOf(ids))
		return
	}
	text += `users WHERE team_id = $1 AND deleted_at IS NULL AND user_id `
	for len(ids) > 0 {
		n := min(len(ids), crowdWidths[0])
		part := ids[:n]
		ids = ids[n:]
		width := n
		for _, w := range crowdWidths {
			if w >= n {
				width = w
			}
		}
		args := make([]any, 0, 1+width)
		args = append(args, team)
		for _, id := range part {
			args = append(args, id)
		}
		for len(args) < 1+width { // the same one again: few texts to prepare
			args = append(args, part[n-1])
		}
		b.Query(l.take, text+`IN `+store.Placeholders(2, width), args...)
	}
}

// usersByKey looks up the active users of an array on PostgreSQL. LATERAL, OFFSET 0 and
// COALESCE make each user one lookup by key. Without statistics, PostgreSQL would read
// the whole team for = ANY, or through an index of active users.
const usersByKey = `UNNEST($2::uuid[]) AS n(id) CROSS JOIN LATERAL (SELECT * FROM users
	WHERE team_id = $1 AND COALESCE(deleted_at, 0) = 0 AND user_id = n.id OFFSET 0) AS users`

func arrayOf(ids []ID) [][16]byte {
	all := make([][16]byte, len(ids))
	for i, id := range ids {
		all[i] = id
	}
	return all
}

// crowdWidths are how many users one statement asks for on SQLite.
var crowdWidths = []int{32, 8, 2, 1}

func (l *Crowd) take(from store.Scanner) error {
	var f found
	var err error
	f.row, err = scan(from, Beside{Dest: &f.beside})
	l.rows = append(l.rows, f)
	return err
}

// Open gives the users that were found. It unseals, so it needs the
// transaction.
func (l *Crowd) Open(ctx context.Context, tx *store.Tx) (map[ID]Found, error) {
	all := make(map[ID]Found, len(l.rows))
	for i := range l.rows {
		user, err := l.rows[i].open(ctx, tx)
		if err != nil {
			return nil, err
		}
		all[user.ID] = Found{user, l.rows[i].beside}
	}
	return all, nil
}
