package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// clock returns a time after all test data.
func clock() time.Time { return day.AddDate(0, 0, 20) }

type fixture struct {
	t    *testing.T
	db   *store.DB
	in   *ingest.Ingester
	user users.User
	ctx  context.Context
}

func forEachEngine(t *testing.T, fn func(f fixture)) {
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db)
		fn(fixture{
			t: t, db: db, in: ingest.New(db), ctx: store.WithTeam(context.Background(), team.ID.UUID()),
			user: userstest.New(t, db, team.ID, users.NewUser{}),
		})
	})
}

func (f fixture) ingest(b wearables.Batch) wearables.Result {
	f.t.Helper()
	if b.Provider == "" {
		b.Provider = "apple_health_kit"
	}
	if b.Stage == "" {
		b.Stage = wearables.Daily
	}
	r, err := f.in.Ingest(f.ctx, f.user, b)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// event is an envelope of the feed.
type event struct {
	Type string          `json:"event_type"`
	User uuid.UUID       `json:"user_id"`
	Data json.RawMessage `json:"data"`
}

// events returns the events about data.
func (f fixture) events() []event {
	f.t.Helper()
	return slices.DeleteFunc(f.allEvents(), func(e event) bool { return strings.HasPrefix(e.Type, "provider.connection.") })
}

// allEvents returns all events except those about users themselves.
func (f fixture) allEvents() []event {
	f.t.Helper()
	if f.db.Engine() == store.Postgres {
		if err := (&events.Sequencer{DB: f.db}).Settle(store.AsSystem(context.Background())); err != nil {
			f.t.Fatal(err)
		}
	}
	var all []event
	err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		page, err := events.ReadFeed(f.ctx, tx, f.user.Team.UUID(), 0, 1000, nil)
		for _, m := range page.Events {
			var e event
			if err := json.Unmarshal(m.Body, &e); err != nil {
				return err
			}
			if !strings.HasPrefix(e.Type, "user.") {
				all = append(all, e)
			}
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// types returns the types of the events about data.
func (f fixture) types() []string { return typesOf(f.events()) }

// allTypes returns the types of allEvents, which include the events about connections.
func (f fixture) allTypes() []string { return typesOf(f.allEvents()) }

func typesOf(all []event) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.Type)
	}
	return names
}

func (f fixture) samples(resource string) []wearables.Samples {
	f.t.Helper()
	var groups []wearables.Samples
	err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
		groups, _, err = storage.ListSamples(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(),
			storage.SamplesQuery{Resource: resource, From: 0, To: clock().UnixMicro()})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return groups
}

func watch() wearables.Source {
	return wearables.Source{Type: "watch", AppID: "com.apple.health.1"}
}

// heartRates returns one heart rate per minute, starting at from.
func heartRates(from time.Time, values ...float64) wearables.Samples {
	s := wearables.Samples{Resource: "heartrate", Source: watch(), Value: values}
	for i := range values {
		s.Time = append(s.Time, from.Add(time.Duration(i)*time.Minute).UnixMicro())
		s.Offset = append(s.Offset, 3600)
	}
	return s
}

func counts(r wearables.Result) string {
	return fmt.Sprintf("%d created, %d updated, %d unchanged, %d rejected", r.Created, r.Updated, r.Unchanged, r.Rejected)
}

func TestCreatedThenUpdatedThenNothing(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		noon := day.Add(12 * time.Hour)
		if got := counts(f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(noon, 61, 62, 63)}})); got != "3 created, 0 updated, 0 unchanged, 0 rejected" {
			t.Error(got)
		}
		if got := counts(f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(noon, 61, 70, 63, 64)}})); got != "1 created, 1 updated, 2 unchanged, 0 rejected" {
			t.Error(got)
		}
		if got := counts(f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(noon, 61, 70, 63, 64)}})); got != "0 created, 0 updated, 4 unchanged, 0 rejected" {
			t.Error(got)
		}

		all := f.events()
		want := []string{"daily.data.heartrate.created", "daily.data.heartrate.created", "daily.data.heartrate.updated"}
		if got := f.types(); !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		wantData := `{"user_id":"` + f.user.ID.String() + `","source_id":1,"source":{"provider":"apple_health_kit","type":"watch",` +
			`"app_id":"com.apple.health.1","device_id":null,"sport":null,"workout_id":null,"name":"Apple HealthKit","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"},` +
			`"data":[{"timestamp":"2026-03-01T12:01:00+00:00","timezone_offset":3600,"type":null,"unit":"bpm","value":70}]}`
		if got := string(all[2].Data); got != wantData {
			t.Errorf("got  %s\nwant %s", got, wantData)
		}

		groups := f.samples("heartrate")
		if len(groups) != 1 || !slices.Equal(groups[0].Value, []float64{61, 70, 63, 64}) || groups[0].Offset[0] != 3600 {
			t.Errorf("stored %+v", groups)
		}
	})
}

func TestSourcesDoNotOverwriteEachOther(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		a, b, c := heartRates(day, 61), heartRates(day, 70), heartRates(day, 80)
		b.Source.AppID = "com.example.other"
		c.Source.Type = "phone"
		f.ingest(wearables.Batch{Samples: []wearables.Samples{a, b, c}})
		f.ingest(wearables.Batch{Provider: "fitbit", Samples: []wearables.Samples{heartRates(day, 90)}})
		groups := f.samples("heartrate")
		var got []string
		for _, g := range groups {
			got = append(got, fmt.Sprint(g.Source.Provider, " ", g.Source.Type, " ", g.Source.AppID, " ", g.Value))
		}
		want := []string{
			"apple_health_kit phone com.apple.health.1 [80]", "apple_health_kit watch com.apple.health.1 [61]",
			"apple_health_kit watch com.example.other [70]", "fitbit watch com.apple.health.1 [90]",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Files contain app ids as their apps wrote them. The store removes characters that a
// text column refuses, and cuts long texts.
func TestSourcesAreTidied(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for id, want := range map[string]string{
			"com.\x00example\xff.one":      "com.example.one",
			strings.Repeat("é", 200):       strings.Repeat("é", 128),
			"x" + strings.Repeat("é", 200): "x" + strings.Repeat("é", 127),
		} {
			app := heartRates(day, 61)
			app.Resource, app.Source.AppID, app.Source.Sport = "heartrate", id, "\x00"
			night := wearables.Summary{
				Resource: "activity", Key: want, Source: wearables.Source{AppID: id}, Date: civil.DateOf(day), Body: json.RawMessage(`{"steps":1}`),
			}
			r := f.ingest(wearables.Batch{Samples: []wearables.Samples{app}, Summaries: []wearables.Summary{night}})
			if r.Created != 2 {
				t.Errorf("%q: %+v", id, r)
			}
			found := slices.ContainsFunc(f.samples("heartrate"), func(g wearables.Samples) bool { return g.Source.AppID == want && g.Source.Sport == "" })
			if !found {
				t.Errorf("no series of %q", want)
			}
		}
	})
}

func TestRejectedValues(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		start := civil.MustParse("2026-03-01")
		f.user.IngestionStart = &start
		heart := heartRates(day, 61, 15, 400, 62)
		old := heartRates(day.AddDate(0, 0, -3), 60)
		older := heartRates(day.AddDate(0, 0, -5), 60)
		ancient := heartRates(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), 60)
		unknown := heartRates(day, 61)
		unknown.Resource = "mood"
		typed := heartRates(day, 61)
		typed.Type = "sdnn"
		steps := wearables.Samples{
			Resource: "steps", Source: watch(),
			Time:  []int64{day.UnixMicro(), day.UnixMicro() + 1, day.UnixMicro() + 2},
			End:   []int64{day.UnixMicro() + 60e6, day.UnixMicro(), day.UnixMicro() + 600e6},
			Value: []float64{3001, 5, 2999},
		}
		pressure := wearables.Samples{
			Resource: "blood_pressure", Source: watch(), Time: []int64{day.UnixMicro(), day.UnixMicro() + 1, day.UnixMicro() + 2},
			Value: []float64{120, 80, 120}, Value2: []float64{80, 120, math.NaN()},
		}
		bad := heartRates(day, 61)
		bad.Value = append(bad.Value, 62)
		toaster := heartRates(day, 61)
		toaster.Source.Type = "toaster"
		r := f.ingest(wearables.Batch{Samples: []wearables.Samples{heart, old, older, ancient, unknown, typed, steps, pressure, bad, toaster}})
		if got := counts(r); got != "4 created, 0 updated, 0 unchanged, 14 rejected" {
			t.Error(got)
		}
		var got []string
		for _, x := range r.Rejections {
			got = append(got, fmt.Sprintf("%s %s %d at %d/%d", x.Resource, x.Reason, x.Count, x.Part, x.Index))
		}
		want := []string{
			"heartrate implausible_value 2 at 0/1", "heartrate outside_ingestion_bounds 2 at 1/0", "heartrate implausible_time 1 at 3/0",
			"mood unknown_resource 1 at 4/0", "heartrate unknown_type 1 at 5/0", "steps implausible_value 1 at 6/0",
			"steps end_before_start 1 at 6/1", "blood_pressure implausible_value 1 at 7/1", "blood_pressure missing_value 1 at 7/2", "heartrate unequal_columns 2 at 8/0",
			"heartrate unknown_source_type 1 at 9/0",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestHistoricalValuesSendNoEvents(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: []wearables.Samples{heartRates(day, 61)}, Summaries: []wearables.Summary{activity("2026-03-01", `{"steps":5}`)}})
		if got := f.types(); len(got) != 0 {
			t.Fatalf("announced %v", got)
		}
		f.ingest(wearables.Batch{Stage: wearables.Historical, Push: true, Samples: []wearables.Samples{heartRates(day, 62)}})
		if got := f.types(); !slices.Equal(got, []string{"daily.data.heartrate.updated"}) {
			t.Fatalf("announced %v", got)
		}
	})
}

func TestHistoryIsAnnouncedOncePerRun(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		done := func(resources ...string) {
			ranges := map[string]wearables.Range{}
			for _, r := range resources {
				ranges[r] = wearables.Range{Start: day, End: day.AddDate(0, 0, 1)}
			}
			if err := f.in.HistoricalDone(f.ctx, f.user, "apple_health_kit", ranges); err != nil {
				t.Fatal(err)
			}
		}
		done("heartrate", "body_weight")
		done("heartrate", "activity")
		want := []string{"historical.data.weight.created", "historical.data.heartrate.created", "historical.data.activity.created"}
		if got := f.types(); !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		provider := providers.FindOrName("apple_health_kit")
		wantData := `{"user_id":"` + f.user.ID.String() + `","start_date":"2026-03-01T00:00:00+00:00","end_date":"2026-03-02T00:00:00+00:00",` +
			`"provider":"apple_health_kit","source":{"provider":"apple_health_kit","type":"unknown","app_id":null,"device_id":null,"sport":null,` +
			`"workout_id":null,"name":"` + provider.Name + `","slug":"apple_health_kit","logo":"` + providers.Logos("").URL(provider.Slug) + `"}}`
		if got := string(f.events()[0].Data); got != wantData {
			t.Errorf("got  %s\nwant %s", got, wantData)
		}
		if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
			return connections.Deregister(f.ctx, tx, f.user.Team, f.user.ID, "apple_health_kit")
		}); err != nil {
			t.Fatal(err)
		}
		done("heartrate")
		if got := len(f.types()); got != 4 {
			t.Errorf("%d events after a new connection, want 4", got)
		}
	})
}

func TestEventsAreSplit(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		values := make([]float64, 6000)
		for i := range values {
			values[i] = 60 + float64(i%50)
		}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, values...)}})
		total := 0
		for _, e := range f.events() {
			var data struct {
				Data []struct{ Timestamp time.Time }
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			if len(e.Data) > events.MaxBody {
				t.Errorf("an event of %d bytes", len(e.Data))
			}
			for _, s := range data.Data {
				if want := day.Add(time.Duration(total) * time.Minute); !s.Timestamp.Equal(want) {
					t.Fatalf("sample %d is at %v, want %v", total, s.Timestamp, want)
				}
				total++
			}
		}
		if total != len(values) || len(f.events()) < 2 {
			t.Errorf("%d samples in %d events", total, len(f.events()))
		}
	})
}

// A batch and the connection that it creates are stored together or not at all.
func TestConnectsInTheTransaction(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		weight := wearables.Samples{Resource: "body_weight", Source: watch(), Time: []int64{day.UnixMicro()}, Value: []float64{70}}
		batch := wearables.Batch{
			Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{heartRates(day, 61), weight},
			Summaries: []wearables.Summary{activity("2026-03-01", `{"steps":1}`)},
		}
		deleted := f
		deleted.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
		if err := f.db.Write(f.ctx, func(tx *store.Tx) error { return users.Delete(f.ctx, tx, f.user.Team, deleted.user.ID) }); err != nil {
			t.Fatal(err)
		}
		if _, err := f.in.Ingest(f.ctx, deleted.user, batch); !fault.Is(err, fault.NotFound) {
			t.Fatalf("stored for a deleted user: %v", err)
		}
		if groups := deleted.samples("heartrate"); len(groups) != 0 || len(f.allTypes()) != 0 {
			t.Fatal("a part is stored")
		}
		f.ingest(batch)
		var all []connections.Connection
		if err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
			all, err = connections.List(f.ctx, tx, f.user.Team, f.user.ID)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || !slices.Equal(slices.Sorted(maps.Keys(all[0].Resources)), []string{"activity", "heartrate", "weight"}) {
			t.Errorf("connections %+v", all)
		}
	})
}

func TestConcurrentWritersOfOneSeries(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		const writers, each = 8, 12
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					at := day.Add(time.Duration(i*writers+w) * time.Minute)
					if _, err := f.in.Ingest(f.ctx, f.user, wearables.Batch{
						Provider: "x", Stage: wearables.Daily, Samples: []wearables.Samples{heartRates(at, 60+float64(w))},
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		groups := f.samples("heartrate")
		if len(groups) != 1 || groups[0].Len() != writers*each {
			t.Fatalf("%d of %d samples are there, in %d groups", groups[0].Len(), writers*each, len(groups))
		}
		if got := len(f.types()); got != writers*each {
			t.Errorf("%d events, want %d", got, writers*each)
		}
	})
}

func TestBloodPressureAndTypes(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		at := day.UnixMicro()
		f.ingest(wearables.Batch{Samples: []wearables.Samples{
			{Resource: "blood_pressure", Source: watch(), Time: []int64{at}, Value: []float64{120}, Value2: []float64{80}},
			{Resource: "cholesterol", Type: "cholesterol/ldl", Source: watch(), Time: []int64{at}, Value: []float64{3}},
			{Resource: "cholesterol", Type: "cholesterol/hdl", Source: watch(), Time: []int64{at}, Value: []float64{1.5}},
		}})
		if g := f.samples("blood_pressure"); len(g) != 1 || g[0].Value2[0] != 80 {
			t.Errorf("stored %+v", g)
		}
		if g := f.samples("cholesterol"); len(g) != 2 || g[0].Type != "cholesterol/hdl" {
			t.Errorf("stored %+v", g)
		}
	})
}

func TestErasureRemovesAllRows(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 61)}, Summaries: []wearables.Summary{activity("2026-03-01", `{"steps":1}`)}})
		other := f
		other.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
		other.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 61)}})
		err := f.db.Write(f.ctx, func(tx *store.Tx) error { return eraseAll(f.ctx, tx, f.user) })
		if err != nil {
			t.Fatal(err)
		}
		if len(f.samples("heartrate")) != 0 || len(other.samples("heartrate")) != 1 {
			t.Error("the wrong rows are gone")
		}
	})
}

func otherTeam(f fixture) fixture {
	team := userstest.Team(f.t, f.db)
	f.user = userstest.New(f.t, f.db, team.ID, users.NewUser{})
	f.ctx = store.WithTeam(context.Background(), team.ID.UUID())
	return f
}

// eraseAll erases the rows of a user, as a deletion does.
func eraseAll(ctx context.Context, tx *store.Tx, user users.User) error {
	for _, r := range storage.UserRecords() {
		if _, err := r.Erase(ctx, tx, user.Team, user.ID); err != nil {
			return err
		}
	}
	return nil
}
