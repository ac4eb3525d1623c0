package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// An app may write one session several times into an export, with other bounds. The
// import is repeated, as one batch. The repetition changes nothing and emits no event.
func TestRepeatedImportOfOverlappingSessions(t *testing.T) {
	eachRapid(t, func(t *testing.T, db *store.DB, rt *rapid.T) {
		all := drawOverlapping(rt)
		f := newFixture(t, db)
		first := f.store(rt, wearables.Batch{Imported: true, Summaries: all})
		if first.Created == 0 || first.Rejected != 0 {
			rt.Fatalf("%+v %v", first.Counts, first.Rejections)
		}
		said := len(f.allEvents())
		for range 2 {
			if again := f.store(rt, wearables.Batch{Imported: true, Summaries: all}); again.Created+again.Updated != 0 || len(f.allEvents()) != said {
				rt.Fatalf("again: %+v, events %v", again.Counts, f.allEvents()[said:])
			}
		}
	})
}

func drawOverlapping(t *rapid.T) []wearables.Summary {
	resource := rapid.SampledFrom([]string{"workouts", "sleep"}).Draw(t, "resource")
	all := make([]wearables.Summary, rapid.IntRange(2, 4).Draw(t, "sessions"))
	for i := range all {
		start := day.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "start")) * 10 * time.Minute)
		end := start.Add(time.Duration(rapid.IntRange(1, 8).Draw(t, "length")) * 10 * time.Minute)
		body := `{"time_start":%q,"time_end":%q,"calories":%d}`
		if resource == "sleep" {
			body = `{"bedtime_start":%q,"bedtime_stop":%q,"hr_average":%d}`
		}
		all[i] = wearables.Summary{
			Resource: resource, Source: watch(), Key: start.Format(time.RFC3339) + "|watch", Start: start, End: end,
			Body: fmt.Appendf(nil, body, start.Format(time.RFC3339), end.Format(time.RFC3339), 50+i),
		}
	}
	return all
}
