package applehealth

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"hale/internal/platform/fault"
)

// The reader imports as much of any file as it can read, or refuses it with a
// message. It trusts nothing that a zip states about itself.
func FuzzExport(f *testing.F) {
	const limit = 1 << 20
	document := opening + record(quantity+"HeartRate", "count/min", "60", "/></HealthData>")
	route := `<gpx><trk><trkseg><trkpt lon="13.4" lat="52.5"><ele>30</ele><time>2024-07-01T08:00:00Z</time></trkpt></trkseg></trk></gpx>`
	f.Add([]byte(document))
	f.Add(zipped(f, "apple_health_export/export.xml", document))
	f.Add(zipped(f, "apple_health_export/Exportación.xml", document, "apple_health_export/workout-routes/route_2024.gpx", route,
		"apple_health_export/electrocardiograms/ecg_2024-07-01.csv", "Name,Ann\nRecorded Date,2024-07-01 10:00:00 +0200\nSample Rate,512 hertz\n\n1.5\n"))
	f.Add(zipped(f, "holiday.txt", "sun", "a.xml", "<HealthData"))
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
