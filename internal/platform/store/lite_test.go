package store

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestSQLiteText(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT $1, $12 WHERE a = '$3''$4' AND b = $2`: `SELECT ?1, ?12 WHERE a = '$3''$4' AND b = ?2`,
		`SELECT '$1'`:                   `SELECT '$1'`,
		`SELECT json_extract(a, '$.b')`: `SELECT json_extract(a, '$.b')`,
		`SELECT $x, $`:                  `SELECT $x, $`,
	} {
		if got := sqliteText(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func openTest(t *testing.T) *conn {
	t.Helper()
	l, err := openConn(filepath.Join(t.TempDir(), "t.db"), pragmas(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	for _, text := range []string{`CREATE TABLE t (n INTEGER PRIMARY KEY)`, `INSERT INTO t VALUES (1), (2), (3)`} {
		if _, err := l.exec(text, nil); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// A text that is running can be run again, with a statement of its own.
func TestNestedStatement(t *testing.T) {
	l := openTest(t)
	const text = `SELECT n FROM t WHERE n > ?1 ORDER BY n`
	var pairs [][2]int64
	outer, err := l.query(text, []any{0})
	if err != nil {
		t.Fatal(err)
	}
	for outer.Next() {
		var pair [2]int64
		if err := outer.Scan(&pair[0]); err != nil {
			t.Fatal(err)
		}
		inner, err := l.query(text, []any{pair[0]})
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			if err := inner.Scan(&pair[1]); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, pair)
		}
	}
	if outer.Err() != nil || len(pairs) != 3 || pairs[2] != [2]int64{2, 3} || len(l.running) != 0 {
		t.Errorf("%v %v, %d running", outer.Err(), pairs, len(l.running))
	}
}

// Next does not run a statement again after its last row.
func TestNextAfterTheLastRow(t *testing.T) {
	l := openTest(t)
	rows, err := l.query(`INSERT INTO t VALUES (4) RETURNING n`, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range 5 {
		if rows.Next() {
			n++
		}
	}
	none, err := l.query(`DELETE FROM t WHERE n = 4`, nil)
	if err != nil || none.Next() || none.Next() || none.Err() != nil || rows.Err() != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// endStatements ends all running statements and releases their locks.
func TestEndStatements(t *testing.T) {
	l := openTest(t)
	for _, text := range []string{`SELECT n FROM t`, `SELECT n FROM t`, `SELECT n + 1 FROM t`} {
		rows, err := l.query(text, nil)
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
	}
	if len(l.running) != 3 {
		t.Fatalf("%d running", len(l.running))
	}
	l.endStatements()
	if len(l.running) != 0 {
		t.Errorf("%d running", len(l.running))
	}
	if _, err := l.exec(`DROP TABLE t`, nil); err != nil { // fails while a statement reads t
		t.Error(err)
	}
}

func TestInvalidStatements(t *testing.T) {
	l := openTest(t)
	for text, args := range map[string][]any{
		`SELECT $1, $2`:           {1},
		`SELECT $1`:               {1, 2},
		`SELECT 1; SELECT 2`:      nil,
		`SELEC 1`:                 nil,
		`SELECT $1 `:              {struct{}{}},
		`INSERT INTO t VALUES(1)`: nil,
	} {
		if _, err := l.exec(text, args); err == nil {
			t.Errorf("%s: no error", text)
		}
		if _, err := l.query(text, args); err == nil {
			t.Errorf("%s: no error when queried", text)
		}
	}
	if _, err := l.exec(`INSERT INTO t VALUES(1)`, nil); !IsUnique(err) {
		t.Errorf("%v is not a violated key", err)
	}
	row := Row{}
	if row.rows, row.err = l.query(`SELECT n FROM t WHERE n > 9`, nil); !errors.Is(row.Scan(new(int64)), ErrNoRows) {
		t.Error("a missing row was found")
	}
}
