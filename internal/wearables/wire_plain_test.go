package wearables_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/wearables"
)

var plainDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// keep holds all of a text in memory.
func keep(dst []byte) []byte { return dst }

// For any parts, their samples are in order of time; samples of one moment are in the
// order of the parts.
func TestPlainIsInOrder(t *testing.T) {
	type row struct {
		Timestamp time.Time
		Value     float64
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []wearables.Samples
		var want []row
		for i := range rapid.IntRange(0, 9).Draw(t, "parts") {
			s, at := wearables.Samples{Resource: "heartrate"}, plainDay.UnixMicro()
			for range rapid.IntRange(0, 9).Draw(t, "samples") {
				at += rapid.Int64Range(1, 4).Draw(t, "seconds") * 1e6
				s.Time, s.Value = append(s.Time, at), append(s.Value, float64(60+i))
				want = append(want, row{time.UnixMicro(at).UTC(), float64(60 + i)})
			}
			all = append(all, s)
		}
		slices.SortFunc(want, func(a, b row) int {
			return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Value, b.Value))
		})
		text := wearables.AppendPlain(nil, all, keep)
		var got []row
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		same := func(a, b row) bool { return a.Timestamp.Equal(b.Timestamp) && a.Value == b.Value }
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// BenchmarkPlain writes 100,000 samples of one series, and of a thousand
// workouts.
func BenchmarkPlain(b *testing.B) {
	for name, parts := range map[string]int{"one": 1, "thousand": 1000} {
		b.Run(name, func(b *testing.B) {
			all := make([]wearables.Samples, parts)
			for i := range 100_000 {
				s := &all[i%parts]
				s.Resource, s.Time, s.Value = "heartrate", append(s.Time, plainDay.UnixMicro()+int64(i)*1e6), append(s.Value, 60)
			}
			var text []byte
			for b.Loop() {
				text = wearables.AppendPlain(text[:0], all, keep)
			}
		})
	}
}
