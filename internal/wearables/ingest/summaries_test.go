package ingest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

func activity(date, body string) wearables.Summary {
	return wearables.Summary{
		Resource: "activity", Key: date + "|watch|com.apple.health.1", Source: watch(),
		Date: civil.MustParse(date), Body: json.RawMessage(body),
	}
}

func (f fixture) summaries(resource string) []string {
	f.t.Helper()
	var all []string
	err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		stored, err := storage.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), storage.SummaryQuery{Resource: resource})
		for i := range stored {
			text, err := storage.AppendSummary(nil, &stored[i], "")
			if err != nil {
				return err
			}
			all = append(all, string(text))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func TestSummaryVersions(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		put := func(body string) wearables.Result {
			return f.ingest(wearables.Batch{Summaries: []wearables.Summary{activity("2026-03-01", body)}})
		}
		if r := put(`{"steps":100,"heart_rate":{"avg_bpm":70,"min_bpm":null},"time_zone":"Europe/Berlin"}`); r.Created != 1 {
			t.Errorf("%+v", r)
		}
		if r := put(`{ "time_zone":"Europe/Berlin", "steps": 1e2, "distance": null }`); r.Unchanged != 1 {
			t.Errorf("the same content in other words: %+v", r)
		}
		if r := put(`{"steps":250,"distance":12.5,"heart_rate":{"avg_bpm":null,"max_bpm":140},"time_zone":null}`); r.Updated != 1 {
			t.Errorf("%+v", r)
		}
		if got, want := f.types(), []string{"daily.data.activity.created", "daily.data.activity.updated"}; !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		id := wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "activity", "2026-03-01|watch|com.apple.health.1").String()
		want := `{"id":"` + id + `","user_id":"` + f.user.ID.String() + `","date":"2026-03-01T00:00:00+00:00","calendar_date":"2026-03-01",` +
			`"calories_total":null,"calories_active":null,"steps":250,"daily_movement":null,"distance":12.5,"low":null,"medium":null,"high":null,` +
			`"floors_climbed":null,"time_zone":"Europe/Berlin","timezone_offset":null,"heart_rate":{"avg_bpm":70,"max_bpm":140},` +
			`"wheelchair_use":null,"wheelchair_push":null,"source":{"provider":"apple_health_kit","type":"watch","app_id":"com.apple.health.1",` +
			`"device_id":null,"sport":null,"workout_id":null,"name":"Apple HealthKit","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"},` +
			`"created_at":"2026-03-21T00:00:00+00:00","updated_at":"2026-03-21T00:00:00+00:00"}`
		if got := f.summaries("activity"); len(got) != 1 || got[0] != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := string(f.events()[1].Data); got != want {
			t.Errorf("event carries %s", got)
		}
	})
}

// A stored workout enqueues the job that adds its zones. A reprocessed one does not.
func TestWorkoutsEnqueueZones(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		zoneJobs := func() (n int) {
			f.t.Helper()
			err := f.db.Read(f.ctx, func(tx *store.Tx) error {
				return tx.QueryRow(f.ctx, `SELECT COUNT(*) FROM jobs WHERE team_id = $1 AND kind = 'wearables.zones'`, f.user.Team).Scan(&n)
			})
			if err != nil {
				f.t.Fatal(err)
			}
			return n
		}
		workout := wearables.Batch{Provider: "apple_health_kit", Stage: wearables.Daily, Summaries: []wearables.Summary{
			{Resource: "workouts", Key: "k", Source: watch(), Body: json.RawMessage(`{}`), Start: day, End: day.Add(time.Hour)},
		}}
		if _, err := ingest.NewReprocessor(f.db).Ingest(f.ctx, f.user, workout); err != nil {
			f.t.Fatal(err)
		}
		if n := zoneJobs(); n != 0 {
			f.t.Errorf("%d jobs after reprocessing", n)
		}
		workout.Summaries[0].Key = "another"
		workout.Summaries[0].Start, workout.Summaries[0].End = day.Add(5*time.Hour), day.Add(6*time.Hour)
		r := f.ingest(workout)
		if n := zoneJobs(); n != 1 || r.Created != 1 {
			f.t.Errorf("%d jobs after a new workout, %+v", n, r)
		}
	})
}

func TestEverySummaryHasEveryField(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, d := range wearables.Documents() {
			s := wearables.Summary{Resource: d.Name, Key: "k", Source: watch(), Body: json.RawMessage(`{}`), Start: day, End: day.Add(time.Hour)}
			if d.Dated {
				s.Date = civil.DateOf(day)
			}
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			got := f.summaries(d.Name)
			if len(got) != 1 {
				t.Fatalf("%s: %d summaries", d.Name, len(got))
			}
			var fields map[string]any
			if err := json.Unmarshal([]byte(got[0]), &fields); err != nil {
				t.Fatalf("%s: %v", got[0], err)
			}
			if len(fields) != len(d.Fields) {
				t.Errorf("%s has %d fields, want %d", d.Name, len(fields), len(d.Fields))
			}
			for _, name := range []string{d.Start, d.End} {
				if name != "" && !strings.HasPrefix(fields[name].(string), "2026-03-01T0") {
					t.Errorf("%s.%s is %v", d.Name, name, fields[name])
				}
			}
		}
	})
}

func TestSummariesThatAreRefused(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		wrong := activity("2026-03-01", `{"steps":1}`)
		wrong.Resource = "mood"
		backwards := wearables.Summary{
			Resource: "sleep", Key: "s", Source: watch(), Date: civil.DateOf(day), Start: day, End: day.Add(-time.Hour), Body: json.RawMessage(`{}`),
		}
		toaster := activity("2026-03-01", `{"steps":1}`)
		toaster.Source.Type = "toaster"
		endless := backwards
		endless.End = day.Add(25 * time.Hour)
		for reason, s := range map[string]wearables.Summary{
			wearables.ImplausibleValue: endless,
			wearables.UnknownResource:  wrong,
			wearables.UnknownSource:    toaster,
			wearables.BadTime:          activity("1980-03-01", `{"steps":1}`),
			wearables.EndBeforeStart:   backwards,
			wearables.TooLarge:         activity("2026-03-01", `{"time_zone":"`+strings.Repeat("x", 300_000)+`"}`),
		} {
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			if r.Rejected != 1 || r.Rejections[0].Reason != reason {
				t.Errorf("%s: %+v", reason, r)
			}
		}
		for _, body := range []string{``, `[]`, `null`, `{"steps":"many"}`, `{"steps":1.5}`, `{"mood":1}`, `{"id":"x"}`, `{"steps":1}{}`, `{"time_zone":7}`} {
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{activity("2026-03-01", body)}})
			if r.Rejected != 1 || r.Rejections[0].Reason != wearables.BadDocument {
				t.Errorf("%s: %+v", body, r)
			}
		}
		if len(f.types()) != 0 {
			t.Error("something was announced")
		}
	})
}

// How large a document is shows when it is written, and joined with the one
// that is there.
func TestADocumentThatGrowsTooLarge(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		put := func(stage wearables.Stage, body string, streams ...wearables.Stream) wearables.Result {
			s := run()
			s.Body = json.RawMessage(body)
			return f.ingest(wearables.Batch{Stage: stage, Summaries: []wearables.Summary{s}, Streams: streams})
		}
		tooLarge := func(r wearables.Result, rejected int) {
			t.Helper()
			if r.Counts != (wearables.Counts{Rejected: rejected}) || r.Rejections[0].Reason != wearables.TooLarge {
				t.Errorf("%+v %+v", r.Counts, r.Rejections)
			}
		}
		lines := `{"title":"` + strings.Repeat(`\n`, 60_000) + `"}` // six bytes each when written
		stream := wearables.Stream{WorkoutKey: "run-1", Time: []int64{day.UnixMicro()}, Power: []float64{200}}
		tooLarge(put(wearables.Daily, lines), 1)
		tooLarge(put(wearables.Historical, lines, stream), 2) // a stream needs its workout
		long := strings.Repeat("x", 150_000)
		if r := put(wearables.Daily, `{"title":"`+long+`"}`); r.Created != 1 {
			t.Fatalf("%+v", r)
		}
		tooLarge(put(wearables.Daily, `{"map":{"polyline":"`+long+`"}}`), 1)
		if r := put(wearables.Daily, `{"map":{"polyline":"x"}}`, stream); r.Updated != 1 || r.Created != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// An attempt that stores nothing is a failure, also if only the plan refuses
// the data.
func TestRejectionsOfThePlanAreReported(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		heard := func() string {
			var found storage.StatisticsByUser
			err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
				id := f.user.ID.UUID()
				found, err = storage.StatisticsOf(f.ctx, tx, f.user.Team.UUID(), storage.UserRange{First: id, Last: id})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for resource, s := range found[f.user.ID.UUID()]["apple_health_kit"] {
				all = append(all, fmt.Sprint(resource, " ", s.Stored, " ", s.Newest != nil))
			}
			slices.Sort(all)
			return strings.Join(all, ", ")
		}
		large := run()
		large.Body = json.RawMessage(`{"title":"` + strings.Repeat(`\n`, 60_000) + `"}`)
		stream := wearables.Stream{WorkoutKey: large.Key, Time: []int64{day.UnixMicro()}, Power: []float64{200}}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{large}, Streams: []wearables.Stream{stream}})
		if got, want := heard(), "workout_stream false false, workouts false false"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{run()}, Streams: []wearables.Stream{stream}})
		if got, want := heard(), "workout_stream true true, workouts true true"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	})
}

// The values of every version of a new summary count, also if an earlier version in the
// batch has none.
func TestStatedAndMissingFields(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f = f.zoned("Europe/Berlin")
		night := wearables.Summary{
			Resource: "sleep_cycle", Key: "night", Date: civil.DateOf(day), Start: day, End: day.Add(time.Hour), Source: watch(),
			Body: []byte(`{"stage_start_offset_second":[0],"stage_end_offset_second":[60],"stage_type":[2]}`),
		}
		stated := night
		stated.Body = []byte(`{"sleep_id":"6f1f7cde-97f5-4f0e-9b55-4a7a4bdf9d51"}`)
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{
			activity("2026-03-01", `{"steps":7}`), activity("2026-03-01", `{"timezone_offset":-18000}`), night, stated,
		}})
		for resource, want := range map[string]string{
			"activity": `"time_zone":null,"timezone_offset":-18000`, "sleep_cycle": `"sleep_id":"6f1f7cde-97f5-4f0e-9b55-4a7a4bdf9d51"`,
		} {
			if got := f.summaries(resource); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// A key that a later version of a map leaves out is removed. A field that a later
// version of an object leaves out stays.
func TestMapsAreReplacedAndObjectsJoined(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, body := range []string{
			`{"data":{"apple":{"energy":{"unit":"kcal","value":52}}},"macros":{"carbs":14,"fats":{"total":1}},"micros":{"minerals":{"iron":1},"vitamins":{"vitamin_c":4}}}`,
			`{"data":{"pear":{}},"macros":{"protein":1,"fats":{"saturated":0.5}},"micros":{"minerals":{"zinc":2},"vitamins":null}}`,
		} {
			meal := summaryOf("meal", body)
			meal.Key = "lunch"
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{meal}})
		}
		want := `"macros":{"carbs":14,"fats":{"saturated":0.5,"total":1},"protein":1},"micros":{"minerals":{"zinc":2},"vitamins":{"vitamin_c":4}},"data":{"pear":{}}`
		if got := f.summaries("meal"); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// The three lists of a sleep cycle belong together, and its stages follow each
// other.
func TestContradictoryStages(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct{ starts, ends, types, reason string }{
			{"[0]", "[600,700]", "[1]", wearables.ShortColumns},
			{"[0]", "[600]", "[]", wearables.ShortColumns},
			{"[0]", "[600]", "null", wearables.ShortColumns},
			{"null", "[600]", "[1]", wearables.ShortColumns},
			{"[600]", "[0]", "[2]", wearables.EndBeforeStart},
			{"[0,300]", "[600,900]", "[2,1]", wearables.OverlappingStages},
			{"[600,0]", "[900,600]", "[2,1]", wearables.OverlappingStages},
			{"[0,600]", "[600,900]", "[2,1]", ""},
			{"[0,900]", "[600,900]", "[2,1]", ""},
			{"[]", "[]", "[]", ""},
			{"null", "null", "null", ""},
		} {
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "sleep_cycle", Key: fmt.Sprint(i), Record: fmt.Sprint(i), Source: watch(), Date: civil.DateOf(day), Start: day, End: day.Add(time.Hour),
				Body: json.RawMessage(`{"stage_start_offset_second":` + c.starts + `,"stage_end_offset_second":` + c.ends + `,"stage_type":` + c.types + `}`),
			}}})
			switch {
			case c.reason == "" && r.Created != 1, c.reason != "" && r.Rejected != 1, c.reason != "" && r.Rejections[0].Reason != c.reason:
				t.Errorf("%+v: %+v", c, r)
			}
		}
		if got := f.summaries("sleep_cycle"); len(got) != 4 || len(f.types()) != 4 {
			t.Errorf("stored %d, announced %v", len(got), f.types())
		}
	})
}

// A value that its field excludes is left out, even if each of its numbers is valid. A
// cycle that ends before it begins is refused.
func TestContradictoryValues(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct{ resource, body, want, counts string }{
			{"profile", `{"height":180,"birth_date":"2026-03-23"}`, `"height":180,"birth_date":null`, "1 created, 0 updated, 0 unchanged, 1 rejected"},
			{"profile", `{"height":180,"birth_date":"1700-01-01"}`, `"height":180,"birth_date":null`, "0 created, 0 updated, 1 unchanged, 1 rejected"},
			{"profile", `{"birth_date":"2030-01-01"}`, `"height":180,"birth_date":null`, "0 created, 0 updated, 0 unchanged, 1 rejected"},
			{"profile", `{"birth_date":"1912-06-23"}`, `"height":180,"birth_date":"1912-06-23"`, "0 created, 1 updated, 0 unchanged, 0 rejected"},
			{"workouts", `{"steps":7,"hr_zones":[1,2,3]}`, `"hr_zones":null`, "1 created, 0 updated, 0 unchanged, 1 rejected"},
			{"workouts", `{"steps":7,"hr_zones":[1,2,3,4,5,6]}`, `"hr_zones":[1,2,3,4,5,6]`, "0 created, 1 updated, 0 unchanged, 0 rejected"},
			{"menstrual_cycle", `{"period_end":"2026-02-28"}`, ``, "0 created, 0 updated, 0 unchanged, 1 rejected"},
			{"menstrual_cycle", `{"cycle_end":"2026-02-01"}`, ``, "0 created, 0 updated, 0 unchanged, 1 rejected"},
			{"menstrual_cycle", `{"period_end":"2026-03-01","cycle_end":"2026-03-28"}`, `"period_end":"2026-03-01","cycle_end":"2026-03-28"`, "1 created, 0 updated, 0 unchanged, 0 rejected"},
		} {
			s := summaryOf(c.resource, c.body)
			s.Key = "k"
			if got := counts(f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})); got != c.counts {
				t.Errorf("%d: %s, want %s", i, got, c.counts)
			}
			if got := strings.Join(f.summaries(c.resource), ""); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%d: %s", i, got)
			}
		}
	})
}

func run() wearables.Summary {
	return wearables.Summary{
		Resource: "workouts", Key: "run-1", Source: watch(), Date: civil.DateOf(day), Start: day, End: day.Add(time.Hour),
		Body: json.RawMessage(`{"provider_id":"run-1","sport":{"id":37,"name":"Running","slug":"running"},"distance":1000}`),
	}
}

func TestStreams(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		stream := wearables.Stream{WorkoutKey: "run-1"}
		for i := range 300 {
			stream.Time = append(stream.Time, day.Add(time.Duration(i)*time.Second).UnixMicro())
			stream.HeartRate = append(stream.HeartRate, 120+float64(i%20))
			stream.Lat = append(stream.Lat, 60.123456+float64(i)*1e-5)
		}
		stream.HeartRate[7] = math.NaN()

		r := f.ingest(wearables.Batch{Streams: []wearables.Stream{stream}})
		if r.Rejected != 1 || r.Rejections[0].Reason != wearables.NoWorkout {
			t.Fatalf("%+v", r)
		}
		r = f.ingest(wearables.Batch{Summaries: []wearables.Summary{run()}, Streams: []wearables.Stream{stream}})
		if r.Created != 2 || r.Resources[wearables.WorkoutStream].Created != 1 {
			t.Fatalf("%+v", r)
		}
		if r = f.ingest(wearables.Batch{Streams: []wearables.Stream{stream}}); r.Unchanged != 1 {
			t.Fatalf("%+v", r)
		}
		all := f.events()
		if got, want := f.types(), []string{"daily.data.workouts.created", "daily.data.workout_stream.created"}; !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		id := wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "workouts", "run-1")
		var shallow map[string]any
		if err := json.Unmarshal(all[1].Data, &shallow); err != nil {
			t.Fatal(err)
		}
		if shallow["workout_id"] != id.String() || shallow["provider_id"] != "run-1" || shallow["sport"].(map[string]any)["slug"] != "running" {
			t.Errorf("payload %v", shallow)
		}

		var got *wearables.Stream
		err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			workout, err := storage.SummaryByID(f.ctx, tx, f.user.Team.UUID(), id, "workouts")
			if err != nil {
				return err
			}
			got, err = storage.ReadStream(f.ctx, tx, &workout)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Time, stream.Time) || !slices.Equal(got.Lat, stream.Lat) || !math.IsNaN(got.HeartRate[7]) || got.HeartRate[8] != 128 || got.Power != nil {
			t.Errorf("read back %+v", got)
		}
		wire := string(wearables.AppendStream(nil, got))
		if !strings.HasPrefix(wire, `{"time":[1772323200,1772323201,`) || !strings.Contains(wire, `"heartrate":[120,121,122,123,124,125,126,null,128,`) ||
			!strings.Contains(wire, `"power":[]`) || !json.Valid([]byte(wire)) {
			t.Errorf("wire %.300s", wire)
		}

		stream.HeartRate[0] = 99
		r = f.ingest(wearables.Batch{Streams: []wearables.Stream{stream}})
		if types := f.types(); r.Updated != 1 || types[len(types)-1] != "daily.data.workout_stream.updated" {
			t.Errorf("another stream: %+v, events %v", r, types)
		}
	})
}

// Two streams of one workout in a batch once raced with each other for ever.
func TestTheLastStreamOfAWorkoutCounts(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		stream := func(power float64) wearables.Stream {
			return wearables.Stream{WorkoutKey: "run-1", Time: []int64{day.UnixMicro()}, Power: []float64{power}}
		}
		batch := wearables.Batch{Summaries: []wearables.Summary{run()}, Streams: []wearables.Stream{stream(100), stream(200)}}
		for _, want := range []wearables.Counts{{Created: 2, Unchanged: 1}, {Unchanged: 3}} {
			if r := f.ingest(batch); r.Counts != want {
				t.Errorf("%+v, not %+v", r.Counts, want)
			}
		}
		if r := f.ingest(wearables.Batch{Streams: []wearables.Stream{stream(200)}}); r.Unchanged != 1 {
			t.Errorf("the last one was not kept: %+v", r)
		}
	})
}

// Zones that are found later, and a phone that sends its workout again, announce
// the same moments in other words: that is no news.
func TestSameInstantInOtherOffsets(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		run := func(start, end, rest string) wearables.Result {
			return f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "workouts", Key: "k", Source: watch(), Date: civil.DateOf(day), Start: day, End: day.Add(time.Hour),
				Body: json.RawMessage(`{"time_start":` + start + `,"time_end":` + end + rest + `}`),
			}}})
		}
		first := func() wearables.Result {
			return run(`"2026-03-01T00:00:00Z"`, `"2026-03-01T01:00:00Z"`, `,"distance":5000`)
		}
		if r := first(); r.Created != 1 {
			t.Fatalf("%+v", r)
		}
		if r := run(`null`, `null`, `,"hr_zones":[0,0,60,0,0,0]`); r.Updated != 1 {
			t.Errorf("zones: %+v", r)
		}
		if r := first(); r.Unchanged != 1 {
			t.Errorf("the workout once more: %+v", r)
		}
		if r := run(`"2026-03-01T02:00:00+02:00"`, `"2026-03-01T03:00:00+02:00"`, ``); r.Unchanged != 1 {
			t.Errorf("with an offset: %+v", r)
		}
		if got := f.summaries("workouts"); len(got) != 1 || !strings.Contains(got[0], `"time_start":"2026-03-01T00:00:00+00:00","time_end":"2026-03-01T01:00:00+00:00"`) {
			t.Errorf("stored as %s", got)
		}
		if r := run(`"2026-03-01T00:00:00Z"`, `"2026-03-01T01:30:00Z"`, ``); r.Updated != 1 {
			t.Errorf("a later end: %+v", r)
		}
	})
}

func TestASleepLastsFromStartToStop(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		put := func(stop time.Time, body string) {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "sleep", Key: "k", Source: watch(), Date: civil.DateOf(day), Start: day, End: stop, Body: json.RawMessage(body),
			}}})
		}
		lasts := func(seconds string) {
			t.Helper()
			for _, text := range []string{f.summaries("sleep")[0], string(f.events()[len(f.events())-1].Data)} {
				if !strings.Contains(text, `"duration":`+seconds+`,`) {
					t.Errorf("want %s s in %s", seconds, text)
				}
			}
		}
		put(day.Add(8*time.Hour), `{}`)
		lasts("28800")
		put(day.Add(9*time.Hour), `{"bedtime_stop":"2026-03-01T09:00:00Z"}`)
		lasts("32400")
		put(day.Add(9*time.Hour), `{"duration":100}`)
		lasts("32400")
	})
}

// Fields of a sleep that were not stated follow from the others, in reads and events,
// and follow their revisions.
func TestDerivedFieldsOfASleep(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct {
			hours int
			body  string
			want  string // type, duration, total, awake, efficiency
		}{
			{8, `{"light":10000,"deep":5000,"rem":5000}`, `"long_sleep" 28800 20000 8800 69.4`},
			{8, `{"light":10000,"deep":5000,"rem":5000,"total":0,"duration":100}`, `"long_sleep" 28800 20000 8800 69.4`},
			{8, `{"total":21600,"light":10000}`, `"long_sleep" 28800 21600 7200 75`},
			{8, `{"total":21600,"awake":0,"efficiency":90}`, `"long_sleep" 28800 21600 0 90`},
			{3, `{"total":10801}`, `"long_sleep" 10800 10801 0 null`},
			{2, `{}`, `"short_sleep" 7200 0 0 null`},
			{1, `{"type":"acknowledged_nap"}`, `"acknowledged_nap" 3600 0 0 null`},
			{8, `{"type":"unknown","total":14400}`, `"unknown" 28800 14400 14400 50`},
		} {
			key := fmt.Sprint(i)
			put := func(hours int) {
				start := day.AddDate(0, 0, i)
				f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
					Resource: "sleep", Key: key, Source: watch(), Date: civil.DateOf(start), Start: start, End: start.Add(time.Duration(hours) * time.Hour), Body: json.RawMessage(c.body),
				}}})
			}
			put(c.hours)
			var fields map[string]json.RawMessage
			for _, text := range []string{f.summaries("sleep")[i], string(f.events()[len(f.events())-1].Data)} {
				if err := json.Unmarshal([]byte(text), &fields); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%s %s %s %s %s", fields["type"], fields["duration"], fields["total"], fields["awake"], fields["efficiency"]); got != c.want {
					t.Errorf("%s in %d h: %s, want %s", c.body, c.hours, got, c.want)
				}
			}
		}
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
			Resource: "sleep", Key: "0", Source: watch(), Date: civil.DateOf(day), Start: day, End: day.Add(10 * time.Hour),
			Body: json.RawMessage(`{"bedtime_stop":"2026-03-01T10:00:00Z","deep":6000}`),
		}}})
		if got := f.summaries("sleep")[0]; !strings.Contains(got, `"duration":36000,"total":21000,"awake":15000,"light":10000,"rem":5000,"deep":6000`) || !strings.Contains(got, `"efficiency":58.3`) {
			t.Error(got)
		}
	})
}

// Reads and events have instants in UTC, in any spelling of the input. The same
// instant in another spelling changes nothing.
func TestInstantsAreInUTC(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		put := func(start, end string) wearables.Result {
			return f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "sleep", Key: "k", Source: watch(), Start: day.Add(-2 * time.Hour), End: day.Add(6 * time.Hour),
				Body: json.RawMessage(`{"bedtime_start":"` + start + `","bedtime_stop":"` + end + `","timezone_offset":7200}`),
			}}})
		}
		for i, spelled := range [][2]string{
			{"2026-03-01T00:00:00+02:00", "2026-03-01T08:00:00+02:00"},
			{"2026-02-28T22:00:00Z", "2026-03-01T06:00:00Z"},
			{"2026-02-28T22:00:00+00:00", "2026-03-01T06:00:00.000+00:00"},
		} {
			if r := put(spelled[0], spelled[1]); i > 0 && r.Unchanged != 1 {
				t.Errorf("%s: %+v", spelled, r)
			}
			all := f.events()
			if len(all) != 1 {
				t.Fatalf("%s: %d events", spelled, len(all))
			}
			for _, text := range []string{f.summaries("sleep")[0], string(all[0].Data)} {
				if !strings.Contains(text, `"bedtime_start":"2026-02-28T22:00:00+00:00","bedtime_stop":"2026-03-01T06:00:00+00:00"`) {
					t.Errorf("%s is announced as %s", spelled, text)
				}
			}
		}
	})
}

func TestSummariesOfOneStart(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
		for i, start := range []time.Time{at, at.Add(time.Microsecond), at, at.AddDate(0, 0, 1)} {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "workouts", Key: string(rune('a' + i)), Record: string(rune('a' + i)), Date: civil.DateOf(start), Start: start, End: start.Add(time.Hour), Body: []byte(`{}`),
			}}})
		}
		for want, q := range map[int]storage.SummaryQuery{
			4: {Resource: "workouts"}, 2: {Resource: "workouts", Start: at}, 1: {Resource: "workouts", Start: at.Add(time.Microsecond)},
			0: {Resource: "workouts", Start: at, From: "2026-03-03"},
		} {
			var got []storage.StoredSummary
			if err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
				got, err = storage.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), q)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if len(got) != want {
				t.Errorf("%d for %+v, want %d", len(got), q, want)
			}
		}
	})
}

// Reads return the sessions of one day in the order in which they began, on one
// page or on several. Events have the same order. The ids of the sessions do
// not matter.
func TestSessionsInTheOrderOfTime(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		var batch wearables.Batch
		var want []string
		for hour := range 12 {
			start := day.Add(time.Duration(hour) * time.Hour)
			batch.Summaries = append(batch.Summaries, wearables.Summary{
				Resource: "workouts", Key: start.String(), Date: civil.DateOf(day), Start: start, End: start.Add(time.Hour), Body: []byte(`{}`),
			})
			want = append(want, start.Format(`"time_start":"2006-01-02T15:04:05+00:00"`))
		}
		slices.Reverse(batch.Summaries)
		f.ingest(batch)
		var announced []string
		for _, e := range f.events() {
			announced = append(announced, string(e.Data))
		}
		var read []string
		q := storage.SummaryQuery{Resource: "workouts", From: "2026-03-02", Limit: 5}
		for len(read) < len(want) {
			var page []storage.StoredSummary
			if err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
				page, err = storage.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), q)
				return err
			}); err != nil || len(page) == 0 {
				t.Fatalf("after %d: %d, %v", len(read), len(page), err)
			}
			for i := range page {
				read = append(read, string(page[i].Body))
			}
			q.After = &page[len(page)-1]
		}
		for name, got := range map[string][]string{"read": read, "announced": announced} {
			for i, start := range want {
				if len(got) != len(want) || !strings.Contains(got[i], start) {
					t.Fatalf("%s: %d of %d; number %d does not hold %s: %s", name, len(got), len(want), i, start, got[min(i, len(got)-1)])
				}
			}
		}
	})
}
