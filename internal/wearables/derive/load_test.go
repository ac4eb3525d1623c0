package derive

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/wearables"
)

func source(kind string) wearables.Source {
	return wearables.Source{Provider: "apple_health_kit", Type: kind, AppID: kind}
}

func parts(values ...float64) []part {
	var all []part
	for i := 0; i+2 < len(values); i += 3 {
		all = append(all, part{interval{Start: int64(values[i]), End: int64(values[i+1])}, values[i+2]})
	}
	return all
}

func TestMerge(t *testing.T) {
	watch, phone, app := source("watch"), source("phone"), source("app")
	cases := []struct {
		name string
		all  []contribution
		want float64
		from int
	}{
		{"one source", []contribution{{phone, parts(0, 10, 5, 10, 20, 7)}}, 12, 1},
		{"a mirror counts once", []contribution{{phone, parts(0, 10, 5)}, {watch, parts(0, 10, 5)}}, 5, 1},
		{"the watch's figure wins", []contribution{{phone, parts(0, 10, 50)}, {watch, parts(0, 10, 5)}}, 5, 1},
		{"the phone fills a gap", []contribution{{phone, parts(0, 10, 50, 20, 30, 8)}, {watch, parts(0, 10, 5)}}, 13, 2},
		{"pro rata", []contribution{{phone, parts(0, 10, 50)}, {watch, parts(6, 10, 1)}}, 31, 2},
		{"a part of every hole", []contribution{{phone, parts(0, 100, 100)}, {watch, parts(10, 20, 1, 30, 50, 1, 90, 120, 1)}}, 63, 2},
		{"a moment inside is covered", []contribution{{app, parts(5, 5, 9)}, {watch, parts(0, 10, 5)}}, 5, 1},
		{"a moment outside is not", []contribution{{app, parts(10, 10, 9)}, {watch, parts(0, 10, 5)}}, 14, 2},
		{"a slip of the finger", []contribution{{app, parts(50, 50, 30000)}, {phone, parts(0, 10, 670)}}, 670, 1},
		{"typed alone is kept", []contribution{{app, parts(50, 50, 30000)}}, 30000, 1},
		{"typed and believable", []contribution{{app, parts(50, 50, 900)}, {phone, parts(0, 10, 670)}}, 1570, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := merge(c.all)
			if !ok || math.Abs(got.value-c.want) > 1e-9 || len(got.sources) != c.from {
				t.Errorf("merged to %v from %d sources, want %v from %d", got.value, len(got.sources), c.want, c.from)
			}
		})
	}
	if _, ok := merge([]contribution{{watch, nil}}); ok {
		t.Error("nothing was merged to something")
	}
}

// A merge lies between the best source alone and everything added up, does
// not depend on the order of its input, and a repeated source adds nothing.
func TestMergeBounds(t *testing.T) {
	kinds := []string{"watch", "phone", "ring", "unknown"}
	rapid.Check(t, func(t *rapid.T) {
		var all []contribution
		naive := 0.0
		for _, kind := range kinds[:rapid.IntRange(1, len(kinds)).Draw(t, "sources")] {
			c := contribution{source: source(kind)}
			at := int64(0)
			for range rapid.IntRange(1, 12).Draw(t, "parts") {
				at += rapid.Int64Range(0, 50).Draw(t, "gap")
				length := rapid.Int64Range(1, 60).Draw(t, "length")
				c.parts = append(c.parts, part{interval{Start: at, End: at + length}, float64(rapid.IntRange(0, 100).Draw(t, "value"))})
				at += length
			}
			naive += c.total()
			all = append(all, c)
		}
		got, _ := merge(all)
		best := all[0].total()
		if got.value < best-1e-6 || got.value > naive+1e-6 {
			t.Fatalf("merged %v, best source %v, all added %v", got.value, best, naive)
		}
		reversed := make([]contribution, len(all))
		for i, c := range all {
			reversed[len(all)-1-i] = c
		}
		if again, _ := merge(reversed); math.Abs(again.value-got.value) > 1e-6 {
			t.Fatalf("merged %v one way and %v the other", got.value, again.value)
		}
		mirror := all[0]
		mirror.source.AppID, mirror.source.Type = "mirror", "multiple_sources"
		if again, _ := merge(append(all, mirror)); math.Abs(again.value-got.value) > 1e-6 {
			t.Fatalf("a mirror changed %v to %v", got.value, again.value)
		}
	})
}
