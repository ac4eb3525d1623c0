package users_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func newClock() *storetest.Clock {
	return storetest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
}

func del(db *store.DB, team teams.ID, id users.ID) error {
	return write(db, team, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, team, id) })
}

func undo(db *store.DB, team teams.ID, ref users.Ref) error {
	return write(db, team, func(ctx context.Context, tx *store.Tx) error { return users.UndoDelete(ctx, tx, team, ref) })
}

func TestDeletedUserIsHidden(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		_, err := get(t, db, team, user.ID)
		wantFault(t, err, fault.NotFound, "User is scheduled for deletion")
		wantFault(t, del(db, team, user.ID), fault.NotFound, "User is already scheduled for deletion")
		wantFault(t, write(db, team, func(ctx context.Context, tx *store.Tx) error {
			_, err := users.Change(ctx, tx, team, user.ID, users.Update{ClientUserID: patch.Set("y")})
			return err
		}), fault.NotFound, "User is scheduled for deletion")
		wantFault(t, write(db, team, func(ctx context.Context, tx *store.Tx) error {
			_, err := users.Resolve(ctx, tx, team, "x")
			return err
		}), fault.NotFound, "User not found")
		if page := list(t, db, team, 0, 10); len(page.Users) != 0 || page.Total != 0 {
			t.Errorf("a deleted user is listed: %+v", page)
		}
		checkCounts(t, db, team)
	})
}

func TestUndoDelete(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		wantFault(t, undo(db, team, users.Ref{ID: &user.ID}), fault.NotFound, "scheduled")
		for name, ref := range map[string]users.Ref{"by id": {ID: &user.ID}, "by client id": {ClientUserID: ptr("x")}} {
			t.Run(name, func(t *testing.T) {
				if err := del(db, team, user.ID); err != nil {
					t.Fatal(err)
				}
				clk.Advance(users.Grace - time.Second)
				if err := undo(db, team, ref); err != nil {
					t.Fatal(err)
				}
				if _, err := get(t, db, team, user.ID); err != nil {
					t.Error(err)
				}
				checkCounts(t, db, team)
			})
		}
		wantFault(t, undo(db, team, users.Ref{}), fault.Invalid, "exactly one")
		wantFault(t, undo(db, team, users.Ref{ID: &user.ID, ClientUserID: ptr("x")}), fault.Invalid, "exactly one")
	})
}

func TestUndoDeleteOfATakenClientUserID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		first := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		if err := del(db, team, first.ID); err != nil {
			t.Fatal(err)
		}
		second := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		wantFault(t, undo(db, team, users.Ref{ID: &first.ID}), fault.Conflict, "same client_user_id")
		wantFault(t, undo(db, team, users.Ref{ClientUserID: ptr("x")}), fault.Conflict, "same client_user_id")
		if err := del(db, team, second.ID); err != nil {
			t.Fatal(err)
		}
		if err := undo(db, team, users.Ref{ID: &first.ID}); err != nil {
			t.Error(err)
		}
		checkCounts(t, db, team)
	})
}

func TestUndoDeleteAfterTheGracePeriod(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		clk.Advance(users.Grace)
		wantFault(t, undo(db, team, users.Ref{ID: &user.ID}), fault.NotFound, "")
		wantFault(t, undo(db, team, users.Ref{ClientUserID: ptr("x")}), fault.NotFound, "")
		_, err := get(t, db, team, user.ID)
		wantFault(t, err, fault.NotFound, "Not found")
	})
}

// runJobs runs the due jobs to their end.
func runJobs(t *testing.T, db *store.DB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	node, err := jobs.Join(ctx, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 100)
	runner := jobs.NewRunner(db, jobs.Config{
		Node: node, Kinds: []jobs.Handler{users.EraseJob},
		Observe: func(kind, outcome string, _ time.Duration) {
			if kind == users.EraseJob.Name() {
				ended <- outcome
			}
		},
	})
	done := make(chan error)
	go func() { done <- runner.Run(ctx) }()
	select {
	case outcome := <-ended:
		if outcome != "succeeded" {
			t.Errorf("the job %s", outcome)
		}
	case <-time.After(90 * time.Second):
		t.Error("no job was due")
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := node.Leave(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestErasure(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		keep := userstest.New(t, db, team, users.NewUser{ClientUserID: "keep", BirthDate: ptr(civil.MustParse("1990-01-01"))})
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x", BirthDate: ptr(civil.MustParse("1984-12-10"))})
		userstest.WithInfo(t, db, user, userstest.Info())
		mustCreateCode(t, db, link(t, db, user, users.Communications).Token)
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		if n := rowsOf(t, db, "portal_links", user.ID); n != 0 {
			t.Errorf("%d links with codes left after the deletion", n)
		}
		clk.Advance(users.Grace + time.Second)
		runJobs(t, db)
		for _, table := range userTables(t, db) {
			if n := rowsOf(t, db, table, user.ID); n != 0 {
				t.Errorf("%d rows left in %s", n, table)
			}
		}
		if n := rowsOf(t, db, "users", keep.ID); n != 1 {
			t.Error("another user's row was erased")
		}
		if got, err := get(t, db, team, keep.ID); err != nil || got.BirthDate == nil {
			t.Errorf("another user can no longer be read: %v", err)
		}
		_, err := get(t, db, team, user.ID)
		wantFault(t, err, fault.NotFound, "Not found")
		checkCounts(t, db, team)
		userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
	})
}

// userTables returns all tables with rows about users, and the keys. It leaves out
// the feed of events, which keeps numbers and types.
func userTables(t *testing.T, db *store.DB) (all []string) {
	t.Helper()
	query := `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'user_id'`
	if db.Engine() == store.Postgres {
		query = `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'user_id'`
	}
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			if name != "events" {
				all = append(all, name)
			}
		}
		return rows.Err()
	})
	if len(all) < 5 {
		t.Fatalf("only %v have users", all)
	}
	return append(all, "sealing_keys")
}

func rowsOf(t *testing.T, db *store.DB, table string, user users.ID) (n int) {
	t.Helper()
	column := "user_id"
	if table == "sealing_keys" {
		column = "subject_id"
	}
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE `+column+` = $1`, user).Scan(&n)
	})
	return n
}

func TestRestoredUserIsNotErased(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		for range 2 { // deleted and restored twice
			if err := del(db, team, user.ID); err != nil {
				t.Fatal(err)
			}
			clk.Advance(time.Hour)
			if err := undo(db, team, users.Ref{ID: &user.ID}); err != nil {
				t.Fatal(err)
			}
		}
		clk.Advance(users.Grace)
		runJobs(t, db)
		if _, err := get(t, db, team, user.ID); err != nil {
			t.Errorf("the job of an undone deletion erased: %v", err)
		}
	})
}

func TestErasureWaitsForTheLatestDeletion(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x"})
		for range 2 {
			if err := del(db, team, user.ID); err != nil {
				t.Fatal(err)
			}
			clk.Advance(3 * 24 * time.Hour)
			if err := undo(db, team, users.Ref{ID: &user.ID}); err != nil {
				t.Fatal(err)
			}
		}
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		clk.Advance(2 * 24 * time.Hour) // the first deletion is eight days old, the last one two
		runJobs(t, db)
		if err := undo(db, team, users.Ref{ID: &user.ID}); err != nil {
			t.Errorf("erased too early: %v", err)
		}
	})
}

// A node with a slow clock may restore a user whose erasure has begun on another
// node. The user keeps the key.
func TestUserRestoredDuringErasure(t *testing.T) {
	clk := newClock()
	storetest.EachAt(t, clk.Now, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		user := userstest.New(t, db, team, users.NewUser{ClientUserID: "x", BirthDate: ptr(civil.MustParse("1984-12-10"))})
		users.Register(db, users.Records{Name: "test", Erase: func(ctx context.Context, tx *store.Tx, _ teams.ID, id users.ID) (bool, error) {
			_, err := tx.Exec(ctx, `UPDATE users SET deleted_at = NULL WHERE user_id = $1`, id)
			return false, err
		}})
		if err := del(db, team, user.ID); err != nil {
			t.Fatal(err)
		}
		clk.Advance(users.Grace)
		runJobs(t, db)
		if got, err := get(t, db, team, user.ID); err != nil || got.BirthDate == nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
