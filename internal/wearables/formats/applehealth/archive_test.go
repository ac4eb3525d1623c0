package applehealth

import (
	"archive/zip"
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

func saveFile(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "upload")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func zipMembers(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		m, err := w.Create(members[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(members[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const smallExport = opening + "</HealthData>"

func TestOpenFindsTheDocument(t *testing.T) {
	cda := "<ClinicalDocument>" + strings.Repeat("x", 5000) + "</ClinicalDocument>"
	for name, data := range map[string][]byte{
		"xml":            []byte(smallExport),
		"localised name": zipMembers(t, "apple_health_export/export_cda.xml", cda, "apple_health_export/导出.xml", smallExport),
		"no extension":   zipMembers(t, "export", smallExport),
		"at the top":     zipMembers(t, "Export.XML", smallExport, "notes.txt", "hello"),
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Open(saveFile(t, data), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			in, err := e.Document()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if g, err := gather(t, in); err != nil || g.report.Truncated || e.Size() != int64(len(smallExport)) {
				t.Errorf("%+v, %v, size %d", g.report, err, e.Size())
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := zipMembers(t, "export.xml", smallExport)
	locked := bytes.Clone(whole)
	locked[6] |= 1 // local header
	locked[bytes.LastIndex(locked, []byte("PK\x01\x02"))+8] |= 1
	cases := []struct {
		name string
		data []byte
		kind fault.Kind
		max  int64
	}{
		{"empty", nil, fault.Unprocessable, 0},
		{"cut zip", whole[:len(whole)-30], fault.Unprocessable, 0},
		{"zip of other files", zipMembers(t, "a.xml", "<a/>", "export_cda.xml", "<ClinicalDocument/>"), fault.Unprocessable, 0},
		{"locked", locked, fault.Unprocessable, 0},
		{"too large", []byte(smallExport), fault.TooLarge, 10},
		{"too large in a zip", whole, fault.TooLarge, 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(saveFile(t, c.data), c.max); !fault.Is(err, c.kind) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Reading a document ends with an error at the limit, because the directory of a zip may
// state a size that is too small.
func TestDocumentIsCapped(t *testing.T) {
	e, err := Open(saveFile(t, []byte(smallExport)), int64(len(smallExport)))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.maxBytes--
	in, err := e.Document()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gather(t, in); !fault.Is(err, fault.TooLarge) {
		t.Errorf("%v", err)
	}
}

// Damage inside the compressed document ends the import. The data before the damage is
// kept.
func TestDocumentDamagedInZip(t *testing.T) {
	var b bytes.Buffer
	if _, err := applehealthtest.WriteZip(&b, applehealthtest.Options{Days: 6}); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	for i := range 64 {
		data[len(data)/3+i] = 0xff
	}
	e, err := Open(saveFile(t, data), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	in, err := e.Document()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gather(t, in)
	if err != nil || !g.report.Truncated || g.report.Records == 0 {
		t.Errorf("%+v, %v", g.report, err)
	}
}

func TestRoutes(t *testing.T) {
	gpx, err := os.ReadFile(testdata.Shared(t, "wearables/apple-health/dogsheep-route.gpx"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(saveFile(t, zipMembers(t, "apple_health_export/export.xml", smallExport, "apple_health_export/workout-routes/route_2019-06-11_3.00pm.gpx", string(gpx))), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	points := e.Route("/workout-routes/route_2019-06-11_3.00pm.gpx")
	if len(points) != 3 {
		t.Fatalf("%d places", len(points))
	}
	p := points[0]
	if p.Lat != 37.781672 || p.Lng != -122.396397 || p.Altitude != 4.076904 || p.Speed != 0.180883 ||
		p.Time != time.Date(2019, 6, 11, 22, 0, 42, 0, time.UTC).UnixMicro() {
		t.Errorf("%+v", p)
	}
	if e.Route("/workout-routes/other.gpx") != nil {
		t.Error("a route that is not there")
	}
}

func TestGPXShapes(t *testing.T) {
	cases := []struct {
		name, in string
		want     int
	}{
		{"no time", `<gpx><trkpt lat="1" lon="2"><ele>3</ele></trkpt></gpx>`, 0},
		{"no place", `<gpx><trkpt lat="91" lon="2"><time>2019-06-11T22:00:42Z</time></trkpt></gpx>`, 0},
		{"no altitude", `<gpx><trkpt lat="1" lon="2"><time>2019-06-11T22:00:42.5Z</time></trkpt></gpx>`, 1},
		{"cut", `<gpx><trkpt lat="1" lon="2"><time>2019-06-11T22:00:42Z</time></trkpt><trkpt lat="1`, 1},
		{"empty", ``, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			points, err := readGPX(strings.NewReader(c.in))
			if err != nil || len(points) != c.want {
				t.Errorf("%d places, %v, want %d", len(points), err, c.want)
			}
		})
	}
}

func FuzzGPX(f *testing.F) {
	f.Add([]byte(`<gpx><trkseg><trkpt lon="-122.39" lat="37.78"><ele>4.07</ele><time>2019-06-11T22:00:42Z</time><extensions><speed>0.18</speed></extensions></trkpt></trkseg></gpx>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		points, err := readGPX(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			if !(math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180) || p.Speed < 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(opening + record(quantity+"HeartRate", "count/min", "60", `><MetadataEntry key="HKTimeZone" value="Asia/Tokyo"/></Record></HealthData>`)))
	f.Add([]byte(opening + `<Workout workoutActivityType="HKWorkoutActivityTypeRunning" startDate="2024-07-01 10:00:00 +0200" endDate="2024-07-01 10:10:00 +0200"><WorkoutActivity><WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="1"/></WorkoutActivity></Workout><ActivitySummary dateComponents="2024-07-01" activeEnergyBurned="5"/>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := gather(t, bytes.NewReader(data))
		if err != nil && !fault.Is(err, fault.Unprocessable) {
			t.Fatal(err)
		}
		if g.report.Mapped > g.report.Records {
			t.Fatalf("%+v", g.report)
		}
		for _, s := range g.samples {
			if len(s.End) != 0 && len(s.End) != s.Len() || len(s.Offset) != s.Len() || len(s.Value) != s.Len() ||
				len(s.Value2) != 0 && len(s.Value2) != s.Len() {
				t.Fatalf("unequal columns in %s", s.Resource)
			}
			for _, v := range s.Value {
				if v != v || math.IsInf(v, 0) {
					t.Fatalf("%s holds %v", s.Resource, v)
				}
			}
		}
	})
}

// The reader imports as much of any file as it can read, or refuses it with a
// message. It trusts nothing that a zip states about itself.
func FuzzExport(f *testing.F) {
	const limit = 1 << 20
	document := opening + record(quantity+"HeartRate", "count/min", "60", "/></HealthData>")
	route := `<gpx><trk><trkseg><trkpt lon="13.4" lat="52.5"><ele>30</ele><time>2024-07-01T08:00:00Z</time></trkpt></trkseg></trk></gpx>`
	f.Add([]byte(document))
	f.Add(zipMembers(f, "apple_health_export/export.xml", document))
	f.Add(zipMembers(f, "apple_health_export/Exportación.xml", document, "apple_health_export/workout-routes/route_2024.gpx", route,
		"apple_health_export/electrocardiograms/ecg_2024-07-01.csv", "Name,Ann\nRecorded Date,2024-07-01 10:00:00 +0200\nSample Rate,512 hertz\n\n1.5\n"))
	f.Add(zipMembers(f, "holiday.txt", "sun", "a.xml", "<HealthData"))
	f.Add([]byte("PK\x03\x04"))
	path := filepath.Join(f.TempDir(), "upload")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		refused := func(err error) bool {
			if kind := fault.KindOf(err); err != nil && kind != fault.Unprocessable && kind != fault.TooLarge {
				t.Fatal(err)
			}
			return err != nil
		}
		e, err := Open(path, limit)
		if refused(err) {
			return
		}
		defer e.Close()
		if refused(e.Check()) {
			return
		}
		if e.Size() < 0 || e.Size() > limit {
			t.Fatalf("of %d bytes", e.Size())
		}
		for name := range maps.Keys(e.routes) {
			e.Route(name)
		}
		for _, file := range e.recordings {
			e.recording(file)
		}
		in, err := e.Document()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		g, err := gather(t, in)
		if !refused(err) && g.report.Mapped > g.report.Records {
			t.Fatalf("%+v", g.report)
		}
	})
}
