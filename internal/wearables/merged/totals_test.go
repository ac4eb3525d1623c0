package merged

import (
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// A total of a day is not added to finer samples of that day.
func TestTotalsOfDays(t *testing.T) {
	at := func(hour int) int64 {
		return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC).UnixMicro()
	}
	of := func(kind, app string, triples ...int) wearables.Samples {
		s := wearables.Samples{Resource: "steps", Source: wearables.Source{Provider: "health_connect", Type: kind, AppID: app}}
		for i := 0; i+2 < len(triples); i += 3 {
			s.Time, s.End, s.Value = append(s.Time, at(triples[i])), append(s.End, at(triples[i+1])), append(s.Value, float64(triples[i+2]))
		}
		return s
	}
	typed := of("app", "typed", 20, 20, 10_800)
	byHand := typed
	byHand.Source = wearables.Source{Provider: "manual", Type: "unknown"}
	byHand.End = nil
	fine := of("phone", "b", 8, 9, 6000, 12, 13, 5000)
	for _, c := range []struct {
		name string
		all  []wearables.Samples
		want float64
	}{
		{"typed alone", []wearables.Samples{typed}, 10_800},
		{"typed by the person beside a phone", []wearables.Samples{byHand, fine}, 11_000},
		{"typed in the app of the phone", []wearables.Samples{typed, fine}, 11_000},
		{"a slip of the finger with a length", []wearables.Samples{of("app", "typed", 18, 20, 30_000), of("phone", "b", 8, 9, 670)}, 670},
		{"a long run of an app", []wearables.Samples{of("app", "typed", 18, 20, 6_000), of("phone", "b", 8, 9, 670)}, 6_670},
		{"a slip of the finger", []wearables.Samples{of("app", "typed", 20, 20, 30_000), of("phone", "b", 8, 9, 670)}, 670},
		{"typed twice", []wearables.Samples{of("app", "typed", 10, 10, 300, 20, 20, 500)}, 800},
		{"typed in two apps", []wearables.Samples{typed, byHand}, 10_800},
		{"a whole day of another app", []wearables.Samples{of("phone", "a", 0, 24, 13_972), fine}, 11_000},
		{"a whole day of a worse source", []wearables.Samples{of("unknown", "a", 1, 22, 9000), fine}, 11_000},
		{"a whole day of a better source", []wearables.Samples{of("watch", "a", 0, 22, 12_000, 24, 46, 7000), fine, of("phone", "c", 23, 24, 90)}, 12_000},
		{"hours of an app", []wearables.Samples{of("app", "a", 8, 9, 6000, 15, 16, 400), fine}, 11_400},
		{"the day after", []wearables.Samples{of("phone", "a", 24, 48, 9000), fine}, 11_000},
	} {
		r, _ := wearables.ResourceNamed("steps")
		day := civil.MustParse("2026-03-01")
		got := MergeDays(r, load(c.all...), DaysRange{First: day, Last: day})
		if len(got.Days) != 1 || got.Days[0].Total != c.want {
			t.Errorf("%s: %+v, want %v", c.name, got.Days, c.want)
		}
	}
	r, _ := wearables.ResourceNamed("water")
	glass := of("app", "a", 8, 8, 200)
	glass.Resource = "water"
	more := glass
	more.Source.AppID, more.Time = "b", []int64{at(9)}
	more.End = more.Time
	day := civil.MustParse("2026-03-01")
	if got := MergeDays(r, load(glass, more), DaysRange{First: day, Last: day}); got.Days[0].Total != 400 {
		t.Errorf("glasses of two apps: %+v", got.Days)
	}
}

// A watch that measures every five minutes does not hide a strap that measures every
// second. The watch fills the rest of the day.
func TestContinuousLevelsComeFirst(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	watch := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Provider: "apple_health_kit", Type: "watch"}}
	for at := start; at < start+dayUS; at += 5 * minuteUS {
		watch.Time, watch.Value = append(watch.Time, at), append(watch.Value, 60)
	}
	strap := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Provider: "apple_health_kit", Type: "chest_strap"}}
	for at := start + 10*hourUS; at < start+11*hourUS; at += secondUS {
		strap.Time, strap.Value = append(strap.Time, at), append(strap.Value, 150)
	}
	strap.Value[100] = 191
	r, _ := wearables.ResourceNamed("heartrate")
	day := civil.MustParse("2026-03-01")
	got := MergeDays(r, load(watch, strap), DaysRange{First: day, Last: day}).Days[0]
	if got.Level.Max != 191 || got.Level.Min != 60 || got.Count < 3600+11*23 || len(got.Sources) != 2 {
		t.Errorf("%+v", got)
	}
}

func load(all ...wearables.Samples) (loaded []LoadedSamples) {
	for _, s := range all {
		loaded = append(loaded, LoadedSamples{Samples: s})
	}
	return loaded
}
