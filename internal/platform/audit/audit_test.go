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

func open(t *testing.T, db *store.DB) *audit.Log {
	t.Helper()
	l := audit.New(db, slog.New(slog.DiscardHandler))
	if err := l.Prepare(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return l
}

// change changes the database by hand.
func change(t *testing.T, db *store.DB, statements ...string) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	for _, statement := range statements {
		if err := db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
}

// problems returns all that a check of the log finds.
func problems(t *testing.T, l *audit.Log) string {
	t.Helper()
	all, refused, err := l.Examine(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if refused > 0 {
		all = append(all, "refused rows")
	}
	teams, err := l.Teams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, team := range teams {
		r, err := l.Verify(t.Context(), team, nil, func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Problems...)
	}
	return strings.Join(all, "; ")
}

func access(db *store.DB, action string) audit.Entry {
	return audit.Entry{Team: team, At: db.Now(), ActorKind: audit.ActorKey, Actor: "k", Action: action, Status: 200, Address: "192.0.2.1", RequestID: "r"}
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
		l := open(t, db)
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

// A request of several transactions has a row for each person once, whenever the person was
// noted.
func TestPeopleOfLaterTransactionsAreNoted(t *testing.T) {
	db := storetest.SQLite(t)
	l := open(t, db)
	trail := audit.NewTrail(access(db, "resendOrderEvents"), 200)
	ctx := audit.InTransactions(audit.WithTrail(store.AsSystem(t.Context()), trail))
	people := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	for _, some := range [][]uuid.UUID{people[:1], people[:2]} {
		err := db.Write(ctx, func(*store.Tx) error {
			for _, person := range some {
				audit.NotePerson(ctx, person)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	audit.NotePerson(ctx, people[2])
	rest := trail.Finish(200)
	if len(rest) != 1 || *rest[0].User != people[2] {
		t.Errorf("after the last transaction: %+v", rest)
	}
	l.Add(rest...)
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, person := range people {
		if got := list(t, db, audit.Filter{Users: []uuid.UUID{person}}); len(got) != 1 {
			t.Errorf("a person has the rows %v", got)
		}
	}
	if got := list(t, db, audit.Filter{}); len(got) != len(people) {
		t.Errorf("the log has %v", got)
	}
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
			l := open(t, db)
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

// A person removes the oldest rows, the newest, or all, and changes the list of chains to
// hide it.
func TestRemovedChainsAreFound(t *testing.T) {
	const other = `X'0190F3A4000070008000000000000002'`
	for name, c := range map[string]struct {
		statements []string
		problem    string
	}{
		"the oldest blocks": {[]string{`DELETE FROM audit_blocks WHERE number <= 2`, `DELETE FROM audit_log WHERE block <= 2`}, "the oldest blocks, 1 to 2, are missing"},
		"the oldest blocks, and a moved list": {[]string{
			`DELETE FROM audit_blocks WHERE number <= 2`, `DELETE FROM audit_log WHERE block <= 2`, `UPDATE audit_chains SET first = 3`,
		}, "the entry of the team in the list of chains was changed"},
		"the newest blocks": {[]string{`DELETE FROM audit_blocks WHERE number >= 4`, `DELETE FROM audit_log WHERE block >= 4`}, "the newest blocks, 4 to 5, are missing"},
		"a whole chain":     {[]string{`DELETE FROM audit_blocks`, `DELETE FROM audit_log`}, "all blocks, 1 to 5, are missing"},
		"a chain and its entry": {[]string{
			`DELETE FROM audit_blocks`, `DELETE FROM audit_log`, `DELETE FROM audit_chains`,
		}, "the chains 1 to 1 of the list are missing"},
		"a chain, its entry and the length": {[]string{
			`DELETE FROM audit_blocks`, `DELETE FROM audit_log`, `DELETE FROM audit_chains`, `UPDATE instance SET audit_chains = 0`,
		}, "the length of the list of chains was changed"},
		"everything": {[]string{
			`DELETE FROM audit_blocks`, `DELETE FROM audit_log`, `DELETE FROM audit_chains`,
			`UPDATE instance SET audit_chains = 0, audit_listed_at = 0, audit_code = NULL`,
		}, "the list of chains is missing"},
		"an entry of another team": {[]string{`UPDATE audit_chains SET team_id = ` + other}, "the entry of the team in the list of chains was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.SQLite(t)
			l := open(t, db)
			fill(t, db, l)
			if found := problems(t, l); found != "" {
				t.Fatalf("before: %s", found)
			}
			change(t, db, c.statements...)
			// Neither a start nor further accesses hide it.
			for range 2 {
				if found := problems(t, l); !strings.Contains(found, c.problem) {
					t.Errorf("%q is not in %q", c.problem, found)
				}
				if err := l.Prepare(t.Context(), true); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(c.problem, "newest") || strings.Contains(c.problem, "all blocks") {
					return // the next block leaves a gap instead, see below
				}
				fill(t, db, l)
			}
		})
	}
}

// A block after removed ones does not reuse their numbers.
func TestRemovedBlocksLeaveAGap(t *testing.T) {
	db := storetest.SQLite(t)
	l := open(t, db)
	fill(t, db, l)
	change(t, db, `DELETE FROM audit_blocks WHERE number >= 4`, `DELETE FROM audit_log WHERE block >= 4`)
	fill(t, db, l)
	if found := problems(t, l); !strings.Contains(found, "blocks 4 to 5 are missing") {
		t.Errorf("found %q", found)
	}
	change(t, db, `DELETE FROM audit_blocks`, `DELETE FROM audit_log`)
	fill(t, db, l)
	if found := problems(t, l); !strings.Contains(found, "the oldest blocks, 1 to 10, are missing") {
		t.Errorf("found %q", found)
	}
}

// A row that was written or changed by hand while it waits is refused and reported.
func TestWaitingRowsNeedTheirCode(t *testing.T) {
	for name, statement := range map[string]string{
		"a changed body": `UPDATE audit_pending SET body = REPLACE(body, 'getUser', 'getOrder')`,
		"no code":        `UPDATE audit_pending SET code = NULL`,
		"another id":     `UPDATE audit_pending SET id = team_id`,
		"no JSON":        `UPDATE audit_pending SET body = 'x'`,
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				l := open(t, db)
				if db.Engine() == store.Postgres { // the update of all nodes is over
					if err := audit.Backdate(t.Context(), l, 25*time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				ctx := store.AsSystem(t.Context())
				err := db.Write(ctx, func(tx *store.Tx) error {
					return audit.Insert(ctx, tx, []audit.Entry{access(db, "getUser")})
				})
				if err != nil {
					t.Fatal(err)
				}
				change(t, db, statement)
				l.Add(access(db, "listUsers"))
				for range 2 {
					if err := l.Flush(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if got := list(t, db, audit.Filter{}); len(got) != 1 || got[0] != "listUsers" {
					t.Errorf("the log has %v", got)
				}
				if found := problems(t, l); found != "refused rows; 1 waiting rows have no valid code and were refused" {
					t.Errorf("found %q", found)
				}
			})
		})
	}
}

// A block takes many waiting rows with few statements. It removes the rows that it took,
// and marks the others.
func TestBlocksTakeManyWaitingRows(t *testing.T) {
	if n := audit.CountParts(1000); n > 12 {
		t.Errorf("1,000 rows need %d statements", n)
	}
	const good, bad = 256 + 64 + 16 + 4 + 1, 64 + 16 + 4 + 1
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(t, db)
		var all []audit.Entry
		for range good {
			all = append(all, access(db, "getUser"))
		}
		for range bad {
			all = append(all, access(db, "listUsers"))
		}
		ctx := store.AsSystem(t.Context())
		if err := db.Write(ctx, func(tx *store.Tx) error { return audit.Insert(ctx, tx, all) }); err != nil {
			t.Fatal(err)
		}
		change(t, db, `UPDATE audit_pending SET body = REPLACE(body, 'listUsers', 'getOrder')`)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, l, nil); r.Entries != good {
			t.Errorf("the log has %d entries, want %d", r.Entries, good)
		}
		var left, refused int
		if err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*), SUM(refused) FROM audit_pending`).Scan(&left, &refused)
		}); err != nil {
			t.Fatal(err)
		}
		if left != bad || refused != bad {
			t.Errorf("%d rows wait, and %d are refused, want %d", left, refused, bad)
		}
	})
}

// The chains and the waiting rows of an older version are accepted once.
func TestLogsOfOlderVersions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		old := audit.New(db, nil) // without Prepare, there is no list
		fill(t, db, old)
		if n, err := old.Forget(t.Context(), db.Now().Add(-time.Hour)); err != nil || n != 0 {
			t.Fatal(n, err)
		}
		change(t, db, `DELETE FROM audit_blocks WHERE number = 1`, `DELETE FROM audit_log WHERE block = 1`) // by the retention
		ctx := store.AsSystem(t.Context())
		err := db.Write(ctx, func(tx *store.Tx) error { return audit.Insert(ctx, tx, []audit.Entry{access(db, "waiting")}) })
		if err != nil {
			t.Fatal(err)
		}
		change(t, db, `UPDATE audit_pending SET code = NULL`)
		if r := verify(t, old, nil); len(r.Problems) != 0 || r.FirstBlock != 2 {
			t.Errorf("before the update: %+v", r)
		}
		l := open(t, db)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := list(t, db, audit.Filter{Actions: []string{"waiting"}}); len(got) != 1 {
			t.Errorf("a row of the older version: %v", got)
		}
		if found := problems(t, l); found != "" {
			t.Errorf("after the update: %s", found)
		}
	})
}

func TestFilters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(t, db)
		fill(t, db, l)
		if got := list(t, db, audit.Filter{Actions: []string{"getOrder"}}); len(got) != 5 {
			t.Errorf("by action: %v", got)
		}
		if got := list(t, db, audit.Filter{Actions: []string{"getOrder", "getUser"}}); len(got) != 10 {
			t.Errorf("by two actions: %v", got)
		}
		if got := list(t, db, audit.Filter{Users: []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}}); len(got) != 0 {
			t.Errorf("of unknown people: %v", got)
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
		var newest time.Time
		err := db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			rows, _, err := audit.List(t.Context(), tx, team, audit.Filter{Limit: 1})
			if err == nil {
				newest = rows[0].At
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := list(t, db, audit.Filter{From: &newest, To: &newest}); len(got) == 0 {
			t.Error("a range from a row to the same row has no rows")
		}
	})
}

func TestRetentionKeepsTheRestOfTheChain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := open(t, db)
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
		if n, err = l.Forget(t.Context(), db.Now().Add(time.Minute)); err != nil || n != 1 {
			t.Fatalf("%d rows removed, %v", n, err)
		}
		if found := problems(t, l); found != "" {
			t.Errorf("after all blocks: %s", found)
		}
		fill(t, db, l) // the chain continues
		if found := problems(t, l); found != "" {
			t.Errorf("after the next blocks: %s", found)
		}
		if r := verify(t, l, nil); r.FirstBlock != 7 || r.LastBlock != 11 {
			t.Errorf("%+v", r)
		}
	})
}

func TestAFailedWriteIsTriedAgain(t *testing.T) {
	db := storetest.SQLite(t)
	l := open(t, db)
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
