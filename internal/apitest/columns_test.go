package apitest

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// columnsPage lists what each column of the database holds in clear, and why.
const columnsPage = "../../docs/stored-columns.md"

// onlyOnPostgres is the one column that SQLite does not have.
const onlyOnPostgres = "events.turn"

// storedColumns reads the tables of the page. It returns the columns of each table by
// their protection, and the health facts in clear.
func storedColumns(t *testing.T) (sealed, digests, clear map[string][]string, facts []string) {
	t.Helper()
	page, err := os.ReadFile(columnsPage)
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile("`([a-z0-9_.]+)`")
	namesIn := func(cell string) (all []string) {
		for _, found := range words.FindAllStringSubmatch(cell, -1) {
			all = append(all, found[1])
		}
		return all
	}
	sealed, digests, clear = map[string][]string{}, map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		name := namesIn(cells[0])
		if strings.TrimSpace(cells[len(cells)-1]) == "" {
			t.Errorf("%s has no reason", cells[0])
		}
		switch len(cells) {
		case 5:
			sealed[name[0]], digests[name[0]], clear[name[0]] = namesIn(cells[1]), namesIn(cells[2]), namesIn(cells[3])
		case 2:
			facts = append(facts, name...)
		}
	}
	return sealed, digests, clear, facts
}

// Each column of the schema is in docs/stored-columns.md exactly once: sealed, as a digest
// or code, or in clear with a reason. A new column needs a decision.
func TestEveryStoredColumnIsListed(t *testing.T) {
	sealed, digests, clear, facts := storedColumns(t)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		schema := s.columns(t)
		for table, columns := range schema {
			listed := slices.Concat(sealed[table], digests[table], clear[table])
			for _, column := range columns {
				if n := times(listed, column); n != 1 {
					t.Errorf("%s.%s is %d times in %s: decide whether it is sealed, a digest or in clear, and say why", table, column, n, columnsPage)
				}
			}
			for _, column := range listed {
				if !slices.Contains(columns, column) && (d.Engine == store.Postgres || table+"."+column != onlyOnPostgres) {
					t.Errorf("%s.%s is in %s, and not in the database", table, column, columnsPage)
				}
			}
		}
		for table := range clear {
			if schema[table] == nil {
				t.Errorf("%s is in %s, and not in the database", table, columnsPage)
			}
		}
	})
	for _, fact := range facts {
		table, column, _ := strings.Cut(fact, ".")
		if !slices.Contains(clear[table], column) {
			t.Errorf("%s is a health fact in clear, and not a column in clear", fact)
		}
	}
	if len(facts) < 20 {
		t.Errorf("found %d health facts: the search is broken", len(facts))
	}
}

func times(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// A column that the page calls sealed holds no text of the fixture's people and orders.
func TestSealedColumnsHoldNoText(t *testing.T) {
	sealed, _, _, _ := storedColumns(t)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		s.fixture(t)
		filled := 0
		for _, table := range slices.Sorted(maps.Keys(sealed)) {
			for _, column := range sealed[table] {
				for _, value := range s.values(t, table, column) {
					filled++
					if isPrintable(value) {
						t.Errorf("%s.%s is not sealed: %.40q", table, column, value)
					}
				}
			}
		}
		if filled < 20 {
			t.Errorf("the fixture fills %d sealed values", filled)
		}
	})
}

// isPrintable reports whether bytes are a text. Sealed bytes have at least 28 random ones.
func isPrintable(value []byte) bool {
	return !slices.ContainsFunc(value, func(b byte) bool { return b < ' ' || b > '~' })
}
