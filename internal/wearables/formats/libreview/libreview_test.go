package libreview

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The test reads half a day of another reader. The document has two clocks, an hour
// apart: the local one counts, whatever the user's fallback zone is.
func TestImportRealGraph(t *testing.T) {
	path := testdata.Shared(t, "wearables/libre/librelinkup-graph.json")
	var other struct {
		Data struct {
			GraphData []map[string]any `json:"graphData"`
		} `json:"data"`
	}
	filestest.Decode(t, path, json.Unmarshal, &other)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "America/Santiago")
		o := sheettest.Run(t, db, Kind, user, path)
		if len(other.Data.GraphData) != 141 || o.Records != 142 || o.Mapped != 142 || o.Created != 142 {
			t.Errorf("%+v %+v", o.Report, o.Counts)
		}
		all := sheettest.Series(t, db, user)
		got := sheettest.Find(t, all, "glucose", "automatic", "automatic")
		for i, one := range other.Data.GraphData {
			at, err := time.Parse("1/2/2006 3:04:05 PM", one["Timestamp"].(string))
			if err != nil {
				t.Fatal(err)
			}
			if got.Time[i] != at.UnixMicro() || got.Offset[i] != wearables.NoOffset || math.Abs(got.Value[i]*18.0182-one["ValueInMgPerDl"].(float64)) > 1e-9 {
				t.Fatalf("reading %d is %v at %v", i, got.Value[i], time.UnixMicro(got.Time[i]).UTC())
			}
		}
		latest := sheettest.Find(t, all, "glucose", "manual_scan", "manual_scan")
		if latest.Len() != 1 || math.Abs(latest.Value[0]*18.0182-115) > 1e-9 {
			t.Errorf("%+v", latest)
		}
		if again := sheettest.Run(t, db, Kind, user, path); again.Unchanged != 142 || again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again.Counts)
		}
	})
}

// A list of connections has readings of several people.
func TestConnectionsAreNoExport(t *testing.T) {
	for _, name := range []string{"librelinkup-connections.json", "librelinkup-entries.json"} {
		path := testdata.Shared(t, "wearables/libre/"+name)
		var unlike *files.UnlikeError
		if err := check(path, 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImportFixture(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "eu-mmol.csv"))
		filestest.Types(t, o, map[string]files.TypeCount{
			"historic": {Read: 9, Mapped: 6, BadDate: 1, BadValue: 2}, "scan": {Read: 1, Mapped: 1},
			"scan outside the range": {Read: 1, Skipped: 1}, "strip": {Read: 1, Mapped: 1}, "ketone": {Read: 1, Skipped: 1},
			"insulin": {Read: 3, Mapped: 2, Skipped: 1}, "food": {Read: 2, Mapped: 1, Skipped: 1},
			"note": {Read: 1, Skipped: 1}, "other": {Read: 1, Skipped: 1},
		})
		// In the hour of autumn that occurs twice, two readings of one clock time
		// count as one.
		if o.Records != 20 || o.Mapped != 11 || o.Damaged != 0 || o.Created != 10 {
			t.Errorf("%+v %+v", o.Report, o.Counts)
		}
		all := sheettest.Series(t, db, user)
		historic := sheettest.Find(t, all, "glucose", "automatic", "automatic")
		for i, want := range []string{"01:45", "02:00", "02:45", "03:00"} {
			if got := time.UnixMicro(historic.Time[i]).UTC().Format("15:04"); got != want || historic.Offset[i] != wearables.NoOffset {
				t.Errorf("reading %d is at %s, want %s; offset %d", i, got, want, historic.Offset[i])
			}
		}
		if historic.Value[0] != 5.0 || historic.Value[3] != 5.9 {
			t.Errorf("%v", historic.Value)
		}
		for _, s := range []struct {
			resource, kind, source string
			values                 []float64
		}{
			{"glucose", "manual_scan", "manual_scan", []float64{7.2}},
			{"glucose", "", "fingerprick", []float64{6.9}},
			{"insulin_injection", "rapid_acting", "app", []float64{4, 5.5}},
			{"insulin_injection", "long_acting", "app", []float64{14}},
			{"carbohydrates", "", "app", []float64{60}},
		} {
			got := sheettest.Find(t, all, s.resource, s.kind, s.source)
			if got.Len() != len(s.values) || got.Value[0] != s.values[0] || got.Value[got.Len()-1] != s.values[len(s.values)-1] {
				t.Errorf("%s %s: %v", s.resource, s.kind, got.Value)
			}
		}
	})
}

// The local time is kept unchanged.
func TestVariants(t *testing.T) {
	for name, want := range map[string][]string{
		"us-mgdl.csv": {"2025-03-04T00:05", "2025-03-04T00:20", "2025-03-04T12:05"},
		"de-mgdl.csv": {"2025-03-04T00:05"},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(filepath.Join("testdata", name), 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		g := sheettest.Gather(t, read, time.FixedZone("", 7200), raw)
		if g.Err != nil || g.Report.Mapped != g.Report.Records {
			t.Errorf("%s: %v %+v", name, g.Err, g.Report)
		}
		historic := sheettest.Find(t, g.Samples, "glucose", "automatic", "automatic")
		if historic.Len() != len(want) {
			t.Fatalf("%s: %d readings", name, historic.Len())
		}
		for i := range want {
			if got := time.UnixMicro(historic.Time[i]).UTC().Format("2006-01-02T15:04"); got != want[i] || historic.Offset[i] != wearables.NoOffset {
				t.Errorf("%s: %s, want %s", name, got, want[i])
			}
		}
		if v := historic.Value[0] * 18.0182; math.Abs(v-90) > 1e-9 {
			t.Errorf("%s: %v mg/dL", name, v)
		}
	}
}

// A byte order mark is skipped. A reading of LibreLinkUp whose local time cannot be read
// is left out, and the report names the record.
func TestLinkUpSkipsValues(t *testing.T) {
	g := sheettest.Gather(t, read, nil, []byte("\ufeff"+`{"data":{"graphData":[
		{"FactoryTimestamp":"12/30/2022 4:50:40 AM","Timestamp":"12/30/2022 5:50:40 AM","type":0,"ValueInMgPerDl":173},
		{"FactoryTimestamp":"12/30/2022 4:55:40 AM","type":0,"ValueInMgPerDl":174},
		{"FactoryTimestamp":"12/30/2022 5:00:40 AM","Timestamp":"12/30/2022 6:00:40 AM","type":0,"ValueInMgPerDl":500,"isHigh":true}]}}`))
	left := g.Report.FirstLeft()
	if g.Check(t) != 1 || left["historic"] != (files.LeftOut{Record: 2, Reason: "bad_date"}) || left["historic outside the range"] != (files.LeftOut{Record: 1, Reason: "skipped"}) {
		t.Errorf("%+v %v", g.Report, left)
	}
	if at := time.Date(2022, 12, 30, 5, 50, 40, 0, time.UTC).UnixMicro(); g.Samples[0].Time[0] != at || g.Samples[0].Offset[0] != wearables.NoOffset {
		t.Errorf("%+v", g.Samples[0])
	}
}

// Food and insulin of one moment are added up, and a repeated row counts once.
func TestSamplesOfOneInstant(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "us-mgdl.csv"))
	if err != nil {
		t.Fatal(err)
	}
	row := func(kind, rapid, grams string) string {
		return "FreeStyle Libre 3,0f1e2d3c,03-04-2025 01:30 PM," + kind + ",,,," + rapid + ",," + grams + ",,,,,,,,,\n"
	}
	more := row("5", "", "20") + row("4", "2", "") + row("5", "", "30.1") + row("4", "0.5", "") + row("5", "", "20")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		path := filestest.Save(t, append(bytes.Clone(raw), more...))
		o := sheettest.Run(t, db, Kind, user, path)
		all := sheettest.Series(t, db, user)
		food, insulin := sheettest.Find(t, all, "carbohydrates", "", "app"), sheettest.Find(t, all, "insulin_injection", "rapid_acting", "app")
		if food.Len() != 1 || food.Value[0] != 20+30.1 || insulin.Len() != 1 || insulin.Value[0] != 2.5 || o.Created != 6 {
			t.Errorf("%v %v %+v", food.Value, insulin.Value, o.Counts)
		}
		if again := sheettest.Run(t, db, Kind, user, path); again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again.Counts)
		}
	})
}

func TestOrderOfDates(t *testing.T) {
	for _, test := range []struct {
		cells []string
		want  order
		ok    bool
	}{
		{[]string{"03-04-2025 10:00"}, dayFirst, true},
		{[]string{"03-04-2025 10:00 AM"}, monthFirst, true},
		{[]string{"03-04-2025 10:00", "03-13-2025 10:00"}, monthFirst, true},
		{[]string{"13-04-2025 10:00 AM"}, dayFirst, true},
		{[]string{"2025-03-13 10:00"}, dayFirst, true},
		{[]string{"13-04-2025 10:00", "04-13-2025 10:00"}, 0, false},
	} {
		var e evidence
		for _, c := range test.cells {
			e.see(c)
		}
		if got, err := e.order(); got != test.want || (err == nil) != test.ok {
			t.Errorf("%v: %v %v", test.cells, got, err)
		}
	}
	for cell, want := range map[string]string{
		"28-03-2020 14:05": "2020-03-28 14:05:00", "8.3.2020 4:05": "2020-03-08 04:05:00", "28/03/2020 02:05:09 PM": "2020-03-28 14:05:09",
		"2020-03-28 14:05": "2020-03-28 14:05:00", "28-03-2020 12:00 a.m.": "2020-03-28 00:00:00",
	} {
		if got, ok := dayFirst.wall(cell); !ok || got.Format(time.DateTime) != want {
			t.Errorf("%s: %v %v", cell, got, ok)
		}
	}
	for _, cell := range []string{"", "28-03-2020", "28-13-2020 14:05", "30-02-2020 14:05", "28-03-2020 25:05", "28-03-2020 2:05 XM", strings.Repeat("1-", 40)} {
		if got, ok := dayFirst.wall(cell); ok {
			t.Errorf("%s is %v", cell, got)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	filestest.CheckRefused(t, Kind, map[string]string{
		"another table": "Index,Timestamp (x),Event Type,Glucose Value (mg/dL)\n", "text": "Glucose Data,\n", "another object": `{"data":{"graph":[]}}`,
		"list": `[{"sgv":100}]`, "cut object": `{"data":`, "zip": "PK\x03\x04",
	})
	var unlike *files.UnlikeError
	cut := `{"data":{"graphData":[{"FactoryTimestamp":"12/30/2022 4:50:40 AM"`
	if err := check(filestest.Save(t, []byte(cut)), 0); errors.As(err, &unlike) || !fault.Is(err, fault.Unprocessable) {
		t.Errorf("a graph that was cut: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "us-mgdl.csv"))
	if err != nil {
		t.Fatal(err)
	}
	mixed := append(bytes.Clone(raw), "FreeStyle Libre 3,0f1e2d3c,25-12-2024 10:00 AM,0,100,\nFreeStyle Libre 3,0f1e2d3c,12-25-2024 10:00 AM,0,100,\n"...)
	if g := sheettest.Gather(t, read, nil, mixed); !fault.Is(g.Err, fault.Unprocessable) || g.Report.Mapped != 0 {
		t.Errorf("both orders of dates: %v", g.Err)
	}
	if g := sheettest.Gather(t, read, nil, raw[:bytes.LastIndex(raw, []byte("Libre 3"))]); !g.Report.Truncated || g.Report.Mapped != 3 {
		t.Errorf("%v %+v", g.Err, g.Report)
	}
}

func FuzzRead(f *testing.F) {
	filestest.Seed(f, "eu-mmol.csv", "us-mgdl.csv", "de-mgdl.csv")
	f.Add([]byte(`{"data":{"connection":{"glucoseMeasurement":null},"graphData":[{"FactoryTimestamp":"12/30/2022 4:50:40 AM","Timestamp":"12/30/2022 5:50:40 AM","ValueInMgPerDl":173}]}}`))
	zone, err := civil.Zone("America/Santiago")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		sheettest.Gather(t, read, zone, content).Check(t)
	})
}
