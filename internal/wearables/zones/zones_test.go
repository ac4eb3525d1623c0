package zones_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/push"
	"hale/internal/wearables/storage"
	"hale/internal/wearables/zones"
)

var testTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// fixture is a user whose phone pushes data.
type fixture struct {
	t    *testing.T
	db   *store.DB
	in   *ingest.Ingester
	user users.User
	now  *time.Time
}

func (r *fixture) send(resource, body string) {
	r.t.Helper()
	d, _ := wearables.DocumentNamed(resource)
	parsed, err := push.ParseSummaries([]byte(body), d)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.in.Ingest(r.ctx(), r.user, wearables.Batch{Provider: parsed.Provider, Stage: wearables.Daily, Summaries: parsed.Summaries}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) ctx() context.Context {
	return store.WithTeam(context.Background(), r.user.Team.UUID())
}

// workout sends a workout of one hour. extra contains further members of its JSON.
func (r *fixture) workout(extra string) {
	r.t.Helper()
	r.workoutAt(testTime, extra)
}

func (r *fixture) workoutAt(began time.Time, extra string) {
	r.t.Helper()
	r.send("workouts", fmt.Sprintf(`{"stage":"daily","provider":"health_connect","data":[{"time_start":%q,"time_end":%q,"calendar_date":"2026-03-01",
		"source_type":"watch","app_id":"com.example.sport"%s}]}`, began.Format(time.RFC3339), began.Add(time.Hour).Format(time.RFC3339), extra))
}

// hearts stores a heart rate every ten seconds: for some minutes of each rate, one rate
// after another.
func (r *fixture) hearts(minutes int, rates ...float64) {
	r.t.Helper()
	s := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch", AppID: "com.example.heart"}}
	for i := range minutes * 6 {
		s.Time = append(s.Time, testTime.Add(time.Duration(i)*10*time.Second).UnixMicro())
		s.Value = append(s.Value, rates[i*len(rates)/(minutes*6)])
	}
	if _, err := r.in.Ingest(r.ctx(), r.user, wearables.Batch{Provider: "health_connect", Stage: wearables.Daily, Samples: []wearables.Samples{s}}); err != nil {
		r.t.Fatal(err)
	}
}

// look runs AddZones and returns the zones of the first workout. waiting reports whether
// workouts still wait for heart rate.
func (r *fixture) look() (waiting bool, found []int) {
	r.t.Helper()
	waiting, err := zones.AddZones(r.ctx(), r.db, r.user.Team, r.user.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return waiting, r.zones()[testTime]
}

// zones returns the zones of all workouts that have some, by the start of the workout.
func (r *fixture) zones() map[time.Time][]int {
	r.t.Helper()
	found := map[time.Time][]int{}
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		clear(found)
		all, err := storage.ListSummaries(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), storage.SummaryQuery{Resource: "workouts"})
		if err != nil {
			return err
		}
		for i := range all {
			var body struct {
				Start time.Time `json:"time_start"`
				Zones []int     `json:"hr_zones"`
			}
			if err := json.Unmarshal(all[i].Body, &body); err != nil {
				return err
			}
			if body.Zones != nil {
				found[body.Start.UTC()] = body.Zones
			}
		}
		return nil
	})
	return found
}

func forEachEngine(t *testing.T, fn func(r *fixture)) {
	now := testTime.Add(3 * time.Hour)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = testTime.Add(3 * time.Hour)
		born := civil.MustParse("1976-03-02") // 49 on the day, 50 on the next
		fn(&fixture{t, db, ingest.New(db), userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{BirthDate: &born}), &now})
	})
}

// The heart rate gives the zones, in any order of arrival. The maximum is 220 − 49 = 171.
// So 80, 95, 110, 130, 150 and 160 are in one zone each.
func TestHeartRateHasZones(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		r.workout("")
		if waiting, found := r.look(); !waiting || found != nil {
			r.t.Errorf("without heart rate: waiting %v, zones %v", waiting, found)
		}
		r.hearts(30, 80, 95, 110)
		if waiting, found := r.look(); !waiting || found != nil {
			r.t.Errorf("with half of it: waiting %v, zones %v", waiting, found)
		}
		r.hearts(60, 80, 95, 110, 130, 150, 160)
		want := []int{600, 600, 600, 600, 600, 600}
		if waiting, found := r.look(); waiting || !slices.Equal(found, want) {
			r.t.Errorf("waiting %v, zones %v, not %v", waiting, found, want)
		}
		r.workout(`,"distance":9000`) // a later version without zones takes none away
		if _, found := r.look(); !slices.Equal(found, want) {
			r.t.Errorf("after a later version %v", found)
		}
	})
}

// The provider's own data has precedence: its zones, and its birth date.
func TestZonesOfTheProviderAreKept(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		r.send("profile", `{"stage":"daily","provider":"health_connect","data":[{"birth_date":"1926-01-01"}]}`) // 100 years: 120
		r.workout("")
		r.hearts(60, 119)
		if _, found := r.look(); !slices.Equal(found, []int{0, 0, 0, 0, 0, 3600}) {
			r.t.Errorf("by the provider's birth date %v", found)
		}
	})
	forEachEngine(t, func(r *fixture) {
		r.workout(`,"hr_zones":[1,2,3,4,5,6]`)
		r.hearts(60, 119)
		if waiting, found := r.look(); waiting || !slices.Equal(found, []int{1, 2, 3, 4, 5, 6}) {
			r.t.Errorf("the provider's zones became %v", found)
		}
	})
}

// After two days incomplete heart rate is used, too. Without any heart rate there are no
// zones.
func TestPartialHeartRateAfterTwoDays(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		r.workout("")
		*r.now = r.now.Add(48 * time.Hour)
		if waiting, found := r.look(); waiting || found != nil {
			r.t.Errorf("waiting %v, guessed %v", waiting, found)
		}
		r.hearts(10, 119) // 600 s, and the last beat speaks for half a minute
		if waiting, found := r.look(); waiting || !slices.Equal(found, []int{0, 0, 620, 0, 0, 0}) {
			r.t.Errorf("waiting %v, zones %v", waiting, found)
		}
	})
}

// A person who trains every day always has a workout that waits. Each workout waits two
// days of its own. Days without a workout count as well.
func TestEachWorkoutHasItsTwoDays(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		r.workout("")
		r.hearts(10, 119)
		for day := 1; day < 4; day++ {
			if _, found := r.look(); found != nil {
				r.t.Fatalf("with ten minutes of the hour, after %d days: %v", day-1, found)
			}
			*r.now = r.now.Add(23 * time.Hour)
			r.workoutAt(testTime.Add(time.Duration(day)*23*time.Hour), "")
		}
		if waiting, found := r.look(); !waiting || !slices.Equal(found, []int{0, 0, 620, 0, 0, 0}) {
			r.t.Errorf("waiting %v, zones %v", waiting, found)
		}
	})
}

// A file contains more workouts than are read at once.
func TestManyWorkouts(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		const n = 250
		for i := range n {
			r.workoutAt(testTime.Add(time.Duration(i)*time.Minute), fmt.Sprintf(`,"external_id":"%d"`, i))
		}
		r.hearts(n+60, 119)
		if waiting, _ := r.look(); waiting || len(r.zones()) != n {
			r.t.Errorf("waiting %v, %d of %d have zones", waiting, len(r.zones()), n)
		}
	})
}

// Zones do not state the day of a workout. If the day was derived from the place, it
// still follows a later place.
func TestZonesStateNoDay(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		send := func(extra string) {
			r.send("workouts", fmt.Sprintf(`{"stage":"daily","provider":"health_connect","data":[{"time_start":%q,"time_end":%q,
				"source_type":"watch","app_id":"com.example.sport"%s}]}`, testTime.Format(time.RFC3339), testTime.Add(time.Hour).Format(time.RFC3339), extra))
		}
		send("")
		r.hearts(60, 80)
		if _, found := r.look(); found == nil {
			r.t.Fatal("no zones")
		}
		send(`,"timezone_offset":50400`)
		userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
			all, err := storage.ListSummaries(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), storage.SummaryQuery{Resource: "workouts", From: "2026-03-02"})
			if len(all) != 1 {
				r.t.Errorf("%d workouts on the day of the place", len(all))
			}
			return err
		})
	})
}

// In the running service the push itself starts the job, and a deletion removes the zones.
func TestZonesFollowAPush(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"ann"}`, &user)
		start := time.Now().UTC().Add(-time.Hour).Truncate(time.Minute)
		beats := ""
		for i := range 21 {
			beats += fmt.Sprintf(`,{"timestamp":%q,"value":190}`, start.Add(time.Duration(i)*30*time.Second).Format(time.RFC3339))
		}
		s.Expect(http.StatusOK, "POST", "/v2/timeseries/"+user.ID+"/heartrate", `{"stage":"daily","provider":"apple_health_kit","data":[`+beats[1:]+`]}`, nil)
		s.Expect(http.StatusOK, "POST", "/v2/summary/workouts/"+user.ID, fmt.Sprintf(`{"stage":"daily","provider":"apple_health_kit","data":[{"time_start":%q,"time_end":%q}]}`,
			start.Format(time.RFC3339), start.Add(10*time.Minute).Format(time.RFC3339)), nil)
		var found struct {
			Workouts []struct {
				Zones []int `json:"hr_zones"`
			}
		}
		wait := func(ready func(zones []int) bool) {
			for range 4500 {
				found.Workouts = nil
				s.Get("/v2/summary/workouts/"+user.ID+"?start_date="+start.AddDate(0, 0, -1).Format(time.DateOnly), &found)
				if len(found.Workouts) == 1 && ready(found.Workouts[0].Zones) {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		wait(func(zones []int) bool { return zones != nil })
		if len(found.Workouts) != 1 || !slices.Equal(found.Workouts[0].Zones, []int{0, 0, 0, 0, 0, 600}) {
			t.Errorf("workouts %+v", found.Workouts)
		}
		s.Expect(http.StatusOK, "DELETE", "/v2/user/"+user.ID+"/data?resource=heartrate", "", nil)
		wait(func(zones []int) bool { return zones == nil })
		if len(found.Workouts) != 1 || found.Workouts[0].Zones != nil {
			t.Errorf("without heart rate: %+v", found.Workouts)
		}
	})
}
