package ingest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// summaryOf returns a summary of a day, or of an hour of it.
func summaryOf(resource, body string) wearables.Summary {
	s := wearables.Summary{Resource: resource, Key: body, Source: watch(), Date: civil.DateOf(day), Body: json.RawMessage(body)}
	if d, _ := wearables.DocumentNamed(resource); d.Start != "" {
		s.Start, s.End = day.Add(6*time.Hour), day.Add(7*time.Hour)
	}
	return s
}

// A field has one kind, and its numbers have bounds.
func TestEveryNumberOfASummaryHasBounds(t *testing.T) {
	var numeric func(name string, s *wearables.Shape)
	numeric = func(name string, s *wearables.Shape) {
		switch {
		case s.Kind == wearables.Number || s.Kind == wearables.Integer:
			if s.Least >= s.Most && len(s.Numbers) == 0 && name != "sport.id" {
				t.Errorf("%s has no bounds", name)
			}
		case s.Each != nil:
			numeric(name+".", s.Each)
		}
		for _, m := range s.Members {
			numeric(name+"."+m.Name, m.Shape)
		}
	}
	for _, d := range wearables.Documents() {
		for _, f := range d.Fields {
			if _, ok := d.Settable(f.Name); !ok {
				continue
			}
			if f.Shape().Kind != f.Kind {
				t.Errorf("%s.%s is a %s here and a %s there", d.Name, f.Name, f.Kind, f.Shape().Kind)
			}
			numeric(f.Name, f.Shape())
		}
	}
}

// A value that no body and no device can give is counted and removed from its summary,
// with the values that depend on it.
func TestImplausibleFieldsOfASummary(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, c := range []struct{ resource, body, has, hasNot string }{
			{"activity", `{"steps":-5,"distance":0,"heart_rate":{"avg_bpm":9000,"min_bpm":48}}`, `"distance":0,"low":null`, `:9000`},
			{"activity", `{"steps":-1,"heart_rate":{"min_bpm":48.5}}`, `"heart_rate":{"min_bpm":48.5}`, `:-1`},
			{"sleep", `{"hr_lowest":0,"total":20000,"temperature_delta":-0.4}`, `"temperature_delta":-0.4`, `"hr_lowest":0`},
			{"workouts", `{"average_hr":9000,"max_hr":170,"elev_low":-400}`, `"elev_low":-400`, `:9000`},
			{"workouts", `{"hr_zones":[60,-60,0,0,0,0],"distance":5}`, `"hr_zones":null`, `,-60`},
			{"meal", `{"energy":{"unit":"kcal","value":-1},"macros":{"fats":{"total":-3,"saturated":2}}}`, `"energy":null,"macros":{"fats":{"saturated":2}}`, `:-3`},
			{
				"menstrual_cycle", `{"basal_body_temperature":[{"date":"2026-03-01","value":97.7},{"date":"2026-03-02","value":36.6}]}`,
				`[{"date":"2026-03-02","value":36.6}]`, `97.7`,
			},
			{"sleep", `{"average_hrv":0,"hr_lowest":50}`, `"hr_lowest":50`, `"average_hrv":0`},
			{"sleep", `{"hr_lowest":70,"hr_average":60,"deep":60}`, `"hr_lowest":null`, `"hr_average":60`},
			{"sleep", `{"total":3661,"deep":60}`, `"deep":60`, `:3661`}, // of one hour
			{"sleep", `{"deep":2000,"light":2000,"rem":1,"hr_lowest":50}`, `"light":0`, `:2000`},
			{"activity", `{"calories_active":500,"calories_total":400,"steps":1}`, `"calories_total":null`, `:500`},
			{"activity", `{"heart_rate":{"min_bpm":70,"avg_bpm":60,"max_bpm":80}}`, `"max_bpm":80`, `:70`},
			{"workouts", `{"moving_time":3661,"distance":5}`, `"moving_time":null`, `:3661`},
			{"workouts", `{"average_hr":150,"max_hr":140,"distance":5}`, `"max_hr":null`, `:150`},
			{"workouts", `{"timezone_offset":64801,"distance":5}`, `"timezone_offset":null`, `:64801`},
			{"electrocardiogram", `{"heart_rate_mean":2000}`, `"heart_rate_mean":null`, `:2000`},
		} {
			one := summaryOf(c.resource, c.body)
			one.Record = c.body
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{one}})
			if r.Created != 1 || r.Rejected == 0 || len(r.Rejections) != 1 || r.Rejections[0].Reason != wearables.ImplausibleValue {
				t.Errorf("%s: %+v", c.body, r)
			}
			all := f.events()
			text := string(all[len(all)-1].Data)
			if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) {
				t.Errorf("%s was announced as %s", c.body, text)
			}
		}
	})
}

// Without other values no summary is stored. Stages without their times are ignored.
func TestASummaryWithoutPlausibleValues(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, s := range []wearables.Summary{
			summaryOf("activity", `{"steps":-5,"time_zone":"Europe/Berlin"}`),
			summaryOf("activity", `{"heart_rate":{"avg_bpm":9000,"min_bpm":null}}`),
			summaryOf("body", `{"weight":0}`),
			summaryOf("sleep_cycle", `{"stage_start_offset_second":[0],"stage_end_offset_second":[1e15],"stage_type":[2]}`),
			summaryOf("sleep_cycle", `{"stage_start_offset_second":[-60],"stage_end_offset_second":[60],"stage_type":[2]}`),
		} {
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			if r.Counts != (wearables.Counts{Rejected: 1}) || r.Rejections[0].Reason != wearables.ImplausibleValue {
				t.Errorf("%s: %+v", s.Body, r)
			}
		}
		for _, body := range []string{`{"steps":1e16}`, `{"distance":1e999}`, `{"steps":1e300}`} { // which no reader can hold
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{summaryOf("activity", body)}})
			if r.Rejected != 1 || r.Rejections[0].Reason != wearables.BadDocument {
				t.Errorf("%s: %+v", body, r)
			}
		}
		if n := len(f.types()); n != 0 {
			t.Errorf("%d events", n)
		}
	})
}

// Whole numbers are written in a form that parsers of integers accept.
func TestWholeNumbersAreWrittenPlainly(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{
			summaryOf("workouts", `{"sport":{"id":4e15,"name":"a","slug":"a"},"steps":1e2,"moving_time":60.00000000000000000}`),
		}})
		if got := f.summaries("workouts"); len(got) != 1 ||
			!strings.Contains(got[0], `"id":4000000000000000,`) || !strings.Contains(got[0], `"steps":100,`) || !strings.Contains(got[0], `"moving_time":60,`) {
			t.Errorf("stored as %s", got)
		}
	})
}

// A session must be near its day, and its time must be plausible.
func TestBoundsOfSessions(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct {
			start, end time.Time
			reason     string
		}{
			{time.Unix(0, 0), day.Add(time.Hour), wearables.BadTime},
			{day, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), wearables.BadTime},
			{day.AddDate(0, 0, -20), day.AddDate(0, 0, -20).Add(time.Hour), wearables.BadTime},
			{day.Add(-26 * time.Hour), day.Add(-25 * time.Hour), ""},
			{day.Add(26 * time.Hour), day.Add(27 * time.Hour), ""},
		} {
			s := summaryOf("electrocardiogram", `{}`)
			s.Key, s.Start, s.End = fmt.Sprint(i), c.start, c.end
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			if got := fmt.Sprint(r.Rejections); c.reason == "" && r.Created != 1 || c.reason != "" && !strings.Contains(got, c.reason) {
				t.Errorf("%v to %v: %+v", c.start, c.end, r)
			}
		}
	})
}

// A menstrual cycle may be predicted, at most a year ahead and within the user's bounds.
// The days of other summaries must not be in the future.
func TestInstantsInTheFuture(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		today := civil.DateOf(clock())
		for _, c := range []struct {
			resource, body string
			days           int
			until          *civil.Date
			reason         string
		}{
			{"menstrual_cycle", `{"is_predicted":true}`, 14, nil, ""},
			{"menstrual_cycle", `{"is_predicted":true}`, 360, nil, ""},
			{"menstrual_cycle", `{"is_predicted":true}`, 400, nil, wearables.BadTime},
			{"menstrual_cycle", `{"is_predicted":true}`, 15, &today, wearables.OutOfBounds},
			{"activity", `{"steps":7}`, 14, nil, wearables.BadTime},
		} {
			f.user.IngestionEnd = c.until
			date := today.AddDays(c.days)
			r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{
				{Resource: c.resource, Key: date.String(), Source: watch(), Date: date, Body: []byte(c.body)},
			}})
			if got := fmt.Sprint(r.Rejections); c.reason == "" && r.Created != 1 || c.reason != "" && !strings.Contains(got, c.reason) {
				t.Errorf("%s in %d days: %+v", c.resource, c.days, r)
			}
		}
	})
}

// A rate covers at least ten minutes: phones may report the counts of that time with a
// length of some seconds. A typed value has no length and no rate; the limits of a day
// still apply.
func TestRatesOfSteps(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct {
			length time.Duration
			value  float64
			ok     bool
		}{
			{0, 301, true},
			{0, 30_000, true},
			{0, 100_001, false},
			{5 * time.Second, 426, true}, // of export6s3sample.xml
			{5 * time.Second, 3_000, true},
			{5 * time.Second, 3_001, false},
			{time.Minute, 30_000, false},
			{10 * time.Minute, 3_001, false},
			{time.Hour, 18_000, true},
			{time.Hour, 18_001, false},
		} {
			for _, resource := range []string{"steps", "wheelchair_push"} {
				at := day.AddDate(0, 0, i)
				r := f.ingest(wearables.Batch{Samples: []wearables.Samples{{
					Resource: resource, Time: []int64{at.UnixMicro()}, End: []int64{at.Add(c.length).UnixMicro()}, Value: []float64{c.value},
				}}})
				if c.ok && r.Created != 1 || !c.ok && (len(r.Rejections) != 1 || r.Rejections[0].Reason != wearables.ImplausibleValue) {
					t.Errorf("%s: %v in %v: %+v", resource, c.value, c.length, r)
				}
			}
		}
	})
}

func TestEveryNumberOfASeriesHasBounds(t *testing.T) {
	for _, r := range wearables.Resources() {
		one := r.Name == "note" || r.Name == "heart_rate_alert" // their value is always the same
		if r.Min > r.Max || r.Min == r.Max && !one || math.IsInf(r.Max-r.Min, 0) {
			t.Errorf("%s may be from %v to %v", r.Name, r.Min, r.Max)
		}
	}
}
