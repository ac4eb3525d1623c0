package apitest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// personal are values of the fixture's person.
var personal = []string{"person@example.com", "4155550123", "1 Example Street"}

// search looks for the person's data in every row of every table, and for their
// id where none stays.
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
					for _, canary := range personal {
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
		if whatStays[table] == "" {
			t.Errorf("%s names the erased person", table)
		}
	}
	for table := range whatStays {
		if !stay[table] {
			t.Errorf("nothing of the erased person stays in %s: it is no exception", table)
		}
	}
}

// fillIn gives the person a row in each table of people's in which the fixture
// has none. What stands in it means nothing, and lies far ahead of every clock.
// SQLite only, which can be told to let that in.
func (s *service) fillIn(t *testing.T, f *fixture, has map[string]int) {
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
			names, values, err := s.meaningless(t, tx, f, table)
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

// meaningless is a row of a table: whose it is, and something in every column
// that cannot be empty.
func (s *service) meaningless(t *testing.T, tx *store.Tx, f *fixture, table string) (names []string, values []any, err error) {
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
