package fit

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

func publicFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(testdata.Shared(t, "wearables/fit"), "*.fit"))
	if err != nil || len(names) < 28 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// Numbers of messages and fields in the Profile.
const (
	numSession    = 18
	numRecord     = 20
	numMonitoring = 55
	numHrv        = 78
	numHr         = 132
	fieldTime     = 253
)

// The library and the hand reader find the same messages. The workouts have the values of
// the sessions.
func TestPublicFilesAgainstHandReader(t *testing.T) {
	for _, name := range publicFiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := readOverview(t, name)
			counts := map[string]int64{}
			var sessions []rawMessage
			for _, m := range readByHand(raw) {
				switch m.num {
				case numRecord:
					counts["record"]++
				case numMonitoring:
					counts["monitoring"]++
				case numSession:
					counts["session"]++
					sessions = append(sessions, m)
				}
			}
			for kind, want := range counts {
				if c := got.Types[kind]; c == nil || c.Read != want {
					t.Errorf("%s: %+v, want %d", kind, c, want)
				}
			}
			if len(got.Recordings) != len(sessions) {
				if len(sessions) == 1 && got.Refused == "" && len(got.Recordings) == 0 {
					return // its time is not valid
				}
				t.Fatalf("%d recordings of %d sessions", len(got.Recordings), len(sessions))
			}
			for i, s := range sessions {
				r := got.Recordings[i]
				if want := float64(s.fields[9]) / 100; r.Metres != nil && math.Abs(*r.Metres-want) > 0.001 {
					t.Errorf("%v m, want %v", *r.Metres, want)
				}
				if want := float64(s.fields[16]); r.MeanBPM != nil && *r.MeanBPM != want {
					t.Errorf("%v bpm, want %v", *r.MeanBPM, want)
				}
				if want := float64(s.fields[8]) / 1000; r.Moving != nil && math.Abs(*r.Moving-want) > 0.001 {
					t.Errorf("moving %v s, want %v", *r.Moving, want)
				}
				if want := int64(s.fields[7]) / 1000; r.Seconds != want {
					t.Errorf("%d s, want %d", r.Seconds, want)
				}
			}
		})
	}
}

// The steps of the public monitoring file equal its running totals, which the test reads
// with its own reader.
func TestPublicMonitoring(t *testing.T) {
	path := testdata.Shared(t, "wearables/fit/fitparse-MonitoringFile.fit")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Field 3 is the total of cycles. Field 24 has the type of activity in its
	// five lower bits, and its intensity in the others. Type 1 is running and 6
	// walking.
	totals := map[uint64]float64{}
	for _, m := range readByHand(raw) {
		cycles, ok := m.fields[3]
		if m.num == numMonitoring && ok && cycles != 0xFFFFFFFF {
			kind := m.fields[24] & 0x1F
			totals[kind] = max(totals[kind], float64(cycles))
		}
	}
	want := totals[1] + totals[6]
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		o, err := bed.Import(Kind, path)
		if err != nil {
			t.Fatal(err)
		}
		s, sum := bed.Samples("steps"), 0.0
		for i, v := range s.Value {
			sum += v
			if i > 0 && s.Time[i] < s.End[i-1] {
				t.Fatalf("sample %d begins before the one before ends", i)
			}
		}
		if sum != want || want == 0 {
			t.Errorf("%v steps, want %v; rejected %v", sum, want, o.Rejections)
		}
		day := bed.Summaries("activity")
		if len(day) != 1 || day[0]["steps"] != want || day[0]["calendar_date"] != "2014-12-27" {
			t.Errorf("%v", day)
		}
	})
}

// The records equal those that other people's software found in these files.
func TestPublicRecordsAgainstCSV(t *testing.T) {
	for name, perCycle := range map[string]float64{
		"garmin-edge-820-bike": 1, "garmin-fenix-5-bike": 1, "garmin-fenix-5-run": 2, "garmin-fenix-5-walk": 2,
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(testdata.Shared(t, "wearables/fit/fitparse-"+name+"-records.csv"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			rows, err := csv.NewReader(file).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			bed := filestest.New(t, storetest.SQLite(t))
			if _, err := bed.Import(Kind, strings.Replace(file.Name(), "-records.csv", ".fit", 1)); err != nil {
				t.Fatal(err)
			}
			all := bed.Workouts()
			if len(all) != 1 || len(all[0].Stream.Time) != len(rows)-1 {
				t.Fatalf("%d workouts", len(all))
			}
			s := all[0].Stream
			for i, row := range rows[1:] {
				at, err := time.Parse("Mon Jan _2 15:04:05 -0700 2006", strings.Replace(row[0], "PDT", "-0700", 1))
				if err != nil || s.Time[i] != at.UnixMicro() {
					t.Errorf("row %d at %d, want %v %v", i, s.Time[i], at, err)
				}
				const degree = 180.0 / (1 << 31)
				for k, c := range []struct {
					column []float64
					scale  float64
				}{
					{s.HeartRate, 1}, {s.Cadence, perCycle}, {s.Velocity, 1}, {s.Distance, 1}, {s.Lat, degree}, {s.Lng, degree}, {s.Altitude, 1}, {s.Temperature, 1},
				} {
					text := row[k+1]
					want, err := strconv.ParseFloat(text, 64)
					if text == "" {
						if c.column != nil && !math.IsNaN(c.column[i]) {
							t.Errorf("row %d, %s is %v, want none", i, rows[0][k+1], c.column[i])
						}
						continue
					}
					near := 1e-6
					if k == 1 {
						near = perCycle - 0.5 // they left out fractions, half of a stride
					}
					if err != nil || math.Abs(c.column[i]-want*c.scale) > near {
						t.Errorf("row %d, %s is %v, want %v times %v", i, rows[0][k+1], c.column[i], want, c.scale)
					}
				}
			}
		})
	}
}

// This benchmark measures reading alone, from bytes to the values to store.
func BenchmarkRead(b *testing.B) {
	raw, err := os.ReadFile(testdata.Shared(b, "wearables/fit/fitparse-2019-02-17-062644-ELEMNT-297E-195-0.fit"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		parts, err := readChain(b.Context(), raw, files.NewOutcome())
		if err != nil {
			b.Fatal(err)
		}
		if found, err := parts[0].find(b.Context(), nil); err != nil || len(found.recordings) != 1 {
			b.Fatal(err)
		}
	}
}
