package oura

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestImportExport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "export.json"))
		for name, want := range map[string]files.TypeCount{
			"personal_info": {Read: 1, Mapped: 1}, "ring_configuration": {Read: 1, Mapped: 1},
			"daily_sleep":     {Read: 3, Mapped: 1, Unpaired: 1, BadValue: 1},
			"daily_readiness": {Read: 2, Mapped: 1, BadDate: 1},
			"workout":         {Read: 3, Mapped: 2, BadDate: 1},
			"sleep":           {Read: 4, Mapped: 3, BadDate: 1},
			"sleep rest":      {Read: 1, Skipped: 1}, "sleep deleted": {Read: 1, Mapped: 1}, "sleep.movement_30_sec": {Read: 1, Skipped: 1},
			"heartrate":      {Read: 4, Mapped: 2, BadValue: 1, BadDate: 1},
			"session":        {Read: 2, Mapped: 1, Skipped: 1},
			"daily_activity": {Read: 2, Mapped: 1, BadValue: 1},
			"daily_spo2":     {Read: 1, Skipped: 1}, "daily_stress": {Read: 1, Skipped: 1},
			"enhanced_tag": {Read: 1, Skipped: 1}, "tag": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
			"session.motion_count": {Read: 1, Skipped: 1}, "daily_activity.met": {Read: 1, Skipped: 1}, "daily_activity.class_5_min": {Read: 1, Skipped: 1},
		} {
			if got := o.Types[name]; got == nil || *got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if o.Records != 29 || o.Mapped != 14 || o.Damaged != 0 || o.Truncated || len(o.Types) != 20 {
			t.Errorf("%+v, %d types", o.Report, len(o.Types))
		}
		nights := filestest.Summaries(t, db, user, "sleep")
		if len(nights) != 3 {
			t.Fatalf("%d nights", len(nights))
		}
		byType := map[any]map[string]any{}
		for _, n := range nights {
			byType[n["type"]] = n
		}
		filestest.CompareJSON(t, byType["long_sleep"], map[string]any{ // scores of documents that come before it
			"calendar_date": "2025-03-02", "duration": 26999.0, "efficiency": 94.0, "score": 81.0, "recovery_readiness_score": 77.0, "temperature_delta": -0.31,
			"hr_average": 59.0, "timezone_offset": 3600.0,
		})
		filestest.CompareJSON(t, byType["acknowledged_nap"], map[string]any{"calendar_date": "2025-03-02", "duration": 130.0, "awake": 30.0, "efficiency": 76.9, "score": nil})
		filestest.CompareJSON(t, byType["short_sleep"], map[string]any{"calendar_date": "2025-03-03", "timezone_offset": -28800.0}) // the day of waking up, there
		for _, cycle := range filestest.Summaries(t, db, user, "sleep_cycle") {
			if cycle["sleep_id"] != byType["acknowledged_nap"]["id"] {
				continue
			}
			if got := list(cycle["stage_type"]); got != "4 2 -1 2" {
				t.Errorf("stages %s", got)
			}
			if got := list(cycle["stage_end_offset_second"]); got != "30 60 90 130" {
				t.Errorf("stages end after %s", got)
			}
		}
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			source := w["source"].(map[string]any)
			if w["provider_id"] == "w-1" {
				filestest.CompareJSON(t, w, map[string]any{"title": "round the lake", "average_hr": 135.0, "max_hr": 150.0, "distance": 5012.25})
				filestest.CompareJSON(t, source, map[string]any{"type": "ring", "provider": "oura"})
			} else {
				filestest.CompareJSON(t, w["sport"].(map[string]any), map[string]any{"slug": "house_work"})
				filestest.CompareJSON(t, source, map[string]any{"type": "app"})
			}
		}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			if day["calendar_date"] == "2025-03-02" { // Oura's figures, and the heart rate of the calendar day
				filestest.CompareJSON(t, day, map[string]any{"steps": 9876.0, "low": 150.5, "medium": 30.0, "high": 10.0, "distance": 8123.0})
				filestest.CompareJSON(t, day["heart_rate"].(map[string]any), map[string]any{"max_bpm": 150.0})
			}
		}
		all := sheettest.Series(t, db, user)
		hearts := sheettest.Find(t, all, "heartrate", "", "ring")
		if hearts.Len() != 4 || hearts.Value[0] != 61 || hearts.Value[1] != 57.5 || hearts.Time[1]-hearts.Time[0] != 900e6 {
			t.Errorf("%+v", hearts)
		}
		for _, offset := range hearts.Offset {
			if offset != 3600 { // the series has UTC, which means unknown, so the fallback zone applies
				t.Errorf("offsets %v", hearts.Offset)
			}
		}
		if calm := sheettest.Find(t, all, "mindfulness_minutes", "", "app"); calm.Len() != 1 || calm.Value[0] != 12.5 {
			t.Errorf("%+v", calm)
		}
	})
}

func list(v any) string {
	return strings.Trim(fmt.Sprint(v), "[]")
}

func TestPagesOfOneLineEach(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "pages.jsonl"))
	if o.Records != 3 || o.Mapped != 3 || o.Damaged != 0 || len(o.Types) != 1 {
		t.Errorf("%+v", o.Report)
	}
	hearts := sheettest.Find(t, sheettest.Series(t, db, user), "heartrate", "", "ring")
	if hearts.Len() != 3 || hearts.Offset[0] != wearables.NoOffset || hearts.Offset[2] != -5*3600 {
		t.Errorf("%+v", hearts)
	}
}

// A ring becomes a device of the user's, once.
func TestRings(t *testing.T) {
	db := storetest.SQLite(t)
	bed := filestest.New(t, db)
	for range 2 {
		if _, err := bed.Import(Kind, filepath.Join("testdata", "export.json")); err != nil {
			t.Fatal(err)
		}
	}
	if got := bed.Events()["provider.device.created"]; got != 1 {
		t.Errorf("%d devices", got)
	}
	if got := bed.Events()["provider.device.updated"]; got != 0 {
		t.Errorf("%d updates", got)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"an empty page": `{"data":[],"next_token":null}`, "an empty list": `[]`, "nothing": "", "text": "day,score\n", "a number": "7",
		"numbers": `[1,2]`, "another object": `{"sleep":[{"dateOfSleep":"2016-12-13","duration":100}]}`, "zip": "PK\x03\x04",
		"another first": `[{"a":1},{"bpm":61,"source":"rest","timestamp":"2025-03-05T08:00:00+00:00"}]`,
		"a long text":   `{"data":["` + strings.Repeat("x", 2*replies.MaxRecord) + `"]}`,
		"only objects":  strings.Repeat("{}", replies.MaxRecord), "only lists": strings.Repeat("[]", replies.MaxRecord),
		"deep": strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	one := `{"bpm":61,"source":"rest","timestamp":"2025-03-05T08:00:00+00:00"}`
	for name, test := range map[string]struct {
		content   string
		mapped    int64
		damaged   int64
		truncated bool
	}{
		"whole":                {`{"data":[` + one + `,` + one + `]}`, 2, 0, false},
		"cut in a document":    {`{"data":[` + one + `,{"bpm":6`, 1, 0, true},
		"cut after a document": {`{"data":[` + one, 1, 0, true},
		"cut after the list":   {`{"data":[` + one + `]`, 1, 0, true},
		"cut after a comma":    {`[` + one + `,`, 1, 0, true},
		"no JSON from here":    {`[` + one + `,{bpm:}]`, 1, 1, true},
		"lines cut":            {one + "\n" + `{"bpm"`, 1, 0, true},
		"no object":            {`[` + one + `,7,` + one + `]`, 2, 1, false},
		"lists in a list":      {`[[[` + one + `]]]`, 1, 0, false},
	} {
		g := gather(t, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := gather(t, []byte(`[`+one+`,{"comment":"`+strings.Repeat("x", 2*replies.MaxRecord)+`"}]`))
	if !fault.Is(long.Err, fault.Unprocessable) || long.Report.Mapped != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func gather(tb testing.TB, content []byte) *repliestest.GatheredData {
	tb.Helper()
	return repliestest.Gather(tb, maker, time.UTC, content)
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"export.json", "pages.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"bedtime_start":"2024-01-21T01:28:28-05:00","bedtime_end":"2024-01-21T09:08:18-05:00","sleep_phase_5_min":"4222","hrv":{"interval":1e-9,"items":[1,2],"timestamp":"2024-01-21T01:28:28.000-05:00"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		gather(t, content).Check(t)
	})
}
