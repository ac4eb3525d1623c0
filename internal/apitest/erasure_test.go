package apitest

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// whatStays are the tables in which an erased person's id stays, and why. All
// that was sealed in them is unreadable, since the person's key is gone.
var whatStays = map[string]string{
	"events": "the sequence that a team can prove to be whole; the bodies are sealed",
	"jobs":   "runs that are over, for seven days; they name ids only",

	"renormalisations": "runs of the team's operator, with counts and names of fields only",
}

// A person who has one of everything is erased a week after their deletion, in
// every table of the program: whatever joins it later is caught here.
func TestErasureReachesEveryTable(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		var ahead atomic.Int64
		s := start(t, d, func(o *app.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
		s.keyed = true
		f := s.fixture(t)
		before := s.rowsOf(t, f.ids["user_id"])
		if n := before["idempotency_keys"]; n < 4 {
			t.Errorf("%d answers about the person are kept; a user, an order, a record and a link at least were made", n)
		}
		if d.Engine == store.SQLite {
			s.fillIn(t, f, before)
		}
		s.make(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
		ahead.Store(int64(users.Grace + time.Hour))
		await(t, "the erasure", func() bool {
			return s.count(t, `SELECT COUNT(*) FROM jobs WHERE kind = 'users.erase' AND status = 'succeeded'`) > 0
		})
		after := s.rowsOf(t, f.ids["user_id"])
		if len(before) < 12 {
			t.Errorf("the fixture fills only %d tables: %v", len(before), before)
		}
		for table, n := range after {
			if whatStays[table] == "" {
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

// columns are those of every table.
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

// rowsOf counts a user's rows, by table.
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

// searchAnswers opens the kept answers that the team's key opens, and looks for
// the person in them: an answer about somebody is to be theirs.
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
			for _, canary := range append([]string{f.ids["user_id"]}, personal...) {
				if bytes.Contains(answer, []byte(canary)) {
					t.Errorf("a kept answer is about the erased person: %.200s", answer)
				}
			}
			return err
		})
	}
}
