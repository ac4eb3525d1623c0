package continuous_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/aggregate/continuous"
)

// Samples that state no offset move with the user's fallback zone, and so do
// the rows that they are in.
func TestAnotherZoneMovesRows(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		user := "/v2/user/" + s.user
		s.Expect(http.StatusOK, "PATCH", user, `{"fallback_time_zone":null}`, nil)
		id := s.create(stepsByDay)
		s.push("2026-03-01T23", 100)
		s.await(1)
		s.push("2026-03-02T12", 7)
		s.await(2)
		s.Expect(http.StatusOK, "PATCH", user, `{"fallback_time_zone":"Europe/Berlin"}`, nil)
		if got := s.await(3); !strings.Contains(got, `["2026-03-02T00:00:00"],"sum.value":[107]`) {
			t.Errorf("in Berlin %s", got)
		}
		s.Expect(http.StatusOK, "PATCH", user, `{"fallback_time_zone":"Europe/Berlin","client_user_id":"bea"}`, nil)
		var history struct{ Data []any }
		if s.Get("/aggregate/v1/user/"+s.user+"/continuous_query/"+id+"/task_history", &history); len(history.Data) != 3 {
			t.Errorf("%d runs, the same zone asked for one", len(history.Data))
		}
		s.Expect(http.StatusOK, "PATCH", user, `{"fallback_time_zone":"America/New_York"}`, nil)
		if got := s.await(4); !strings.Contains(got, `["2026-03-01T00:00:00","2026-03-02T00:00:00"],"sum.value":[100,7]`) {
			t.Errorf("in New York %s", got)
		}
		if got := s.result(id); !strings.Contains(got, `"sum.value":[100,7]`) {
			t.Errorf("the result %s", got)
		}
	})
}

// A run that falls due while the user is deleted begins nothing, and is asked
// for again when the user is back.
func TestARunDueWhileTheUserIsDeleted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		r.steps("2026-03-01T10:00:00Z", 100)
		r.write(func(tx *store.Tx) error { return users.Delete(r.ctx, tx, r.user.Team, r.user.ID) })
		if continuous.Begin(r.ctx, t, db, q, r.user) != nil {
			t.Error("a run for a deleted user")
		}
		r.through()
		r.write(func(tx *store.Tx) error {
			return users.UndoDelete(r.ctx, tx, r.user.Team, users.Ref{ID: &r.user.ID})
		})
		if got := r.due(); !slices.Equal(got, []string{"queries.refresh"}) {
			t.Errorf("asked for %v", got)
		}
		r.begin(q)()
		if got := r.result(q); !strings.Contains(got, `"sum.value":[100]`) {
			t.Errorf("the result %s", got)
		}
	})
}

// A query made while a user was deleted is answered when the user is back.
func TestQueryCreatedBeforeAUserIsRestored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.steps("2026-03-01T10:00:00Z", 100)
		r.write(func(tx *store.Tx) error { return users.Delete(r.ctx, tx, r.user.Team, r.user.ID) })
		q := r.create(stepsByDay)
		r.create(strings.NewReplacer("steps-by-day", "beats", `"steps"`, `"heartrate"`).Replace(stepsByDay)) // of nothing that the user has
		if err := continuous.Backfill(r.ctx, db, r.user.Team.UUID(), q.ID); err != nil {
			t.Fatal(err)
		}
		if got := r.due(); len(got) > 0 {
			t.Errorf("for a deleted user %v", got)
		}
		r.write(func(tx *store.Tx) error {
			return users.UndoDelete(r.ctx, tx, r.user.Team, users.Ref{ID: &r.user.ID})
		})
		if got := r.due(); !slices.Equal(got, []string{"queries.refresh"}) {
			t.Errorf("asked for %v", got)
		}
		r.begin(q)
	})
}

// Runs that wait for the end of a gap start when the gap is removed.
func TestWaitingRunsStartWhenTheGapIsRemoved(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		gap := 366 * 24 * time.Hour
		q := r.create(stepsByDay)
		change := func(gap *time.Duration) {
			r.write(func(tx *store.Tx) (err error) {
				q, err = continuous.Change(r.ctx, tx, r.user.Team, q.ID, continuous.Update{SetGap: true, MinimumGap: gap})
				return err
			})
			if err := continuous.Reschedule(r.ctx, db, r.user.Team.UUID(), q.ID); err != nil {
				t.Fatal(err)
			}
		}
		change(&gap)
		r.steps("2026-03-01T10:00:00Z", 100)
		r.begin(q)()
		r.through()
		r.steps("2026-03-01T11:00:00Z", 1)
		change(&gap) // the same one moves nothing
		if got := r.due(); len(got) > 0 {
			t.Errorf("within the gap %v", got)
		}
		change(nil)
		if got := r.due(); !slices.Equal(got, []string{"queries.fill"}) {
			t.Errorf("without a gap %v", got)
		}
		r.begin(q)()
		if got := r.result(q); !strings.Contains(got, `"sum.value":[101]`) {
			t.Errorf("the result %s", got)
		}
		r.through()
		change(nil)
		if got := r.due(); len(got) > 0 {
			t.Errorf("with nothing stale %v", got)
		}
	})
}

// A new order of providers recomputes the results that choose among them, and no
// others. The transaction that changes the order schedules the job.
func TestAnotherOrderOfProviders(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		ctx := store.WithTeam(t.Context(), uuid.MustParse(strings.Split(s.org, "/")[3]))
		byHand := s.create(strings.ReplaceAll(stepsByDay, `{"index":"timeseries"}}`, `{"index":"timeseries"}},{"source":"source_provider"},{"source":"source_type"}`))
		id := s.create(strings.ReplaceAll(stepsByDay, "steps-by-day", "best"))
		s.push("2026-03-01T10", 100)
		s.Expect(http.StatusOK, "POST", "/v2/timeseries/"+s.user+"/steps", `{"stage":"daily","provider":"health_connect","data":[
			{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:59:00Z","value":70,"source_type":"watch"}]}`, nil)
		settled := func(want string) {
			t.Helper()
			for range 9000 {
				if strings.Contains(s.result(id), want) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("the result %s, want %s", s.result(id), want)
		}
		walks := func(query string) (n int) {
			err := s.DB.Read(ctx, func(tx *store.Tx) error {
				return tx.QueryRow(ctx, `SELECT COUNT(*) FROM jobs WHERE kind = 'queries.backfill' AND key = $1`, query).Scan(&n)
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		forget := func() {
			err := s.DB.Write(ctx, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE kind = 'queries.backfill'`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		settled(`"sum.value":[100]`)
		prefer := func(priority string) {
			s.Expect(http.StatusOK, "PATCH", "/v2/team/source/priorities",
				`[{"data_type":"timeseries","provider":"health_connect","priority":`+priority+`},{"data_type":"sleep","provider":"oura","priority":`+priority+`}]`, nil)
		}
		forget()
		prefer("3")
		if walks(id) != 1 || walks(byHand) != 0 {
			t.Errorf("%d walks for the one that chooses, %d for the other", walks(id), walks(byHand))
		}
		s.backfill(id)
		settled(`"sum.value":[70]`)
		forget()
		if prefer("3"); walks(id) != 0 {
			t.Error("the same order asks for a walk")
		}
		if prefer("null"); walks(id) != 1 {
			t.Error("an order that is gone asks for none")
		}
	})
}
