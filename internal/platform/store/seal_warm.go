package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// WarmKeys reads the keys of many users of a team with few queries, so that
// sealing and unsealing in this transaction need not ask for one after the
// other. Users that have none are passed over.
func (tx *Tx) WarmKeys(ctx context.Context, team uuid.UUID, users []uuid.UUID) error {
	cold := make([]uuid.UUID, 0, len(users))
	seen := make(map[uuid.UUID]bool, len(users))
	for _, user := range users {
		s := subject{team, user}
		if tx.fresh[s] == nil && !seen[user] && tx.db.keys.get(s, tx.now) == nil {
			cold, seen[user] = append(cold, user), true
		}
	}
	for len(cold) > 0 {
		width := 1
		for width < warmedAtOnce && width < len(cold) {
			width *= 4
		}
		some := cold[:min(width, len(cold))]
		if err := tx.warmKeys(ctx, team, some, width); err != nil {
			return err
		}
		cold = cold[len(some):]
	}
	return nil
}

// warmedAtOnce is how many keys one query reads; a few are read by fours, so
// that there are few texts to prepare.
const warmedAtOnce = 256

func (tx *Tx) warmKeys(ctx context.Context, team uuid.UUID, users []uuid.UUID, width int) error {
	args := []any{team}
	for i := range width {
		args = append(args, users[min(i, len(users)-1)])
	}
	type row struct {
		user    uuid.UUID
		number  int64
		wrapped []byte
	}
	var all []row
	var b Batch
	b.Query(func(from Scanner) error {
		var r row
		err := from.Scan(&r.user, &r.number, &r.wrapped)
		all = append(all, r)
		return err
	}, `SELECT subject_id, number, wrapped FROM sealing_keys WHERE team_id = $1 AND subject_id IN `+List(2, width), args...)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("store: reading keys: %w", err)
	}
	wrapped := map[uuid.UUID]map[byte][]byte{}
	for _, r := range all {
		if wrapped[r.user] == nil {
			wrapped[r.user] = map[byte][]byte{}
		}
		wrapped[r.user][byte(r.number)] = r.wrapped
	}
	for user, byNo := range wrapped {
		s := subject{team, user}
		keys, err := tx.openKeys(ctx, s, byNo)
		if err != nil {
			return err
		}
		tx.remember(s, keys)
	}
	return nil
}
