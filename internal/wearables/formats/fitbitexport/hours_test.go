package fitbitexport

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// With a fallback zone, both rows of the hour that occurs twice stay. The hour
// that the clock skips gets no value of the next hour. Both hold in either
// order of rows.
func TestHoursOfTheClockChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, c := range map[string]struct {
			rows  []string
			at    []string // UTC
			steps []float64
			count files.TypeCount
		}{
			"autumn": {
				[]string{"11/6/2016 12:00:00 AM,1", "11/6/2016 1:00:00 AM,100", "11/6/2016 1:00:00 AM,200", "11/6/2016 2:00:00 AM,4"},
				[]string{"04:00", "05:00", "06:00", "07:00"},
				[]float64{1, 100, 200, 4},
				files.TypeCount{Read: 4, Mapped: 4},
			},
			"spring": {
				[]string{"3/13/2016 1:00:00 AM,1", "3/13/2016 2:00:00 AM,0", "3/13/2016 3:00:00 AM,500", "3/13/2016 4:00:00 AM,4"},
				[]string{"06:00", "07:00", "08:00"},
				[]float64{1, 500, 4},
				files.TypeCount{Read: 4, Mapped: 3, BadDate: 1},
			},
		} {
			for range 2 {
				user := sheettest.User(t, db, "America/New_York")
				table := filestest.Save(t, []byte("Id,ActivityHour,StepTotal\n1,"+strings.Join(c.rows, "\n1,")+"\n"))
				o := sheettest.Run(t, db, Kind, user, table)
				if got := *o.Types["hourlySteps"]; got != c.count {
					t.Errorf("%s: %+v", name, got)
				}
				if o = sheettest.Run(t, db, Kind, user, table); o.Created+o.Updated != 0 {
					t.Errorf("%s, the second time: %+v", name, o.Counts)
				}
				hours := sheettest.Find(t, sheettest.Series(t, db, user), "steps", "", "watch")
				var at []string
				for _, micros := range hours.Time {
					at = append(at, time.UnixMicro(micros).UTC().Format("15:04"))
				}
				if !slices.Equal(at, c.at) || !slices.Equal(hours.Value, c.steps) {
					t.Errorf("%s: %v, %v", name, at, hours.Value)
				}
				slices.Reverse(c.rows)
			}
		}
	})
}
