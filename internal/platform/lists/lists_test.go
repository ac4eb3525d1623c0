package lists_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hale/internal/platform/lists"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

var system = store.AsSystem(context.Background())

// words returns a definition of a list of words, which ships with one word.
func words() *lists.List[[]string] {
	return lists.New(lists.Definition[[]string]{
		Name:    "payors",
		Shipped: func() []string { return []string{"shipped"} },
		Parse: func(text []byte) ([]string, error) {
			if len(text) == 0 {
				return nil, errors.New("nothing there")
			}
			return strings.Fields(string(text)), nil
		},
	})
}

func currentList(t *testing.T, db *store.DB, l *lists.List[[]string]) (got []string, err error) {
	t.Helper()
	err = db.Read(system, func(tx *store.Tx) (err error) {
		got, err = l.Current(system, tx)
		return err
	})
	return got, err
}

func put(t *testing.T, db *store.DB, l *lists.List[[]string], edition, text string) {
	t.Helper()
	err := db.Write(system, func(tx *store.Tx) error {
		return l.Put(system, tx, edition, len(strings.Fields(text)), []byte(text))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Another node sees an import at its next call of Current.
func TestImportReachesEveryNode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		here, there := words(), words()
		for _, l := range []*lists.List[[]string]{here, there} {
			if got, err := currentList(t, db, l); err != nil || strings.Join(got, " ") != "shipped" {
				t.Fatalf("before any import: %v, %v", got, err)
			}
		}
		put(t, db, here, "2025", strings.Repeat("one two ", 5000))
		put(t, db, here, "2026", "three")
		for _, l := range []*lists.List[[]string]{here, there, there} {
			if got, err := currentList(t, db, l); err != nil || strings.Join(got, " ") != "three" {
				t.Errorf("after the second import: %v, %v", got, err)
			}
		}
		var edition string
		var entries int
		err := db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT edition, entries FROM public_lists`).Scan(&edition, &entries)
		})
		if err != nil || edition != "2026" || entries != 1 {
			t.Errorf("edition %q of %d entries: %v", edition, entries, err)
		}
	})
}

func TestListThatCannotBeRead(t *testing.T) {
	db := storetest.SQLite(t)
	l := words()
	put(t, db, l, "", "")
	if got, err := currentList(t, db, l); err == nil {
		t.Errorf("an empty list was read as %v", got)
	}
}
