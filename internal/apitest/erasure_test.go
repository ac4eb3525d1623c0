package apitest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// tablesWithErasedIDs are the tables that keep an erased person's id, with the reason. Their
// sealed values are unreadable, because the person's key is deleted.
var tablesWithErasedIDs = map[string]string{
	"events": "the sequence that a team can prove to be whole; the bodies are sealed",
	"jobs":   "runs that are over, for seven days; they name ids only",

	"audit_log": "who read or changed the data of the person, for the retention of the audit log",

	"renormalisations": "runs of the team's operator, with counts and names of fields only",
}

// A person with one record of every kind is erased a week after the deletion, in every
// table. The test also covers tables that are added later.
func TestErasureReachesEveryTable(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		var ahead atomic.Int64
		s := start(t, d, func(o *app.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			o.AnyClock = true
		})
		s.keyed = true
		f := s.fixture(t)
		before := s.rowsOf(t, f.ids["user_id"])
		if n := before["idempotency_keys"]; n < 4 {
			t.Errorf("%d answers about the person are kept; a user, an order, a record and a link at least were made", n)
		}
		if d.Engine == store.SQLite {
			s.fillTables(t, f, before)
		}
		s.requestObject(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
		ahead.Store(int64(users.Grace + time.Hour))
		waitUntil(t, "the erasure", func() bool {
			return s.count(t, `SELECT COUNT(*) FROM jobs WHERE kind = 'users.erase' AND status = 'succeeded'`) > 0
		})
		waitUntil(t, "the last blocks of the audit log", func() bool { return s.count(t, `SELECT COUNT(*) FROM audit_pending`) == 0 })
		after := s.rowsOf(t, f.ids["user_id"])
		if len(before) < 12 {
			t.Errorf("the fixture fills only %d tables: %v", len(before), before)
		}
		for table, n := range after {
			if tablesWithErasedIDs[table] == "" {
				t.Errorf("%d rows of the erased person are left in %s", n, table)
			}
		}
		if n := s.count(t, `SELECT COUNT(*) FROM sealing_keys WHERE subject_id = $1`, uuid.MustParse(f.ids["user_id"])); n != 0 {
			t.Error("the person's key is still there")
		}
		s.search(t, uuid.MustParse(f.ids["user_id"]))
		s.searchAnswers(t, f)
	})
}

func (s *service) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	s.read(t, func(tx *store.Tx) error { return tx.QueryRow(t.Context(), query, args...).Scan(&n) })
	return n
}

func (s *service) read(t *testing.T, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := s.DB.Read(store.AsSystem(t.Context()), fn); err != nil {
		t.Fatal(err)
	}
}

// columns returns the columns of every table.
func (s *service) columns(t *testing.T) map[string][]string {
	t.Helper()
	query := `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
	if s.DB.Engine() == store.Postgres {
		query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`
	}
	all := map[string][]string{}
	s.read(t, func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				return err
			}
			all[table] = append(all[table], column)
		}
		return rows.Err()
	})
	return all
}

// rowsOf returns the number of a user's rows by table.
func (s *service) rowsOf(t *testing.T, user string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for table, columns := range s.columns(t) {
		for _, column := range []string{"user_id", "subject_id"} {
			if !slices.Contains(columns, column) {
				continue
			}
			if n := s.count(t, `SELECT COUNT(*) FROM `+table+` WHERE `+column+` = $1`, uuid.MustParse(user)); n > 0 {
				all[table] += n
			}
		}
	}
	return all
}

// searchAnswers decrypts the stored answers that the team's key opens, and looks for
// the person's data in them. Answers about a person must be sealed with the person's
// key.
func (s *service) searchAnswers(t *testing.T, f *fixture) {
	t.Helper()
	team := uuid.MustParse(f.ids["team_id"])
	sealed := map[string][]byte{}
	s.read(t, func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT key_hash, body FROM idempotency_keys WHERE team_id = $1 AND subject_id IS NULL`, team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key, body []byte
			if err := rows.Scan(&key, &body); err != nil {
				return err
			}
			sealed[string(key)] = body
		}
		return rows.Err()
	})
	if len(sealed) == 0 {
		t.Error("no answer of the team's own is kept")
	}
	for key, body := range sealed {
		s.read(t, func(tx *store.Tx) error {
			answer, err := tx.Unseal(t.Context(), team, uuid.Nil, "idempotency_keys.body:"+key, body)
			for _, canary := range append([]string{f.ids["user_id"]}, personalValues...) {
				if bytes.Contains(answer, []byte(canary)) {
					t.Errorf("a kept answer is about the erased person: %.200s", answer)
				}
			}
			return err
		})
	}
}

// personalValues are values of the fixture's person.
var personalValues = []string{"person@example.com", "4155550123", "1 Example Street"}

// search looks for the person's data in every row of every table, and for their id in
// the tables that must not contain it.
func (s *service) search(t *testing.T, user uuid.UUID) {
	t.Helper()
	stay := map[string]bool{}
	for table, columns := range s.columns(t) {
		s.read(t, func(tx *store.Tx) error {
			rows, err := tx.Query(t.Context(), `SELECT `+strings.Join(columns, `, `)+` FROM `+table)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				values := make([]any, len(columns))
				for i := range values {
					values[i] = new(any)
				}
				if err := rows.Scan(values...); err != nil {
					return err
				}
				for i, v := range values {
					text := fmt.Appendf(nil, "%s", *v.(*any))
					for _, canary := range personalValues {
						if bytes.Contains(text, []byte(canary)) {
							t.Errorf("%s.%s holds %q in plain", table, columns[i], canary)
						}
					}
					if bytes.Contains(text, user[:]) || bytes.Contains(text, []byte(user.String())) {
						stay[table] = true
					}
				}
			}
			return rows.Err()
		})
	}
	for table := range stay {
		if tablesWithErasedIDs[table] == "" {
			t.Errorf("%s names the erased person", table)
		}
	}
	for table := range tablesWithErasedIDs {
		if !stay[table] {
			t.Errorf("nothing of the erased person stays in %s: it is no exception", table)
		}
	}
}

// fillTables inserts a row about the person into each table about people in which the
// fixture has none. The values are meaningless and far in the future. It works only on
// SQLite, where constraints can be switched off.
func (s *service) fillTables(t *testing.T, f *fixture, has map[string]int) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	for table, columns := range s.columns(t) {
		if has[table] > 0 || !slices.Contains(columns, "user_id") && !slices.Contains(columns, "subject_id") {
			continue
		}
		err := s.DB.Write(ctx, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `PRAGMA ignore_check_constraints = 1`); err != nil {
				return err
			}
			names, values, err := s.placeholderRow(t, tx, f, table)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `INSERT INTO `+table+` (`+strings.Join(names, `, `)+`) VALUES `+store.Placeholders(1, len(values)), values...)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// placeholderRow returns a row of a table: its owner, and a value for every required
// column.
func (s *service) placeholderRow(t *testing.T, tx *store.Tx, f *fixture, table string) (names []string, values []any, err error) {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT name, type FROM pragma_table_info($1)
		WHERE "notnull" = 1 OR pk > 0 OR name IN ('user_id', 'subject_id')`, table)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, nil, err
		}
		var value any = uuid.New()
		switch {
		case name == "team_id":
			value = uuid.MustParse(f.ids["team_id"])
		case name == "user_id", name == "subject_id":
			value = uuid.MustParse(f.ids["user_id"])
		case strings.Contains(kind, "INT"):
			value = int64(9e15)
		case kind == "TEXT":
			value = "[]"
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values, rows.Err()
}

// values returns the values of a column that are not empty.
func (s *service) values(t *testing.T, table, column string) (all [][]byte) {
	t.Helper()
	s.read(t, func(tx *store.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT `+column+` FROM `+table+` WHERE `+column+` IS NOT NULL`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var value []byte
			if err := rows.Scan(&value); err != nil {
				return err
			}
			if len(value) > 0 {
				all = append(all, value)
			}
		}
		return rows.Err()
	})
	return all
}
