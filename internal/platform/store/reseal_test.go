package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// After a root key is replaced, the new root key opens all values, and the old one opens
// none. All stored keys are wrapped again, and differ from those in an earlier copy of
// the database.
func TestReseal(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		_, oldLine := secrets.NewRootKey()
		newID, newLine := secrets.NewRootKey()
		old, err := secrets.ParseRoot(oldLine)
		if err != nil {
			t.Fatal(err)
		}
		before := openWithRoot(t, d, oldLine)
		team, other := uuid.New(), uuid.New()
		people := make([]uuid.UUID, 503) // more than one transaction seals
		for i := range people {
			people[i] = uuid.New()
		}
		sealed := map[uuid.UUID][]byte{}
		seal := func(db *store.DB, owner uuid.UUID, subjects ...uuid.UUID) {
			write(t, db, func(tx *store.Tx) error {
				for _, s := range subjects {
					if sealed[s], err = tx.Seal(ctx, owner, s, "names.body:1", s[:]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		seal(before, team, people...)
		seal(before, other, uuid.Nil)
		write(t, before, func(tx *store.Tx) error { return tx.Shred(ctx, team, people[0]) })
		wrappedBefore := wrappedKeys(t, before)
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}

		// A process that learned the new key, and does not seal with it yet.
		db := openWithRoot(t, d, newLine+"\n"+oldLine)
		var steps []store.Resealed
		done, err := db.Reseal(ctx, func(r store.Resealed) { steps = append(steps, r) })
		if err != nil || done.Teams != 2 || done.Users != len(people)-1 {
			t.Fatalf("%+v, %v", done, err)
		}
		if len(steps) < 4 || steps[len(steps)-1] != done {
			t.Errorf("progress: %+v", steps)
		}
		if again, err := db.Reseal(ctx, func(store.Resealed) {}); err != nil || again != (store.Resealed{}) {
			t.Errorf("again: %+v, %v", again, err)
		}
		write(t, db, func(tx *store.Tx) error { return tx.RetireRootKey(ctx, old.IDs()[0]) })
		seal(db, team, uuid.New())
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}

		after := openWithRoot(t, d, newLine)
		if err := after.ProveRoot(ctx); err != nil {
			t.Error(err)
		}
		readAll(t, after, func(tx *store.Tx) error {
			for i, s := range people {
				plain, err := tx.Unseal(ctx, team, s, "names.body:1", sealed[s])
				if gone := i == 0; gone != (err != nil) || !gone && !slices.Equal(plain, s[:]) {
					t.Fatalf("person %d: %v", i, err)
				}
			}
			plain, err := tx.Unseal(ctx, other, uuid.Nil, "names.body:1", sealed[uuid.Nil])
			if err != nil || !slices.Equal(plain, make([]byte, 16)) {
				t.Errorf("a value of the team: %v", err)
			}
			use, err := tx.RootKeyUse(ctx)
			if err != nil || len(use) != 1 || use[newID] == 0 {
				t.Errorf("%v, %v", use, err)
			}
			return nil
		})
		for row, wrapped := range wrappedKeys(t, after) {
			if slices.Equal(wrapped, wrappedBefore[row]) {
				t.Errorf("%s is still wrapped as before", row)
			}
		}
		// The old key, with the numbers of the keys of a former copy, opens no team.
		foreign := openWithRoot(t, d, oldLine)
		if err := foreign.ProveRoot(ctx); err == nil {
			t.Error("the old root key opens the teams")
		}
	})
}

// A root key that still wraps a key cannot be retired.
func TestRetireNeedsReseal(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		oldID, oldLine := secrets.NewRootKey()
		_, newLine := secrets.NewRootKey()
		db := openWithRoot(t, d, oldLine+"\n"+newLine)
		write(t, db, func(tx *store.Tx) error {
			_, err := tx.Seal(ctx, uuid.New(), uuid.Nil, "x.y:1", []byte("z"))
			return err
		})
		err := db.Write(ctx, func(tx *store.Tx) error { return tx.RetireRootKey(ctx, oldID) })
		if want := fmt.Sprintf("store: root key %s still wraps keys of 1 teams", oldID); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// Codes of a retired root key stay known. The retired key makes none, and opens nothing.
func TestCodesOfRetiredRootKeys(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		_, first := secrets.NewRootKey()
		_, second := secrets.NewRootKey()
		_, third := secrets.NewRootKey()
		codes := map[string][]byte{}
		code := func(db *store.DB, purpose string) []byte {
			c, err := db.Root(purpose).Code([]byte("text"))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		db := openWithRoot(t, d, first)
		for _, purpose := range append([]string{"API key rows"}, store.CodePurposes...) {
			codes[purpose] = code(db, purpose)
		}
		_ = db.Close()
		for _, lines := range []string{second + "\n" + first, third + "\n" + second} { // two changes
			db := openWithRoot(t, d, lines)
			if err := db.LoadRetiredKeys(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Reseal(ctx, func(store.Resealed) {}); err != nil {
				t.Fatal(err)
			}
			root, err := secrets.ParseRoot(lines)
			if err != nil {
				t.Fatal(err)
			}
			write(t, db, func(tx *store.Tx) error { return tx.RetireRootKey(ctx, root.IDs()[1]) })
			_ = db.Close()
		}
		db = openWithRoot(t, d, third)
		if err := db.LoadRetiredKeys(ctx); err != nil {
			t.Fatal(err)
		}
		for purpose, c := range codes {
			known := slices.Contains(store.CodePurposes, purpose)
			if db.Root(purpose).CheckCode([]byte("text"), c) != known {
				t.Errorf("%s: a code of the first root key is known: %v", purpose, !known)
			}
			found := slices.ContainsFunc(db.Root(purpose).Codes([]byte("text")), func(one []byte) bool { return slices.Equal(one, c) })
			if found != known || slices.Equal(code(db, purpose), c) {
				t.Errorf("%s: found %v", purpose, found)
			}
		}
	})
}

// openWithRoot opens the database with root keys.
func openWithRoot(t *testing.T, d storetest.Database, lines string) *store.DB {
	t.Helper()
	root, err := secrets.ParseRoot(lines)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: d.URL, Dir: d.Dir, Root: root, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func readAll(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Read(store.AsSystem(t.Context()), fn); err != nil {
		t.Fatal(err)
	}
}

// wrappedKeys returns the stored keys, by subject and number.
func wrappedKeys(t *testing.T, db *store.DB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	readAll(t, db, func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT team_id, subject_id, number, wrapped FROM sealing_keys`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var team, subject uuid.UUID
			var number int64
			var wrapped []byte
			if err := rows.Scan(&team, &subject, &number, &wrapped); err != nil {
				return err
			}
			all[fmt.Sprint(team, subject, number)] = wrapped
		}
		return rows.Err()
	})
	return all
}
