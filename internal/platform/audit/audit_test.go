package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/audit"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

var team = uuid.MustParse("0190f3a4-0000-7000-8000-000000000001")

func open(db *store.DB) *audit.Log {
	return audit.New(db, slog.New(slog.DiscardHandler))
}

func access(db *store.DB, action string) audit.Entry {
	return audit.Entry{Team: team, At: db.Now(), ActorKind: audit.Key, Actor: "k", Action: action, Status: 200, Address: "192.0.2.1", RequestID: "r"}
}

func verify(t *testing.T, l *audit.Log, known *audit.KnownBlock) audit.Report {
	t.Helper()
	r, err := l.Verify(t.Context(), team, known, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fill writes five blocks of three rows.
func fill(t *testing.T, db *store.DB, l *audit.Log) {
	t.Helper()
	for range 5 {
		l.Add(access(db, "getUser"), access(db, "listUsers"), access(db, "getOrder"))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func list(t *testing.T, db *store.DB, f audit.Filter) (actions []string) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	err := db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		rows, _, err := audit.List(t.Context(), tx, team, f)
		for _, r := range rows {
			actions = append(actions, r.Action)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

func TestChangesCommitWithTheirRows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(db)
		failed := errors.New("no")
		for _, want := range []error{failed, nil} {
			trail := audit.NewTrail(access(db, "createUser"), 200)
			ctx := audit.InTransactions(audit.WithTrail(store.AsSystem(t.Context()), trail))
			person := uuid.MustParse("0190f3a4-0000-7000-8000-00000000000a")
			for range 2 { // a request of two transactions has its rows once
				err := db.Write(ctx, func(*store.Tx) error {
					audit.NotePerson(ctx, person)
					return want
				})
				if !errors.Is(err, want) {
					t.Fatal(err)
				}
			}
			if want == nil {
				if rest := trail.Finish(200); len(rest) != 0 {
					t.Errorf("%d rows are left after a commit", len(rest))
				}
			} else if rest := trail.Finish(422); len(rest) != 1 || rest[0].Status != 422 || *rest[0].User != person {
				t.Errorf("a change that failed leaves %+v", rest)
			}
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := list(t, db, audit.Filter{}); len(got) != 1 || got[0] != "createUser" {
			t.Errorf("the log has %v", got)
		}
		if r := verify(t, l, nil); r.Blocks != 1 || r.Entries != 1 || len(r.Problems) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestEveryManipulationIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		statement, problem string
	}{
		"a row changed":            {`UPDATE audit_log SET actor = 'other' WHERE block = 3 AND n = 1`, "block 3 or its rows were changed"},
		"a time changed":           {`UPDATE audit_log SET at = at + 1 WHERE block = 3 AND n = 1`, "block 3 or its rows were changed"},
		"a row removed":            {`DELETE FROM audit_log WHERE block = 3 AND n = 1`, "block 3 has 2 rows instead of 3"},
		"a row added":              {`INSERT INTO audit_log SELECT team_id, block, 9, at, actor_kind, actor, on_behalf_of, action, user_id, object_id, address, status, request_id FROM audit_log WHERE block = 3 AND n = 1`, "block 3 has 4 rows instead of 3"},
		"two rows exchanged":       {`UPDATE audit_log SET action = CASE n WHEN 0 THEN 'listUsers' ELSE 'getUser' END WHERE block = 3 AND n < 2`, "block 3 or its rows were changed"},
		"a block removed":          {`DELETE FROM audit_blocks WHERE number = 3`, "blocks 3 to 3 are missing"},
		"a block changed":          {`UPDATE audit_blocks SET made_at = made_at + 1 WHERE number = 3`, "block 3 or its rows were changed"},
		"a block of another place": {`UPDATE audit_blocks SET previous = code WHERE number = 3`, "block 3 does not follow block 2"},
		"the newest blocks":        {`DELETE FROM audit_blocks WHERE number >= 4`, "block 5, which is known, is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.SQLite(t)
			l := open(db)
			fill(t, db, l)
			before := verify(t, l, nil)
			if len(before.Problems) != 0 || before.Blocks != 5 || before.Entries != 15 {
				t.Fatalf("before: %+v", before)
			}
			ctx := store.AsSystem(t.Context())
			if err := db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, c.statement); return err }); err != nil {
				t.Fatal(err)
			}
			after := verify(t, l, &audit.KnownBlock{Block: before.LastBlock, Code: before.LastCode})
			if !strings.Contains(strings.Join(after.Problems, "; "), c.problem) {
				t.Errorf("%q is not among %q", c.problem, after.Problems)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(db)
		fill(t, db, l)
		if got := list(t, db, audit.Filter{Action: "getOrder"}); len(got) != 5 {
			t.Errorf("by action: %v", got)
		}
		if got := list(t, db, audit.Filter{Limit: 4}); strings.Join(got, " ") != "getOrder listUsers getUser getOrder" {
			t.Errorf("newest first: %v", got)
		}
		if got := list(t, db, audit.Filter{Before: &audit.Position{Block: 1, N: 1}}); len(got) != 1 {
			t.Errorf("before a row: %v", got)
		}
		later, earlier := db.Now().Add(time.Minute), db.Now().Add(-time.Minute)
		if got := list(t, db, audit.Filter{From: &later}); len(got) != 0 {
			t.Errorf("from later on: %v", got)
		}
		if got := list(t, db, audit.Filter{From: &earlier, To: &later}); len(got) != 15 {
			t.Errorf("in two minutes: %v", got)
		}
		if got := list(t, db, audit.Filter{To: &earlier}); len(got) != 0 {
			t.Errorf("until earlier: %v", got)
		}
	})
}

func TestRetentionKeepsTheRestOfTheChain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(db)
		fill(t, db, l)
		cut := db.Now()
		time.Sleep(2 * time.Millisecond)
		l.Add(access(db, "later"))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := l.Forget(t.Context(), cut)
		if err != nil || n != 15 {
			t.Fatalf("%d rows removed, %v", n, err)
		}
		if r := verify(t, l, nil); len(r.Problems) != 0 || r.FirstBlock != 6 || r.Entries != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestAFailedWriteIsTriedAgain(t *testing.T) {
	db := storetest.SQLite(t)
	l := open(db)
	l.Add(access(db, "getUser"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Flush(ended); err == nil {
		t.Fatal("no error")
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := list(t, db, audit.Filter{}); len(got) != 1 {
		t.Errorf("the log has %v", got)
	}
}
