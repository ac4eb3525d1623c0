package ihealth

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

var fixture = filepath.Join("testdata", "pages.jsonl")

// local is 06:30 on the 2nd of March 2025, on the clock of the fixture.
const local = 1740897000

func TestImportPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, fixture)
		filestest.Types(t, o, map[string]files.TypeCount{
			"blood pressure": {Read: 4, Mapped: 2, BadValue: 1, BadDate: 1}, "blood pressure.IsArr": {Read: 1, Skipped: 1},
			"glucose": {Read: 3, Mapped: 2, BadUnit: 1}, "glucose.Carbs": {Read: 1, Skipped: 1},
			"oxygen": {Read: 2, Mapped: 1, BadValue: 1},
			"weight": {Read: 4, Mapped: 3, BadValue: 1}, "weight.BoneValue": {Read: 1, Skipped: 1},
			"activity": {Read: 2, Mapped: 1, BadValue: 1},
			"sleep":    {Read: 2, Mapped: 1, BadDate: 1}, "sleep.Awaken": {Read: 1, Skipped: 1},
			"sport": {Read: 2, Mapped: 1, BadDate: 1}, "empty": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
		})
		if o.Records != 21 || o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
			t.Errorf("%d records, %d damaged, %v", o.Records, o.Damaged, o.Rejections)
		}
		if again := sheettest.Run(t, db, Kind, user, fixture); again.Created+again.Updated != 0 {
			t.Errorf("the second time %+v %+v", again.Counts, again.Resources)
		}

		all := sheettest.Series(t, db, user)
		for _, want := range []struct {
			resource, source string
			at               int64
			offset           int32
			value            float64
		}{
			{"blood_pressure", "cuff", local - 7200, 7200, 16.3 * 7.50061683},      // kPa; the unit follows the list
			{"blood_pressure", "app", local + 600 - 3600, 3600, 15.9 * 7.50061683}, // no zone: that of Berlin
			{"heartrate", "cuff", local - 7200, 7200, 64},
			{"glucose", "fingerprick", local + 28800, -28800, 5.4},
			{"glucose", "app", local + 60 + 28800, -28800, 99 / 18.0182},
			{"blood_oxygen", "unknown", local - 19800, 19800, 97},
			{"body_weight", "app", local + 86400 - 7200, 7200, 11.5 * 6.35029318},
			{"body_fat", "scale", local - 7200, 7200, 18.5},
			{"body_mass_index", "scale", local - 7200, 7200, 23.1},
		} {
			s := sheettest.Find(t, all, want.resource, "", want.source)
			if s.Time[0] != want.at*1e6 || s.Offset[0] != want.offset || math.Abs(s.Value[0]-want.value) > 1e-9 {
				t.Errorf("%s of %s: %v %d %v, want %+v", want.resource, want.source, time.UnixMicro(s.Time[0]).UTC(), s.Offset[0], s.Value[0], want)
			}
		}
		for _, day := range filestest.Summaries(t, db, user, "body") {
			if day["calendar_date"] == "2025-03-02" { // of the later weighing, which is first in the file
				filestest.CompareJSON(t, day, map[string]any{"weight": 72.5748, "fat": 18.5, "water_percentage": 55.5})
			}
		}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			if day["calendar_date"] == "2025-03-02" {
				filestest.CompareJSON(t, day, map[string]any{"steps": 8000.0, "distance": 5632.7, "calories_total": 2210.0, "timezone_offset": 7200.0})
			}
		}
		filestest.CompareJSON(t, repliestest.OnlySummary(t, filestest.Summaries(t, db, user, "sleep")), map[string]any{
			"calendar_date": "2025-03-02", "total": 24000.0, "duration": 27000.0, "awake": 3000.0, "efficiency": 90.0, "timezone_offset": 7200.0,
			"bedtime_stop": "2025-03-02T04:30:00+00:00",
		})
		swum := repliestest.OnlySummary(t, filestest.Summaries(t, db, user, "workouts"))
		filestest.CompareJSON(t, swum, map[string]any{
			"title": "Swimming, breaststroke", "calories": 210.5, "timezone_offset": 7200.0, "time_start": "2025-03-02T06:30:00+00:00",
		})
		filestest.CompareJSON(t, swum["sport"].(map[string]any), map[string]any{"slug": "swimming"})
	})
}

func TestTimesWithoutAZoneAreFloating(t *testing.T) {
	g := repliestest.Gather(t, maker, nil, []byte(`{"RecordCount":1,"BODataList":[{"BO":97,"MDate":1740897000}]}`))
	s := g.Series("blood_oxygen", "", "unknown")
	if s.Len() != 1 || s.Time[0] != local*1e6 || s.Offset[0] != wearables.NoOffset {
		t.Errorf("%+v", s)
	}
}

// A page that was cut before its unit, and one that never had any, may be in
// pounds as well as in kilograms.
func TestNoUnitIsNoUnit(t *testing.T) {
	for name, content := range map[string]string{
		"cut":  `{"WeightDataList":[{"WeightValue":160,"MDate":1740897000}],"WeightUn`,
		"none": `{"WeightDataList":[{"WeightValue":160,"MDate":1740897000}],"WeightUnit":null}`,
	} {
		g := repliestest.Gather(t, maker, nil, []byte(content))
		if c := *g.Report.Type("weight"); c != (files.TypeCount{Read: 1, BadUnit: 1}) || len(g.Samples) != 0 {
			t.Errorf("%s: %+v, %+v", name, c, g.Samples)
		}
	}
	g := repliestest.Gather(t, maker, nil, []byte(`{"WeightDataList":[{"WeightValue":160,"MDate":1740897000}],"WeightUnit":1}`))
	if s := g.Series("body_weight", "", "scale"); s.Len() != 1 || math.Abs(s.Value[0]-72.5747792) > 1e-9 {
		t.Errorf("%+v", s)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"a page of nothing known": `{"RecordCount":1,"FoodDataList":[{"MDate":1}]}`, "an error": `{"Error":"x","ErrorCode":"503"}`,
		"counts": `{"RecordCount":0}`, "an empty list": `[]`, "names only": `{"HP":1,"LP":2}`,
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile(fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		repliestest.Gather(t, maker, time.UTC, content).Check(t)
	})
}
