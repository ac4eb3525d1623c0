package users_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An erasure is listed. People of the list that the database has, live or deleted, are
// erased again.
func TestErasedPeopleAreErasedAgain(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		folder := t.TempDir()
		root, _, err := secrets.RootFile(folder)
		if err != nil {
			t.Fatal(err)
		}
		list := users.OpenErasures(folder, root)
		users.SetErasureList(db, list)
		team := userstest.Team(t, db).ID
		gone := userstest.New(t, db, team, users.NewUser{ClientUserID: "gone"})
		if err := del(db, team, gone.ID); err != nil {
			t.Fatal(err)
		}
		clk.Advance(users.Grace + time.Second)
		runJobs(t, db)
		all, unreadable, err := list.All()
		if want := []users.Erasure{{Team: team, User: gone.ID}}; !slices.Equal(all, want) || unreadable != 0 || err != nil {
			t.Fatalf("%v, %d unreadable, %v; want %v", all, unreadable, err, want)
		}

		live := userstest.New(t, db, team, users.NewUser{ClientUserID: "live"})
		deleted := userstest.New(t, db, team, users.NewUser{ClientUserID: "deleted"})
		kept := userstest.New(t, db, team, users.NewUser{ClientUserID: "kept"})
		for _, user := range []users.User{live, deleted, kept} {
			userstest.WithInfo(t, db, user, userstest.Info())
		}
		if err := del(db, team, deleted.ID); err != nil {
			t.Fatal(err)
		}
		all = append(all, users.Erasure{Team: team, User: live.ID}, users.Erasure{Team: team, User: deleted.ID})
		n, err := users.EraseAgain(store.AsSystem(t.Context()), db, all)
		if err != nil || n != 2 {
			t.Errorf("erased %d again, %v", n, err)
		}
		for _, table := range userTables(t, db) {
			for _, user := range []users.User{live, deleted} {
				if n := rowsOf(t, db, table, user.ID); n != 0 {
					t.Errorf("%d rows left in %s", n, table)
				}
			}
		}
		if n := rowsOf(t, db, "sealing_keys", kept.ID); n != 1 {
			t.Error("the key of another person is gone")
		}
		checkCounts(t, db, team)
	})
}

// The list survives a line that a crash cut short, and says how many it cannot read.
func TestTheListOfErasuresSkipsDamagedLines(t *testing.T) {
	folder := t.TempDir()
	root, _, err := secrets.RootFile(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "\n\n"} {
		if err := os.WriteFile(filepath.Join(folder, users.ErasuresFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, unreadable, err := users.OpenErasures(folder, root).All(); len(all)+unreadable > 0 || err != nil {
			t.Errorf("%q: %v, %d, %v", text, all, unreadable, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, users.ErasuresFile), []byte("AAAA\nnot base64\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, unreadable, err := users.OpenErasures(folder, root).All(); len(all) > 0 || unreadable != 2 || err != nil {
		t.Errorf("%v, %d, %v", all, unreadable, err)
	}
}

// After a change of the root key the list is sealed with the new one.
func TestTheListOfErasuresIsSealedAgain(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		folder := t.TempDir()
		oldID, oldLine := secrets.NewRootKey()
		newID, newLine := secrets.NewRootKey()
		open := func(lines string) *users.Erasures {
			root, err := secrets.ParseRoot(lines)
			if err != nil {
				t.Fatal(err)
			}
			return users.OpenErasures(folder, root)
		}
		users.SetErasureList(db, open(oldLine))
		team := userstest.Team(t, db).ID
		gone := userstest.New(t, db, team, users.NewUser{ClientUserID: "gone"})
		if err := del(db, team, gone.ID); err != nil {
			t.Fatal(err)
		}
		clk.Advance(users.Grace + time.Second)
		runJobs(t, db)
		count := func(list *users.Erasures, id secrets.KeyID) int {
			n, err := list.CountSealedWith(id)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for lines, want := range map[string]bool{newLine: true, oldLine: false, newLine + "\n" + oldLine: false} {
			if found, err := open(lines).Examine(); err != nil || len(found.Foreign) > 0 != want || len(found.Damaged)+len(found.Cut) > 0 {
				t.Errorf("another root key sealed the list: %+v, %v", found, err)
			}
		}
		both := open(newLine + "\n" + oldLine)
		if count(both, oldID) != 1 || count(both, newID) != 0 {
			t.Error("the list is not sealed with the old key")
		}
		for range 2 { // the second time has nothing to do
			if err := both.Reseal(); err != nil {
				t.Fatal(err)
			}
		}
		requireTrouble(t, folder, both)
		if count(both, oldID) != 0 || count(both, newID) != 1 {
			t.Error("the list is not sealed with the new key")
		}
		all, unreadable, err := open(newLine).All()
		if want := []users.Erasure{{Team: team, User: gone.ID}}; !slices.Equal(all, want) || unreadable != 0 || err != nil {
			t.Errorf("%v, %d unreadable, %v; want %v", all, unreadable, err, want)
		}
	})
}

// requireTrouble damages the list in several ways and examines it. The list has one line.
func requireTrouble(t *testing.T, folder string, list *users.Erasures) {
	t.Helper()
	path := filepath.Join(folder, users.ErasuresFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Error(err)
		}
	}()
	line := strings.TrimSpace(string(whole))
	flipped := []byte(line)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		text         string
		damaged, cut int
	}{
		"whole":            {line + "\n", 0, 0},
		"one bit":          {string(flipped) + "\n", 1, 0},
		"garbage":          {line + "\n\x01\x80 garbage\n", 1, 0},
		"one long line":    {line + "\n" + strings.Repeat("!", 100_000), 1, 0},
		"two joined lines": {line + "A" + line, 1, 0},
		"cut":              {line[:len(line)/2], 0, 1},
		"cut, then zeros":  {line[:9] + "\x00\x00\x00", 0, 1},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := list.Examine(); err != nil || len(found.Damaged) != c.damaged || len(found.Cut) != c.cut || len(found.Foreign) > 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
