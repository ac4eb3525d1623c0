package clarity

import (
	"bytes"
	"encoding/csv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// readings reads the glucose values of an export without the package. It returns the
// local clock times in microseconds, as if they were UTC, and the values in mg/dL.
func readings(t *testing.T, path string) (times []int64, values []float64) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		if row[2] != "EGV" {
			continue
		}
		at, err := time.Parse("2006-01-02T15:04:05", row[1])
		if err != nil {
			t.Fatal(err)
		}
		v, err := strconv.ParseFloat(row[7], 64)
		if err != nil {
			t.Fatal(err)
		}
		times, values = append(times, at.UnixMicro()), append(values, v)
	}
	return times, values
}

func TestImportRealExport(t *testing.T) {
	path := testdata.Shared(t, "wearables/dexcom/clarity-cgmquantify.csv")
	times, values := readings(t, path)
	if len(times) != 2148 {
		t.Fatalf("the other reader finds %d readings", len(times))
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, path)
		// 2148 readings below eleven rows about the wearer, the receiver and its alarms.
		if o.Records != 2159 || o.Mapped != 2148 || o.Damaged != 0 || o.Truncated || o.Created != 2148 || o.Rejected != 0 {
			t.Errorf("%+v", o.Report)
		}
		if c := o.Types["Alert"]; c == nil || c.Read != 7 || c.Skipped != 7 {
			t.Errorf("alerts: %+v", c)
		}
		got := sheettest.Find(t, sheettest.Series(t, db, user), "glucose", "automatic", "automatic")
		if got.Len() != len(times) || got.Source.Provider != "dexcom_v3" {
			t.Fatalf("%d samples of %+v", got.Len(), got.Source)
		}
		gaps := 0
		for i := range times {
			if got.Time[i] != times[i] || math.Abs(got.Value[i]*18.0182-values[i]) > 1e-9 || got.Offset[i] != wearables.NoOffset {
				t.Fatalf("reading %d is %v at %v", i, got.Value[i], time.UnixMicro(got.Time[i]).UTC())
			}
			if i > 0 && got.Time[i]-got.Time[i-1] > 10*60e6 {
				gaps++
			}
		}
		if gaps != 2 {
			t.Errorf("%d gaps of more than ten minutes", gaps)
		}
		events := filestest.Events(t, db, user)
		if events["provider.connection.created"] != 1 || events["historical.data.glucose.created"] != 1 {
			t.Errorf("%v", events)
		}
		again := sheettest.Run(t, db, Kind, user, path)
		if again.Created+again.Updated != 0 || again.Unchanged != 2148 {
			t.Errorf("the second time: %+v", again.Counts)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(after, events) {
			t.Errorf("a repeated import announced something: %v, before %v", after, events)
		}
	})
}

// Food and insulin of one moment are added up, and a repeated row counts once.
func TestSamplesOfOneInstant(t *testing.T) {
	rows := "Index,Timestamp (x),Event Type,Event Subtype,Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams)\n"
	for _, row := range []string{"Carbs,,,,20", "Insulin,Fast-Acting,,2,", "Carbs,,,,30", "Insulin,Long-Acting,,14,", "Insulin,Fast-Acting,,0.5,", "Carbs,,,,20"} {
		rows += "1,2024-10-27T07:30:00," + row + "\n"
	}
	g := sheettest.Gather(t, read, nil, []byte(rows))
	for _, want := range []struct {
		resource, kind string
		value          float64
	}{{"carbohydrates", "", 50}, {"insulin_injection", "rapid_acting", 2.5}, {"insulin_injection", "long_acting", 14}} {
		if got := sheettest.Find(t, g.Samples, want.resource, want.kind, "app"); got.Len() != 1 || got.Value[0] != want.value {
			t.Errorf("%s %s: %v, want %v", want.resource, want.kind, got.Value, want.value)
		}
	}
}

// The fixture is of the night in which the clock of Berlin goes back. The hour
// from two to three occurs twice, and the import must not lose a reading of
// either hour.
func TestImportFixture(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "clarity-mmol.csv"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"EGV": {Read: 6, Mapped: 4, BadDate: 1, BadValue: 1}, "EGV outside the range": {Read: 2, Skipped: 2},
			"Carbs": {Read: 1, Mapped: 1}, "Insulin": {Read: 3, Mapped: 3}, "Calibration": {Read: 1, Mapped: 1},
			"Exercise": {Read: 1, Skipped: 1}, "Health": {Read: 1, Skipped: 1}, "Alert": {Read: 1, Skipped: 1},
			"Device": {Read: 1, Skipped: 1}, "FirstName": {Read: 1, Skipped: 1}, "LastName": {Read: 1, Skipped: 1},
			"other": {Read: 1, Skipped: 1}, // a name in the wrong column stays out of the report
		})
		if o.Records != 20 || o.Mapped != 9 || o.Damaged != 0 {
			t.Errorf("%+v", o.Report)
		}
		all := sheettest.Series(t, db, user)
		glucose := sheettest.Find(t, all, "glucose", "automatic", "automatic")
		utc := []string{"00:50", "00:55", "01:00", "01:50"}
		for i, s := range utc {
			at := time.UnixMicro(glucose.Time[i]).UTC().Format("15:04")
			if at != s {
				t.Errorf("reading %d is at %s UTC, want %s", i, at, s)
			}
		}
		if glucose.Len() != 4 || glucose.Value[0] != 5.6 || glucose.Offset[1] != 7200 || glucose.Offset[2] != 3600 {
			t.Errorf("%+v", glucose)
		}
		for _, s := range []struct {
			resource, kind, source string
			value                  float64
		}{
			{"glucose", "", "fingerprick", 7.1},
			{"carbohydrates", "", "app", 45},
			{"insulin_injection", "rapid_acting", "app", 4.5},
			{"insulin_injection", "long_acting", "app", 18},
			{"insulin_injection", "", "app", 2},
		} {
			if got := sheettest.Find(t, all, s.resource, s.kind, s.source); got.Len() != 1 || got.Value[0] != s.value {
				t.Errorf("%s %s: %+v", s.resource, s.kind, got)
			}
		}
	})
}

// Three months fill more than one batch.
func TestImportManyRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Glucose Value (mg/dL)\n")
	const rows = 2*sheet.FlushSize + 17
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rows {
		b.WriteString(strconv.Itoa(i+1) + "," + at.Format("2006-01-02T15:04:05") + ",EGV,," + strconv.Itoa(80+i%90) + "\n")
		at = at.Add(5 * time.Minute)
	}
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "America/New_York")
	in := sheettest.Input(db, user, filestest.Save(t, []byte(b.String())))
	var seen []files.Progress
	in.Progress = func(p files.Progress) { seen = append(seen, p) }
	o, err := Kind.Run(filestest.Context(user), in)
	if err != nil || o.Mapped != rows {
		t.Fatalf("%v %+v", err, o.Report)
	}
	// The hour that the clock jumps over in March falls on the one after it.
	if twice := 12; o.Created != rows-twice || o.Unchanged != twice {
		t.Errorf("%+v", o.Counts)
	}
	if last := seen[len(seen)-1]; len(seen) < 3 || last.Done != last.Total || last.Records != rows {
		t.Errorf("%d times, at last %+v", len(seen), last)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"another table": "Id,ActivityDate,TotalSteps\n1,2,3\n",
		"text":          "Dear Dexcom Clarity,\n",
		"zip":           "PK\x03\x04\x00\x00",
		"no unit":       "Index,Timestamp (x),Event Type,Glucose Value\n",
		"no line end":   strings.Repeat("x", 2*sheet.MaxRecord),
	})
}

func TestTooLargeOrTruncated(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "clarity-mmol.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(filestest.Save(t, whole), 100); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	cut := whole[:bytes.LastIndex(whole, []byte("five"))]
	report := sheettest.Gather(t, read, nil, cut).Report
	if !report.Truncated || report.Damaged != 1 || report.Mapped != 9 {
		t.Errorf("%+v", report)
	}
}

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "clarity-mmol.csv")
	f.Add([]byte("Timestamp;Event Type;Glucose Value (mg/dL)\n2024-01-01 10:00:00;EGV;\"103\n"))
	f.Add([]byte("Timestamp,Event Type,Event Subtype,Glucose Value (mg/dL),Insulin Value (u)\n" +
		"2024-01-01 10:00:00,Insulin,Fast-Acting,,1\n2024-01-01 10:00:00,Insulin,Fast-Acting,,2\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		g := sheettest.Gather(t, read, time.UTC, content)
		// Portions of one moment are one sample.
		if n := g.Check(t); n > g.Report.Mapped || n == 0 && g.Report.Mapped > 0 {
			t.Fatalf("%d samples of %d mapped records", n, g.Report.Mapped)
		}
	})
}
