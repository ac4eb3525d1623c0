package blocks

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sample is one element of Columns, for the simple model that verifies Merge.
type sample struct {
	end    int64
	offset int32
	value  float64
}

func TestMergeAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, add := drawSparse(t, "old"), drawSparse(t, "add")
		model := maps.Clone(old)
		created, updated, unchanged := 0, 0, 0
		for at, s := range add {
			was, known := model[at]
			if known && s.offset == NoOffset {
				s.offset = was.offset
			}
			switch {
			case !known:
				created++
			case s != was:
				updated++
			default:
				unchanged++
			}
			model[at] = s
		}

		a, b := columnsOf(old), columnsOf(add)
		var got Columns
		var ch Changes
		Merge(&got, &a, &b, &ch)
		want := columnsOf(model)
		if !maps.Equal(sparseSamples(&got), model) || !slices.Equal(got.Time, want.Time) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if len(ch.Created) != created || len(ch.Updated) != updated || ch.Unchanged != unchanged {
			t.Fatalf("changes %+v, want %d created, %d updated, %d unchanged", ch, created, updated, unchanged)
		}
		for _, j := range ch.Created {
			if _, known := old[got.Time[j]]; known {
				t.Fatalf("sample %d is called new", j)
			}
		}
		for _, j := range ch.Updated {
			if was, known := old[got.Time[j]]; !known || was == model[got.Time[j]] {
				t.Fatalf("sample %d is called changed", j)
			}
		}
	})
}

func TestMergeTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, add := columnsOf(drawSparse(t, "old")), columnsOf(drawSparse(t, "add"))
		var once, twice Columns
		var ch Changes
		Merge(&once, &old, &add, &ch)
		ch.Reset()
		Merge(&twice, &once, &add, &ch)
		mustEqual(t, &twice, &once)
		if len(ch.Created)+len(ch.Updated) != 0 {
			t.Fatalf("the second time changed %+v", ch)
		}
	})
}

func TestMergeKeepsTheSecondValue(t *testing.T) {
	old := Columns{Time: []int64{1, 2}, Value: []float64{120, 130}, Value2: []float64{80, 85}}
	add := Columns{Time: []int64{2, 3}, Value: []float64{130, 140}, Value2: []float64{86, 90}}
	want := Columns{Time: []int64{1, 2, 3}, Value: []float64{120, 130, 140}, Value2: []float64{80, 86, 90}}
	var got Columns
	var ch Changes
	Merge(&got, &old, &add, &ch)
	mustEqual(t, &got, &want)
	if !slices.Equal(ch.Updated, []int32{1}) || !slices.Equal(ch.Created, []int32{2}) {
		t.Fatalf("changes %+v", ch)
	}
}

func TestCountBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfDistinct(rapid.Int64Range(0, 60), rapid.ID[int64]).Draw(t, "times")
		slices.Sort(times)
		at := rapid.Int64Range(-1, 61).Draw(t, "at")
		want, _ := slices.BinarySearch(times, at)
		if got := countBefore(times, at); got != want {
			t.Fatalf("%d of %v are before %d, want %d", got, times, at, want)
		}
	})
}

func drawSparse(t *rapid.T, label string) map[int64]sample {
	one := rapid.Custom(func(t *rapid.T) sample {
		return sample{
			end:    rapid.Int64Range(100, 102).Draw(t, "end"),
			offset: rapid.SampledFrom([]int32{NoOffset, 0, 3600}).Draw(t, "offset"),
			value:  float64(rapid.IntRange(0, 2).Draw(t, "value")),
		}
	})
	return rapid.MapOfN(rapid.Int64Range(0, 60), one, 0, 40).Draw(t, label)
}

func columnsOf(m map[int64]sample) Columns {
	var c Columns
	for _, at := range slices.Sorted(maps.Keys(m)) {
		c.Time = append(c.Time, at)
		c.End = append(c.End, m[at].end)
		c.Offset = append(c.Offset, m[at].offset)
		c.Value = append(c.Value, m[at].value)
	}
	return c
}

func sparseSamples(c *Columns) map[int64]sample {
	m := map[int64]sample{}
	for i, at := range c.Time {
		m[at] = sample{c.endAt(i), c.offsetAt(i), c.Value[i]}
	}
	return m
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{2, 9})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, add := ladder(a), ladder(b)
		var got Columns
		var ch Changes
		Merge(&got, &old, &add, &ch)
		if !slices.IsSorted(got.Time) || got.Len() != old.Len()+len(ch.Created) {
			t.Fatalf("%d old and %d new samples became %d", old.Len(), len(ch.Created), got.Len())
		}
		if len(ch.Created)+len(ch.Updated)+ch.Unchanged != add.Len() {
			t.Fatalf("%+v do not cover %d samples", ch, add.Len())
		}
	})
}

// ladder returns columns whose time steps and values are the bytes of b.
func ladder(b []byte) Columns {
	var c Columns
	at := int64(0)
	for _, x := range b {
		at += int64(x) + 1
		c.Time = append(c.Time, at)
		c.Value = append(c.Value, math.Mod(float64(x), 3))
	}
	return c
}
