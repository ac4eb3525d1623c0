package healthconnect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The foods and drinks of one moment are added up per source. Copies of a second app
// and repeated records count once; in any order the sum is the same.
func TestFoodsOfOneMoment(t *testing.T) {
	one := func(app, name string, end int, value string) string {
		return fmt.Sprintf(`{"recordType":%q,"startTime":"2024-07-01T12:00:00Z","endTime":"2024-07-01T12:%02d:00Z",%s,"metadata":{"dataOrigin":%q,"recordingMethod":3}}`, name, end, value, app)
	}
	food := func(app string, end int, grams string) string {
		return one(app, "Nutrition", end, `"totalCarbohydrate":{"inGrams":`+grams+`},"caffeine":{"inGrams":0.1}`)
	}
	all := []string{
		food("com.example.diary", 1, "20.1"), food("com.example.diary", 3, "30.2"), food("com.example.diary", 1, "0.7"), food("com.example.diary", 3, "30.2"),
		food("com.example.other", 1, "20.1"), food("com.example.other", 1, "5"),
		one("com.example.diary", "Hydration", 1, `"volume":{"inMilliliters":250}`), one("com.example.diary", "Hydration", 1, `"volume":{"inMilliliters":330}`),
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(strings.Join(all, "\n"))))
		got := map[string][]float64{}
		for _, s := range sheettest.Series(t, db, user) {
			got[s.Resource+" "+s.Source.AppID] = append(s.Value, float64(s.End[0]-s.Time[0])/60e6)
		}
		for series, want := range map[string][]float64{
			"carbohydrates com.example.diary": {0.7 + 20.1 + 30.2, 3}, "carbohydrates com.example.other": {5, 1}, "water com.example.diary": {580, 1},
		} {
			if !slices.Equal(got[series], want) {
				t.Errorf("%s: %v, want %v", series, got[series], want)
			}
		}
		if c := o.Types["nutrition"]; o.Copies < 2 || c == nil || c.Read != c.Mapped || *o.Types["hydration"] != (files.TypeCount{Read: 2, Mapped: 2}) {
			t.Errorf("%d copies, %+v", o.Copies, c)
		}
		slices.Reverse(all)
		if again := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(strings.Join(all, "\n")))); again.Created+again.Updated != 0 {
			t.Errorf("in the other order: %+v", again.Counts)
		}
	})
}

// Repeated records without ids count once, in their workout too.
func TestRepeatedRecordsWithoutIDs(t *testing.T) {
	steps := `{"recordType":"Steps","startTime":"2024-07-01T12:10:00Z","endTime":"2024-07-01T12:20:00Z","count":900,"metadata":{"dataOrigin":"com.example.one"}}`
	more := `{"recordType":"Steps","startTime":"2024-07-01T12:20:00Z","endTime":"2024-07-01T12:30:00Z","count":900,"metadata":{"dataOrigin":"com.example.one"}}`
	climb := `{"recordType":"ElevationGained","startTime":"2024-07-01T12:10:00Z","endTime":"2024-07-01T12:20:00Z","elevation":{"inMeters":30},"metadata":{"dataOrigin":"com.example.one"}}`
	run := `{"recordType":"ExerciseSession","startTime":"2024-07-01T12:00:00Z","endTime":"2024-07-01T13:00:00Z","exerciseType":56,"metadata":{"dataOrigin":"com.example.one"}}`
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	o := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(strings.Join([]string{steps, climb, run, more, steps, climb, run}, "\n"))))
	filestest.Has(t, db, user, "workouts", map[string]any{"steps": 1800, "total_elevation_gain": 30})
	if o.Copies != 3 || o.Records != 4 || o.Mapped != 4 {
		t.Errorf("%+v", o.Report)
	}
}

// An app's name takes no more memory than a package name.
func TestNamesOfAppsAreBounded(t *testing.T) {
	s, err := newStaging(t.Context(), filestest.Save(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	r := &reader{stage: s, report: &files.Report{}}
	long := strings.Repeat("a.", 1<<16)
	for i := range 3 {
		for _, text := range []string{
			fmt.Sprintf(`{"recordType":"Weight","time":"2024-07-01T12:00:00Z","weight":{"inGrams":71000},"metadata":{"dataOrigin":"%s%d"}}`, long, i),
			fmt.Sprintf(`{"timestamp":"2024-07-01T20:00:00Z","app_version":"1","heart_rate":[{"bpm":61,"time":"2024-07-01T12:00:00Z","metadata":{"data_origin":"%s%d"}}]}`, long, i),
		} {
			if err := r.read(t.Context(), strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.apps) != 0 || len(s.parents) != 1 {
		t.Errorf("%d apps, %d parents", len(s.apps), len(s.parents))
	}
	for p := range s.parents {
		if p.app != "" {
			t.Errorf("%d bytes", len(p.app))
		}
	}
}
