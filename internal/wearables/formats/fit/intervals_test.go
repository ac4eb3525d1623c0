package fit

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// heartbeatFile returns the file of a recording with a record every second. interval returns the
// R-R interval of a second in ms.
func heartbeatFile(seconds int64, interval func(second int64) int64) []byte {
	t0 := stamp("2024-05-01T06:00:00Z")
	all := []message{fileID(typeActivity, garmin, 77)}
	for i := range seconds {
		all = append(all, message{20, []value{{253, 4, t0 + i}, {3, 1, 60}}}, message{numHrv, []value{{0, 2, interval(i)}}})
	}
	return writeByHand(append(all, message{18, []value{{253, 4, t0 + seconds}, {2, 4, t0}, {7, 4, 1000 * seconds}, {8, 4, 1000 * seconds}}})...)
}

// alternatingInterval returns 1000 and 1030 ms in turn in the first five minutes, then
// 1040 and 1030. So the RMSSD is 30 and 10 ms. The first five minutes also have
// values that do not count:
//
//   - an ectopic beat with the pause after it
//   - intervals that no heart has
//   - two messages without an interval
func alternatingInterval(second int64) int64 {
	odd := map[int64]int64{50: 600, 51: 1400, 80: 250, 120: 2500, 160: missingUint16, 161: missingUint16}
	if ms, ok := odd[second]; ok {
		return ms
	}
	if second < 300 {
		return 1000 + 30*(second%2)
	}
	return 1040 - 10*(second%2)
}

func TestIntervals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		o, err := bed.Import(Kind, filestest.Save(t, heartbeatFile(620, alternatingInterval)))
		if err != nil {
			t.Fatal(err)
		}
		if c := o.Types["hrv"]; c == nil || *c != (files.TypeCount{Read: 620, Mapped: 618, BadValue: 2}) {
			t.Errorf("%+v", c)
		}
		s := bed.Samples("hrv")
		start := time.Date(2024, 5, 1, 6, 0, 0, 0, time.UTC).UnixMicro()
		if !slices.Equal(s.Value, []float64{30, 10}) || !slices.Equal(s.Time, []int64{start, start + 300e6}) {
			t.Errorf("%v at %v; the last twenty seconds are too few", s.Value, s.Time)
		}
		if len(bed.Summaries("activity")) != 0 {
			t.Error("a recording made an activity of its day")
		}
	})
}

// A truncated copy gives only complete windows.
func TestIntervalsOfATruncatedFile(t *testing.T) {
	whole := heartbeatFile(620, alternatingInterval)
	bed := filestest.New(t, storetest.SQLite(t))
	for _, n := range []int{len(whole) * 3 / 4, len(whole), len(whole) / 3} {
		if _, err := bed.Import(Kind, filestest.Save(t, whole[:n])); err != nil {
			t.Fatal(err)
		}
		want := []float64{30, 10}
		if n == len(whole)*3/4 {
			want = want[:1]
		}
		if got := bed.Samples("hrv").Value; !slices.Equal(got, want) {
			t.Errorf("after %d of %d bytes %v, want %v", n, len(whole), got, want)
		}
	}
}

// The variability of three public activities equals the one that the test computes from
// their intervals with its own reader. Each activity is shorter than five minutes.
func TestPublicIntervals(t *testing.T) {
	for _, name := range []string{"edge-820-bike", "fenix-5-run", "fenix-5-walk"} {
		t.Run(name, func(t *testing.T) {
			path := testdata.Shared(t, "wearables/fit/fitparse-garmin-"+name+".fit")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var all []float64
			for _, m := range readByHand(raw) {
				if m.num != numHrv {
					continue
				}
				for b := m.arrays[0]; len(b) >= 2; b = b[2:] {
					if ms := binary.LittleEndian.Uint16(b); ms != 0xFFFF {
						all = append(all, float64(ms))
					}
				}
			}
			var squares []float64
			for i := 1; i < len(all); i++ {
				ratio := all[i] / all[i-1]
				if slices.Min(all[i-1:i+1]) >= 300 && slices.Max(all[i-1:i+1]) <= 2000 && ratio >= 0.8 && ratio <= 1.2 {
					squares = append(squares, math.Pow(all[i]-all[i-1], 2))
				}
			}
			sum := 0.0
			for _, v := range squares {
				sum += v
			}
			want := math.Sqrt(sum / float64(len(squares)))
			bed := filestest.New(t, storetest.SQLite(t))
			if _, err := bed.Import(Kind, path); err != nil {
				t.Fatal(err)
			}
			s := bed.Samples("hrv")
			if len(s.Value) != 1 || math.Abs(s.Value[0]-want) > 0.051 {
				t.Errorf("%v, want %v of %d of %d intervals", s.Value, want, len(squares), len(all))
			}
			t.Logf("%v ms of %d of %d intervals", s.Value, len(squares), len(all))
		})
	}
}

// The number of windows of a file is bounded, even if its messages are far apart.
func TestIntervalsOfManyDays(t *testing.T) {
	t0 := stamp("2020-05-01T00:00:00Z")
	all := []message{fileID(typeActivity, garmin, 77)}
	for i := range int64(maxWindows + 10) {
		all = append(all, message{20, []value{{253, 4, t0 + 300*i}, {3, 1, 60}}}, message{numHrv, []value{{0, 2, 1000}}})
	}
	all = append(all, message{18, []value{{253, 4, t0 + 600}, {2, 4, t0}, {7, 4, 600_000}, {8, 4, 600_000}}})
	o, err := filestest.New(t, storetest.SQLite(t)).Import(Kind, filestest.Save(t, writeByHand(all...)))
	if c := o.Types["hrv"]; err != nil || *c != (files.TypeCount{Read: int64(maxWindows) + 10, Mapped: int64(maxWindows), TooMany: 10}) {
		t.Errorf("%+v, %v", c, err)
	}
}
