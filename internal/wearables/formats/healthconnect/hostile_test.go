package healthconnect

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

const plainSteps = `CREATE TABLE steps_record_table (row_id INTEGER PRIMARY KEY, app_info_id INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, count INTEGER);`

func TestOtherFilesAreRefused(t *testing.T) {
	whole := contents(t, build(t, "schema.sql"))
	for name, content := range map[string][]byte{
		"text": []byte("steps_record_table"), "short": []byte("SQLite"), "zip of text": zipFile(t, "export.xml", []byte("<HealthData")),
		"cut zip":                         zipFile(t, "export.db", whole)[:500],
		"another database":                contents(t, build(t, `CREATE TABLE people (name TEXT)`)),
		"zip of another":                  zipFile(t, "export.db", contents(t, build(t, `CREATE TABLE people (name TEXT)`))),
		"steps are a view":                contents(t, build(t, `CREATE VIEW steps_record_table AS SELECT 0 AS start_time, 1 AS end_time, 2 AS count`)),
		"steps are virtual":               contents(t, build(t, `CREATE VIRTUAL TABLE steps_record_table USING fts5(start_time, end_time, count)`)),
		"steps are computed":              contents(t, build(t, `CREATE TABLE steps_record_table (start_time INTEGER, end_time INTEGER, count INTEGER AS (length(printf('%1000000d', 1))))`)),
		"zip that only speaks of a table": zipFile(t, "x.db", append([]byte("SQLite format 2\x00"), "steps_record_table"...)),
	} {
		var unlike *files.UnlikeError
		if err := check(filestest.Save(t, content), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamagedDatabases(t *testing.T) {
	whole := contents(t, build(t, "schema.sql", "week.sql"))
	header := bytes.Clone(whole[:100])
	if err := check(filestest.Save(t, append(header, bytes.Repeat([]byte{0xa5}, 8192)...)), 0); !fault.Is(err, fault.Unprocessable) {
		t.Errorf("no database behind the header: %v", err)
	}
	if err := check(filestest.Save(t, whole), 1000); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if err := check(filestest.Save(t, zipFile(t, "a.db", whole)), 1000); !fault.Is(err, fault.TooLarge) {
		t.Errorf("zip over the limit: %v", err)
	}
	// A truncated file still has the schema. The readable part is read.
	o, err := runAlone(t, whole[:len(whole)*2/3])
	if err != nil && !fault.Is(err, fault.Unprocessable) {
		t.Errorf("cut: %v", err)
	}
	if err == nil && (o.Damaged == 0 || !o.Truncated) {
		t.Errorf("cut: %+v", o.Report)
	}
}

// The stated size of a zip member is only a claim.
func TestZipWithWrongSizes(t *testing.T) {
	content := append(contents(t, build(t, plainSteps)), make([]byte, 4<<20)...)
	z := zipFile(t, "a.db", content)
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{path: filepath.Join(t.TempDir(), "upload"), member: r.File[0], limit: 1 << 20}
	if err := a.unpack(context.Background(), io.Discard); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a bomb: %v", err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.unpack(canceled, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	// Nothing stays beside the upload.
	if _, _, err := a.extract(context.Background()); err == nil {
		t.Error("a bomb was unpacked")
	}
	if left, err := os.ReadDir(filepath.Dir(a.path)); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

// Values that the schema does not promise, references to nowhere and tables
// that lack columns cost themselves only.
func TestUnexpectedValues(t *testing.T) {
	o, err := runAlone(t, contents(t, build(t, plainSteps, `
		INSERT INTO steps_record_table VALUES
			(1, 'x', 1719835200000, 'noon', 1719838800000, 10), (2, NULL, 1719835200000, 999999, 1719838800000, 20.0),
			(3, 1e300, 1719842400000.0, NULL, 1719846000000, 30), (4, 1, X'00', 0, 5, 1), (5, 1, 9e18, 0, 9e18, 1), (6, 1, 1719835200000, 0, 1719838800000, 1e999);
		CREATE TABLE application_info_table (row_id INTEGER, package_name BLOB);
		INSERT INTO application_info_table VALUES (1, X'ff'), ('a', 'b'), (NULL, NULL);
		CREATE TABLE weight_record_table (time INTEGER);
		CREATE VIEW distance_record_table AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS start_time, i AS end_time, i AS distance FROM n;
		CREATE TABLE height_record_table (time INTEGER, height REAL AS (length(printf('%1000000d', time))));
		INSERT INTO height_record_table (time) VALUES (1719835200000);`)))
	if err != nil {
		t.Fatal(err)
	}
	if c := o.Types["steps"]; c == nil || *c != (files.TypeCount{Read: 6, Mapped: 3, BadDate: 2, BadValue: 1}) {
		t.Errorf("%+v", c)
	}
	if len(o.Types) != 1 {
		t.Errorf("%d types", len(o.Types))
	}
}

// A phone keeps its database in write-ahead mode, whose second file is not in
// the export and must not be made.
func TestWriteAheadMode(t *testing.T) {
	path := build(t, "PRAGMA journal_mode = wal", plainSteps, `INSERT INTO steps_record_table VALUES (1, 1, 1719835200000, 0, 1719838800000, 10)`)
	content := contents(t, path)
	if content[18] != 2 {
		t.Fatal("the database is in another mode")
	}
	alone := filestest.Save(t, content)
	if err := os.Chmod(filepath.Dir(alone), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(alone), 0o700) })
	o, err := run(t.Context(), files.Input{Path: alone, DB: storetest.SQLite(t), Sink: &keeper{}})
	if err != nil || o.Mapped != 1 {
		t.Errorf("%v %+v", err, o.Report)
	}
	if left, err := os.ReadDir(filepath.Dir(alone)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if !bytes.Equal(contents(t, alone), content) {
		t.Error("the upload was changed")
	}
}

// keeper takes everything and keeps nothing.
type keeper struct{ samples int }

func (k *keeper) Ingest(_ context.Context, _ users.User, b wearables.Batch) (wearables.Result, error) {
	for i := range b.Samples {
		s := &b.Samples[i]
		k.samples += s.Len()
		if s.Len() == 0 || len(s.Value) != s.Len() || len(s.Offset) != s.Len() ||
			len(s.End) != 0 && len(s.End) != s.Len() || len(s.Value2) != 0 && len(s.Value2) != s.Len() {
			panic("columns of " + s.Resource + " differ")
		}
	}
	return wearables.Result{}, nil
}

func (*keeper) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}

// runAlone imports a database; summaries are derived from an empty store.
func runAlone(tb testing.TB, content []byte) (*files.Outcome, error) {
	tb.Helper()
	db := storetest.SQLite(tb)
	return run(tb.Context(), files.Input{Path: filestest.Save(tb, content), DB: db, Sink: &keeper{}})
}

func TestPackageNames(t *testing.T) {
	for name, want := range map[string]string{
		"com.example.app": "com.example.app", "a.b_c.D9": "a.b_c.D9", "single": "", "has space.x": "", "a..b": "", "": "", strings.Repeat("a.", 150) + "b": "",
	} {
		if got := packageName(name); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add(contents(f, build(f, plainSteps+`INSERT INTO steps_record_table VALUES (1, 1, 1719835200000, -14400, 1719838800000, 10)`)))
	f.Add(zipFile(f, "export.db", contents(f, build(f, plainSteps))))
	f.Add([]byte("SQLite format 3\x00"))
	db := storetest.SQLite(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "upload")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{check(path, 1<<20), importInput(t, files.Input{Path: path, Limit: 1 << 20, DB: db, Sink: &keeper{}})} {
			if kind := fault.KindOf(err); err != nil && kind != fault.Unprocessable && kind != fault.TooLarge {
				t.Fatal(err)
			}
		}
	})
}

func importInput(t *testing.T, in files.Input) error {
	_, err := run(t.Context(), in)
	return err
}
