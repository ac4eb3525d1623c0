package imports

import (
	"os"
	"path/filepath"
	"testing"

	"hale/internal/platform/fault"
)

// fixtures are small files of many kinds, of the tests of their packages.
var fixtures = []string{
	"clarity/testdata/clarity-mmol.csv", "libreview/testdata/eu-mmol.csv", "nightscout/testdata/treatments.json",
	"fitbitexport/testdata/dailyActivity.csv", "whoopexport/testdata/workouts.csv", "oura/testdata/pages.jsonl",
	"withings/testdata/replies.jsonl", "ihealth/testdata/pages.jsonl", "strava/testdata/list.json",
	"runkeeper/testdata/activity.json", "suunto/testdata/workouts.json", "fitbitweb/testdata/replies.jsonl",
	"healthconnect/testdata/client.json",
}

// Any file is recognised as one kind, which takes it under its own name too, or
// is refused in words.
func FuzzRecognise(f *testing.F) {
	for _, name := range fixtures {
		content, err := os.ReadFile(filepath.Join("../formats", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content[:min(len(content), 4<<10)])
	}
	for _, head := range []string{
		"", "PK\x03\x04", "SQLite format 3\x00", `<?xml version="1.0"?><HealthData locale="en_GB">`, "\x0e\x10\x43\x08\x78\x06\x00\x00.FIT\x00\x00",
		`<?xml version="1.0"?><gpx version="1.1" creator="x">`, `<?xml version="1.0"?><TrainingCenterDatabase>`, `{"data":[]}`, "\xff\xfea\x00,\x00b\x00",
	} {
		f.Add([]byte(head))
	}
	s := &Service{MaxDocument: 1 << 20}
	path := filepath.Join(f.TempDir(), "upload")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		kind, err := s.recognise(path, "")
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.TooLarge {
				t.Fatal(err)
			}
			return
		}
		if again, err := s.recognise(path, kind); again != kind || err != nil {
			t.Fatalf("recognised as %s, and as such %q: %v", kind, again, err)
		}
	})
}
