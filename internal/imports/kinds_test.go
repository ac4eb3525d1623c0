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

	"hale/internal/imports"
	"hale/internal/store/storetest"
)

// Each kind's fixture is taken for that kind and no other.
func TestKindsAreToldApart(t *testing.T) {
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
	b := newBed(t, storetest.SQLite(t))
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
		{"Oura, several resources", provider(t, "oura/testdata/export.json"), "oura"},
		{"Oura, page by line", provider(t, "oura/testdata/pages.jsonl"), "oura"},
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

// Every kind goes through the same job.
func TestKindsRunToTheirEnd(t *testing.T) {
	b := newBed(t, storetest.SQLite(t))
	defer b.work(b.service)()
	for _, test := range []struct {
		content         []byte
		records, mapped int64
	}{
		{provider(t, "clarity/testdata/clarity-mmol.csv"), 20, 9},
		{provider(t, "libreview/testdata/us-mgdl.csv"), 4, 4},
		{provider(t, "nightscout/testdata/treatments.json"), 11, 5},
		{provider(t, "fitbitexport/testdata/dailyActivity.csv"), 5, 3},
		{provider(t, "oura/testdata/export.json"), 29, 13},
		{healthConnect(t, "INSERT INTO steps_record_table (start_time, end_time, count) VALUES (1719835200000, 1719838800000, 10)"), 1, 1},
	} {
		i := b.await(b.upload(test.content, false).ID, imports.Succeeded)
		if i.Report.Records != test.records || i.Report.Mapped != test.mapped || i.Report.Created == 0 || i.Progress.Done != i.Progress.Total {
			t.Errorf("%s: %+v %+v", i.Kind, i.Report, i.Progress)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); len(b.files()) != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) { // they go after the import is said to be done
			t.Fatalf("files stay: %v", b.files())
		}
	}
}

func provider(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "providers", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// healthConnect is a database with the tables of the phone.
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
