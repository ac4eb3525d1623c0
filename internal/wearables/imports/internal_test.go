package imports

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/providers"
)

// A report that was stored before one of its fields was there has that field,
// empty, in every way of reading it.
func TestReportsOfEarlierVersions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		made := Import{Team: user.Team, User: user.ID, Kind: "apple_health", SHA256: []byte{1}, Status: Succeeded, CreatedAt: time.Now(), spool: "x"}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			made.ID = ids.FromUUID[Import](tx.NewUUID())
			if err := insert(ctx, tx, &made); err != nil {
				return err
			}
			sealed, err := tx.Seal(ctx, user.Team.UUID(), user.ID.UUID(), placeOfReport(made.ID), []byte(`{"records":2,"types":{"Record":{"read":2}}}`))
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE imports SET report = $1 WHERE team_id = $2 AND id = $3`, sealed, made.Team, made.ID)
			return err
		})
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			one, err := Get(ctx, tx, user.Team, user.ID, made.ID)
			if err != nil {
				return err
			}
			all, err := List(ctx, tx, user.Team, user.ID)
			if err != nil || len(all) != 1 {
				t.Fatalf("%+v, %v", all, err)
			}
			for _, i := range []Import{one, all[0]} {
				text, err := json.Marshal(i.Report)
				if err != nil || i.Report.Records != 2 || i.Report.Types["Record"].Read != 2 || strings.Contains(string(text), "null") {
					t.Errorf("%s, %v", text, err)
				}
			}
			return nil
		})
	})
}

// Every kind of file names the provider of its history, so that an import appears in
// the history of that provider.
func TestKindsNameTheirProvider(t *testing.T) {
	for _, kind := range kinds {
		if _, known := providers.Find(kind.Provider); known == kind.Recording {
			t.Errorf("%s: %q", kind.Name, kind.Provider)
		}
	}
}

// fixtures are small files of many kinds, of the tests of their packages.
var fixtures = []string{
	"clarity/testdata/clarity-mmol.csv", "libreview/testdata/eu-mmol.csv", "nightscout/testdata/treatments.json",
	"fitbitexport/testdata/dailyActivity.csv", "whoopexport/testdata/workouts.csv", "oura/testdata/pages.jsonl",
	"withings/testdata/replies.jsonl", "ihealth/testdata/pages.jsonl", "strava/testdata/list.json",
	"runkeeper/testdata/activity.json", "suunto/testdata/workouts.json", "fitbitweb/testdata/replies.jsonl",
	"healthconnect/testdata/client.json",
}

// Any file is recognised as one kind, which accepts it under its own name too, or
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
