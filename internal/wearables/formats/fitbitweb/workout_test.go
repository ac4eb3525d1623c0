package fitbitweb

import (
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The reply of a day has the start of an activity to the minute. The list of activities
// has it to the second, and the offset. Both become one workout with the values of the
// list, whichever comes first.
func TestActivityOfTwoReplies(t *testing.T) {
	const (
		day = `{"activities":[{"activityId":2,"activityParentName":"Walk","duration":1800000,"hasStartTime":true,"logId":7001,"startDate":"2024-05-06","startTime":"18:10","steps":2600},` +
			`{"activityId":2,"activityParentName":"Run","duration":600000,"hasStartTime":true,"logId":7002,"startDate":"2024-05-06","startTime":"20:00"}],"summary":{"caloriesOut":2000,"sedentaryMinutes":700}}`
		list = `{"activities":[{"activeDuration":1700000,"activityName":"Walk","duration":1805000,"logId":7001,"logType":"manual","startTime":"2024-05-06T18:10:23.000+02:00","steps":2600}],"pagination":{}}`
	)
	for name, imports := range map[string][]string{
		"one file":                 {day + list},
		"one file, the list first": {list + day},
		"the day first":            {day, list},
		"the list first":           {list, day},
		"both twice":               {list, day + list, day},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				user := sheettest.User(t, db, "")
				for _, text := range imports {
					sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(text)))
				}
				all := filestest.Summaries(t, db, user, "workouts")
				if len(all) != 2 {
					t.Fatalf("%d workouts: %v", len(all), all)
				}
				filestest.Has(t, db, user, "workouts", map[string]any{
					"provider_id": "7001", "time_start": "2024-05-06T16:10:23+00:00", "time_end": "2024-05-06T16:40:28+00:00", "timezone_offset": 7200, "moving_time": 1700,
				}, map[string]any{"provider_id": "7002", "time_start": "2024-05-06T20:00:00+00:00"})
				for _, w := range all {
					if source := w["source"].(map[string]any)["type"]; w["provider_id"] == "7001" && source != "app" {
						t.Errorf("the source is %v", source)
					}
				}
				before := filestest.Events(t, db, user)
				for _, text := range imports {
					if again := sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(text))); again.Created+again.Updated != 0 {
						t.Errorf("again: %+v", again.Counts)
					}
				}
				if after := filestest.Events(t, db, user); len(after) != len(before) || after["daily.data.workouts.updated"] != before["daily.data.workouts.updated"] {
					t.Errorf("events went from %v to %v", before, after)
				}
			})
		})
	}
}

// The zone of the profile applies to local times, wherever the profile is in
// the file. It takes precedence over the fallback zone.
func TestZoneOfTheProfile(t *testing.T) {
	const weight = `{"weight":[{"bmi":23.5,"date":"2024-05-06","logId":9001,"source":"Aria","time":"07:05:30","weight":72.5}]}`
	profile := func(id, zone string) string {
		return `{"user":{"dateOfBirth":"1984-02-03","encodedId":"` + id + `","memberSince":"2014-01-01","timezone":"` + zone + `"}}`
	}
	for _, test := range []struct {
		name, fallback, text, at string
		offset                   int32
	}{
		{"behind", "Asia/Tokyo", weight + profile("A", "Europe/Berlin"), "05:05:30", 7200},
		{"before", "", profile("A", "Europe/Berlin") + weight, "05:05:30", 7200},
		{"unknown", "Asia/Tokyo", weight + profile("A", "Middle/Earth"), "22:05:30", 9 * 3600},
		{"none", "", weight, "07:05:30", wearables.NoOffset},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := storetest.SQLite(t)
			user := sheettest.User(t, db, test.fallback)
			sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(test.text)))
			got := sheettest.Find(t, sheettest.Series(t, db, user), "body_weight", "", "scale")
			if at := time.UnixMicro(got.Time[0]).UTC().Format(time.DateTime); !strings.HasSuffix(at, test.at) || got.Offset[0] != test.offset {
				t.Errorf("%s, %d", at, got.Offset[0])
			}
		})
	}
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	path := filestest.Save(t, []byte(weight+profile("A", "Europe/Berlin")+profile("B", "Europe/Berlin")))
	if _, err := Kind.Run(t.Context(), sheettest.Input(db, user, path)); !fault.Is(err, fault.Unprocessable) {
		t.Errorf("profiles of two people: %v", err)
	}
}
