package continuous_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/ingest"
)

// fixture is a user of a team without a running service. A test begins and ends the runs.
type fixture struct {
	t    *testing.T
	db   *store.DB
	in   *ingest.Ingester
	user users.User
	ctx  context.Context
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	t.Helper()
	users.Register(db, continuous.UserRecords()...)
	team := userstest.Team(t, db)
	return &fixture{
		t: t, db: db, in: ingest.New(db),
		user: userstest.New(t, db, team.ID, users.NewUser{}), ctx: store.WithTeam(t.Context(), team.ID.UUID()),
	}
}

func (r *fixture) write(fn func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(r.ctx, fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) create(body string) (q continuous.Query) {
	r.t.Helper()
	stored, err := query.DecodeStoredQuery([]byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(func(tx *store.Tx) error {
		q, err = continuous.Create(r.ctx, tx, r.user.Team, continuous.New{Slug: stored.Slug, Title: stored.Title, Query: stored.Query, DataEvents: true})
		return err
	})
	return q
}

// steps stores a minute of steps.
func (r *fixture) steps(at string, value float64) {
	r.t.Helper()
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		r.t.Fatal(err)
	}
	us := moment.UnixMicro()
	r.put(wearables.Batch{Samples: []wearables.Samples{{
		Resource: "steps", Source: wearables.Source{Type: "watch"}, Time: []int64{us}, End: []int64{us + 60e6}, Value: []float64{value},
	}}})
}

func (r *fixture) put(b wearables.Batch) {
	r.t.Helper()
	b.Provider, b.Stage = "apple_health_kit", wearables.Daily
	if result, err := r.in.Ingest(r.ctx, r.user, b); err != nil || result.Rejected > 0 {
		r.t.Fatalf("%v, rejected %+v", err, result.Rejections)
	}
}

// begin starts a run; there must be something to do.
func (r *fixture) begin(q continuous.Query) (end func()) {
	r.t.Helper()
	end = continuous.Begin(r.ctx, r.t, r.db, q, r.user)
	if end == nil {
		r.t.Fatal("nothing is stale")
	}
	return end
}

// stale returns the number of hours that wait for a run.
func (r *fixture) stale(q continuous.Query) (hours float64) {
	r.t.Helper()
	err := r.db.Read(r.ctx, func(tx *store.Tx) error {
		return tx.QueryRow(r.ctx, `SELECT COALESCE(stale_to - stale_from, 0) / 3600e6 FROM continuous_query_states
			WHERE team_id = $1 AND user_id = $2 AND query_id = $3`, r.user.Team, r.user.ID, q.ID).Scan(&hours)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return hours
}

func (r *fixture) result(q continuous.Query) (text string) {
	r.t.Helper()
	err := r.db.Read(r.ctx, func(tx *store.Tx) error {
		t, err := q.Result(r.ctx, tx, r.user.ID)
		if err == nil {
			text = string(t.AppendJSON(nil, nil))
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// A run leaves only that data stale which arrives during the run, even if data
// arrives all the time. If the process of a run dies, the next run also does
// its work.
func TestARunTakesOverStaleTime(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		r.steps("2026-03-01T10:00:00Z", 100)
		if all := r.stale(q); all < 1e6 {
			t.Errorf("at first %v hours are stale", all)
		}
		first := r.begin(q)
		r.steps("2026-03-02T10:00:00Z", 50)
		first()
		if left := r.stale(q); left == 0 || left > 1 {
			t.Errorf("after the first run %v hours are stale", left)
		}
		r.begin(q) // its process dies
		if left := r.stale(q); left != 0 {
			t.Errorf("while a run is on its way %v hours are stale", left)
		}
		r.steps("2026-03-04T10:00:00Z", 7)
		r.begin(q)()
		const want = `{"group_key.0":["2026-03-01T00:00:00","2026-03-02T00:00:00","2026-03-04T00:00:00"],"sum.value":[100,50,7]}`
		if got := r.result(q); got != want {
			t.Errorf("the result %s", got)
		}
		if continuous.Begin(r.ctx, t, db, q, r.user) != nil {
			t.Error("a run without anything stale")
		}
	})
}

// A run stores nothing if another run has begun since, because the newer run also covers
// its time.
func TestSupersededRunStoresNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		r.steps("2026-03-01T10:00:00Z", 100)
		slow, fast := r.begin(q), r.begin(q)
		slow()
		if got := r.result(q); strings.Contains(got, "2026") {
			t.Errorf("the slow run stored %s", got)
		}
		fast()
		if got := r.result(q); !strings.Contains(got, `"sum.value":[100]`) {
			t.Errorf("the result %s", got)
		}
	})
}

// Users of a new query wait behind one another. Users whose data changes do not wait
// for them.
func TestBackfillHasJobsOfItsOwn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.steps("2026-03-01T10:00:00Z", 100)
		q := r.create(stepsByDay)
		if err := continuous.Backfill(r.ctx, db, r.user.Team.UUID(), q.ID); err != nil {
			t.Fatal(err)
		}
		if got := r.due(); !slices.Equal(got, []string{"queries.fill"}) {
			t.Errorf("a new query asked for %v", got)
		}
		r.steps("2026-03-02T10:00:00Z", 50)
		if got := r.due(); !slices.Equal(got, []string{"queries.fill", "queries.refresh"}) {
			t.Errorf("with a change of data %v", got)
		}
	})
}

// due returns the kinds of the queued jobs of queries whose time has come.
func (r *fixture) due() (kinds []string) {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		rows, err := tx.Query(r.ctx, `SELECT kind FROM jobs WHERE status = 'queued' AND kind IN ('queries.fill', 'queries.refresh')
			AND run_at <= $1 ORDER BY kind`, store.Micros(tx.Now()))
		if err != nil {
			return err
		}
		defer rows.Close()
		kinds = nil
		for rows.Next() {
			var kind string
			if err := rows.Scan(&kind); err != nil {
				return err
			}
			kinds = append(kinds, kind)
		}
		return rows.Err()
	})
	return kinds
}

// through marks all queued jobs as succeeded, as the runner does when a job's function
// returns.
func (r *fixture) through() {
	r.t.Helper()
	r.write(func(tx *store.Tx) error {
		_, err := tx.Exec(r.ctx, `UPDATE jobs SET status = 'succeeded', finished_at = 0 WHERE status = 'queued'`)
		return err
	})
}

// A row that is too large for an event stays in the result table. The other rows are
// announced.
func TestARowTooLargeForAnEvent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		line := func(f string) string {
			return `{"func":"` + f + `","arg":{"workout":"map_polyline"}}`
		}
		q := r.create(`{"slug":"routes","title":"","query":{"select":[{"group_key":0},` + line("oldest") + `,` + line("newest") + `],
			"group_by":[{"date_trunc":{"unit":"month"},"arg":{"index":"workout"}}]}}`)
		long := strings.Repeat("_p~iF~ps|U", 15_000)
		for day, polyline := range map[string]string{"2026-03-01": long, "2026-03-02": long + "_", "2026-04-01": "_p~iF"} {
			start, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(map[string]any{"map": map[string]any{"polyline": polyline}})
			if err != nil {
				t.Fatal(err)
			}
			r.put(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "workouts", Key: day, Source: wearables.Source{Type: "watch"}, Date: civil.MustParse(day),
				Start: start, End: start.Add(time.Hour), Body: body,
			}}})
		}
		r.begin(q)()
		if got := r.result(q); strings.Count(got, long) != 2 || strings.Count(got, `"_p~iF"`) != 2 {
			t.Errorf("a result of %d bytes: %.200s", len(got), got)
		}
		var events, bytes int
		r.write(func(tx *store.Tx) error {
			return tx.QueryRow(r.ctx, `SELECT COUNT(*), COALESCE(SUM(size), 0) FROM events WHERE type = 'continuous_query.result_table.changed'`).Scan(&events, &bytes)
		})
		if events != 1 || bytes > 1000 {
			t.Errorf("%d events of %d bytes", events, bytes)
		}
	})
}

// The limit of bytes applies to the whole result, over all stretches of its
// computation. The result has one row a day, with two values of 9 bytes each.
func TestBytesOfAResult(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		for _, at := range []string{"2025-01-01T10:00:00Z", "2025-06-01T10:00:00Z", "2026-01-01T10:00:00Z"} {
			r.steps(at, 10)
		}
		for bytes, fits := range map[int]bool{53: false, 54: true} {
			continuous.LimitBytes(t, bytes, 100)
			if err := continuous.Compute(r.ctx, t, db, q, r.user); fits != (err == nil) || !fits && !fault.Is(err, fault.Unprocessable) {
				t.Errorf("%d bytes: %v", bytes, err)
			}
		}
	})
}

// A slug that looks like an id is found as a slug.
func TestASlugLikeAnID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		const slug = "0197f3a0-1111-7222-8333-444455556666"
		q := r.create(strings.Replace(stepsByDay, "steps-by-day", slug, 1))
		for name, fits := range map[string]bool{slug: true, q.ID.String(): true, strings.Replace(slug, "6666", "6667", 1): false} {
			err := db.Read(r.ctx, func(tx *store.Tx) error { _, err := continuous.Find(r.ctx, tx, r.user.Team, name); return err })
			if fits != (err == nil) || !fits && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A result that grew over many runs is read as long as it fits.
func TestAResultTooLargeToRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		for _, at := range []string{"2025-01-01T10:00:00Z", "2025-06-01T10:00:00Z", "2026-01-01T10:00:00Z"} {
			r.steps(at, 10)
			r.begin(q)()
		}
		for _, c := range []struct {
			bytes, cells int
			fits         bool
		}{{10_000, 6, true}, {10_000, 5, false}, {50, 6, false}} {
			continuous.LimitBytes(t, c.bytes, c.cells)
			err := db.Read(r.ctx, func(tx *store.Tx) error { _, err := q.Result(r.ctx, tx, r.user.ID); return err })
			if c.fits != (err == nil) || !c.fits && !fault.Is(err, fault.Unprocessable) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

// Two changes of a query at once, of its title and of its gap, both count.
func TestChangesOfAQueryAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		q := r.create(stepsByDay)
		done := make(chan error, 1)
		gap, title := 2*time.Hour, "Other"
		r.write(func(tx *store.Tx) error {
			if _, err := continuous.Change(r.ctx, tx, r.user.Team, q.ID, continuous.Update{Title: &title}); err != nil {
				return err
			}
			go func() {
				done <- db.Write(r.ctx, func(tx *store.Tx) error {
					_, err := continuous.Change(r.ctx, tx, r.user.Team, q.ID, continuous.Update{SetGap: true, MinimumGap: &gap})
					return err
				})
			}()
			time.Sleep(100 * time.Millisecond) // the other transaction has read the row that it changes
			return nil
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r.write(func(tx *store.Tx) (err error) {
			q, err = continuous.Get(r.ctx, tx, r.user.Team, q.ID)
			return err
		})
		if got := fmt.Sprint(q.Title, *q.MinimumGap); got != "Other2h0m0s" {
			t.Errorf("the query has %s", got)
		}
	})
}
