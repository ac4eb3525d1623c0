package users

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func TestNameIndexMakesRoom(t *testing.T) {
	x := newNameIndex(10)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []teams.ID
	held := func() (which []int) {
		for i, id := range all {
			if x.teams[id] != nil {
				which = append(which, i)
			}
		}
		return which
	}
	for i, size := range []int{4, 4, 4, 100} {
		all = append(all, ids.FromUUID[teams.Team](uuid.New()))
		now = now.Add(time.Minute)
		x.teamNames(all[i], now)
		x.makeRoom(all[i], size)
		want := [][]int{{0}, {0, 1}, {1, 2}, {3}}[i] // a team larger than the bound stays, alone
		if got := held(); !slices.Equal(got, want) {
			t.Errorf("after team %d the index holds %v, want %v", i, got, want)
		}
	}
	x.teamNames(all[0], now.Add(namesIdle+time.Minute))
	if got := held(); !slices.Equal(got, []int{0}) {
		t.Errorf("an hour later the index holds %v", got)
	}
}

func TestTeamNamesPutAndRemove(t *testing.T) {
	n := teamNames{position: map[ID]int{}}
	var all []ID
	for i := range 5 {
		all = append(all, ids.FromUUID[User](uuid.New()))
		n.put(all[i], fmt.Sprint(" name", i))
	}
	n.put(all[3], " other")
	for _, i := range []int{0, 4, 2, 2} {
		n.remove(all[i])
	}
	if len(n.entries) != 2 || len(n.position) != 2 || n.entries[n.position[all[1]]].name != " name1" || n.entries[n.position[all[3]]].name != " other" {
		t.Errorf("left %+v", n.entries)
	}
}

// A text is in the range from prefix to afterPrefix exactly if it starts with the
// prefix.
func TestAfterPrefix(t *testing.T) {
	letters := rapid.SampledFrom([]rune{'a', 'b', 'z', 0x7f, 0x80, 'é', 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFE, 0x10FFFF})
	rapid.Check(t, func(t *rapid.T) {
		prefix := string(rapid.SliceOfN(letters, 1, 4).Draw(t, "prefix"))
		text := string(rapid.SliceOfN(letters, 0, 6).Draw(t, "text"))
		if rapid.Bool().Draw(t, "extend") {
			text = prefix + text
		}
		after := afterPrefix(prefix)
		if !utf8.ValidString(after) {
			t.Fatalf("%q is not UTF-8", after)
		}
		if inside := text >= prefix && text < after; inside != strings.HasPrefix(text, prefix) {
			t.Fatalf("prefix %q, after %q, text %q: inside %v", prefix, after, text, inside)
		}
	})
}

func TestIDRange(t *testing.T) {
	for _, c := range []struct {
		prefix      string
		first, last string
	}{
		{"01", "01000000-0000-0000-0000-000000000000", "01ffffff-ffff-ffff-ffff-ffffffffffff"},
		{"0190abCD-1", "0190abcd-1000-0000-0000-000000000000", "0190abcd-1fff-ffff-ffff-ffffffffffff"},
		{"0190abcd-1234-7abc-8def-0123456789ab", "0190abcd-1234-7abc-8def-0123456789ab", "0190abcd-1234-7abc-8def-0123456789ab"},
		{"0190abcd1", "", ""},
		{"zz", "", ""},
		{"0190abcd-1234-7abc-8def-0123456789abc", "", ""},
	} {
		first, last, ok := idRange(c.prefix)
		if ok != (c.first != "") || ok && (first != uuid.MustParse(c.first) || last != uuid.MustParse(c.last)) {
			t.Errorf("%q: %v %v %v", c.prefix, first, last, ok)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"  José  ÁLVAREZ ": "jose alvarez", "O'Neil-Smith": "o'neil-smith", "": "", "ß": "ß", "Ångström": "angstrom"} {
		if got := fold(in); got != want {
			t.Errorf("fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// Queries that must be fast with a million users read an index, in its order.
func TestQueriesUseTheirIndexes(t *testing.T) {
	db := storetest.SQLite(t)
	for query, index := range map[string]string{
		listQuery:    "users_by_age",
		idsQuery:     "sqlite_autoindex_users_1",
		clientsQuery: "users_by_client",
		changesQuery: "users_by_name_change",
	} {
		plan := storetest.Plan(t, db, query, strings.Count(query, "$"))
		if !strings.Contains(plan, index) || strings.Contains(plan, "SCAN users") {
			t.Errorf("%s\nis planned as\n%s", query, plan)
		}
	}
}

// A team may have many users before PostgreSQL has statistics of them.
func TestUsersAreFoundByKeyWithoutStatistics(t *testing.T) {
	db := storetest.Postgres(t)
	err := db.Read(store.AsSystem(context.Background()), func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), `EXPLAIN SELECT `+columns+` FROM `+usersByKey, make([]byte, 16), [][16]byte{{1}, {2}})
		if err != nil {
			return err
		}
		defer rows.Close()
		var plan strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			plan.WriteString(line + "\n")
		}
		if text := plan.String(); !strings.Contains(text, "users_pkey") || !strings.Contains(text, "(user_id = n.id)") {
			t.Errorf("planned as\n%s", text)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two databases in one process, such as a restored copy beside its original, may have
// the same team with other names.
func TestEachDatabaseHasItsNameIndex(t *testing.T) {
	indexOf := func(db *store.DB) (x *nameIndex) {
		if err := db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error { x = names.Of(tx); return nil }); err != nil {
			t.Fatal(err)
		}
		return x
	}
	one, other := storetest.SQLite(t), storetest.SQLite(t)
	if first, second := indexOf(one), indexOf(one); first != second {
		t.Error("a database has two indexes")
	}
	if indexOf(one) == indexOf(other) {
		t.Error("two databases share an index")
	}
}

// Locking and changing a user writes its row, and no index whose columns stay the same.
// Each index adds a page, and a large team has few of these pages in memory.
func TestChangesOfAUserWriteFewIndexes(t *testing.T) {
	db := storetest.SQLite(t)
	for name, statement := range map[string]string{"lock": lockUser, "save": saveUser} {
		args := make([]any, strings.Count(statement, "$"))
		err := db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			written, err := tablesWritten(t, tx, statement, args)
			if err != nil {
				return err
			}
			for _, table := range written {
				if table != "users" && table != "users_by_ingestion_end" {
					t.Errorf("%s writes %s", name, table)
				}
			}
			if !slices.Contains(written, "users") {
				t.Errorf("%s writes %v, want users", name, written)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tablesWritten returns the tables and indexes that SQLite's program of a statement changes.
func tablesWritten(t *testing.T, tx *store.Tx, statement string, args []any) (names []string, err error) {
	t.Helper()
	rows, err := tx.Query(t.Context(), "EXPLAIN "+statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	roots, changed := map[int64]int64{}, map[int64]bool{}
	for rows.Next() {
		var address, cursor, page int64
		var operation string
		var p3, p4, p5, comment any
		if err := rows.Scan(&address, &operation, &cursor, &page, &p3, &p4, &p5, &comment); err != nil {
			return nil, err
		}
		switch operation {
		case "OpenWrite":
			roots[cursor] = page
		case "Insert", "IdxInsert", "IdxDelete":
			changed[roots[cursor]] = true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for page := range changed {
		var name string
		if err := tx.QueryRow(t.Context(), `SELECT name FROM sqlite_master WHERE rootpage = $1`, page).Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
