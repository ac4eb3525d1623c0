package continuous_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/aggregate/continuous"
)

// gapFixture is a fixture with a clock, a query with a gap, and jobs that try to run it.
type gapFixture struct {
	*fixture
	q   continuous.Query
	now time.Time
}

// forEachGap runs fn with a query whose gap is an hour.
func forEachGap(t *testing.T, fn func(r *gapFixture)) {
	r := &gapFixture{}
	storetest.EachAt(t, func() time.Time { return r.now }, func(t *testing.T, db *store.DB) {
		r.now = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
		r.fixture = newFixture(t, db)
		r.q = r.create(stepsByDay)
		r.gap(time.Hour)
		fn(r)
	})
}

func (r *gapFixture) gap(gap time.Duration) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		r.q, err = continuous.Change(r.ctx, tx, r.user.Team, r.q.ID, continuous.Update{SetGap: true, MinimumGap: &gap})
		return err
	})
}

func aJob() jobs.ID { return ids.FromUUID[jobs.Job](uuid.New()) }

// try lets a job begin a run, and checks how long the job has to wait. It returns the
// function that ends the run, or nil if no run began. what describes the step in errors.
func (r *gapFixture) try(what string, job jobs.ID, wait time.Duration) (end func()) {
	r.t.Helper()
	end, got := continuous.BeginFor(r.ctx, r.t, r.db, r.q, r.user, job)
	if got != wait || end != nil && wait > 0 {
		r.t.Fatalf("%s: it began is %v, it waits for %v, not for %v", what, end != nil, got, wait)
	}
	return end
}

// Jobs of data changes and jobs of walks over many users keep the gap between the runs of
// one user.
func TestAllJobsKeepOneGap(t *testing.T) {
	forEachGap(t, func(r *gapFixture) {
		r.steps("2026-03-01T10:00:00Z", 100)
		fill, refresh := aJob(), aJob()
		r.try("the change of data", refresh, 0)()
		r.steps("2026-03-02T10:00:00Z", 7)
		r.try("the walk", fill, time.Hour)
		r.now = r.now.Add(50 * time.Minute)
		r.try("the walk, later", fill, 10*time.Minute)
		if got := r.result(r.q); !strings.Contains(got, `"sum.value":[100]`) {
			t.Errorf("the result within the gap %s", got)
		}
		r.now = r.now.Add(10 * time.Minute)
		r.try("the walk, after the gap", fill, 0)()
		if end := r.try("the change of data, when nothing is stale", refresh, 0); end != nil {
			t.Error("it ran")
		}
		if got := r.result(r.q); !strings.Contains(got, `"sum.value":[100,7]`) {
			t.Errorf("the result %s", got)
		}
	})
}

// A longer gap also applies to runs that already wait.
func TestALongerGapCountsForRunsThatWait(t *testing.T) {
	forEachGap(t, func(r *gapFixture) {
		r.steps("2026-03-01T10:00:00Z", 100)
		r.try("at first", aJob(), 0)()
		r.steps("2026-03-02T10:00:00Z", 7)
		waits := aJob()
		r.gap(3 * time.Hour)
		r.now = r.now.Add(time.Hour)
		r.try("at the end of the old gap", waits, 2*time.Hour)
		r.now = r.now.Add(2 * time.Hour)
		r.try("at the end of the new gap", waits, 0)()
	})
}

// A job that retries its own unfinished run does not wait for the gap. After the run has
// ended, the job waits like any other.
func TestAttemptsAtOneRunKeepNoGap(t *testing.T) {
	forEachGap(t, func(r *gapFixture) {
		r.steps("2026-03-01T10:00:00Z", 100)
		own, other := aJob(), aJob()
		r.try("the first attempt", own, 0)
		r.now = r.now.Add(time.Minute)
		end := r.try("the second attempt", own, 0)
		r.try("another job", other, time.Hour)
		end()
		r.steps("2026-03-02T10:00:00Z", 7)
		r.try("the job of the run that ended", own, time.Hour)
	})
}

// Without a gap, a difference between the clocks of nodes has no effect.
func TestWithoutAGapNothingWaits(t *testing.T) {
	forEachGap(t, func(r *gapFixture) {
		r.write(func(tx *store.Tx) (err error) {
			r.q, err = continuous.Change(r.ctx, tx, r.user.Team, r.q.ID, continuous.Update{SetGap: true})
			return err
		})
		r.steps("2026-03-01T10:00:00Z", 100)
		r.try("at first", aJob(), 0)()
		r.steps("2026-03-02T10:00:00Z", 7)
		r.now = r.now.Add(-2 * time.Second)
		if r.try("by a clock that is late", aJob(), 0) == nil {
			t.Error("it did not run")
		}
	})
}

// In the running service, a job that comes within the gap waits for its end.
func TestAJobWithinTheGapWaits(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		id := s.create(strings.Replace(stepsByDay, `"title"`, `"scheduling_preferences":{"minimum_gap_duration_second":1800},"title"`, 1))
		s.push("2026-03-01T10", 100)
		s.await(1)
		s.push("2026-03-01T11", 1)
		team := uuid.MustParse(strings.Split(s.org, "/")[3])
		ctx := store.WithTeam(t.Context(), team)
		if err := s.DB.Write(ctx, func(tx *store.Tx) error {
			return continuous.ScheduleFill(ctx, tx, team, mustReturn(ids.Parse[continuous.Query](id)), mustReturn(ids.Parse[users.User](s.user)))
		}); err != nil {
			t.Fatal(err)
		}
		state, ahead := "", time.Duration(0)
		for range 9000 {
			var at time.Time
			if err := s.DB.Read(ctx, func(tx *store.Tx) error {
				return tx.QueryRow(ctx, `SELECT status, run_at FROM jobs WHERE team_id = $1 AND kind = 'queries.fill'`, team).Scan(&state, store.ScanTime(&at))
			}); err != nil {
				t.Fatal(err)
			}
			if ahead = at.Sub(s.DB.Now()); state == "queued" && ahead > 25*time.Minute {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if state != "queued" || ahead < 25*time.Minute || ahead > 30*time.Minute {
			t.Errorf("the job is %s, due in %v", state, ahead)
		}
		if n := s.runs(s.user, id); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
}

func mustReturn[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return v
}
