package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/connections/demo"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

// historyDays is the length of a demo's history in these tests.
const historyDays = 30

// checkingSink is a sink that reports refused values: no generated value may be
// refused.
type checkingSink struct {
	*ingest.Ingester
	t *testing.T
}

func (w checkingSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	r, err := w.Ingester.Ingest(ctx, user, b)
	for _, refused := range r.Rejections {
		w.t.Errorf("%s: %d refused: %s", refused.Resource, refused.Count, refused.Reason)
	}
	return r, err
}

// fixture is a service with a clock that the test moves.
type fixture struct {
	t    *testing.T
	db   *store.DB
	s    *demo.Service
	user users.User
	now  *time.Time
}

// forEachEngine runs a test on both engines. The day is two weeks after the clocks
// change in Berlin, so the history has a day of 23 hours.
func forEachEngine(t *testing.T, fn func(r *fixture)) {
	now := new(time.Time)
	*now = time.Date(2026, 4, 12, 15, 7, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return *now }, func(t *testing.T, db *store.DB) {
		*now = time.Date(2026, 4, 12, 15, 7, 0, 0, time.UTC)
		users.Register(db, connections.UserRecords()...)
		zone := "Europe/Berlin"
		r := &fixture{t: t, db: db, now: now, user: userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{TimeZone: &zone})}
		r.s = &demo.Service{DB: db, Sink: checkingSink{ingest.New(db), t}}
		fn(r)
	})
}

func (r *fixture) ctx() context.Context {
	return store.WithTeam(context.Background(), r.user.Team.UUID())
}

func (r *fixture) connect(provider string) error {
	return r.db.Write(r.ctx(), func(tx *store.Tx) error {
		return r.s.Connect(r.ctx(), tx, r.user.Team, r.user.ID, provider, historyDays)
	})
}

func (r *fixture) fill(provider string) {
	r.t.Helper()
	if err := r.s.Fill(r.ctx(), r.user.Team, r.user.ID, provider); err != nil {
		r.t.Fatal(err)
	}
}

// events counts the team's events by type.
func (r *fixture) events() map[string]int {
	r.t.Helper()
	sequencer := events.Sequencer{DB: r.db}
	if err := sequencer.Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	counts := map[string]int{}
	for after := int64(0); ; {
		var page events.Page
		userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) (err error) {
			page, err = events.ReadFeed(ctx, tx, r.user.Team.UUID(), after, events.MaxPage, nil)
			return err
		})
		for _, e := range page.Events {
			var envelope struct {
				Type string `json:"event_type"`
			}
			if err := json.Unmarshal(e.Body, &envelope); err != nil {
				r.t.Fatal(err)
			}
			counts[envelope.Type]++
		}
		if after = page.Next; !page.HasMore {
			return counts
		}
	}
}

// A demo has some of the resources that the catalogue lists for its provider. The stored
// data has no other resources.
func TestEveryProviderBringsItsResources(t *testing.T) {
	for _, slug := range connections.DemoProviders {
		t.Run(slug, func(t *testing.T) {
			forEachEngine(t, func(r *fixture) {
				r.t = t
				if err := r.connect(slug); err != nil {
					t.Fatal(err)
				}
				r.fill(slug)
				p, _ := providers.Find(slug)
				var conn connections.Connection
				userstest.Read(t, r.db, func(ctx context.Context, tx *store.Tx) error {
					all, err := connections.List(ctx, tx, r.user.Team, r.user.ID)
					conn = all[0]
					return err
				})
				counts := r.events()
				for resource := range conn.Resources {
					if resource == "workout_stream" { // comes with workouts and has no history of its own
						continue
					}
					if !slices.Contains(p.SupportedResources, resource) {
						t.Errorf("%s is not one of the provider's resources", resource)
					}
					if n := counts["historical.data."+resource+".created"]; n != 1 && resource != "profile" {
						t.Errorf("%s: the end of its history was announced %d times", resource, n)
					}
				}
				if counts["provider.connection.created"] != 1 || counts["provider.device.created"] != 1 {
					t.Errorf("events %v", counts)
				}
				for name := range counts {
					if strings.HasPrefix(name, "daily.") {
						t.Errorf("%s got an event of history", name)
					}
				}
			})
		})
	}
}

// Thirty days are stored and look plausible. Each run generates another person, so the
// limits are those of the generator.
func TestAHistoryLooksPlausible(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		if err := r.connect("apple_health_kit"); err != nil {
			r.t.Fatal(err)
		}
		r.fill("apple_health_kit")
		type night struct {
			Date     civil.Date `json:"calendar_date"`
			Duration int
			Total    int
			Deep     int
			REM      int
			HRV      float64 `json:"average_hrv"`
			Lowest   int     `json:"hr_lowest"`
		}
		nights := summaries[night](r, "sleep")
		if n := len(nights); n != historyDays && n != historyDays+1 { // the first may begin after midnight
			r.t.Errorf("%d nights", len(nights))
		}
		for _, n := range nights {
			if n.Duration < 6*3600 || n.Duration > 9*3600 || n.Total > n.Duration || n.Deep < 20*60 || n.REM < 20*60 || n.HRV < 8 || n.Lowest < 40 {
				r.t.Errorf("a night %+v", n)
			}
		}
		type activity struct {
			Steps    int
			Calories float64 `json:"calories_active"`
			Heart    struct {
				Avg float64 `json:"avg_bpm"`
				Max float64 `json:"max_bpm"`
			} `json:"heart_rate"`
		}
		days := summaries[activity](r, "activity")
		if len(days) != historyDays+1 {
			r.t.Errorf("%d days", len(days))
		}
		for _, d := range days[:historyDays] {
			if d.Steps < 500 || d.Steps > 40_000 || d.Calories < 10 || d.Heart.Avg < 50 || d.Heart.Avg > 110 || d.Heart.Max > 200 {
				r.t.Errorf("a day %+v", d)
			}
		}
		type workout struct {
			Title string
			Zones []int `json:"hr_zones"`
			HR    int   `json:"average_hr"`
		}
		workouts := summaries[workout](r, "workouts")
		if len(workouts) == 0 {
			r.t.Error("no workouts")
		}
		for _, w := range workouts {
			if !strings.HasPrefix(w.Title, "Demo ") || len(w.Zones) != 6 || w.HR < 80 {
				r.t.Errorf("a workout %+v", w)
			}
		}
	})
}

// The caller chooses the length of the history.
func TestAHistoryHasTheGivenLength(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		err := r.db.Write(r.ctx(), func(tx *store.Tx) error {
			return r.s.Connect(r.ctx(), tx, r.user.Team, r.user.ID, "oura", 400)
		})
		if err != nil {
			r.t.Fatal(err)
		}
		r.fill("oura")
		if n := len(summaries[struct{}](r, "activity")); n != 401 {
			r.t.Errorf("%d days", n)
		}
	})
}

// summaries returns the stored summaries of a resource, sorted by day.
func summaries[T any](r *fixture, resource string) []T {
	r.t.Helper()
	var all []T
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		stored, err := storage.ListSummaries(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), storage.SummaryQuery{Resource: resource})
		if err != nil {
			return err
		}
		var wires []json.RawMessage
		for i := range stored {
			wire, err := storage.AppendSummary(nil, &stored[i], "")
			if err != nil {
				return err
			}
			wires = append(wires, wire)
		}
		slices.SortFunc(wires, func(a, b json.RawMessage) int { return strings.Compare(dayIn(a), dayIn(b)) })
		for _, wire := range wires {
			var one T
			if err := json.Unmarshal(wire, &one); err != nil {
				return err
			}
			all = append(all, one)
		}
		return nil
	})
	return all
}

func dayIn(wire json.RawMessage) string {
	var one struct {
		Day string `json:"calendar_date"`
	}
	_ = json.Unmarshal(wire, &one) // what is no summary fails where it is read
	return one.Day
}

// Generating the same time again gives the same data: no row is stored and no event is
// sent. Later data has an event for each value.
func TestLaterDataIsAnnounced(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		for _, slug := range []string{"oura", "freestyle_libre"} {
			if err := r.connect(slug); err != nil {
				r.t.Fatal(err)
			}
			r.fill(slug)
			before := r.events()
			r.fill(slug)
			if err := r.connect(slug); err != nil {
				r.t.Fatal(err)
			}
			if after := r.events(); !maps.Equal(before, after) {
				r.t.Errorf("%s: %v became %v", slug, before, after)
			}
		}
		nights := len(summaries[struct{}](r, "sleep"))
		*r.now = r.now.Add(26 * time.Hour)
		for _, slug := range []string{"oura", "freestyle_libre"} {
			r.fill(slug)
		}
		counts := r.events()
		for _, name := range []string{
			"daily.data.heartrate.created", "daily.data.steps.created", "daily.data.sleep.created", "daily.data.activity.updated",
			"daily.data.glucose.created",
		} {
			if counts[name] == 0 {
				r.t.Errorf("no %s after a day: %v", name, counts)
			}
		}
		if now := len(summaries[struct{}](r, "sleep")); now != nights+1 {
			r.t.Errorf("%d nights became %d", nights, now)
		}
	})
}

// Several runs over parts of the time store the same data as one run over all of it.
func TestPiecesCoverTheWholeRange(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		if err := r.connect("fitbit"); err != nil {
			r.t.Fatal(err)
		}
		r.fill("fitbit")
		for range 9 {
			*r.now = r.now.Add(2 * time.Hour)
			r.fill("fitbit")
		}
		pieces := r.samples()
		whole := &fixture{t: r.t, db: r.db, s: r.s, now: r.now, user: r.user}
		userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
			return connections.Deregister(ctx, tx, r.user.Team, r.user.ID, "fitbit")
		})
		if err := whole.connect("fitbit"); err != nil {
			r.t.Fatal(err)
		}
		whole.fill("fitbit")
		if after := whole.samples(); after != pieces {
			r.t.Errorf("%d samples in pieces, %d more at once", pieces, after-pieces)
		}
	})
}

// samples counts the user's samples of heart rate, steps and HRV.
func (r *fixture) samples() (n int) {
	r.t.Helper()
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		n = 0
		for _, resource := range []string{"heartrate", "steps", "hrv"} {
			all, err := storage.SeriesOf(ctx, tx, r.user.Team.UUID(), r.user.ID.UUID(), resource)
			if err != nil {
				return err
			}
			for _, s := range all {
				var found wearables.Samples
				if err := storage.ReadSeries(ctx, tx, s, 0, 1<<60, &found); err != nil {
					return err
				}
				n += found.Len()
			}
		}
		return nil
	})
	return n
}

// A user has real or generated data, never both. Production has no generated data.
func TestProvidersThatConnect(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		real := userstest.New(r.t, r.db, r.user.Team, users.NewUser{})
		ensure := func(user users.User, provider string) error {
			return r.db.Write(r.ctx(), func(tx *store.Tx) error {
				return connections.Ensure(r.ctx(), tx, user, provider, []string{"steps"})
			})
		}
		if err := ensure(real, "health_connect"); err != nil {
			r.t.Fatal(err)
		}
		err := r.db.Write(r.ctx(), func(tx *store.Tx) error {
			return r.s.Connect(r.ctx(), tx, real.Team, real.ID, "oura", historyDays)
		})
		if !fault.Is(err, fault.Refused) {
			r.t.Errorf("a user with real data was connected: %v", err)
		}
		if err := r.connect("whoop_v2"); !fault.Is(err, fault.Invalid) {
			r.t.Errorf("a provider without invented data: %v", err)
		}
		if err := r.connect("oura"); err != nil {
			r.t.Fatal(err)
		}
		if err := ensure(r.user, "health_connect"); !fault.Is(err, fault.Refused) {
			r.t.Errorf("real data came to a demo user: %v", err)
		}
		if err := r.connect("fitbit"); err != nil {
			r.t.Errorf("a second demo: %v", err)
		}
		other := userstest.New(r.t, r.db, userstest.Team(r.t, r.db).ID, users.NewUser{})
		err = r.db.Write(r.ctx(), func(tx *store.Tx) error {
			return r.s.Connect(r.ctx(), tx, r.user.Team, other.ID, "oura", historyDays)
		})
		if !fault.Is(err, fault.NotFound) {
			r.t.Errorf("another team's user: %v", err)
		}
		var production teams.Team
		userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) (err error) {
			production, err = teams.Create(ctx, tx, "Real", teams.Production)
			return err
		})
		patient := userstest.New(r.t, r.db, production.ID, users.NewUser{})
		ctx := store.WithTeam(context.Background(), production.ID.UUID())
		err = r.db.Write(ctx, func(tx *store.Tx) error {
			return r.s.Connect(ctx, tx, production.ID, patient.ID, "oura", historyDays)
		})
		if !fault.Is(err, fault.Refused) {
			r.t.Errorf("production was connected: %v", err)
		}
	})
}

// The user is removed a week after the first connection. A removed connection gets no
// more data until then.
func TestEndOfAConnection(t *testing.T) {
	forEachEngine(t, func(r *fixture) {
		system := store.AsSystem(context.Background())
		for _, slug := range []string{"oura", "fitbit"} {
			if err := r.connect(slug); err != nil {
				r.t.Fatal(err)
			}
			*r.now = r.now.Add(3 * 24 * time.Hour)
		}
		userstest.Write(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
			return connections.Deregister(ctx, tx, r.user.Team, r.user.ID, "fitbit")
		})
		var living []connections.Demo
		userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) (err error) {
			living, err = connections.ActiveDemos(ctx, tx, connections.Demo{}, 10)
			return err
		})
		if len(living) != 1 || living[0].Provider != "oura" {
			r.t.Errorf("living %+v", living)
		}
		there := func() bool {
			err := r.db.Read(r.ctx(), func(tx *store.Tx) error { return users.Exists(r.ctx(), tx, r.user.Team, r.user.ID) })
			return err == nil
		}
		if err := r.s.Tend(system); err != nil || !there() {
			r.t.Errorf("gone after six days: %v", err)
		}
		*r.now = r.now.Add(24 * time.Hour)
		if err := r.s.Tend(system); err != nil || there() {
			r.t.Errorf("still there after seven days: %v", err)
		}
		if err := r.s.Tend(system); err != nil {
			r.t.Errorf("the time after: %v", err)
		}
		if err := r.s.Fill(r.ctx(), r.user.Team, r.user.ID, "oura"); !fault.Is(err, fault.NotFound) {
			r.t.Errorf("data for a deleted user: %v", err)
		}
	})
}

// The test uses the HTTP API. A demo is connected at once, its history follows,
// and the answer of a refresh names the refreshed resources.
func TestADemoOverHTTP(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"ann"}`, &user)
		connect := func(status int, body string) string {
			t.Helper()
			got, text := s.Call("POST", "/v2/link/connect/demo", body)
			if got != status {
				t.Errorf("%s: %d %s", body, got, text)
			}
			return strings.TrimSpace(string(text))
		}
		body := fmt.Sprintf(`{"user_id":%q,"provider":"freestyle_libre"}`, user.ID)
		if got, want := connect(http.StatusOK, body), fmt.Sprintf(`{"success":true,"detail":"Connected user %s to provider freestyle_libre"}`, user.ID); got != want {
			t.Errorf("answered %s, not %s", got, want)
		}
		connect(http.StatusUnprocessableEntity, strings.Replace(body, "freestyle_libre", "garmin", 1))
		connect(http.StatusUnprocessableEntity, `{"provider":"oura"}`)
		connect(http.StatusNotFound, `{"user_id":"019f0000-0000-7000-8000-000000000000","provider":"oura"}`)

		today := time.Now().UTC()
		read := fmt.Sprintf("/v2/timeseries/%s/glucose/grouped?start_date=%s&end_date=%s", user.ID,
			today.AddDate(0, 0, -30).Format(time.DateOnly), today.Format(time.DateOnly))
		var found struct {
			Groups map[string][]struct {
				Data []struct{ Value float64 }
			}
		}
		for range 4500 {
			if s.Get(read, &found); len(found.Groups["freestyle_libre"]) == 2 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		groups := found.Groups["freestyle_libre"]
		if len(groups) != 2 || max(len(groups[0].Data), len(groups[1].Data)) < 29*96 {
			t.Fatalf("%d groups of glucose", len(groups))
		}
		var refreshed struct {
			Success   bool
			Refreshed []string `json:"refreshed_sources"`
			Failed    []string `json:"failed_sources"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user/refresh/"+user.ID, "", &refreshed)
		if !refreshed.Success || len(refreshed.Refreshed) != 1 || refreshed.Refreshed[0] != "freestyle_libre/glucose" || len(refreshed.Failed) != 0 {
			t.Errorf("refreshed %+v", refreshed)
		}
	})
}
