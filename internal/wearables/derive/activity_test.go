package derive

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// series makes a track by hand: start, end and value of each sample, local to
// the zone.
func series(resource string, s wearables.Source, zone *time.Location, samples ...sample) *track {
	t := &track{Samples: wearables.Samples{Resource: resource, Source: s}}
	for _, one := range samples {
		start, end := one.start.In(zone), one.end
		_, offset := start.Zone()
		t.Time = append(t.Time, start.UnixMicro())
		t.End = append(t.End, end.UnixMicro())
		t.Offset = append(t.Offset, int32(offset))
		t.Value = append(t.Value, one.value)
	}
	return t
}

type sample struct {
	start, end time.Time
	value      float64
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := civil.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Over any days, including those of 23 and 25 hours, no step is lost or counted twice.
func TestPartsCoverAllDays(t *testing.T) {
	zones := []*time.Location{
		zone(t, "Europe/Berlin"), zone(t, "America/Santiago"), zone(t, "Asia/Beirut"),
		zone(t, "Australia/Lord_Howe"), zone(t, "Asia/Kathmandu"), zone(t, "UTC"),
	}
	shifts := []time.Time{
		time.Date(2024, 3, 31, 1, 0, 0, 0, time.UTC), time.Date(2024, 10, 27, 1, 0, 0, 0, time.UTC),
		time.Date(2024, 9, 8, 4, 0, 0, 0, time.UTC), time.Date(2024, 4, 6, 15, 0, 0, 0, time.UTC),
	}
	rapid.Check(t, func(t *rapid.T) {
		where := rapid.SampledFrom(zones).Draw(t, "zone")
		at := rapid.SampledFrom(shifts).Draw(t, "shift").Add(-36 * time.Hour)
		var samples []sample
		total := 0.0
		for range rapid.IntRange(1, 30).Draw(t, "samples") {
			at = at.Add(time.Duration(rapid.IntRange(0, 4*3600).Draw(t, "gap")) * time.Second)
			end := at.Add(time.Duration(rapid.IntRange(0, 10*3600).Draw(t, "length")) * time.Second)
			value := float64(rapid.IntRange(0, 1000).Draw(t, "value"))
			samples = append(samples, sample{at, end, value})
			total += value
			at = end
		}
		d := &Deriver{}
		found := tracks{"steps": {series("steps", source("phone"), where, samples...)}}
		sum := 0.0
		for _, day := range d.mergedDays(found, "steps", []civil.Date{civil.MustParse("2024-01-01"), civil.MustParse("2025-01-01")}) {
			sum += day.Total
		}
		if math.Abs(sum-total) > 1e-6*max(1, total) {
			t.Fatalf("%v of %v", sum, total)
		}
	})
}

func TestPartsAtMidnight(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	d := &Deriver{}
	local := func(day, hour, minute int) time.Time { return time.Date(2024, 3, day, hour, minute, 0, 0, berlin) }
	day := civil.MustParse("2024-03-31")
	days := d.mergedDays(tracks{"steps": {series("steps", source("phone"), berlin,
		sample{local(30, 23, 0), local(31, 1, 0), 100}, // before the clock goes forward
		sample{local(31, 23, 30), local(32, 0, 30), 60},
		sample{local(31, 12, 0), local(31, 12, 0), 7},
	)}}, "steps", []civil.Date{day})
	if got := days[day]; len(days) != 1 || got.Total != 50+30+7 {
		t.Errorf("the short day has %+v", got)
	}
}

func TestActivityOfADay(t *testing.T) {
	utc := time.UTC
	at := func(h, m int) time.Time { return time.Date(2024, 7, 1, h, m, 0, 0, utc) }
	watch, phone := source("watch"), source("phone")
	bike := phone
	bike.Sport = "cycling"
	found := tracks{
		"steps": {
			series("steps", phone, utc, sample{at(8, 0), at(8, 10), 1000}, sample{at(9, 0), at(9, 10), 500}),
			series("steps", watch, utc, sample{at(8, 0), at(8, 10), 900}),
		},
		"distance": {
			series("distance", phone, utc, sample{at(8, 0), at(8, 10), 700.5}),
			series("distance", bike, utc, sample{at(10, 0), at(11, 0), 20_000}),
		},
		"calories_active": {series("calories_active", watch, utc, sample{at(8, 0), at(9, 0), 100})},
		"calories_basal":  {series("calories_basal", watch, utc, sample{at(0, 0), at(23, 0), 1500})},
		"heartrate": {
			series("heartrate", watch, utc, sample{at(8, 0), at(8, 0), 60}, sample{at(8, 1), at(8, 1), 90}),
			series("heartrate", source("chest_strap"), utc, sample{at(8, 0), at(8, 0), 180}),
		},
	}
	resting, rings := 52.0, 111.0
	d := &Deriver{Provider: "apple_health_kit", Facts: Facts{civil.MustParse("2024-07-01"): {RestingBPM: &resting, ActiveKcal: &rings}}}
	all := d.activities(found, []civil.Date{civil.MustParse("2024-06-30"), civil.MustParse("2024-07-01")}, nil)
	if len(all) != 1 {
		t.Fatalf("%d days", len(all))
	}
	want := `{"calories_total":1611,"calories_active":111,"steps":1400,"distance":700.5,"daily_movement":700.5,"floors_climbed":null,` +
		`"timezone_offset":0,"heart_rate":{"avg_bpm":75,"min_bpm":60,"max_bpm":90,"resting_bpm":52,"avg_walking_bpm":null},` +
		`"wheelchair_use":null,"wheelchair_push":null}`
	if s := all[0]; string(s.Body) != want || s.Key != "2024-07-01" || s.Source.Type != "multiple_sources" {
		t.Errorf("%s from %+v: %s\nwant %s", s.Key, s.Source, s.Body, want)
	}
}

// Some hours of a day do not contradict a provider that states the totals of
// days. The deriver adds only the heart rate, and the day keeps its source.
func TestStatedTotalsAreNotAdded(t *testing.T) {
	at := time.Date(2024, 7, 1, 8, 0, 0, 0, time.UTC)
	ring, watch, day := source("ring"), source("watch"), civil.MustParse("2024-07-01")
	found := tracks{
		"steps":     {series("steps", watch, time.UTC, sample{at, at.Add(time.Minute), 90})},
		"heartrate": {series("heartrate", watch, time.UTC, sample{at, at, 60})},
	}
	d := &Deriver{Provider: "oura", TotalsStated: true}
	const beats = `{"calories_total":null,"calories_active":null,"steps":null,"distance":null,"daily_movement":null,"floors_climbed":null,` +
		`"timezone_offset":%s,"heart_rate":{"avg_bpm":60,"min_bpm":60,"max_bpm":60,"resting_bpm":null,"avg_walking_bpm":null},` +
		`"wheelchair_use":null,"wheelchair_push":null}`
	for _, test := range []struct {
		known  map[civil.Date]wearables.Source
		source wearables.Source
		offset string
	}{{nil, watch, "0"}, {map[civil.Date]wearables.Source{day: ring}, ring, "null"}} {
		all := d.activities(found, []civil.Date{day}, test.known)
		if len(all) != 1 || all[0].Source != test.source || string(all[0].Body) != fmt.Sprintf(beats, test.offset) {
			t.Errorf("%+v", all)
		}
	}
	d.HeartStated = true
	if all := d.activities(found, []civil.Date{day}, nil); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestSourceOfADayWithOneSource(t *testing.T) {
	watch := source("watch")
	wheel := watch
	wheel.Sport = "wheelchair_pushing"
	d := &Deriver{Provider: "apple_health_kit"}
	if got := d.sourceOf([]wearables.Source{wheel, watch}); got != watch {
		t.Errorf("%+v", got)
	}
}

func TestBodiesOfSourcesAreNotMerged(t *testing.T) {
	utc := time.UTC
	at := func(h int) time.Time { return time.Date(2024, 7, 1, h, 0, 0, 0, utc) }
	scale, typed := source("scale"), source("app")
	found := tracks{
		"body_weight": {
			series("body_weight", scale, utc, sample{at(7), at(7), 70.2}, sample{at(20), at(20), 71.4}),
			series("body_weight", typed, utc, sample{at(9), at(9), 70}),
		},
		"body_fat": {series("body_fat", scale, utc, sample{at(7), at(7), 18.25})},
	}
	d := &Deriver{}
	day := civil.MustParse("2024-07-01")
	all := d.bodies(found, map[civil.Date]bool{day: true})
	if len(all) != 2 {
		t.Fatalf("%d summaries", len(all))
	}
	want := `{"weight":71.4,"fat":18.25,"body_mass_index":null,"lean_body_mass_kilogram":null,"waist_circumference_centimeter":null}`
	if string(all[1].Body) != want || all[1].Source.Type != "scale" || all[1].Date != day {
		t.Errorf("%+v %s", all[1].Source, all[1].Body)
	}
	if none := d.bodies(found, nil); len(none) != 0 {
		t.Errorf("%d summaries of days that were not asked for", len(none))
	}
}

// A day has the offset of its first sample that states one. The sample before
// it states none, and the person has no time zone. That sample does not put the
// day in UTC.
func TestOffsetsOfDays(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	steps := &track{Samples: wearables.Samples{
		Resource: "steps", Time: []int64{first, first + 60e6, first + dayUS}, Value: []float64{1, 2, 3},
		Offset: []int32{wearables.NoOffset, 7200, wearables.NoOffset},
	}}
	d := &Deriver{}
	found := d.firstOffsets(tracks{"steps": {steps}}, -1<<40, 1<<40)
	if len(found) != 1 || found[dayNumber(first, 0)].offset != 7200 {
		t.Errorf("%+v", found)
	}
}

func source(kind string) wearables.Source {
	return wearables.Source{Provider: "apple_health_kit", Type: kind, AppID: kind}
}
