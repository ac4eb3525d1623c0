package fit

import (
	"slices"
	"testing"

	"hale/internal/providers/files"
	"hale/internal/providers/files/filestest"
	"hale/internal/store"
	"hale/internal/store/storetest"
)

// slept and varied are a night at two hours east, and its heart rate variability
// as a file of its own.
func slept() []byte {
	t0 := stamp("2024-05-01T22:00:00Z")
	level := func(minutes, stage int64) message {
		return message{275, []value{{253, 4, t0 + 60*minutes}, {0, 1, stage}}}
	}
	return writeByHand(fileID(typeMonitoring, garmin, 5), message{103, []value{{253, 4, t0}, {0, 4, t0 + 7200}}},
		level(60, 2), level(120, 3), level(180, 4), level(240, 2), level(300, 1))
}

func varied(average int64, values ...int64) []byte {
	t0 := stamp("2024-05-01T22:00:00Z")
	all := []message{fileID(typeMonitoring, garmin, 5), {103, []value{{253, 4, t0}, {0, 4, t0 + 7200}}}}
	for i, v := range values {
		all = append(all, message{371, []value{{253, 4, t0 + 3600 + 300*int64(i+1)}, {0, 2, v * 128}}})
	}
	return writeByHand(append(all, message{370, []value{{253, 4, t0 + 6*3600}, {1, 2, average * 128}}})...)
}

// A night has the mean of its five-minute values, whichever file came first, and
// without any of them the one that the watch states.
func TestVariabilityOfANight(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, c := range map[string]struct {
			files   [][]byte
			average any
			last    files.TypeCount
		}{
			"values, then sleep": {[][]byte{varied(70, 40, 50, 60), slept()}, 50.0, files.TypeCount{}},
			"sleep, then values": {[][]byte{slept(), varied(70, 40, 50, 60)}, 50.0, files.TypeCount{Read: 1, Mapped: 1}},
			"stated alone":       {[][]byte{slept(), varied(70)}, 70.0, files.TypeCount{Read: 1, Mapped: 1}},
			"sleep again":        {[][]byte{slept(), varied(70), slept()}, 70.0, files.TypeCount{}},
			"no sleep":           {[][]byte{varied(70)}, nil, files.TypeCount{Read: 1, Unpaired: 1}},
			"none that night":    {[][]byte{slept(), varied(511)}, nil, files.TypeCount{}},
		} {
			if name == "none that night" {
				c.files[1] = writeByHand(fileID(typeMonitoring, garmin, 5), message{370, []value{{253, 4, stamp("2024-05-02T04:00:00Z")}, {0, 2, 50 * 128}}})
				c.last = files.TypeCount{Read: 1, BadValue: 1}
			}
			bed := filestest.New(t, db)
			var o *files.Outcome
			for _, raw := range c.files {
				o, _ = bed.Import(Kind, filestest.Save(t, raw))
			}
			if count := o.Types["hrv_status_summary"]; count != nil && *count != c.last {
				t.Errorf("%s: %+v", name, count)
			}
			nights := bed.Summaries("sleep")
			if c.average == nil && len(nights) == 0 {
				continue
			}
			if len(nights) != 1 || nights[0]["average_hrv"] != c.average {
				t.Errorf("%s: %v", name, nights)
			}
		}
	})
}

// The same again changes nothing and is told to nobody.
func TestVariabilityOfANightAgain(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	imported(t, bed, slept())
	imported(t, bed, varied(70, 40, 50, 60))
	before := bed.Events()
	imported(t, bed, varied(70, 40, 50, 60))
	imported(t, bed, slept())
	for kind, n := range bed.Events() {
		if before[kind] != n {
			t.Errorf("%s was announced again", kind)
		}
	}
	if s := bed.Samples("hrv"); !slices.Equal(s.Value, []float64{40, 50, 60}) {
		t.Errorf("%v", s.Value)
	}
}
