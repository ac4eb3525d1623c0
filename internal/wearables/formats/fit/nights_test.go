package fit

import (
	"slices"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// sleepFile and varied are a night at two hours east, and its heart rate variability
// as a file of its own.
func sleepFile() []byte {
	t0 := stamp("2024-05-01T22:00:00Z")
	level := func(minutes, stage int64) message {
		return message{275, []value{{253, 4, t0 + 60*minutes}, {0, 1, stage}}}
	}
	return writeByHand(fileID(typeMonitoring, garmin, 5), message{103, []value{{253, 4, t0}, {0, 4, t0 + 7200}}},
		level(60, 2), level(120, 3), level(180, 4), level(240, 2), level(300, 1))
}

func variabilityFile(average int64, values ...int64) []byte {
	t0 := stamp("2024-05-01T22:00:00Z")
	all := []message{fileID(typeMonitoring, garmin, 5), {103, []value{{253, 4, t0}, {0, 4, t0 + 7200}}}}
	for i, v := range values {
		all = append(all, message{371, []value{{253, 4, t0 + 3600 + 300*int64(i+1)}, {0, 2, v * 128}}})
	}
	return writeByHand(append(all, message{370, []value{{253, 4, t0 + 6*3600}, {1, 2, average * 128}}})...)
}

// A night has the mean of its five-minute values, whichever file came first. Without
// five-minute values it has the mean that the watch states.
func TestVariabilityOfANight(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, c := range map[string]struct {
			files   [][]byte
			average any
			last    files.TypeCount
		}{
			"values, then sleep": {[][]byte{variabilityFile(70, 40, 50, 60), sleepFile()}, 50.0, files.TypeCount{}},
			"sleep, then values": {[][]byte{sleepFile(), variabilityFile(70, 40, 50, 60)}, 50.0, files.TypeCount{Read: 1, Mapped: 1}},
			"stated alone":       {[][]byte{sleepFile(), variabilityFile(70)}, 70.0, files.TypeCount{Read: 1, Mapped: 1}},
			"sleep again":        {[][]byte{sleepFile(), variabilityFile(70), sleepFile()}, 70.0, files.TypeCount{}},
			"no sleep":           {[][]byte{variabilityFile(70)}, nil, files.TypeCount{Read: 1, Unpaired: 1}},
			"none that night":    {[][]byte{sleepFile(), variabilityFile(511)}, nil, files.TypeCount{}},
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

// A repeated import changes nothing and sends no event.
func TestRepeatedVariabilityOfANight(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	importRaw(t, bed, sleepFile())
	importRaw(t, bed, variabilityFile(70, 40, 50, 60))
	before := bed.Events()
	importRaw(t, bed, variabilityFile(70, 40, 50, 60))
	importRaw(t, bed, sleepFile())
	for kind, n := range bed.Events() {
		if before[kind] != n {
			t.Errorf("%s was announced again", kind)
		}
	}
	if s := bed.Samples("hrv"); !slices.Equal(s.Value, []float64{40, 50, 60}) {
		t.Errorf("%v", s.Value)
	}
}

// sleptFrom returns a file with a sleep of some hours. The file states no offset.
func sleptFrom(start string, hours int64) []byte {
	t0 := stamp(start)
	all := []message{fileID(typeMonitoring, garmin, 5)}
	for i := range hours {
		all = append(all, message{275, []value{{253, 4, t0 + 3600*i}, {0, 1, 2 + i%3}}})
	}
	return writeByHand(append(all, message{275, []value{{253, 4, t0 + 3600*hours}, {0, 1, 1}}})...)
}

// sessionFile returns a file that has only the mean that the watch states.
func sessionFile(at string, average int64) []byte {
	return writeByHand(fileID(typeMonitoring, garmin, 5), message{370, []value{{253, 4, stamp(at)}, {1, 2, average * 128}}})
}

// A stated mean belongs to the long sleep that ended last before it, in any
// time zone. It never belongs to the next night or to a nap.
func TestNightOfAStatus(t *testing.T) {
	const nap, night = "2024-05-02T12:00:00Z", "2024-05-01T22:00:00Z"
	for name, c := range map[string]struct {
		zone  string
		files [][]byte
		want  map[string]any // by bedtime, UTC
	}{
		"before midnight of UTC": {
			"Asia/Tokyo",
			[][]byte{sleptFrom("2024-05-01T13:00:00Z", 8), sleptFrom("2024-05-02T13:00:00Z", 8), sessionFile("2024-05-02T21:10:00Z", 77)},
			map[string]any{"2024-05-01T13": nil, "2024-05-02T13": 77.0},
		},
		"each its own": {
			"Asia/Tokyo",
			[][]byte{sleptFrom("2024-05-01T13:00:00Z", 8), sleptFrom("2024-05-02T13:00:00Z", 8), sessionFile("2024-05-01T21:10:00Z", 50), sessionFile("2024-05-02T21:10:00Z", 77)},
			map[string]any{"2024-05-01T13": 50.0, "2024-05-02T13": 77.0},
		},
		"a nap before":    {"", [][]byte{sleptFrom(night, 6), sleptFrom(nap, 1), sessionFile("2024-05-02T14:00:00Z", 70)}, map[string]any{"2024-05-01T22": 70.0, "2024-05-02T12": nil}},
		"a nap after":     {"", [][]byte{sleptFrom(night, 6), sleptFrom(nap, 1), sessionFile("2024-05-02T04:10:00Z", 70)}, map[string]any{"2024-05-01T22": 70.0, "2024-05-02T12": nil}},
		"a nap later":     {"", [][]byte{sleptFrom(night, 6), sessionFile("2024-05-02T14:00:00Z", 70), sleptFrom(nap, 1)}, map[string]any{"2024-05-01T22": 70.0, "2024-05-02T12": nil}},
		"a nap alone":     {"", [][]byte{sleptFrom(nap, 1), sessionFile("2024-05-02T14:00:00Z", 70)}, map[string]any{"2024-05-02T12": nil}},
		"while it lasted": {"", [][]byte{sleptFrom(night, 6), sessionFile("2024-05-02T03:30:00Z", 70)}, map[string]any{"2024-05-01T22": 70.0}},
		"the day before":  {"", [][]byte{sleptFrom(night, 6), sessionFile("2024-05-02T17:00:00Z", 70)}, map[string]any{"2024-05-01T22": nil}},
		"corrected":       {"", [][]byte{sleptFrom(night, 6), sessionFile("2024-05-02T04:10:00Z", 60), sessionFile("2024-05-02T04:20:00Z", 70)}, map[string]any{"2024-05-01T22": 70.0}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				bed := filestest.New(t, db)
				if c.zone != "" {
					bed.In(c.zone)
				}
				for _, raw := range c.files {
					importRaw(t, bed, raw)
				}
				nights := bed.Summaries("sleep")
				if len(nights) != len(c.want) {
					t.Fatalf("%d sleeps", len(nights))
				}
				for _, n := range nights {
					at, _ := time.Parse(time.RFC3339, n["bedtime_start"].(string))
					if want, ok := c.want[at.UTC().Format("2006-01-02T15")]; !ok || n["average_hrv"] != want {
						t.Errorf("%s: %v, want %v", at, n["average_hrv"], want)
					}
				}
			})
		})
	}
}

// The report names the first record that was left out. It is seldom the last record that
// was read.
func TestFirstSkippedValue(t *testing.T) {
	t0 := stamp("2024-05-01T00:00:00Z")
	record := func(at int64) message { return message{20, []value{{253, 4, at}, {3, 1, 100}}} }
	session := message{18, []value{{253, 4, t0 + 60}, {2, 4, t0}, {7, 4, 60_000}, {8, 4, 60_000}, {5, 1, 2}}}
	ride := []message{fileID(typeActivity, garmin, 5), record(t0), record(t0 - 86400), record(t0 + 1), record(t0 - 2*86400), record(t0 + 2), session}
	status := func(at string) message { return message{370, []value{{253, 4, stamp(at)}, {1, 2, 70 * 128}}} }
	for name, c := range map[string]struct {
		file []message
		what string
		want files.LeftOut
		n    files.TypeCount
	}{
		"records outside of their session": {ride, "record", files.LeftOut{Record: 2, Reason: "bad_date"}, files.TypeCount{Read: 5, Mapped: 3, BadDate: 2}},
		"a status without a night": {[]message{
			fileID(typeMonitoring, garmin, 5),
			{275, []value{{253, 4, t0}, {0, 1, 2}}},
			{275, []value{{253, 4, t0 + 4*3600}, {0, 1, 1}}},
			status("2024-05-01T01:10:00Z"), status("2024-05-07T04:00:00Z"),
		}, "hrv_status_summary", files.LeftOut{Record: 1, Reason: "unpaired"}, files.TypeCount{Read: 2, Unpaired: 2}},
	} {
		bed := filestest.New(t, storetest.SQLite(t))
		o, err := bed.Import(Kind, filestest.Save(t, writeByHand(c.file...)))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.FirstLeft()[c.what]; got != c.want || *o.Types[c.what] != c.n {
			t.Errorf("%s: %+v of %+v", name, got, *o.Types[c.what])
		}
	}
}
