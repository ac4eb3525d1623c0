package ingest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// zoned returns the fixture with a fallback zone of the user.
func (f fixture) zoned(name string) fixture {
	f.user.TimeZone = &users.TimeZone{Name: name}
	return f
}

// withoutOffsets returns heart rates that state no offset.
func withoutOffsets(from time.Time, values ...float64) wearables.Samples {
	s := heartRates(from, values...)
	s.Offset = nil
	return s
}

func (f fixture) offsets(resource string) []int32 {
	f.t.Helper()
	groups := f.samples(resource)
	if len(groups) != 1 {
		f.t.Fatalf("%d groups", len(groups))
	}
	return groups[0].Offset
}

// statedOffsets are the offsets of time zones that an event shows.
var statedOffsets = regexp.MustCompile(`"timezone_offset":(-?[0-9]+)`)

func TestFallbackZoneAppliesToLaterData(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		before := withoutOffsets(day, 61)
		f.ingest(wearables.Batch{Samples: []wearables.Samples{before}})

		f = f.zoned("Europe/Berlin")
		stated := withoutOffsets(day.Add(time.Hour), 62)
		stated.Offset = []int32{-18000}
		summer := withoutOffsets(time.Date(2026, 3, 20, 23, 0, 0, 0, time.UTC), 64) // the zone has no summer time yet
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, withoutOffsets(day.Add(2*time.Hour), 63), summer}})
		want := []int32{wearables.NoOffset, -18000, 3600, 3600}
		if got := f.offsets("heartrate"); !slices.Equal(got, want) {
			t.Errorf("offsets %v, want %v", got, want)
		}
		for _, e := range f.events() {
			for _, offset := range statedOffsets.FindAllSubmatch(e.Data, -1) {
				if n, err := strconv.Atoi(string(offset[1])); err != nil || n < -86400 || n > 86400 {
					t.Errorf("an event shows how the offset was found: %s", e.Data)
				}
			}
		}
		sent := len(f.events())

		// The same again, with another zone: stored values stay as they are.
		f = f.zoned("Asia/Tokyo")
		r := f.ingest(wearables.Batch{Samples: []wearables.Samples{before, stated, withoutOffsets(day.Add(2*time.Hour), 63), summer}})
		if got := counts(r); got != "0 created, 0 updated, 4 unchanged, 0 rejected" {
			t.Error(got)
		}
		if got := f.offsets("heartrate"); !slices.Equal(got, want) || len(f.events()) != sent {
			t.Errorf("sent again they are %v, with %d events more", got, len(f.events())-sent)
		}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{withoutOffsets(day.Add(2*time.Hour), 99)}})
		if got := f.offsets("heartrate"); !slices.Equal(got, want) {
			t.Errorf("a new value moved the offset: %v", got)
		}
	})
}

func TestTheEventOfACorrectionHasTheStoredOffset(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		first := withoutOffsets(day, 61, 62)
		first.Offset = []int32{7200, 10800}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{first}})
		f.ingest(wearables.Batch{Samples: []wearables.Samples{withoutOffsets(day, 71, 72)}})
		f.push(wearables.Batch{Samples: []wearables.Samples{withoutOffsets(day, 81, 82)}})
		all := f.events()
		for _, e := range all[1:] {
			var payload struct {
				Data []struct {
					Offset *int32 `json:"timezone_offset"`
				}
			}
			if err := json.Unmarshal(e.Data, &payload); err != nil {
				f.t.Fatal(err)
			}
			if d := payload.Data; len(d) != 2 || d[0].Offset == nil || *d[0].Offset != 7200 || d[1].Offset == nil || *d[1].Offset != 10800 {
				f.t.Errorf("%s: %s", e.Type, e.Data)
			}
		}
		if len(all) != 3 {
			f.t.Errorf("%d events", len(all))
		}
	})
}

func TestOriginOfAnOffsetIsStored(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{withoutOffsets(day, 61)}})
		f = f.zoned("Asia/Kolkata")
		stated := withoutOffsets(day.Add(time.Hour), 62)
		stated.Offset = []int32{19800}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, withoutOffsets(day.Add(2*time.Hour), 63, 64)}})
		var got []string
		if err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			all, err := storage.OffsetsOf(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(),
				storage.SamplesQuery{Resource: "heartrate", From: day.UnixMicro(), To: day.AddDate(0, 0, 1).UnixMicro()})
			got = nil
			for _, o := range all[0].Offsets {
				got = append(got, fmt.Sprint(o.Seconds, " ", o.How, " of ", o.Samples, " from ", (o.First-day.UnixMicro())/3600e6, " to ", (o.Last-day.UnixMicro())/3600e6))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := []string{
			fmt.Sprint(wearables.NoOffset, " ", storage.UnstatedOffset, " of 1 from 0 to 0"), fmt.Sprint(19800, " ", storage.StatedOffset, " of 1 from 1 to 1"),
			fmt.Sprint(19800, " ", storage.ByFallback, " of 2 from 2 to 2"),
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestFloatingTimeHasNoFallback(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f = f.zoned("Europe/Berlin")
		for _, provider := range []string{"freestyle_libre", "abbott_libreview", "wahoo", "hammerhead", "google_fit"} {
			s := withoutOffsets(day, 5)
			s.Resource, s.Source.Provider = "glucose", provider
			f.ingest(wearables.Batch{Provider: provider, Samples: []wearables.Samples{s}})
		}
		for _, g := range f.samples("glucose") {
			if len(g.Offset) > 0 && g.Offset[0] != wearables.NoOffset {
				t.Errorf("%s has the offset %v", g.Source.Provider, g.Offset)
			}
		}
	})
}

func TestNewSummariesHaveTheFallbackZone(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		day := civil.DateOf(day)
		activity := wearables.Summary{Resource: "activity", Key: "a", Date: day, Body: []byte(`{"steps":7}`)}
		stated := wearables.Summary{Resource: "activity", Key: "b", Date: day, Body: []byte(`{"steps":7,"timezone_offset":-18000}`)}
		earlier := wearables.Summary{Resource: "activity", Key: "c", Date: day, Body: []byte(`{"steps":7}`)}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{earlier}})
		f = f.zoned("Europe/Berlin")
		for range 2 {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{activity, stated, earlier}})
			f = f.zoned("Asia/Tokyo") // changes nothing that is stored
		}
		got := map[string]string{}
		for _, e := range f.events() {
			var d struct {
				Offset json.RawMessage `json:"timezone_offset"`
				Zone   json.RawMessage `json:"time_zone"`
				ID     string
			}
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			for _, s := range []wearables.Summary{activity, stated, earlier} {
				if d.ID == wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "activity", s.Key).String() {
					got[s.Key] += e.Type + " " + string(d.Offset) + " " + string(d.Zone)
				}
			}
		}
		made := "daily.data.activity.created "
		want := map[string]string{"a": made + `3600 "Europe/Berlin"`, "b": made + "-18000 null", "c": made + "null null"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}

// A session without a stated day is filed under the local day at its place.
func TestTheDayOfASession(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		at := func(text string) time.Time {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		for i, c := range []struct{ resource, start, end, body, zone, day string }{
			{"workouts", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", `{}`, "", "2026-03-02"},
			{"workouts", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", `{}`, "America/Los_Angeles", "2026-03-01"},
			{"workouts", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", `{"timezone_offset":3600}`, "America/Los_Angeles", "2026-03-02"},
			{"sleep", "2026-03-01T14:00:00Z", "2026-03-01T22:00:00Z", `{}`, "Asia/Tokyo", "2026-03-02"},
			{"sleep_cycle", "2026-03-01T14:00:00Z", "2026-03-01T22:00:00Z", `{}`, "Asia/Tokyo", "2026-03-02"},
			{"sleep_cycle", "2026-03-01T14:00:00Z", "2026-03-01T22:00:00Z", `{"time_zone":"Asia/Tokyo"}`, "", "2026-03-02"},
			{"sleep_cycle", "2026-03-01T22:00:00-05:00", "2026-03-01T23:30:00-05:00", `{"session_start":"2026-03-01T22:00:00-05:00","session_end":"2026-03-01T23:30:00-05:00"}`, "Asia/Tokyo", "2026-03-01"},
			{"electrocardiogram", "2026-03-01T22:00:00Z", "2026-03-01T22:00:30Z", `{"time_zone":"Asia/Tokyo"}`, "", "2026-03-02"},
			{"meal", "2026-03-01T22:00:00Z", "", `{}`, "", "2026-03-01"},
			{"meal", "2026-03-01T22:00:00Z", "", `{}`, "Asia/Tokyo", "2026-03-02"},
			{"meal", "2026-03-01T22:00:00Z", "", `{"timestamp":"2026-03-01T17:00:00-05:00"}`, "Asia/Tokyo", "2026-03-01"},
		} {
			f := f
			f.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
			if c.zone != "" {
				f = f.zoned(c.zone)
			}
			s := wearables.Summary{Resource: c.resource, Key: "k", Start: at(c.start), Body: []byte(c.body)}
			if c.end != "" {
				s.End = at(c.end)
			}
			for _, zone := range []string{c.zone, "Pacific/Kiritimati"} { // which moves nothing that is stored
				r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
				if got := f.datesOf(c.resource); len(got) != 1 || got[0] != c.day || r.Rejected+r.Updated > 0 {
					t.Errorf("%d: %s of %s in %q is of %v, want %s; %s", i, c.resource, c.start, zone, got, c.day, counts(r))
				}
				f = f.zoned("Pacific/Kiritimati")
			}
		}
	})
}

// A meal that was stored under the UTC day moves to its local day when it arrives again
// with an offset. It stays there when it arrives without one.
func TestAMealMovesToItsLocalDay(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct{ day, want, filed string }{
			{"", "1 created, 0 updated, 0 unchanged, 0 rejected", "2026-03-01"},
			{"2026-03-02", "0 created, 1 updated, 0 unchanged, 0 rejected", "2026-03-02"},
			{"", "0 created, 0 updated, 1 unchanged, 0 rejected", "2026-03-02"},
		} {
			meal := wearables.Summary{Resource: "meal", Key: "k", Start: day.Add(22 * time.Hour), Body: []byte(`{}`)}
			if c.day != "" {
				meal.Date = civil.MustParse(c.day)
			}
			if got := counts(f.ingest(wearables.Batch{Summaries: []wearables.Summary{meal}})); got != c.want {
				t.Errorf("%d: %s, want %s", i, got, c.want)
			}
			if got := f.datesOf("meal"); len(got) != 1 || got[0] != c.filed || !strings.Contains(f.summaries("meal")[0], `"calendar_date":"`+c.filed+`"`) {
				t.Errorf("%d: of %v, want %s", i, got, c.filed)
			}
			f = f.zoned("Pacific/Kiritimati") // which moves nothing that is stored
		}
		stated := wearables.Summary{Resource: "meal", Key: "2", Start: day.Add(22 * time.Hour), Date: civil.MustParse("2026-03-01"), Body: []byte(`{}`)}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{stated}})
		if got := f.datesOf("meal"); !slices.Contains(got, "2026-03-01") {
			t.Errorf("the day that was stated: %v", got)
		}
	})
}

// The day of a session that states none changes with its end.
func TestDayOfASleepIsTheDateOfItsEnd(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f = f.zoned("America/Los_Angeles")
		for _, c := range []struct {
			length time.Duration
			day    string
		}{{8 * time.Hour, "2026-02-28"}, {10 * time.Hour, "2026-03-01"}} {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "sleep", Key: "k", Start: day.Add(-time.Hour), End: day.Add(c.length - time.Hour), Body: []byte(`{}`),
			}}})
			if got := f.datesOf("sleep"); len(got) != 1 || got[0] != c.day {
				t.Errorf("%v, want %s", got, c.day)
			}
			f = f.zoned("Asia/Tokyo") // what is stored keeps its place
		}
	})
}

// Older rows do not record the origin of the day. A session without a visible day that
// was filed under another one moves to the day of its place when it arrives again.
// Changes that no read shows are not announced.
func TestASessionMovesToItsLocalDay(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		cycle := wearables.Summary{
			Resource: "sleep_cycle", Key: "k", Date: civil.DateOf(day), Start: day.Add(14 * time.Hour), End: day.Add(22 * time.Hour), Body: []byte(`{"time_zone":"Asia/Tokyo"}`),
		}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{cycle}})
		f.forgetDayOrigin()
		cycle.Date = civil.Date{}
		const want = "0 created, 0 updated, 1 unchanged, 0 rejected"
		if got := counts(f.ingest(wearables.Batch{Summaries: []wearables.Summary{cycle}})); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := f.datesOf("sleep_cycle"); len(got) != 1 || got[0] != "2026-03-02" {
			t.Error(got)
		}
	})
}

// The bounds of a user apply to the local day of a session that states none.
func TestBoundsOfASessionWithoutADay(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f = f.zoned("America/Los_Angeles")
		f.user.IngestionStart = &civil.Date{Year: 2026, Month: 3, Day: 3}
		run := wearables.Summary{Resource: "workouts", Key: "k", Start: day.Add(27 * time.Hour), End: day.Add(28 * time.Hour), Body: []byte(`{}`)}
		if r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{run}}); r.Rejected != 1 || r.Rejections[0].Reason != wearables.OutOfBounds {
			t.Errorf("%+v", r)
		}
	})
}

// datesOf returns the days under which the summaries of a resource are filed.
func (f fixture) datesOf(resource string) (all []string) {
	f.t.Helper()
	err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(f.ctx, `SELECT calendar_date FROM summaries WHERE team_id = $1 AND user_id = $2 AND resource = $3`,
			f.user.Team, f.user.ID, resource)
		if err != nil {
			return err
		}
		defer rows.Close()
		all = nil
		for rows.Next() {
			var day string
			if err := rows.Scan(&day); err != nil {
				return err
			}
			all = append(all, day)
		}
		return rows.Err()
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// A copy of stored data that is sent again changes nothing. An offset that came from a
// fallback zone does not become a stated one. Data that is stored without an offset stays
// without one.
func TestMarkedOffsetsAreNotAnnounced(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Samples: []wearables.Samples{withoutOffsets(day, 61)}})
		f = f.zoned("Europe/Berlin")
		stated := withoutOffsets(day.Add(time.Hour), 62)
		stated.Offset = []int32{-18000}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{stated, withoutOffsets(day.Add(2*time.Hour), 63)}})
		want, sent := f.offsets("heartrate"), len(f.events())

		var copied []wearables.Samples
		err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
			copied, _, err = storage.ListSamples(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(),
				storage.SamplesQuery{Resource: "heartrate", From: 0, To: clock().UnixMicro(), Marked: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Of the first, a copy that was made with the zone.
		copied[0].Offset = slices.Clone(copied[0].Offset)
		copied[0].Offset[0] = copied[0].Offset[2]
		again := wearables.Batch{Samples: copied, Marked: true}
		if got := counts(f.ingest(again)); got != "0 created, 0 updated, 3 unchanged, 0 rejected" {
			t.Error(got)
		}
		f = f.zoned("Asia/Tokyo")
		f.ingest(again)
		if got := f.offsets("heartrate"); !slices.Equal(got, want) || len(f.events()) != sent {
			t.Errorf("offsets %v, want %v; %d events more", got, want, len(f.events())-sent)
		}

		// Changed and new values are announced without the mark.
		copied[0].Value = slices.Clone(copied[0].Value)
		copied[0].Value[2] = 70
		f.ingest(again)
		for _, e := range f.events()[sent:] {
			if !strings.Contains(string(e.Data), `"timezone_offset":3600`) {
				t.Errorf("announced as %s", e.Data)
			}
		}
		if len(f.events()) != sent+1 {
			t.Errorf("%d events more", len(f.events())-sent)
		}
	})
}
