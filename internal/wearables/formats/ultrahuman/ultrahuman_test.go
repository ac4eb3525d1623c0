package ultrahuman

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/providers"
)

var (
	day  = filepath.Join("testdata", "day.json")
	days = filepath.Join("testdata", "days.json")
)

func TestImportDay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, day)
		checkTypes(t, o, map[string]files.TypeCount{
			"hr": {Read: 1, Mapped: 1}, "hrv": {Read: 1, Mapped: 1}, "temp": {Read: 1, Skipped: 1}, "spo2": {Read: 1, Mapped: 1}, "glucose": {Read: 1, Mapped: 1},
			"steps": {Read: 1, Mapped: 1}, "steps.values": {Read: 1, Skipped: 1}, "night_rhr": {Read: 1, Mapped: 1}, "avg_sleep_hrv": {Read: 1, Mapped: 1},
			"recovery_index": {Read: 1, Mapped: 1}, "vo2_max": {Read: 1, Mapped: 1}, "movement_index": {Read: 1, Skipped: 1},
			"metabolic_score": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1}, "Sleep": {Read: 1, Mapped: 1},
		})
		nights, cycles := filestest.Summaries(t, db, user, "sleep"), filestest.Summaries(t, db, user, "sleep_cycle")
		if len(nights) != 1 || len(cycles) != 1 {
			t.Fatalf("%d nights, %d cycles", len(nights), len(cycles))
		}
		filestest.CompareJSON(t, nights[0], map[string]any{
			"calendar_date": "2024-05-06", "bedtime_start": "2024-05-05T21:30:00+00:00", "duration": 27000.0, "total": 25200.0, "awake": 1800.0, "deep": 5400.0,
			"light": 14400.0, "rem": 5400.0, "efficiency": 93.0, "hr_average": 54.0, "hr_resting": 51.0, "average_hrv": 48.0, "recovery_readiness_score": 78.0,
			"timezone_offset": 7200.0, "score": nil,
		})
		if got := fmt.Sprint(cycles[0]["stage_end_offset_second"], cycles[0]["stage_type"]); got != "[1800 5400 10800 27000] [4 2 1 3]" {
			t.Errorf("stages %s", got)
		}
		activity := filestest.Summaries(t, db, user, "activity")
		if len(activity) != 1 {
			t.Fatalf("%d days", len(activity))
		}
		filestest.CompareJSON(t, activity[0], map[string]any{"calendar_date": "2024-05-06", "steps": 8452.0})
		filestest.CompareJSON(t, activity[0]["heart_rate"], map[string]any{"min_bpm": 58.0, "max_bpm": 61.5})
		all := sheettest.Series(t, db, user)
		hearts := sheettest.Find(t, all, "heartrate", "", "ring")
		if !slices.Equal(hearts.Value, []float64{58, 61.5}) || hearts.Time[0] != 1714946700e6 || hearts.Offset[0] != 7200 {
			t.Errorf("%+v", hearts)
		}
		if s := sheettest.Find(t, all, "glucose", "automatic", "automatic"); math.Abs(s.Value[0]-5.5) > 1e-9 {
			t.Errorf("%v mmol/L", s.Value)
		}
		if s := sheettest.Find(t, all, "vo2_max", "", "ring"); s.Value[0] != 42.5 || s.End[0]-s.Time[0] != 86400e6 {
			t.Errorf("%+v", s)
		}
		if s := sheettest.Find(t, all, "blood_oxygen", "", "ring"); s.Value[0] != 97 {
			t.Errorf("%+v", s)
		}
		before := filestest.Events(t, db, user)
		if again := sheettest.Run(t, db, Kind, user, day); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again.Resources)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(before, after) {
			t.Errorf("events went from %v to %v", before, after)
		}
	})
}

func TestImportDays(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "Europe/Berlin")
	o := sheettest.Run(t, db, Kind, user, days)
	checkTypes(t, o, map[string]files.TypeCount{
		"steps": {Read: 2, Mapped: 1, Skipped: 1}, "sleep": {Read: 2, Mapped: 1, BadDate: 1}, "sleep_rhr": {Read: 1, Mapped: 1},
		"hr": {Read: 1, BadValue: 1}, "recovery_index": {Read: 1, Unpaired: 1}, "avg_sleep_hrv": {Read: 1, BadValue: 1}, "vo2_max": {Read: 1, BadDate: 1},
	})
	nights := filestest.Summaries(t, db, user, "sleep")
	if len(nights) != 1 {
		t.Fatalf("%d nights", len(nights))
	}
	filestest.CompareJSON(t, nights[0], map[string]any{
		"calendar_date": "2024-05-07", "total": 19800.0, "efficiency": 91.0, "score": 82.0, "temperature_delta": -0.25, "skin_temperature": 34.75,
		"deep": 3600.0, "hr_resting": 50.0, "timezone_offset": 7200.0,
	})
	if a := filestest.Summaries(t, db, user, "activity"); len(a) != 1 || a[0]["calendar_date"] != "2024-05-07" || a[0]["steps"] != 4000.0 {
		t.Errorf("%v", a)
	}
}

func checkTypes(t *testing.T, o *files.Outcome, want map[string]files.TypeCount) {
	t.Helper()
	filestest.Types(t, o, want)
	if o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
		t.Errorf("%d damaged, rejected %v", o.Damaged, o.Rejections)
	}
}

// The day begins at the wearer's midnight, which is another date in UTC on
// both sides of the world.
func TestDays(t *testing.T) {
	for text, want := range map[string]string{
		`{"day_start_timestamp": 1742965200, "total": 1}`: "2025-03-26", // 5 o'clock: Chicago
		`{"day_start_timestamp": 1742931000, "total": 1}`: "2025-03-26", // half past 19 the day before: India
		`{"day_start_timestamp": 0, "total": 1}`:          "",
		`{"total": 1}`:                                    "",
	} {
		g := repliestest.Gather(t, maker, nil, []byte(`{"data":{"metric_data":[{"type":"steps","object":`+text+`}]}}`))
		got := ""
		for _, d := range g.Bodies(t, "activity") {
			got = d["calendar_date"].(string)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestProviderIsInTheCatalogue(t *testing.T) {
	if _, ok := providers.Find(Provider); !ok {
		t.Error("it is not")
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"an empty day": `{"data":{"metric_data":[]},"error":null,"status":200}`, "nothing": "", "a number": "7", "zip": "PK\x03\x04",
		"an unknown metric": `{"type":"mood","object":{"value":1}}`, "an error": `{"error":"Unauthorized","status":401}`,
		"a night of another ring": `{"bedtime_start":"2024-05-05T23:00:00+02:00","bedtime_end":"2024-05-06T06:00:00+02:00","type":"long_sleep"}`,
	} {
		var unlike *files.UnlikeError
		if err := Kind.Check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	one := `{"type":"hr","object":{"values":[{"timestamp":1714946700,"value":60}]}}`
	for name, test := range map[string]struct {
		content         string
		mapped, damaged int64
		truncated       bool
	}{
		"whole":             {`[` + one + `,` + one + `]`, 2, 0, false},
		"cut in a metric":   {`[` + one + `,{"type":"h`, 1, 0, true},
		"no JSON from here": {`[` + one + `,{x:}]`, 1, 1, true},
		"no object":         {`[` + one + `,7]`, 1, 1, false},
	} {
		g := repliestest.Gather(t, maker, nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Truncated != test.truncated || g.Report.Damaged != test.damaged {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
	}
	long := repliestest.Gather(t, maker, nil, []byte(`[`+one+`,{"type":"`+strings.Repeat("x", 2*replies.MaxRecord)+`"}]`))
	if !fault.Is(long.Err, fault.Unprocessable) || long.Report.Mapped != 1 {
		t.Errorf("%v %+v", long.Err, long.Report)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{day, days} {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`[{"type":"Sleep","object":{"bedtime_start":1714944600,"bedtime_end":1714944601,"sleep_graph":{"data":[{"start":-1,"end":9e18,"type":"deep_sleep"}]}}}]`))
	f.Fuzz(func(t *testing.T, content []byte) { repliestest.Gather(t, maker, time.UTC, content).Check(t) })
}
