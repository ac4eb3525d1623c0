package ultrahuman

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

func TestImportRealReplies(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/ultrahuman", map[string]repliestest.File{
		// The night of the first lasts 31 hours.
		"open-wearables-test_ultrahuman_data_247.json":    {"sleep": {1, 0}, "hr": {1, 1}, "hrv": {1, 1}, "temp": {1, 0}, "steps": {1, 0}},
		"open-wearables-test_ultrahuman_integration.json": {"Sleep": {1, 1}},
	})
}

func TestFilesOfOtherMakersAreRefused(t *testing.T) { repliestest.CheckRefused(t, Kind, "ultrahuman") }

func TestRealNight(t *testing.T) {
	path := filepath.Join(testdata.Shared(t, "wearables/ultrahuman"), "open-wearables-test_ultrahuman_integration.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][]struct {
		Data struct {
			Metrics []struct {
				Object struct {
					Date         string
					Start        int64 `json:"bedtime_start"`
					End          int64 `json:"bedtime_end"`
					QuickMetrics []struct {
						Type  string
						Value float64
					} `json:"quick_metrics"`
					Stages []struct {
						Type string
						Time float64 `json:"stage_time"`
					} `json:"sleep_stages"`
				}
			} `json:"metric_data"`
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	sheettest.Run(t, db, Kind, user, path)
	nights := filestest.Summaries(t, db, user, "sleep")
	if len(nights) != 1 {
		t.Fatalf("%d nights", len(nights))
	}
	for _, one := range cases {
		want := one[0].Data.Metrics[0].Object
		of := map[string]float64{}
		for _, s := range want.Stages {
			of[s.Type] = s.Time
		}
		for _, m := range want.QuickMetrics {
			of[m.Type] = m.Value
		}
		filestest.CompareJSON(t, nights[0], map[string]any{
			"calendar_date": want.Date, "duration": float64(want.End - want.Start), "deep": of["deep_sleep"], "light": of["light_sleep"], "rem": of["rem_sleep"],
			"awake": of["awake"], "efficiency": of["sleep_efic"], "total": of["deep_sleep"] + of["light_sleep"] + of["rem_sleep"], "timezone_offset": nil,
			"bedtime_start": time.Unix(want.Start, 0).UTC().Format("2006-01-02T15:04:05+00:00"),
		})
	}
}
