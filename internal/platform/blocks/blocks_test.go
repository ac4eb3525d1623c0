package blocks

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const (
	second = int64(1e6)
	minute = 60 * second
	day0   = int64(1_488_844_800) * second // 2017-03-07
)

func TestRoundTripIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawColumns(t)
		packed, err := Append([]byte("before"), &want)
		if err != nil {
			t.Fatal(err)
		}
		packed = packed[len("before"):]
		var got Columns
		if err := Decode(&got, packed); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, &got, &want)
		checkHeader(t, packed, &want)
	})
}

func TestEveryTruncatedPrefixIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawColumns(t)
		packed, err := Append(nil, &c)
		if err != nil {
			t.Fatal(err)
		}
		var got Columns
		for i := range packed {
			if Decode(&got, packed[:i]) == nil {
				t.Fatalf("the first %d of %d bytes were taken for a block", i, len(packed))
			}
		}
		if Decode(&got, append(packed, 0)) == nil {
			t.Fatal("a byte behind the block was ignored")
		}
		if got.Len() != 0 {
			t.Fatal("a refused block left samples behind")
		}
	})
}

func TestExtremeValuesSurvive(t *testing.T) {
	values := []float64{
		math.Copysign(0, -1), 0, 1e300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 1.0 / 3, 1 << 53, -1 << 53, 123.456789, 70.1,
	}
	for i := range values {
		c := Columns{Value: values[i:]}
		for j := range c.Value {
			c.Time = append(c.Time, math.MinInt64+int64(j*j))
		}
		packed, err := Append(nil, &c)
		if err != nil {
			t.Fatal(err)
		}
		var got Columns
		if err := Decode(&got, packed); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, &got, &c)
	}
	wide := Columns{Time: []int64{math.MinInt64, -1, math.MaxInt64}, Value: make([]float64, 3)}
	packed, err := Append(nil, &wide)
	if err != nil {
		t.Fatal(err)
	}
	var got Columns
	if err := Decode(&got, packed); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, &got, &wide)
}

func TestAppendRefuses(t *testing.T) {
	for name, c := range map[string]Columns{
		"equal times":      {Time: []int64{1, 1}, Value: []float64{1, 2}},
		"falling times":    {Time: []int64{2, 1}, Value: []float64{1, 2}},
		"a missing value":  {Time: []int64{1, 2}, Value: []float64{1}},
		"a short column":   {Time: []int64{1, 2}, Value: []float64{1, 2}, End: []int64{3}},
		"too many samples": {Time: make([]int64, MaxSamples+1), Value: make([]float64, MaxSamples+1)},
	} {
		if dst, err := Append(nil, &c); err == nil {
			t.Errorf("%s: packed into %d bytes", name, len(dst))
		}
	}
}

func TestHostileCountAllocatesLittle(t *testing.T) {
	hostile := binary.AppendUvarint([]byte{Version, 0}, 1<<40)
	hostile = append(hostile, make([]byte, 64)...)
	var c Columns
	if err := Decode(&c, hostile); !errors.Is(err, errCount) {
		t.Fatalf("got %v", err)
	}
	if cap(c.Time) != 0 {
		t.Fatal("memory was taken for a count that no block may have")
	}
}

func TestDecodeAppendsAndFills(t *testing.T) {
	plain := Columns{Time: []int64{10, 20}, Value: []float64{1, 2}}
	full := Columns{
		Time: []int64{30}, End: []int64{45}, Offset: []int32{3600}, Value: []float64{120}, Value2: []float64{80},
	}
	want := Columns{
		Time: []int64{10, 20, 30}, End: []int64{10, 20, 45}, Offset: []int32{NoOffset, NoOffset, 3600},
		Value: []float64{1, 2, 120}, Value2: []float64{math.NaN(), math.NaN(), 80},
	}
	a, _ := Append(nil, &plain)
	b, _ := Append(nil, &full)
	var got Columns
	for _, block := range [][]byte{a, b} {
		if err := Decode(&got, block); err != nil {
			t.Fatal(err)
		}
	}
	mustEqual(t, &got, &want)

	got.Reset()
	late := plain
	late.Time = []int64{40, 50}
	c, _ := Append(nil, &late)
	for _, block := range [][]byte{b, c} {
		if err := Decode(&got, block); err != nil {
			t.Fatal(err)
		}
	}
	want = Columns{
		Time: []int64{30, 40, 50}, End: []int64{45, 40, 50}, Offset: []int32{3600, NoOffset, NoOffset},
		Value: []float64{120, 1, 2}, Value2: []float64{80, math.NaN(), math.NaN()},
	}
	mustEqual(t, &got, &want)
}

func TestFloatsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawValues(t, rapid.IntRange(0, 400).Draw(t, "n"))
		packed := append(AppendFloats(nil, want), "rest"...)
		got, rest, err := Floats(nil, packed, len(want))
		if err != nil || string(rest) != "rest" {
			t.Fatalf("rest %q, error %v", rest, err)
		}
		if !slices.EqualFunc(got, want, sameBits) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// The storage budget assumes these sizes, in bytes per sample.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		data Columns
		most float64
	}{
		{"heart rate, one per minute", heartRate(1440), 1.2},
		{"heart rate, one per second", oneHertz(3600), 0.6},
		{"heart rate, irregular seconds", irregularColumns(3600), 2.3},
		{"glucose, one per five minutes", glucose(288), 1.1},
		{"steps without zeros", steps(400), 4.2},
		{"full doubles", doubles(288), 7.6},
		{"a single weight", Columns{Time: []int64{day0}, Value: []float64{70.1}, Offset: []int32{3600}}, 26},
	} {
		packed, err := Append(nil, &c.data)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(len(packed)) / float64(c.data.Len())
		t.Logf("%-32s %5.2f bytes per sample", c.name, got)
		if got > c.most {
			t.Errorf("%s: %.2f bytes per sample, at most %.2f", c.name, got, c.most)
		}
	}
}

func drawColumns(t *rapid.T) Columns {
	n := rapid.IntRange(0, 400).Draw(t, "n")
	var c Columns
	unit := rapid.SampledFrom([]int64{1, 1000, second, minute}).Draw(t, "unit")
	regular := rapid.Bool().Draw(t, "regular")
	at := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "first")
	for range n {
		c.Time = append(c.Time, at)
		step := int64(1)
		if !regular {
			step = rapid.Int64Range(1, 1<<12).Draw(t, "step")
		}
		at += step * unit
	}
	c.Value = drawValues(t, n)
	if n > 0 && rapid.Bool().Draw(t, "end") {
		length := rapid.OneOf(rapid.Just(minute), rapid.Int64Range(0, 1<<40), rapid.Int64())
		for _, start := range c.Time {
			c.End = append(c.End, start+length.Draw(t, "length"))
		}
	}
	if n > 0 && rapid.Bool().Draw(t, "offset") {
		zone := rapid.SampledFrom([]int32{NoOffset, 0, 3600, -12600, math.MaxInt32})
		for range n {
			c.Offset = append(c.Offset, zone.Draw(t, "offset of one"))
		}
	}
	if n > 0 && rapid.Bool().Draw(t, "second") {
		c.Value2 = drawValues(t, n)
	}
	if n > 0 && rapid.Bool().Draw(t, "written") {
		when := rapid.OneOf(rapid.Just(int64(1_750_000_000_000)), rapid.Int64Range(0, 1<<41), rapid.Int64())
		for range n {
			c.Written = append(c.Written, when.Draw(t, "written at"))
		}
	}
	return c
}

func drawValues(t *rapid.T, n int) []float64 {
	one := rapid.OneOf(
		rapid.Map(rapid.IntRange(40, 180), func(x int) float64 { return float64(x) }),
		rapid.Map(rapid.IntRange(-4000, 4000), func(x int) float64 { return float64(x) / 100 }),
	)
	if rapid.Bool().Draw(t, "any double") {
		one = rapid.OneOf(one, rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Copysign(0, -1), math.Inf(1)}))
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = one.Draw(t, "value")
	}
	return v
}

func checkHeader(t *rapid.T, packed []byte, c *Columns) {
	r := reader{data: packed}
	h, _, err := r.header()
	if err != nil {
		t.Fatal(err)
	}
	if h.Count != c.Len() {
		t.Fatalf("count %d, want %d", h.Count, c.Len())
	}
	if h.Count == 0 || slices.ContainsFunc(c.Value, func(f float64) bool { return f != f }) {
		return
	}
	if h.First != c.Time[0] || h.Min != slices.Min(c.Value) || h.Max != slices.Max(c.Value) {
		t.Fatalf("header %+v does not fit the columns", h)
	}
	sum, size := 0.0, 0.0
	for _, f := range c.Value {
		sum, size = sum+f, size+math.Abs(f)
	}
	if d := math.Abs(h.Sum - sum); d > 1e-9*size {
		t.Fatalf("sum %v, want %v", h.Sum, sum)
	}
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func mustEqual(t fataler, got, want *Columns) {
	t.Helper()
	if !slices.Equal(got.Time, want.Time) || !slices.Equal(got.End, want.End) ||
		!slices.Equal(got.Offset, want.Offset) || !slices.Equal(got.Written, want.Written) ||
		!slices.EqualFunc(got.Value, want.Value, sameBits) || !slices.EqualFunc(got.Value2, want.Value2, equalFloats) {
		t.Fatalf("got  %v\nwant %v", *got, *want)
	}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// heartRate returns a daily wave with autocorrelated noise (AR(1)).
func heartRate(n int) Columns {
	return wave(n, 3, func(i int) int64 { return day0 + int64(i)*minute })
}

func oneHertz(n int) Columns {
	return wave(n, 0.7, func(i int) int64 { return day0 + int64(i)*second })
}

func irregularColumns(n int) Columns {
	r, at := source(), day0
	return wave(n, 2, func(int) int64 {
		at += (3000 + r.Int64N(6000)) * 1000
		return at
	})
}

func wave(n int, noise float64, at func(int) int64) Columns {
	r := source()
	var c Columns
	drift := 0.0
	for i := range n {
		drift = 0.9*drift + noise*r.NormFloat64()
		c.Time = append(c.Time, at(i))
		c.Value = append(c.Value, math.Round(70-12*math.Cos(2*math.Pi*float64(i)/1440)+drift))
	}
	return c
}

func glucose(n int) Columns {
	r := source()
	var c Columns
	level := 6.0
	for i := range n {
		level += 0.1*r.NormFloat64() + 0.02*(6-level)
		c.Time = append(c.Time, day0+int64(i)*5*minute)
		c.Value = append(c.Value, math.Round(level*10)/10)
	}
	return c
}

func steps(n int) Columns {
	r, at := source(), day0
	var c Columns
	for range n {
		at += (1 + r.Int64N(5)) * minute
		c.Time = append(c.Time, at)
		c.End = append(c.End, at+minute)
		c.Value = append(c.Value, float64(r.IntN(120)))
	}
	return c
}

func doubles(n int) Columns {
	c := glucose(n)
	r := source()
	for i := range c.Value {
		c.Value[i] += r.NormFloat64() / 7
	}
	return c
}

func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
