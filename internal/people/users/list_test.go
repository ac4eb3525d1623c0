package users_test

import (
	"context"
	"fmt"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func list(tb testing.TB, db *store.DB, team teams.ID, offset, limit int64) (page users.Page) {
	tb.Helper()
	userstest.Read(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		page, err = users.List(ctx, tx, team, offset, limit)
		return err
	})
	return page
}

// fill creates n users, many in one transaction.
func fill(tb testing.TB, db *store.DB, team teams.ID, n int) []users.ID {
	tb.Helper()
	var ids []users.ID
	for start := 0; start < n; start += 1000 {
		var part []users.ID
		userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
			part = part[:0]
			for i := start; i < min(n, start+1000); i++ {
				user, err := users.Create(ctx, tx, team, users.NewUser{ClientUserID: fmt.Sprintf("fill-%d", i)})
				if err != nil {
					return err
				}
				part = append(part, user.ID)
			}
			return nil
		})
		ids = append(ids, part...)
	}
	return ids
}

func TestListIsNewestFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, other := userstest.Team(t, db).ID, userstest.Team(t, db).ID
		if page := list(t, db, team, 0, 10); len(page.Users) != 0 || page.Total != 0 {
			t.Errorf("an empty team lists %+v", page)
		}
		ids := fill(t, db, team, 12)
		fill(t, db, other, 3)
		page := list(t, db, team, 0, 5)
		if page.Total != 12 || len(page.Users) != 5 {
			t.Fatalf("total %d, %d users", page.Total, len(page.Users))
		}
		for i, u := range page.Users {
			if u.ID != ids[11-i] {
				t.Errorf("place %d holds %s", i, u.ClientUserID)
			}
		}
		if page = list(t, db, team, 10, 5); len(page.Users) != 2 || page.Users[1].ID != ids[0] {
			t.Errorf("last page %+v", page)
		}
		if page = list(t, db, team, 12, 5); len(page.Users) != 0 || page.Total != 12 {
			t.Errorf("beyond the end %+v", page)
		}
	})
}

// Pages that cross blocks with deleted users show each user once, in order.
func TestListCrossesBlocks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		ids := fill(t, db, team, 2*4096+500)
		gone := map[users.ID]bool{}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			for i := 0; i < len(ids); i += 97 {
				gone[ids[i]] = true
				if err := users.Delete(ctx, tx, team, ids[i]); err != nil {
					return err
				}
			}
			return nil
		})
		var want []users.ID
		for i := len(ids) - 1; i >= 0; i-- {
			if !gone[ids[i]] {
				want = append(want, ids[i])
			}
		}
		for offset := int64(0); offset < int64(len(want)); offset += 451 {
			page := list(t, db, team, offset, 451)
			if page.Total != int64(len(want)) {
				t.Fatalf("total %d, want %d", page.Total, len(want))
			}
			for i, u := range page.Users {
				if u.ID != want[int(offset)+i] {
					t.Fatalf("place %d is not the right user", int(offset)+i)
				}
			}
			if wantLen := min(451, int64(len(want))-offset); int64(len(page.Users)) != wantLen {
				t.Fatalf("page at %d has %d users, want %d", offset, len(page.Users), wantLen)
			}
		}
		checkCounts(t, db, team)
	})
}

// A list that continues after a position has each user that is there throughout once,
// while others are created, deleted and restored.
func TestListAfterSkipsAndRepeatsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		ids := fill(t, db, team, 40)
		var after *users.Position
		seen, pages := map[users.ID]int{}, 0
		for ; ; pages++ {
			var page users.Page
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				if after == nil {
					page, err = users.List(ctx, tx, team, 0, 7)
				} else {
					page, err = users.ListAfter(ctx, tx, team, *after, 7)
				}
				return err
			})
			for _, u := range page.Users {
				seen[u.ID]++
			}
			if after = page.Next; after == nil {
				break
			}
			userstest.New(t, db, team, users.NewUser{ClientUserID: fmt.Sprintf("new-%d", pages)})
			gone := ids[39-8*pages] // the first one was shown, the others follow
			if err := del(db, team, gone); err != nil {
				t.Fatal(err)
			}
			if pages%2 == 0 {
				if err := undo(db, team, users.Ref{ID: &gone}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, id := range ids {
			deleted := i == 31 || i == 15
			if n := seen[id]; n > 1 || n == 0 && !deleted {
				t.Errorf("user %d occurs %d times", i, n)
			}
		}
		if pages != 5 {
			t.Errorf("%d pages, want 5", pages)
		}
	})
}

// checkCounts compares the stored counts with the rows.
func checkCounts(t *testing.T, db *store.DB, team teams.ID) {
	t.Helper()
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		var wrong int
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM
			(SELECT block, SUM(n) AS n FROM user_counts WHERE team_id = $1 AND block >= 0 GROUP BY block) k
			LEFT JOIN (SELECT block, COUNT(*) AS n FROM users WHERE team_id = $1 AND deleted_at IS NULL GROUP BY block) c ON c.block = k.block
			WHERE k.n <> COALESCE(c.n, 0)`, team).Scan(&wrong)
		if err != nil || wrong != 0 {
			t.Errorf("%d block counts are wrong, %v", wrong, err)
		}
		var all int64
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM users WHERE team_id = $1 AND deleted_at IS NULL`, team).Scan(&all)
		if kept, keptErr := users.Count(ctx, tx, team); err != nil || keptErr != nil || kept != all {
			t.Errorf("stored count %d, counted %d, %v %v", kept, all, err, keptErr)
		}
		return nil
	})
}
