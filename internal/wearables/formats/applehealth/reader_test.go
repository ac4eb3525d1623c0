package applehealth

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
	"hale/internal/wearables/formats/files"
)

// gatheredChunks is everything a reader gave.
type gatheredChunks struct {
	report   *files.Report
	rings    int64
	samples  []wearables.Samples
	workouts []RoutedWorkout
	facts    derive.Facts
	sleep    []*derive.Sleeper
	person   derive.Person
	cycles   []wearables.Summary
	meals    []wearables.Summary
}

func gather(t testing.TB, in io.Reader) (*gatheredChunks, error) {
	t.Helper()
	g := &gatheredChunks{facts: derive.Facts{}}
	r := NewReader(func(c *Chunk) error {
		g.samples = append(g.samples, c.Samples...)
		g.workouts = append(g.workouts, c.Workouts...)
		maps.Copy(g.facts, c.Facts)
		g.person, g.sleep, g.cycles = *c.Person, c.Sleep, c.Cycles
		g.meals = append(g.meals, c.Meals...)
		return nil
	})
	var err error
	g.report, err = r.Read(context.Background(), in)
	g.rings = r.rings
	return g, err
}

func gatherFile(t testing.TB, name string) *gatheredChunks {
	t.Helper()
	f, err := os.Open(testdata.Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := gather(t, f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sum adds up a series over all sources and counts its samples.
func (g *gatheredChunks) sum(resource string) (total float64, n int) {
	for _, s := range g.samples {
		if s.Resource == resource {
			n += s.Len()
			for _, v := range s.Value {
				total += v
			}
		}
	}
	return total, n
}

// xmlRecord is a record as encoding/xml sees it.
type xmlRecord struct {
	Type  string `xml:"type,attr"`
	Name  string `xml:"sourceName,attr"`
	Unit  string `xml:"unit,attr"`
	Value string `xml:"value,attr"`
	Start string `xml:"startDate,attr"`
	End   string `xml:"endDate,attr"`
}

// oracle reads an export with encoding/xml: top-level records, and the number of
// records in correlations.
func oracle(t testing.TB, name string) (records []xmlRecord, copies, workouts int) {
	t.Helper()
	data, err := os.ReadFile(testdata.Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Records      []xmlRecord `xml:"Record"`
		Correlations []struct {
			Records []xmlRecord `xml:"Record"`
		} `xml:"Correlation"`
		Workouts []struct{} `xml:"Workout"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Correlations {
		copies += len(c.Records)
	}
	return doc.Records, copies, len(doc.Workouts)
}

func TestReaderOnRealExport(t *testing.T) {
	const name = "wearables/apple-health/hkimport-export.xml"
	g := gatherFile(t, name)
	records, copies, workouts := oracle(t, name)

	if r := g.report; int(r.Records) != len(records) || int(r.Copies) != copies || int(r.Workouts) != workouts ||
		r.Damaged != 0 || r.Truncated {
		t.Errorf("%d records, %d copies, %d workouts, %d damaged, truncated %v; want %d, %d, %d",
			r.Records, r.Copies, r.Workouts, r.Damaged, r.Truncated, len(records), copies, workouts)
	}
	if len(records)+copies != 11101 || len(g.workouts) != 61 {
		t.Errorf("the public export changed: %d records, %d workouts", len(records)+copies, len(g.workouts))
	}
	byType := map[string]int64{}
	for _, r := range records {
		byType[shortName([]byte(r.Type))]++
	}
	for kind, want := range byType {
		if got := g.report.Types[kind]; got == nil || got.Read != want || got.Read != got.Mapped+got.Skipped {
			t.Errorf("%s: %+v, want %d read", kind, got, want)
		}
	}
	// Sums in our units, added up from the file by hand.
	for _, c := range []struct {
		kind, resource string
		factor         float64
	}{
		{"StepCount", "steps", 1},
		{"HeartRate", "heartrate", 1},
		{"ActiveEnergyBurned", "calories_active", 1},
		{"FlightsClimbed", "floors_climbed", 1},
		{"BodyMass", "body_weight", 1},
		{"BloodGlucose", "glucose", 1 / 18.0182},
	} {
		want, n := 0.0, 0
		for _, r := range records {
			if shortName([]byte(r.Type)) == c.kind {
				v, err := strconv.ParseFloat(r.Value, 64)
				if err != nil {
					t.Fatal(err)
				}
				want += v * c.factor
				n++
			}
		}
		if got, k := g.sum(c.resource); k != n || math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %v from %d samples, want %v from %d", c.resource, got, k, want, n)
		}
	}
}

// The counts equal those in the notes about this public file.
func TestReaderCountsOfRealExport(t *testing.T) {
	g := gatherFile(t, "wearables/apple-health/hkimport-export.xml")
	steps, n := g.sum("steps")
	if steps != 349765 || n != 3980 {
		t.Errorf("%v steps in %d samples, want the naive sum 349765 in 3980", steps, n)
	}
	if got := g.report.Types["NikeFuel"]; got.Read != 2 || got.Skipped != 2 {
		t.Errorf("NikeFuel has no resource: %+v", got)
	}
	kinds := map[string]int{}
	for _, s := range g.samples {
		kinds[s.Source.Type]++
		if strings.ContainsAny(s.Source.AppID, "' \u00a0’") || s.Source.AppID == "" {
			t.Errorf("the app id %q", s.Source.AppID)
		}
	}
	if kinds["phone"] == 0 || kinds["app"] == 0 || kinds["unknown"] == 0 {
		t.Errorf("source types %v", kinds)
	}
	running := 0
	for _, w := range g.workouts {
		if w.Sport.Slug == "running" {
			running++
		}
	}
	if running != 21 {
		t.Errorf("%d runs, want 21", running)
	}
}

// The other project's own expected CSV files are the oracle here.
func TestReaderAgreesWithPublishedCSV(t *testing.T) {
	g := gatherFile(t, "wearables/apple-health/export6s3sample.xml")
	for _, c := range []struct {
		file, resource string
		factor         float64
	}{{"StepCount", "steps", 1}, {"DistanceWalkingRunning", "distance", 1000}} {
		rows := readCSV(t, "wearables/apple-health/tdda-"+c.file+".csv")
		i := slices.IndexFunc(g.samples, func(s wearables.Samples) bool { return s.Resource == c.resource })
		if i < 0 || g.samples[i].Len() != len(rows) {
			t.Fatalf("%s: not %d samples of one source", c.resource, len(rows))
		}
		s := g.samples[i]
		for k, row := range rows {
			value, _ := strconv.ParseFloat(row["value"], 64)
			start, _ := time.Parse(momentLayout, row["startDate"])
			end, _ := time.Parse(momentLayout, row["endDate"])
			_, offset := start.Zone()
			if s.Value[k] != value*c.factor || s.Time[k] != start.UnixMicro() || s.End[k] != end.UnixMicro() || int(s.Offset[k]) != offset {
				t.Errorf("%s %d: %v from %d to %d at %d, want %v", c.resource, k, s.Value[k], s.Time[k], s.End[k], s.Offset[k], row)
			}
		}
	}
	for _, row := range readCSV(t, "wearables/apple-health/tdda-ActivitySummary.csv") {
		day := civil.MustParse(row["dateComponents"])
		if f := g.facts[day]; f.ActiveKcal == nil || strconv.FormatFloat(*f.ActiveKcal, 'f', -1, 64) != row["activeEnergyBurned"] {
			t.Errorf("%s: %v, want %s kcal", day, f, row["activeEnergyBurned"])
		}
	}
	for i, row := range readCSV(t, "wearables/apple-health/tdda-Workout.csv") {
		w := g.workouts[i]
		kcal, _ := strconv.ParseFloat(row["totalEnergyBurned"], 64)
		minutes, _ := strconv.ParseFloat(row["duration"], 64)
		if *w.Kcal != kcal || math.Abs(*w.Moving-60*minutes) > 1e-9 || w.Metres != nil || w.Sport.Slug != "other" || w.Source.Type != "watch" {
			t.Errorf("workout %+v, want %v", w, row)
		}
	}
	if g.person.Birth != civil.MustParse("1965-01-01") || g.person.Sex != "male" {
		t.Error("the person of the sample was not read")
	}
}

func readCSV(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(testdata.Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestReaderWorkoutWithPlacesInside(t *testing.T) {
	g := gatherFile(t, "wearables/apple-health/dogsheep-export.xml")
	if len(g.workouts) != 1 || len(g.workouts[0].Route) != 2 {
		t.Fatalf("%d workouts", len(g.workouts))
	}
	w := g.workouts[0]
	if math.Abs(*w.Metres-0.4971749504535062*1609.344) > 1e-9 || w.Sport.ID != 37 || w.Offset != -8*3600 {
		t.Errorf("%v m, sport %v, offset %d: the zone of the workout is Los Angeles in November", *w.Metres, w.Sport, w.Offset)
	}
	if p := w.Route[0]; p.Lat != 37.7777 || p.Altitude != 21.2694 || p.Speed != 2.48034 {
		t.Errorf("the first place is %+v", p)
	}
	// One source is a watch by its device text. The other is an app of unknown type.
	for _, s := range g.samples {
		want := map[string]string{"heartrate": "watch", "body_mass_index": "unknown"}[s.Resource]
		if s.Source.Type != want {
			t.Errorf("%s comes from a %s, want %s", s.Resource, s.Source.Type, want)
		}
	}
}

const opening = `<?xml version="1.0"?><HealthData locale="de_DE">`

func record(kind, unit, value, more string) string {
	return `<Record type="` + kind + `" sourceName="Sam’s Watch" unit="` + unit +
		`" startDate="2024-07-01 10:00:00 +0200" endDate="2024-07-01 10:10:00 +0200" value="` + value + `"` + more
}

func TestReaderUnits(t *testing.T) {
	cases := []struct {
		kind, unit, value, resource string
		want                        float64
	}{
		{quantity + "BloodGlucose", "mg/dL", "90.091", "glucose", 5},
		{quantity + "BloodGlucose", "mmol&lt;180.1558800000541&gt;/L", "5.5", "glucose", 5.5},
		{quantity + "OxygenSaturation", "%", "0.97", "blood_oxygen", 97},
		{quantity + "BodyFatPercentage", "%", "0.205", "body_fat", 20.5},
		{quantity + "ActiveEnergyBurned", "kJ", "418.4", "calories_active", 100},
		{quantity + "ActiveEnergyBurned", "Cal", "100", "calories_active", 100},
		{quantity + "ActiveEnergyBurned", "cal", "1000", "calories_active", 1},
		{quantity + "DistanceWalkingRunning", "mi", "2", "distance", 3218.688},
		{quantity + "DistanceSwimming", "yd", "100", "distance", 91.44},
		{quantity + "BodyMass", "lb", "150", "body_weight", 68.0388555},
		{quantity + "BodyMass", "st", "10", "body_weight", 63.5029318},
		{quantity + "WaistCircumference", "in", "30", "waist_circumference", 76.2},
		{quantity + "BodyTemperature", "degF", "98.6", "body_temperature", 37},
		{quantity + "DietaryWater", "fl_oz_us", "10", "water", 295.735295625},
		{quantity + "DietaryCaffeine", "mg", "80", "caffeine", 0.08},
		{quantity + "VO2Max", "mL/min·kg", "41.5", "vo2_max", 41.5},
		{quantity + "HeartRateVariabilitySDNN", "ms", "52.125", "hrv", 52.125},
		{category + "MindfulSession", "", "HKCategoryValueNotApplicable", "mindfulness_minutes", 10},
		{category + "HandwashingEvent", "", "HKCategoryValueNotApplicable", "handwashing", 1},
	}
	for _, c := range cases {
		t.Run(shortName([]byte(c.kind))+" "+c.unit, func(t *testing.T) {
			g, err := gather(t, strings.NewReader(opening+record(c.kind, c.unit, c.value, "/></HealthData>")))
			if err != nil {
				t.Fatal(err)
			}
			got, n := g.sum(c.resource)
			if n != 1 || math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%v from %d samples, want %v; %+v", got, n, c.want, g.report.Types)
			}
		})
	}
}

func TestReaderMetadata(t *testing.T) {
	inTokyo := `><MetadataEntry key="HKTimeZone" value="Asia/Tokyo"/></Record></HealthData>`
	typed := `><MetadataEntry key="HKWasUserEntered" value="1"/></Record></HealthData>`
	g, err := gather(t, strings.NewReader(opening+record(quantity+"HeartRate", "count/min", "60", inTokyo)))
	if err != nil || g.samples[0].Offset[0] != 9*3600 {
		t.Errorf("the zone of the measurement goes before the phone's: %v, %v", g.samples, err)
	}
	g, err = gather(t, strings.NewReader(opening+record(quantity+"HeartRate", "count/min", "60", typed)))
	if err != nil || g.samples[0].Source.Type != "app" {
		t.Errorf("a typed value comes from an app: %v, %v", g.samples, err)
	}
}

func TestReaderBloodPressure(t *testing.T) {
	doc := opening +
		record(quantity+"BloodPressureDiastolic", "mmHg", "80", "/>") +
		record(quantity+"BloodPressureSystolic", "mmHg", "120", "/>") +
		strings.Replace(record(quantity+"BloodPressureSystolic", "mmHg", "130", "/>"), "10:00:00", "10:05:00", 1) +
		`<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="x">` +
		record(quantity+"BloodPressureSystolic", "mmHg", "120", "/>") + `</Correlation></HealthData>`
	g, err := gather(t, strings.NewReader(doc))
	if err != nil || len(g.samples) != 1 {
		t.Fatalf("%v, %v", g.samples, err)
	}
	s := g.samples[0]
	if s.Len() != 1 || s.Value[0] != 120 || s.Value2[0] != 80 {
		t.Errorf("%+v", s)
	}
	if c := g.report.Types["BloodPressureSystolic"]; c.Read != 2 || c.Mapped != 1 || c.Unpaired != 1 || g.report.Copies != 1 {
		t.Errorf("%+v, %d copies", c, g.report.Copies)
	}
	if left := g.report.FirstLeft()["BloodPressureSystolic"]; left != (files.LeftOut{Record: 2, Reason: "unpaired"}) {
		t.Errorf("the first that was left out: %+v", left)
	}
}

// Foods of one meal have one time and add up; a repeated record does not.
func TestReaderPortions(t *testing.T) {
	carbs := func(value string) string { return record(quantity+"DietaryCarbohydrates", "g", value, "/>") }
	g, err := gather(t, strings.NewReader(opening+carbs("10")+carbs("20.5")+carbs("10")+"</HealthData>"))
	if err != nil || len(g.samples) != 1 || g.samples[0].Len() != 1 || g.samples[0].Value[0] != 30.5 || len(g.samples[0].End) != 1 {
		t.Errorf("%+v, %v", g.samples, err)
	}
	// In the public export one diary writes all foods of a day at midnight.
	real := gatherFile(t, "wearables/apple-health/hkimport-export.xml")
	records, _, _ := oracle(t, "wearables/apple-health/hkimport-export.xml")
	want, seen := 0.0, map[xmlRecord]bool{}
	for _, r := range records {
		if strings.HasSuffix(r.Type, "DietaryCarbohydrates") && !seen[r] {
			v, err := strconv.ParseFloat(r.Value, 64)
			if err != nil {
				t.Fatal(err)
			}
			want, seen[r] = want+v, true
		}
	}
	if got, _ := real.sum("carbohydrates"); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v g of carbohydrates, want %v", got, want)
	}
}

func TestReaderReasons(t *testing.T) {
	doc := opening +
		record(quantity+"HeartRate", "count/min", "sixty", "/>") +
		record(quantity+"HeartRate", "furlongs", "60", "/>") +
		strings.Replace(record(quantity+"HeartRate", "count/min", "60", "/>"), "2024-07-01 10:00:00", "yesterday", 1) +
		record(category+"SleepAnalysis", "", "HKCategoryValueSleepAnalysisDreaming", "/>") +
		record("HKQuantityTypeIdentifierNew", "count", "60", "/>") +
		record("Sam Smith", "count", "60", "/>") +
		`<Record type="x" value="1></Record></HealthData>`
	g, err := gather(t, strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]files.TypeCount{
		"HeartRate":     {Read: 3, BadDate: 1, BadValue: 1, BadUnit: 1},
		"SleepAnalysis": {Read: 1, BadValue: 1},
		"New":           {Read: 1, Skipped: 1},
		"other":         {Read: 1, Skipped: 1},
	}
	for kind, count := range want {
		if got := g.report.Types[kind]; got == nil || *got != count {
			t.Errorf("%s: %+v, want %+v", kind, got, count)
		}
	}
	if len(g.report.Types) != len(want) || g.report.Damaged != 1 {
		t.Errorf("%d types, %d damaged", len(g.report.Types), g.report.Damaged)
	}
}

func TestReaderRefusesTruncatedFiles(t *testing.T) {
	doc := opening + record(quantity+"HeartRate", "count/min", "60", "/>") + `<Record type="`
	for _, cut := range []string{doc, doc[:len(doc)-1-len(`<Record type=`)]} {
		g, err := gather(t, strings.NewReader(cut))
		if _, n := g.sum("heartrate"); err != nil || !g.report.Truncated || n != 1 {
			t.Errorf("%v, truncated %v, %d samples", err, g.report.Truncated, n)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	for _, in := range []string{"", "hello", "<gpx></gpx>", `<ClinicalDocument xmlns="urn:hl7-org:v3">`, strings.Repeat(" ", headSize) + opening} {
		if _, err := gather(t, strings.NewReader(in)); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("%.20q: %v", in, err)
		}
	}
}

// Reading a generated file gives the counts that the generator returned.
func TestReaderOnGenerated(t *testing.T) {
	var file bytes.Buffer
	stats, err := applehealthtest.Write(&file, applehealthtest.Options{Days: 40, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gather(t, &file)
	if err != nil {
		t.Fatal(err)
	}
	if int(g.report.Records) != stats.Records || len(g.workouts) != stats.Workouts || int(g.rings) != stats.Rings || g.report.Bytes != stats.Bytes {
		t.Errorf("%+v, written %+v", g.report, stats)
	}
	for kind, want := range stats.Types {
		if got := g.report.Types[shortName([]byte(kind))]; got == nil || got.Read != int64(want) ||
			got.Skipped == 0 && got.Mapped != int64(want) {
			t.Errorf("%s: %+v, want %d", kind, got, want)
		}
	}
	for _, s := range g.samples {
		if len(s.End) != 0 && len(s.End) != s.Len() || len(s.Offset) != s.Len() || len(s.Value) != s.Len() {
			t.Errorf("%s has columns of unequal length", s.Resource)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	var file bytes.Buffer
	stats, err := applehealthtest.Write(&file, applehealthtest.Options{Bytes: 64 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(func(c *Chunk) error { c.Release(); return nil })
		if _, err := r.Read(context.Background(), bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(stats.Records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
