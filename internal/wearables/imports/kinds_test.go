package imports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/imports"
)

// The fixture of each kind is recognized as that kind and as no other.
func TestKindsAreDistinguished(t *testing.T) {
	phone := healthConnect(t)
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	if w, err := z.Create("health_connect_export.db"); err != nil {
		t.Fatal(err)
	} else if _, err := w.Write(phone); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b := newFixture(t, storetest.SQLite(t))
	for _, test := range []struct {
		name    string
		content []byte
		kind    string
	}{
		{"zip of Apple Health", export(t, 1), "apple_health"},
		{"Clarity", provider(t, "clarity/testdata/clarity-mmol.csv"), "dexcom_clarity"},
		{"LibreView in mmol/L", provider(t, "libreview/testdata/eu-mmol.csv"), "libreview"},
		{"LibreView in another language", provider(t, "libreview/testdata/de-mgdl.csv"), "libreview"},
		{"LibreLinkUp", []byte(`{"data":{"graphData":[]}}`), "libreview"},
		{"Nightscout treatments", provider(t, "nightscout/testdata/treatments.json"), "nightscout"},
		{"Nightscout entries by line", provider(t, "nightscout/testdata/entries.jsonl"), "nightscout"},
		{"Fitabase days", provider(t, "fitbitexport/testdata/dailyActivity.csv"), "fitbit_fitabase"},
		{"Fitabase weights", provider(t, "fitbitexport/testdata/weightLogInfo.csv"), "fitbit_fitabase"},
		{"WHOOP, a zip", whoop(t), "whoop"},
		{"WHOOP, one table", provider(t, "whoopexport/testdata/workouts.csv"), "whoop"},
		{"WHOOP, in Spanish", provider(t, "whoopexport/testdata/es.csv"), "whoop"},
		{"Oura, several resources", provider(t, "oura/testdata/export.json"), "oura"},
		{"Oura, page by line", provider(t, "oura/testdata/pages.jsonl"), "oura"},
		{"Withings, replies by line", provider(t, "withings/testdata/replies.jsonl"), "withings"},
		{"iHealth, pages by line", provider(t, "ihealth/testdata/pages.jsonl"), "ihealth"},
		{"Strava, several resources", provider(t, "strava/testdata/export.json"), "strava"},
		{"Strava, a list", provider(t, "strava/testdata/list.json"), "strava"},
		{"Strava, activities with their streams", provider(t, "strava/testdata/beside.jsonl"), "strava"},
		{"Strava, streams", provider(t, "strava/testdata/streams.json"), "strava"},
		{"Runkeeper's feed", provider(t, "runkeeper/testdata/feed.json"), "runkeeper"},
		{"Runkeeper, an activity", provider(t, "runkeeper/testdata/activity.json"), "runkeeper"},
		{"Suunto's workouts", provider(t, "suunto/testdata/workouts.json"), "suunto"},
		{"Suunto, day and night", provider(t, "suunto/testdata/days.json"), "suunto"},
		{"Fitbit, replies by line", provider(t, "fitbitweb/testdata/replies.jsonl"), "fitbit"},
		{"Fitbit's sleep", line(t, "fitbitweb/testdata/replies.jsonl", `{"sleep"`), "fitbit"},
		{"Fitbit's weights", line(t, "fitbitweb/testdata/replies.jsonl", `{"weight"`), "fitbit"},
		{"Fitbit's heart rate", line(t, "fitbitweb/testdata/replies.jsonl", `{"activities-heart"`), "fitbit"},
		{"Fitbit's list of activities", line(t, "fitbitweb/testdata/replies.jsonl", `{"activities": [{"activeDuration`), "fitbit"},
		{"Fitbit's saturation", line(t, "fitbitweb/testdata/replies.jsonl", `{"dateTime"`), "fitbit"},
		{"Fitbit's devices", line(t, "fitbitweb/testdata/replies.jsonl", `[{"battery"`), "fitbit"},
		{"Fitbit, in Google's archive", provider(t, "fitbitweb/testdata/archive.jsonl"), "fitbit"},
		{"Google Fit, datasets by line", provider(t, "googlefit/testdata/datasets.jsonl"), "google_fit"},
		{"Google Fit, in the archive", provider(t, "googlefit/testdata/archive-merged.json"), "google_fit"},
		{"Ultrahuman, a day", provider(t, "ultrahuman/testdata/day.json"), "ultrahuman"},
		{"Ultrahuman, several days", provider(t, "ultrahuman/testdata/days.json"), "ultrahuman"},
		{"Garmin's push", provider(t, "garmin/testdata/push.json"), "garmin"},
		{"Garmin Connect", provider(t, "garmin/testdata/connect.json"), "garmin"},
		{"Garmin, no activities", []byte(`{"activityList":[],"paging":{"total":1356,"start":1360,"limit":20}}`), "garmin"},
		{"Polar, several resources", provider(t, "polar/testdata/accesslink.json"), "polar"},
		{"Polar's heart rates", []byte(`{"heart_rates":[{"date":"2025-03-02","heart_rate_samples":[{"heart_rate":60,"sample_time":"00:05:00"}]}]}`), "polar"},
		{"Health Connect, pages of records", provider(t, "healthconnect/testdata/client.json"), "health_connect"},
		{"Health Connect, record by line", provider(t, "healthconnect/testdata/capacitor.jsonl"), "health_connect"},
		{"Health Connect, from a gateway", provider(t, "healthconnect/testdata/gateway.json"), "health_connect"},
		{"Health Connect, from a webhook", provider(t, "healthconnect/testdata/webhook.jsonl"), "health_connect"},
		{"Health Connect", phone, "health_connect"},
		{"zip of Health Connect", zipped.Bytes(), "health_connect"},
	} {
		up, err := b.service.Receive(b.ctx, "", bytes.NewReader(test.content))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		up.Discard()
		if up.Kind != test.kind {
			t.Errorf("%s is taken for %s", test.name, up.Kind)
		}
		for _, other := range imports.Kinds() {
			if other == test.kind {
				continue
			}
			if up, err := b.service.Receive(b.ctx, other, bytes.NewReader(test.content)); err == nil {
				up.Discard()
				t.Errorf("%s passes for %s too", test.name, other)
			}
		}
	}
}

// A file of a provider that is not in the catalogue has no kind.
func TestUnknownFilesAreRefused(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	folder := testdata.Shared(t, "wearables/sensorbio")
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, one := range entries {
		raw, err := os.ReadFile(filepath.Join(folder, one.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if up, err := b.service.Receive(b.ctx, "", bytes.NewReader(raw)); err == nil {
			up.Discard()
			t.Errorf("%s is taken for %s", one.Name(), up.Kind)
		} else if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", one.Name(), err)
		}
	}
}

// Every kind goes through the same job.
func TestKindsImportTheirFiles(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	defer b.work(b.service)()
	for _, test := range []struct {
		content         []byte
		records, mapped int64
	}{
		{provider(t, "clarity/testdata/clarity-mmol.csv"), 20, 9},
		{provider(t, "libreview/testdata/us-mgdl.csv"), 4, 4},
		{provider(t, "nightscout/testdata/treatments.json"), 11, 5},
		{provider(t, "fitbitexport/testdata/dailyActivity.csv"), 5, 3},
		{whoop(t), 18, 10},
		{provider(t, "oura/testdata/export.json"), 29, 14},
		{provider(t, "garmin/testdata/push.json"), 32, 22},
		{provider(t, "polar/testdata/accesslink.json"), 20, 13},
		{provider(t, "withings/testdata/replies.jsonl"), 47, 27},
		{provider(t, "ihealth/testdata/pages.jsonl"), 21, 11},
		{provider(t, "strava/testdata/export.json"), 31, 18},
		{provider(t, "runkeeper/testdata/feed.json"), 8, 3},
		{provider(t, "suunto/testdata/days.json"), 14, 5},
		{provider(t, "fitbitweb/testdata/replies.jsonl"), 59, 36},
		{provider(t, "googlefit/testdata/datasets.jsonl"), 36, 23},
		{provider(t, "ultrahuman/testdata/day.json"), 14, 10},
		{provider(t, "healthconnect/testdata/client.json"), 27, 20},
		{healthConnect(t, "INSERT INTO steps_record_table (start_time, end_time, count) VALUES (1719835200000, 1719838800000, 10)"), 1, 1},
	} {
		i := b.await(b.upload(test.content, false).ID, imports.Succeeded)
		if i.Report.Records != test.records || i.Report.Mapped != test.mapped || i.Report.Created == 0 || i.Progress.Done != i.Progress.Total {
			t.Errorf("%s: %+v %+v", i.Kind, i.Report, i.Progress)
		}
	}
	for deadline := time.Now().Add(90 * time.Second); len(b.files()) != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) { // they go after the import is said to be done
			t.Fatalf("files stay: %v", b.files())
		}
	}
}

func provider(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "formats", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// line returns the first line of a fixture that begins with a text.
func line(t *testing.T, name, begin string) []byte {
	t.Helper()
	for one := range bytes.Lines(provider(t, name)) {
		if bytes.HasPrefix(one, []byte(begin)) {
			return one
		}
	}
	t.Fatalf("%s has no line %s", name, begin)
	return nil
}

// whoop returns a zip with the tables of a WHOOP export.
func whoop(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"physiological_cycles.csv", "sleeps.csv", "workouts.csv", "journal_entries.csv"} {
		if w, err := z.Create(name); err != nil {
			t.Fatal(err)
		} else if _, err := w.Write(provider(t, "whoopexport/testdata/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// healthConnect returns a database file with the tables of a Health Connect export. more
// contains further SQL statements.
func healthConnect(t *testing.T, more ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{string(provider(t, "healthconnect/testdata/schema.sql"))}, more...) {
		if _, err := db.ExecContext(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
