package fit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files/filestest"
)

// sportOf returns a user's stored data of a sport, without fields that differ between
// users. If copies disagree on the start, or on whether it was on a machine, the
// workout has the name and source type of the first.
func sportOf(bed *filestest.Bed, nameless bool) string {
	var all []any
	for _, w := range bed.Workouts() {
		for _, name := range []string{"id", "user_id", "created_at", "updated_at"} {
			delete(w.Body, name)
		}
		name, _, _ := strings.Cut(w.Body["provider_id"].(string), "|")
		if w.Body["provider_id"] = name; nameless {
			delete(w.Body, "provider_id")
			delete(w.Body["source"].(map[string]any), "type")
		}
		delete(w.Body["source"].(map[string]any), "device_id")
		all = append(all, w.Body, len(w.Stream.Time), fmt.Sprint(w.Stream.HeartRate), fmt.Sprint(w.Stream.Distance))
	}
	for _, resource := range []string{"heartrate", "hrv"} {
		s := bed.Samples(resource)
		all = append(all, s.Time, s.Value, s.Offset)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// trackFile returns the file of one ride, or of a swim and a ride, as watches
// write it. The timer starts, and each session of half an hour follows its
// records. The local time is at the end. The first record of each session is
// late by some seconds.
func trackFile(serial, late int64, timer bool, sports ...int64) []byte {
	t0 := stamp("2024-05-01T22:30:00Z")
	all := []message{fileID(typeActivity, garmin, serial)}
	if timer {
		all = append(all, message{21, []value{{253, 4, t0}, {0, 1, 0}, {1, 1, 0}}})
	}
	begin := t0
	for _, sport := range sports {
		all = append(all, message{12, []value{{0, 1, sport}}})
		for i := late; i <= 1800; i += 10 {
			all = append(all, message{20, []value{{253, 4, begin + i}, {3, 1, 100 + i/60}, {5, 4, 300 * i}, {4, 1, 90}}})
		}
		all = append(all, message{18, []value{
			{253, 4, begin + 1800}, {2, 4, begin}, {7, 4, 1_800_000}, {8, 4, 1_700_000}, {9, 4, 540_000}, {5, 1, sport}, {11, 2, 200}, {16, 1, 115}, {17, 1, 131},
		}})
		begin += 1810
	}
	return writeByHand(append(all, message{34, []value{{253, 4, begin}, {5, 4, begin + 7200}}})...)
}

// A truncated copy removes no data of the complete file, in any order of import
// and at any length of the copy.
func TestTruncatedCopies(t *testing.T) {
	for name, c := range map[string]struct {
		raw      []byte
		nameless bool
	}{
		"ride":                           {raw: trackFile(77, 0, true, 2)},
		"swim and ride":                  {raw: trackFile(77, 0, true, 5, 2)},
		"no number of the device":        {raw: trackFile(0, 0, true, 2)},
		"its first record is late":       {raw: trackFile(77, 3, true, 2)},
		"late, and not stated when":      {trackFile(77, 3, false, 2), true},
		"late, without number or device": {trackFile(0, 3, false, 2), true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				alone := filestest.New(t, db)
				importRaw(t, alone, c.raw)
				want := sportOf(alone, c.nameless)
				for _, part := range []int{20, 55, 97} {
					cut := c.raw[:len(c.raw)*part/100]
					for order, all := range map[string][][]byte{
						"whole, cut": {c.raw, cut}, "cut, whole": {cut, c.raw}, "shorter, cut, whole, cut": {cut[:len(cut)*2/3], cut, c.raw, cut},
					} {
						bed := filestest.New(t, db)
						for _, raw := range all {
							importRaw(t, bed, raw)
						}
						if got := sportOf(bed, c.nameless); got != want {
							t.Errorf("%s at %d %%: %s", order, part, difference(got, want))
						}
					}
				}
			})
		})
	}
}

func importRaw(t *testing.T, bed *filestest.Bed, raw []byte) {
	t.Helper()
	if _, err := bed.Import(Kind, filestest.Save(t, raw)); err != nil {
		t.Fatal(err)
	}
}

func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, want %q", i, a[min(i, len(a)):min(i+3, len(a))], b[min(i, len(b)):min(i+3, len(b))])
		}
	}
	return ""
}

// The same applies to every complete public recording.
func TestTruncatedPublicCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every file several times")
	}
	db := storetest.SQLite(t)
	for _, path := range publicFiles(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		alone := filestest.New(t, db)
		o, err := alone.Import(Kind, path)
		if err != nil || o.Truncated || o.Damaged > 0 || o.Workouts == 0 || len(raw) > 200_000 {
			continue
		}
		want := sportOf(alone, true)
		bed := filestest.New(t, db)
		for _, copied := range [][]byte{raw[:len(raw)/2], raw, raw[:len(raw)*3/4]} {
			importRaw(t, bed, copied)
		}
		if got := sportOf(bed, true); got != want {
			t.Errorf("%s: %s", filepath.Base(path), difference(got, want))
		}
	}
}

// Of two truncated copies, the longer one stays.
func TestLongerTruncation(t *testing.T) {
	whole := trackFile(77, 0, true, 2)
	for _, order := range [][]int{{30, 60}, {60, 30}, {30, 60, 30}} {
		bed := filestest.New(t, storetest.SQLite(t))
		for _, part := range order {
			importRaw(t, bed, whole[:len(whole)*part/100])
		}
		w := bed.Workouts()
		far := float64(3 * 10 * (len(w[0].Stream.Time) - 1))
		if len(w) != 1 || len(w[0].Stream.Time) < 100 || w[0].Body["distance"] != far {
			t.Errorf("%v: %d workouts, %d rows, %v m", order, len(w), len(w[0].Stream.Time), w[0].Body["distance"])
		}
	}
}

// A truncated copy does not shorten the stored night.
func TestTruncatedNight(t *testing.T) {
	whole := monitoringFile()
	cut := whole[:len(whole)-60] // in the stages of sleep
	for _, order := range [][][]byte{{whole, cut}, {cut, whole}} {
		bed := filestest.New(t, storetest.SQLite(t))
		for _, raw := range order {
			importRaw(t, bed, raw)
		}
		nights := bed.Summaries("sleep")
		if len(nights) != 1 || nights[0]["rem"] != 3600.0 || nights[0]["light"] != 5400.0 {
			t.Errorf("%v", nights)
		}
	}
}

// The devices of a chain are bounded; the weights of the rest are kept.
func TestChainHasManyDevices(t *testing.T) {
	var raw []byte
	for i := range int64(110) {
		raw = append(raw, writeByHand(fileID(typeWeight, garmin, 1000+i),
			message{30, []value{{253, 4, stamp("2024-05-01T06:00:00Z") + 86400*i}, {0, 2, 7000 + i}}})...)
	}
	bed := filestest.New(t, storetest.SQLite(t))
	importRaw(t, bed, raw)
	owned := map[any]int{}
	for _, one := range bed.Summaries("body") {
		owned[one["source"].(map[string]any)["device_id"]]++
	}
	if len(owned) != 101 || owned[nil] != 10 {
		t.Errorf("%d devices, %d weights of none", len(owned), owned[nil])
	}
}
