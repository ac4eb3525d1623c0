package users_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func search(tb testing.TB, db *store.DB, team teams.ID, query string) map[string]bool {
	tb.Helper()
	found := map[string]bool{}
	userstest.Read(tb, db, func(ctx context.Context, tx *store.Tx) error {
		clear(found)
		all, err := users.Search(ctx, tx, team, query)
		for _, u := range all {
			if found[u.ClientUserID] {
				tb.Errorf("%s found twice", u.ClientUserID)
			}
			found[u.ClientUserID] = true
		}
		return err
	})
	return found
}

func newNamed(tb testing.TB, db *store.DB, team teams.ID, clientID, first, last string) users.User {
	user := userstest.New(tb, db, team, users.NewUser{ClientUserID: clientID})
	info := userstest.Info()
	info.FirstName, info.LastName = first, last
	userstest.WithInfo(tb, db, user, info)
	return user
}

func TestSearch(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, other := userstest.Team(t, db).ID, userstest.Team(t, db).ID
		ada := newNamed(t, db, team, "ab-1", "Ada", "Byron King")
		newNamed(t, db, team, "AB-2", "Grace", "O'Neil")
		newNamed(t, db, team, "ab%3", "Jose", "Adams")
		newNamed(t, db, other, "ab-9", "Ada", "Other")
		for _, c := range []struct {
			query string
			want  []string
		}{
			{"ab", []string{"ab-1", "ab%3"}},
			{"AB", []string{"AB-2"}},
			{"ab%", []string{"ab%3"}},
			{"ada", []string{"ab-1", "ab%3"}},
			{"ADA", []string{"ab-1", "ab%3"}},
			{"àda", []string{"ab-1", "ab%3"}},
			{"ada byr", []string{"ab-1"}},
			{"king", []string{"ab-1"}},
			{"josé", []string{"ab%3"}},
			{"o'n", []string{"AB-2"}},
			{"da", nil},
			{"a", nil},
			{"", nil},
			{"\x00\x00", nil},
			{ada.ID.String(), []string{"ab-1"}},
			{ada.ID.String()[:30], []string{"ab-1"}},
			{ada.ID.String() + "0", nil},
			{"zz", nil},
		} {
			t.Run(c.query, func(t *testing.T) {
				found := search(t, db, team, c.query)
				if len(found) != len(c.want) {
					t.Errorf("found %v, want %v", found, c.want)
				}
				for _, name := range c.want {
					if !found[name] {
						t.Errorf("%s not found", name)
					}
				}
			})
		}
	})
}

func TestSearchFollowsChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := newNamed(t, db, team, "u1", "Ada", "Byron")
		other := newNamed(t, db, team, "u2", "Grace", "Hopper")
		expect := func(query string, want ...string) {
			t.Helper()
			found := search(t, db, team, query)
			if len(found) != len(want) {
				t.Errorf("%q found %v, want %v", query, found, want)
			}
			for _, w := range want {
				if !found[w] {
					t.Errorf("%q did not find %s", query, w)
				}
			}
		}
		expect("byron", "u1")
		info := userstest.Info()
		info.LastName = "King"
		userstest.WithInfo(t, db, user, info)
		expect("byron")
		expect("king", "u1")
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		expect("king")
		expect("hopper", "u2")
		if err := undo(db, team, users.Ref{ID: &user.ID}); err != nil {
			t.Fatal(err)
		}
		expect("king", "u1")
		if err := del(db, team, other.ID); err != nil {
			t.Fatal(err)
		}
		expect("hopper")
		newNamed(t, db, team, "u3", "Kingsley", "Amis")
		expect("king", "u1", "u3")
	})
}

func TestSearchIsNewestFirstAndBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		fill(t, db, team, 150)
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			found, err := users.Search(ctx, tx, team, "fill-")
			if err != nil || len(found) != 100 {
				t.Errorf("%d found, %v", len(found), err)
			}
			for i := 1; i < len(found); i++ {
				if found[i].CreatedOn.After(found[i-1].CreatedOn) {
					t.Errorf("place %d is newer than the one before", i)
				}
			}
			return nil
		})
	})
}

// After any changes, the index finds the same users as a scan.
func TestSearchAgreesWithAScan(t *testing.T) {
	db := storetest.SQLite(t)
	team := userstest.Team(t, db).ID
	names := []string{"Ada", "Adam", "Grace", "Gram", "Ivy"}
	rapid.Check(t, func(rt *rapid.T) {
		truth := map[string]string{} // client id to first name of active users
		prefix := fmt.Sprintf("p%d-", rand.Int64())
		type member struct {
			user    users.User
			name    string
			deleted bool
		}
		var all []*member
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				name := rapid.SampledFrom(names).Draw(rt, "name")
				m := &member{newNamed(t, db, team, fmt.Sprint(prefix, len(all)), name, "X"), name, false}
				all = append(all, m)
			case 1:
				if m := pick(rt, all); m != nil && !m.deleted {
					info := userstest.Info()
					m.name = rapid.SampledFrom(names).Draw(rt, "name")
					info.FirstName, info.LastName = m.name, "X"
					userstest.WithInfo(t, db, m.user, info)
				}
			case 2:
				if m := pick(rt, all); m != nil && !m.deleted {
					m.deleted = del(db, team, m.user.ID) == nil
				}
			case 3:
				if m := pick(rt, all); m != nil && m.deleted {
					m.deleted = undo(db, team, users.Ref{ID: &m.user.ID}) != nil
				}
			}
			if rapid.Bool().Draw(rt, "search now") {
				search(t, db, team, "ad")
			}
		}
		clear(truth)
		for _, m := range all {
			if !m.deleted {
				truth[m.user.ClientUserID] = m.name
			}
		}
		for _, query := range []string{"ad", "ada", "gra"} {
			found := search(t, db, team, query)
			for id, name := range truth {
				if want := len(name) >= len(query) && equalFold(name[:len(query)], query); found[id] != want {
					rt.Fatalf("%q: found %v, want %v for %s", query, found[id], want, name)
				}
			}
			for _, m := range all {
				if m.deleted && found[m.user.ClientUserID] {
					rt.Fatalf("%q found a deleted user", query)
				}
			}
		}
		for _, m := range all { // so that the next run does not reach the limit
			if !m.deleted {
				if err := del(db, team, m.user.ID); err != nil {
					rt.Fatal(err)
				}
			}
		}
	})
}

func pick[T any](rt *rapid.T, all []*T) *T {
	if len(all) == 0 {
		return nil
	}
	return rapid.SampledFrom(all).Draw(rt, "which")
}

func equalFold(a, b string) bool {
	for i := range len(a) {
		if a[i]|0x20 != b[i]|0x20 {
			return false
		}
	}
	return true
}
