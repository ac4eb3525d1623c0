package fit

import (
	"encoding/binary"
	"maps"
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

// swimFile returns the file of a swim of 60 s with a record every 20 s. bpm is the heart rate
// of the records; 255 means none.
func swimFile(bpm int64) []byte {
	t0 := stamp("2024-05-01T06:00:00Z")
	all := []message{fileID(typeActivity, garmin, 77), {21, []value{{253, 4, t0}, {0, 1, 0}, {1, 1, 0}}}}
	for i := range int64(4) {
		all = append(all, message{20, []value{{253, 4, t0 + 20*i}, {3, 1, bpm}, {5, 4, 2500 * i}}})
	}
	return writeByHand(append(all, message{18, []value{{253, 4, t0 + 60}, {2, 4, t0}, {7, 4, 60_000}, {8, 4, 60_000}, {5, 1, 5}}})...)
}

// strapFile returns the file of a strap. It states the time of one beat. Later
// beats have only the last twelve bits of a clock of 1/1024 s, with two beats
// in three bytes.
func strapFile() []byte {
	t0, clock := stamp("2024-05-01T06:00:00Z"), int64(0xABCDE0)
	pair := func(first, second, bpm, next int64) message {
		first, second = (clock+first)&0xFFF, (clock+second)&0xFFF
		return message{numHr, []value{{6, 2, bpm | next<<8}, {10, 3, first | second<<12}}}
	}
	return writeByHand(
		message{numHr, []value{{253, 4, t0 - 2}, {0, 2, 16384}, {9, 4, clock}, {6, 1, 70}}}, // 1.5 s before
		pair(512, 1536, 72, 80),                   // 1.0 s before; the start
		pair(1536+512, 1536+1024, 90, 100),        // 0.5 s and 1 s: one second
		pair(1536+3*1024, 1536+6*1024, 110, 0),    // 3 s; no contact
		pair(1536+9*1024, 1536+12*1024, 255, 130), // nothing; 12 s
		pair(1536+14*1024, 1536+17*1024, 133, 136),
		pair(1536+20*1024, 1536+23*1024, 140, 141), // at a record
	)
}

// The heart rates of a strap that follow an activity in a chain belong to its workout.
func TestStrap(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		o, err := bed.Import(Kind, filestest.Save(t, append(swimFile(255), strapFile()...)))
		if err != nil || o.Damaged != 0 || o.Workouts != 1 {
			t.Fatalf("%v, %+v", err, o.Report)
		}
		if c := o.Types["hr"]; c == nil || *c != (files.TypeCount{Read: 7, Mapped: 7}) {
			t.Errorf("%+v", c)
		}
		start := time.Date(2024, 5, 1, 6, 0, 0, 0, time.UTC).UnixMicro()
		want := map[int64]float64{-1: 71, 0: 80, 1: 95, 3: 110, 12: 130, 14: 133, 17: 136, 20: 140, 23: 141}
		if got := bySeconds(bed.Samples("heartrate").Time, bed.Samples("heartrate").Value, start); !maps.Equal(got, want) {
			t.Errorf("heart rates %v, want %v", got, want)
		}
		w := bed.Workouts()[0]
		got := bySeconds(w.Stream.Time, w.Stream.HeartRate, start)
		delete(want, -1) // before the swim
		maps.DeleteFunc(got, func(_ int64, bpm float64) bool { return math.IsNaN(bpm) })
		if !maps.Equal(got, want) || len(w.Stream.Time) != 8+2 {
			t.Errorf("the stream has %v in %d rows, want %v", got, len(w.Stream.Time), want)
		}
		if w.Body["max_hr"] != 141.0 || len(bed.Summaries("activity")) != 0 {
			t.Errorf("%v, %v", w.Body, bed.Summaries("activity"))
		}
	})
}

// If records have a heart rate, they have precedence, and the strap's values count as
// copies.
func TestRecordsHavePrecedenceOverTheStrap(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	one := writeByHand(message{numHr, []value{{253, 4, stamp("2024-05-01T06:00:20Z")}, {0, 2, 0}, {9, 4, 5}, {6, 1, 70}}})
	o, err := bed.Import(Kind, filestest.Save(t, append(swimFile(120), one...)))
	if err != nil || *o.Types["hr"] != (files.TypeCount{Read: 1, Copies: 1}) {
		t.Errorf("%v, %+v", err, o.Types["hr"])
	}
	if got := bed.Samples("heartrate").Value; !slices.Equal(got, []float64{120, 120, 120, 120}) {
		t.Errorf("%v", got)
	}
}

// Times of a strap without a time of day are ignored.
func TestStrapWithoutTime(t *testing.T) {
	lost := writeByHand(message{numHr, []value{{6, 2, 70}, {10, 3, 77}}})
	o, err := filestest.New(t, storetest.SQLite(t)).Import(Kind, filestest.Save(t, append(swimFile(255), lost...)))
	if err != nil || *o.Types["hr"] != (files.TypeCount{Read: 1, BadDate: 1}) {
		t.Errorf("%v, %+v", err, o.Types["hr"])
	}
}

func bySeconds(times []int64, values []float64, start int64) map[int64]float64 {
	all := map[int64]float64{}
	for i, at := range times {
		all[(at-start)/1e6] = values[i]
	}
	return all
}

// chainByHand reads the files of a chain.
func chainByHand(raw []byte) (all [][]rawMessage) {
	for at := 0; at < len(raw); {
		all = append(all, readByHand(raw[at:]))
		at += int(raw[at]) + int(binary.LittleEndian.Uint32(raw[at+4:])) + 2
	}
	return all
}

const fitEpoch = 631065600

// strapByHand computes the mean heart rate of each second with beats in a chain, without
// the package. Keys are Unix seconds.
func strapByHand(chain [][]rawMessage) map[int64]float64 {
	sums, counts := map[int64]float64{}, map[int64]float64{}
	for _, part := range chain {
		var anchor, began, event float64 // seconds; ticks
		add := func(bpm byte) {
			if bpm != 0 && bpm != 255 {
				at := int64(math.Ceil(anchor + (event-began)/1024))
				sums[at] += float64(bpm)
				counts[at]++
			}
		}
		for _, m := range part {
			if m.num != numHr {
				continue
			}
			if at, ok := m.fields[fieldTime]; ok {
				anchor = fitEpoch + float64(at) + float64(m.fields[0])/32768
				began = float64(m.fields[9])
				event = began
				add(m.arrays[6][0])
				continue
			}
			for i, bpm := range m.arrays[6] {
				b := m.arrays[10][i/2*3:]
				low := float64(int(b[0]) | int(b[1])&0x0F<<8)
				if i%2 == 1 {
					low = float64(int(b[1])>>4 | int(b[2])<<4)
				}
				passed := math.Mod(low-math.Mod(event, 4096)+4096, 4096)
				event += passed
				add(bpm)
			}
		}
	}
	for at := range sums {
		sums[at] /= counts[at]
	}
	return sums
}

// The heart rates of the straps in two public swims equal those that the test computes
// with its own reader. The highest one is the maximum that the watch states.
func TestPublicStraps(t *testing.T) {
	for name, stated := range map[string]float64{"event_timestamp": 161, "sample_mulitple_header": 175} {
		t.Run(name, func(t *testing.T) {
			path := testdata.Shared(t, "wearables/fit/fitparse-"+name+".fit")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			chain := chainByHand(raw)
			want := strapByHand(chain)
			own := map[int64]bool{}
			var swim rawMessage
			for _, m := range chain[0] {
				if m.num == numRecord && m.fields[3] != 0 && m.fields[3] != 255 {
					own[int64(m.fields[fieldTime])+fitEpoch] = true
				}
				if m.num == numSession && swim.fields == nil {
					swim = m
				}
			}
			bed := filestest.New(t, storetest.SQLite(t))
			if _, err := bed.Import(Kind, path); err != nil {
				t.Fatal(err)
			}
			s, wrong, found := bed.Samples("heartrate"), 0, 0
			for i, at := range s.Time {
				bpm, ok := want[at/1e6]
				if !ok || own[at/1e6] {
					continue
				}
				found++
				if math.Abs(bpm-s.Value[i]) > 1e-9 {
					wrong++
				}
			}
			if wrong > 0 || found < 2300 {
				t.Errorf("%d of %d are wrong, of %d", wrong, found, len(want))
			}
			first, most := bed.Workouts()[0], 0.0
			for at, bpm := range want {
				begin := int64(swim.fields[2]) + fitEpoch
				if at >= begin && at <= begin+int64(swim.fields[7])/1000 {
					most = max(most, bpm)
				}
			}
			highest := slices.MaxFunc(first.Stream.HeartRate, compareNumbers)
			if math.Abs(highest-most) > 0.5 || math.Abs(highest-stated) > 1 || first.Body["max_hr"] != stated {
				t.Errorf("the highest is %v, by hand %v, stated %v", highest, most, first.Body["max_hr"])
			}
		})
	}
}

func compareNumbers(a, b float64) int {
	switch {
	case math.IsNaN(a) || a < b:
		return -1
	case math.IsNaN(b) || a > b:
		return 1
	}
	return 0
}
