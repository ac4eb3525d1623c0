package fit

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/providers"
)

// stamp converts an RFC 3339 time to FIT's seconds, which count from the end of 1989.
func stamp(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at.Unix() - 631065600
}

// fileID returns the first message of a file. It has the type of the file, the maker and
// a serial number.
func fileID(kind, maker, serial int64) message {
	return message{0, []value{{0, 1, kind}, {1, 2, maker}, {2, 2, 3113}, {3, 4, serial}}}
}

const (
	typeActivity, typeCourse, typeWeight, typeMonitoring = 4, 6, 9, 32
	garmin, suunto                                       = 1, 23
)

func monitoringFile() []byte {
	t0 := stamp("2024-05-01T22:00:00Z")
	at := func(minutes int64) int64 { return t0 + 60*minutes }
	heart := func(minutes, bpm int64) message {
		return message{55, []value{{26, 2, at(minutes) & 0xFFFF}, {27, 1, bpm}}}
	}
	walked := func(minutes, steps int64) message {
		return message{55, []value{{253, 4, at(minutes)}, {5, 1, 6}, {3, 4, steps}, {19, 2, steps / 20}}}
	}
	level := func(minutes, stage int64) message { return message{275, []value{{253, 4, at(minutes)}, {0, 1, stage}}} }
	return writeByHand(
		fileID(typeMonitoring, garmin, 4_000_000_001),
		message{103, []value{{253, 4, t0}, {0, 4, t0 + 2*3600}, {5, 2, 1800}}},
		walked(0, 1000),                                                      // where the file before ended
		walked(10, 1400), walked(20, 1400), walked(30, 1700), walked(40, 60), // the day ends
		heart(41, 62), heart(42, 255), heart(43, 0), heart(44, 64),
		message{227, []value{{1, 4, at(50)}, {0, 2, 31}}}, message{227, []value{{1, 4, at(53)}, {0, 2, -2}}},
		message{297, []value{{253, 4, at(50)}, {0, 2, 1425}}}, message{297, []value{{253, 4, at(51)}, {0, 2, -300}}},
		message{269, []value{{253, 4, at(55)}, {0, 1, 96}}},
		message{371, []value{{253, 4, at(60)}, {0, 2, 55 * 128}}},
		message{229, []value{{0, 4, at(61)}, {2, 2, 478}}},
		message{211, []value{{253, 4, at(120)}, {0, 1, 51}, {1, 1, 49}}},
		level(90, 2), level(100, 2), level(120, 3), level(180, 4), level(240, 1), level(250, 0), level(255, 2), level(330, 1),
		message{65280, []value{{253, 4, at(60)}}}, // the maker's own
	)
}

func TestOwnMonitoring(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		path := filestest.Save(t, monitoringFile())
		o, err := bed.Import(Kind, path)
		if err != nil {
			t.Fatal(err)
		}
		if o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
			t.Errorf("%+v, rejected %v", o.Report, o.Rejections)
		}
		for name, want := range map[string]files.TypeCount{
			"monitoring": {Read: 9, Mapped: 7, Skipped: 2}, "stress_level": {Read: 2, Mapped: 1, BadValue: 1},
			"respiration_rate": {Read: 2, Mapped: 1, BadValue: 1}, "sleep_level": {Read: 8, Mapped: 7, BadValue: 1},
			"mfg_range_min": {Read: 1, Skipped: 1},
		} {
			if got := o.Types[name]; got == nil || *got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		for resource, want := range map[string][]float64{
			"steps": {400, 300, 60}, "calories_active": {20, 15, 3}, "heartrate": {62, 64}, "stress_level": {31}, "respiratory_rate": {14.25},
			"blood_oxygen": {96}, "hrv": {55}, "vo2_max": {47.8},
		} {
			s := bed.Samples(resource)
			if !slices.Equal(s.Value, want) {
				t.Errorf("%s: %v, want %v", resource, s.Value, want)
			}
			if slices.ContainsFunc(s.Offset, func(o int32) bool { return o != 7200 }) {
				t.Errorf("%s: offsets %v", resource, s.Offset)
			}
		}
		if s := bed.Samples("heartrate"); s.Time[0] != time.Date(2024, 5, 1, 22, 41, 0, 0, time.UTC).UnixMicro() {
			t.Errorf("the short time became %v", time.UnixMicro(s.Time[0]).UTC())
		}
		days := bed.Summaries("activity") // at two hours east it is the second of May
		if len(days) != 1 || days[0]["calendar_date"] != "2024-05-02" || days[0]["steps"] != 760.0 || days[0]["heart_rate"].(map[string]any)["resting_bpm"] != 49.0 {
			t.Errorf("%v", days)
		}
		nights := bed.Summaries("sleep")
		if len(nights) != 1 || nights[0]["deep"] != 3600.0 || nights[0]["rem"] != 3600.0 || nights[0]["awake"] != 600.0 || nights[0]["light"] != 1800.0+3600.0 {
			t.Errorf("%v", nights)
		}
		before := bed.Events()
		again, err := bed.Import(Kind, path)
		if err != nil || again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v, %v", again.Counts, err)
		}
		for kind, n := range bed.Events() {
			if before[kind] != n {
				t.Errorf("%s was announced again", kind)
			}
		}
	})
}

// rode returns the file of a ride. It has one session and a record every minute.
func rode(maker int64, begin string, minutes int64, extra ...message) []byte {
	t0 := stamp(begin)
	all := []message{fileID(typeActivity, maker, 77)}
	for i := range minutes + 1 {
		all = append(all, message{20, []value{{253, 4, t0 + 60*i}, {3, 1, 120 + i}, {5, 4, 30_000 * i}, {6, 2, 5000}, {4, 1, 90}}})
	}
	all = append(all, message{18, []value{{253, 4, t0 + 60*minutes}, {2, 4, t0}, {7, 4, 60_000 * minutes}, {8, 4, 55_000 * minutes}, {9, 4, 30_000 * minutes}, {5, 1, 2}, {11, 2, 200}}})
	return writeByHand(append(all, extra...)...)
}

// A chain of two makers' files gives two workouts of two providers.
func TestOwnChain(t *testing.T) {
	raw := append(rode(garmin, "2024-05-01T06:00:00Z", 3), rode(suunto, "2024-05-02T06:00:00Z", 2)...)
	bed := filestest.New(t, storetest.SQLite(t))
	o, err := bed.Import(Kind, filestest.Save(t, raw))
	if err != nil || o.Damaged != 0 || o.Workouts != 2 {
		t.Fatalf("%v, %+v", err, o.Report)
	}
	all := bed.Workouts()
	for i, want := range []map[string]any{
		{"provider": "garmin", "distance": 900.0, "rows": 4}, {"provider": "manual", "distance": 600.0, "rows": 3},
	} {
		source := all[i].Body["source"].(map[string]any)
		if source["provider"] != want["provider"] || source["device_id"] == nil || all[i].Body["distance"] != want["distance"] || len(all[i].Stream.Time) != want["rows"] {
			t.Errorf("%v, %v", all[i].Body, source)
		}
	}
}

// Monitoring and a ride give the same summary of the day, whichever is imported first.
func TestOrderDoesNotMatter(t *testing.T) {
	monitoring, ride := filestest.Save(t, monitoringFile()), filestest.Save(t, rode(garmin, "2024-05-02T06:00:00Z", 3,
		message{34, []value{{253, 4, stamp("2024-05-02T06:03:00Z")}, {5, 4, stamp("2024-05-02T08:03:00Z")}}}))
	db := storetest.SQLite(t)
	var days [2]map[string]any
	for i, order := range [][]string{{monitoring, ride}, {ride, monitoring}} {
		bed := filestest.New(t, db)
		for _, path := range order {
			if _, err := bed.Import(Kind, path); err != nil {
				t.Fatal(err)
			}
		}
		all := bed.Summaries("activity")
		if len(all) != 1 {
			t.Fatalf("%v", all)
		}
		days[i] = all[0]["heart_rate"].(map[string]any)
	}
	if days[0]["max_bpm"] != days[1]["max_bpm"] || days[0]["avg_bpm"] != days[1]["avg_bpm"] || days[0]["max_bpm"] != 123.0 {
		t.Errorf("%v and %v", days[0], days[1])
	}
}

func TestScale(t *testing.T) {
	weighed := func(user int64) message {
		return message{30, []value{{253, 4, stamp("2024-05-01T06:00:00Z")}, {0, 2, 7085}, {1, 2, 1820}, {13, 2, 224}, {12, 2, user}}}
	}
	bed := filestest.New(t, storetest.SQLite(t))
	if _, err := bed.Import(Kind, filestest.Save(t, writeByHand(fileID(typeWeight, garmin, 9), weighed(1)))); err != nil {
		t.Fatal(err)
	}
	all := bed.Summaries("body")
	if len(all) != 1 || all[0]["weight"] != 70.85 || all[0]["fat"] != 18.2 || all[0]["source"].(map[string]any)["type"] != "scale" {
		t.Errorf("%v", all)
	}
	_, err := bed.Import(Kind, filestest.Save(t, writeByHand(fileID(typeWeight, garmin, 9), weighed(1), weighed(2))))
	if fault.KindOf(err) != fault.Unprocessable || !strings.Contains(err.Error(), "several people") {
		t.Errorf("%v", err)
	}
}

func TestRefusedFiles(t *testing.T) {
	plan := rode(garmin, "2024-05-01T06:00:00Z", 3)
	binary.LittleEndian.PutUint16(plan[len(plan)-2:], 0)
	plan = bytes.Replace(plan, []byte{typeActivity, garmin, 0}, []byte{typeCourse, garmin, 0}, 1)
	for name, c := range map[string]struct {
		raw  []byte
		says string
	}{
		"nothing":      {nil, "not a FIT file"},
		"another kind": {[]byte("<gpx></gpx>        "), "not a FIT file"},
		"a course":     {plan, "type course"},
		"only a head":  {writeByHand()[:14], "damaged"},
		"garbage":      {append(writeByHand()[:14], bytes.Repeat([]byte{0xFF}, 50)...), "damaged"},
		"no settings":  {writeByHand(fileID(2, garmin, 1)), "type settings"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := filestest.New(t, storetest.SQLite(t)).Import(Kind, filestest.Save(t, c.raw))
			if fault.KindOf(err) != fault.Unprocessable || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if err := Kind.Check(filestest.Save(t, plan), 50); !fault.Is(err, fault.TooLarge) {
		t.Error(err)
	}
}

// A ride that is cut off before its session is kept up to its last record.
func TestTruncatedFile(t *testing.T) {
	whole := rode(garmin, "2024-05-01T06:00:00Z", 30)
	bed := filestest.New(t, storetest.SQLite(t))
	o, err := bed.Import(Kind, filestest.Save(t, whole[:len(whole)*2/3]))
	if err != nil || !o.Truncated || o.Workouts != 1 {
		t.Fatalf("%v, %+v", err, o.Report)
	}
	if n := len(bed.Workouts()[0].Stream.Time); n < 15 || n > 25 {
		t.Errorf("%d rows", n)
	}
	unclosed := bytes.Clone(whole) // the length is written when the file is closed
	binary.LittleEndian.PutUint32(unclosed[4:], 0)
	if o, err := filestest.New(t, storetest.SQLite(t)).Import(Kind, filestest.Save(t, unclosed)); err != nil || o.Workouts != 1 || !o.Truncated {
		t.Errorf("%v, %+v", err, o.Report)
	}
}

// A wrong checksum is reported and tolerated.
func TestChecksum(t *testing.T) {
	raw := rode(garmin, "2024-05-01T06:00:00Z", 3)
	raw[len(raw)-1] ^= 0xFF
	o, err := filestest.New(t, storetest.SQLite(t)).Import(Kind, filestest.Save(t, raw))
	if err != nil || o.Damaged != 1 || o.Workouts != 1 {
		t.Errorf("%v, %+v", err, o.Report)
	}
	for _, raw := range [][]byte{nil, {0}, []byte("123456789"), bytes.Repeat([]byte{0xA5, 3}, 999)} {
		if got, want := crc16(raw), slowSum(raw); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	}
}

// The reader does not panic on any file, and does not count more records than the file
// has. It refuses an unreadable file with an error for users.
func FuzzFIT(f *testing.F) {
	f.Add(monitoringFile())
	f.Add(rode(garmin, "2024-05-01T06:00:00Z", 3))
	f.Add(append(rode(garmin, "2024-05-01T06:00:00Z", 1), rode(suunto, "2024-05-02T06:00:00Z", 1)...))
	if os.Getenv("HALE_SHARED_DATA") != "" {
		for _, name := range []string{"fitparse-activity-filecrc", "fitparse-compressed-speed-distance", "fitparse-elemnt-bolt-no-application-id-inside-developer-data-id"} {
			raw, err := os.ReadFile(testdata.Shared(f, "wearables/fit/"+name+".fit"))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !isHeader(raw) {
			return
		}
		o := files.NewOutcome()
		parts, err := readChain(t.Context(), raw, o)
		if isRefused(t, err) {
			return
		}
		moments := 0
		for _, p := range parts {
			found, err := p.find(t.Context(), nil)
			if isRefused(t, err) {
				continue
			}
			for _, r := range found.recordings {
				moments += len(r.Course)
				if r.End < r.Start {
					t.Fatalf("a workout from %d to %d", r.Start, r.End)
				}
			}
		}
		if int64(moments) > o.Records || o.Mapped > o.Records || o.Mapped < 0 {
			t.Fatalf("%d moments, %d of %d messages", moments, o.Mapped, o.Records)
		}
	})
}

// isRefused reports whether there is an error, which must be one in words.
func isRefused(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !fault.Is(err, fault.Unprocessable) {
		t.Fatal(err)
	}
	return err != nil
}

// Every maker maps to a provider that the catalogue has.
func TestMakersAreInTheCatalogue(t *testing.T) {
	for maker, slug := range makers {
		if _, ok := providers.Find(slug); !ok {
			t.Errorf("%v is %s, which is not in the catalogue", maker, slug)
		}
	}
}

// The cost of a session does not grow with the number of sessions on its day. A session
// is only compared with sessions of its own time.
func TestManySessionsOfADay(t *testing.T) {
	allocations := func(n int64) uint64 {
		t0 := stamp("2024-05-01T00:00:00Z")
		all := []message{fileID(typeActivity, garmin, 5)}
		for i := range n {
			all = append(all, message{18, []value{{253, 4, t0 + 60*i + 60}, {2, 4, t0 + 60*i}, {7, 4, 50_000}, {8, 4, 50_000}, {5, 1, 2}}})
		}
		bed := filestest.New(t, storetest.SQLite(t))
		path := filestest.Save(t, writeByHand(all...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o, err := bed.Import(Kind, path)
		runtime.ReadMemStats(&after)
		if err != nil || o.Workouts != n {
			t.Fatalf("%d workouts, %v", o.Workouts, err)
		}
		return (after.Mallocs - before.Mallocs) / uint64(n)
	}
	if few, many := allocations(100), allocations(400); many > 2*few {
		t.Errorf("%d allocations a session, and %d where there are four times as many", few, many)
	}
}
