package wearables_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/wearables"
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
		stored, err := wearables.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), wearables.SummaryQuery{Resource: resource})
		for i := range stored {
			text, err := wearables.AppendSummary(nil, &stored[i], nil)
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
	each(t, func(f fixture) {
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
			`"device_id":null,"sport":null,"workout_id":null,"name":"","slug":"apple_health_kit","logo":""},` +
			`"created_at":"2026-03-21T00:00:00+00:00","updated_at":"2026-03-21T00:00:00+00:00"}`
		if got := f.summaries("activity"); len(got) != 1 || got[0] != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := string(f.events()[1].Data); got != want {
			t.Errorf("event carries %s", got)
		}
	})
}

func TestEverySummaryHasEveryField(t *testing.T) {
	each(t, func(f fixture) {
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
	each(t, func(f fixture) {
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
			wearables.Implausible:     endless,
			wearables.UnknownResource: wrong,
			wearables.UnknownSource:   toaster,
			wearables.BadTime:         activity("1980-03-01", `{"steps":1}`),
			wearables.EndBeforeStart:  backwards,
			wearables.TooLarge:        activity("2026-03-01", `{"time_zone":"`+strings.Repeat("x", 300_000)+`"}`),
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
	each(t, func(f fixture) {
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

// An attempt of which nothing could be stored is a failure, also where only the
// plan shows that.
func TestWhatThePlanRefusesIsHeardAsFailed(t *testing.T) {
	each(t, func(f fixture) {
		heard := func() string {
			var found wearables.Heard
			err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
				id := f.user.ID.UUID()
				found, err = wearables.StatisticsOf(f.ctx, tx, f.user.Team.UUID(), wearables.UserRange{First: id, Last: id})
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

// What one version of a new summary states counts, also where the version
// before it in the batch stated nothing.
func TestWhatIsStatedBesidesWhatIsNot(t *testing.T) {
	each(t, func(f fixture) {
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

// What a later version leaves out of a map is gone; what it leaves out of an
// object stays.
func TestMapsAreReplacedAndObjectsJoined(t *testing.T) {
	each(t, func(f fixture) {
		for _, body := range []string{
			`{"data":{"apple":{"energy":{"unit":"kcal","value":52}}},"macros":{"carbs":14,"fats":{"total":1}},"micros":{"minerals":{"iron":1},"vitamins":{"vitamin_c":4}}}`,
			`{"data":{"pear":{}},"macros":{"protein":1,"fats":{"saturated":0.5}},"micros":{"minerals":{"zinc":2},"vitamins":null}}`,
		} {
			meal := about("meal", body)
			meal.Key = "lunch"
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{meal}})
		}
		want := `"macros":{"carbs":14,"fats":{"saturated":0.5,"total":1},"protein":1},"micros":{"minerals":{"zinc":2},"vitamins":{"vitamin_c":4}},"data":{"pear":{}}`
		if got := f.summaries("meal"); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got  %s\nwant %s", got, want)
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
	each(t, func(f fixture) {
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
			workout, err := wearables.SummaryByID(f.ctx, tx, f.user.Team.UUID(), id, "workouts")
			if err != nil {
				return err
			}
			got, err = wearables.ReadStream(f.ctx, tx, &workout)
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
	})
}

// Two streams of one workout in a batch once raced with each other for ever.
func TestTheLastStreamOfAWorkoutCounts(t *testing.T) {
	each(t, func(f fixture) {
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

// Zones that are found later, and a phone that sends its workout again, tell
// the same moments in other words: that is no news.
func TestTheSameMomentInOtherWords(t *testing.T) {
	each(t, func(f fixture) {
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
		if got := f.summaries("workouts"); len(got) != 1 || !strings.Contains(got[0], `"time_start":"2026-03-01T00:00:00Z","time_end":"2026-03-01T01:00:00Z"`) {
			t.Errorf("stored as %s", got)
		}
		if r := run(`"2026-03-01T00:00:00Z"`, `"2026-03-01T01:30:00Z"`, ``); r.Updated != 1 {
			t.Errorf("a later end: %+v", r)
		}
	})
}

func TestASleepLastsFromStartToStop(t *testing.T) {
	each(t, func(f fixture) {
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
		put(day.Add(9*time.Hour), `{"duration":30000}`)
		lasts("30000")
	})
}

func TestSummariesThatBeganTogether(t *testing.T) {
	each(t, func(f fixture) {
		at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
		for i, start := range []time.Time{at, at.Add(time.Microsecond), at, at.AddDate(0, 0, 1)} {
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{{
				Resource: "workouts", Key: string(rune('a' + i)), Date: civil.DateOf(start), Start: start, End: start.Add(time.Hour), Body: []byte(`{}`),
			}}})
		}
		for want, q := range map[int]wearables.SummaryQuery{
			4: {Resource: "workouts"}, 2: {Resource: "workouts", Start: at}, 1: {Resource: "workouts", Start: at.Add(time.Microsecond)},
			0: {Resource: "workouts", Start: at, From: "2026-03-03"},
		} {
			var got []wearables.StoredSummary
			if err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
				got, err = wearables.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), q)
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
