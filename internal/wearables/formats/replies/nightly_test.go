package replies

import (
	"encoding/json"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// The scores of a day belong to its long sleep. If the day has several, they belong
// to the one with the most sleep. Nights of other providers do not change.
func TestNightOfTheDay(t *testing.T) {
	day := civil.MustParse("2025-03-02")
	source := wearables.Source{Provider: "oura", Type: "ring"}
	var stored []storage.StoredSummary
	add := func(kind string, hour int, total int64, ours bool) {
		n := storedNight{Start: time.Date(2025, 3, 1, hour, 0, 0, 0, time.UTC), Date: day, Type: kind, Total: total}
		body, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		s := storage.StoredSummary{Body: body}
		if ours {
			s.Source = source
		}
		stored = append(stored, s)
	}
	add("acknowledged_nap", 1, 30_000, true)
	add("long_sleep", 2, 11_000, true)
	add("long_sleep", 3, 20_000, true)
	add("long_sleep", 4, 15_000, true)
	add("short_sleep", 5, 9_000, true)
	add("long_sleep", 6, 40_000, false)
	if got, ok := mainNight(nightsOf(stored)[day], source); !ok || got.Start.Hour() != 3 {
		t.Errorf("%+v", got)
	}
}
