package whoopexport

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

var names = []string{"journal_entries.csv", "physiological_cycles.csv", "sleeps.csv", "workouts.csv"}

func content(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// export zips the tables in a folder, because some exports have one.
func export(tb testing.TB, members map[string][]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := z.Create("my_whoop_data/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(members[name]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func exportZip(tb testing.TB) []byte {
	tb.Helper()
	all := map[string][]byte{}
	for _, name := range names {
		all[name] = content(tb, name)
	}
	return export(tb, all)
}

func TestImport(t *testing.T) {
	path := filestest.Save(t, exportZip(t))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "America/New_York")
		o := sheettest.Run(t, db, Kind, user, path)
		for name, want := range map[string]files.TypeCount{
			"sleeps": {Read: 5, Mapped: 3, BadDate: 2}, "physiological_cycles": {Read: 7, Mapped: 4, BadValue: 1, BadDate: 1, TooMany: 1},
			"workouts": {Read: 4, Mapped: 3, BadDate: 1}, "journal_entries": {Read: 2, Skipped: 2},
			"physiological_cycles.day_strain": {Read: 4, Skipped: 4}, "physiological_cycles.blood_oxygen": {Read: 3, Skipped: 3},
			"workouts.activity_strain": {Read: 3, Skipped: 3},
		} {
			if got := o.Types[name]; got == nil || *got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if o.Records != 18 || o.Mapped != 10 || len(o.Types) != 7 || o.Damaged != 0 || o.Truncated || o.Rejected != 0 {
			t.Errorf("%+v", o.Report)
		}
		filestest.Has(t, db, user, "sleep",
			map[string]any{ // from both tables; if they differ, the table of sleeps counts
				"calendar_date": "2024-03-03", "type": "long_sleep", "bedtime_start": "2024-03-02T23:10:00+00:00", "bedtime_stop": "2024-03-03T07:00:00+00:00", "timezone_offset": 0,
				"duration": 28200, "total": 26400, "light": 13800, "deep": 5400, "rem": 7200, "awake": 1800, "efficiency": 94, "score": 88, "respiratory_rate": 14.8,
				"recovery_readiness_score": 76, "hr_resting": 52, "average_hrv": 61, "skin_temperature": 33.75,
			},
			map[string]any{
				"calendar_date": "2024-03-02", "type": "long_sleep", "bedtime_start": "2024-03-01T22:30:00+00:00", "timezone_offset": 3600, "total": 25200,
				"recovery_readiness_score": 43, "hr_resting": 57, "average_hrv": 38, "skin_temperature": 34.1, "score": 81,
			},
			map[string]any{"type": "acknowledged_nap", "calendar_date": "2024-03-02", "duration": 2400, "total": 2100, "score": nil, "respiratory_rate": nil, "recovery_readiness_score": nil},
			map[string]any{"calendar_date": "2024-02-27", "total": 27000, "recovery_readiness_score": 66, "efficiency": 94}, // from the table of cycles alone
		)
		filestest.Has(t, db, user, "activity",
			map[string]any{"calendar_date": "2024-03-02", "calories_total": 2571, "heart_rate": map[string]any{"avg_bpm": 73.0, "max_bpm": 171.0, "resting_bpm": 57.0}},
			map[string]any{"calendar_date": "2024-03-03", "calories_total": nil}, // the unfinished day
			map[string]any{"calendar_date": "2024-02-27", "calories_total": 2333},
			map[string]any{"calendar_date": "2024-02-25", "calories_total": 401}, // no sleep; the longer one of two cycles
		)
		filestest.Has(t, db, user, "workouts",
			map[string]any{
				"title": "Cycling", "time_start": "2024-03-02T16:00:00+00:00", "time_end": "2024-03-02T17:40:00+00:00", "timezone_offset": 3600, "calories": 604, "average_hr": 148, "max_hr": 176,
				"distance": 31200.5, "total_elevation_gain": 310, "hr_zones": []any{180.0, 600.0, 720.0, 1680.0, 2460.0, 360.0},
			},
			map[string]any{"title": "Juggling, on a rope", "calories": nil, "hr_zones": nil},
			map[string]any{"title": "Weightlifting", "time_start": "2024-03-03T02:00:00+00:00", "timezone_offset": -18000}, // without a zone, the user's fallback zone
		)
		events := filestest.Events(t, db, user)
		again := sheettest.Run(t, db, Kind, user, path)
		if again.Created+again.Updated != 0 || again.Unchanged != o.Created || !maps.Equal(events, filestest.Events(t, db, user)) {
			t.Errorf("the second time: %+v, first %+v", again.Counts, o.Counts)
		}
	})
}

// Importing one table after the other has the same result as importing the zip.
func TestTablesWithoutAnArchive(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	for _, name := range []string{"workouts.csv", "physiological_cycles.csv", "sleeps.csv"} {
		sheettest.Run(t, db, Kind, user, filepath.Join("testdata", name))
	}
	filestest.Has(t, db, user, "sleep",
		map[string]any{"calendar_date": "2024-03-03", "total": 26400, "recovery_readiness_score": 76, "average_hrv": 61},
		map[string]any{"calendar_date": "2024-03-02", "total": 25200, "recovery_readiness_score": 43, "type": "long_sleep"},
		map[string]any{"type": "acknowledged_nap"}, map[string]any{"calendar_date": "2024-02-27"},
	)
	for _, w := range filestest.Summaries(t, db, user, "workouts") {
		if w["title"] == "Weightlifting" && (w["timezone_offset"] != nil || w["time_start"] != "2024-03-02T21:00:00+00:00") { // it floats
			t.Errorf("%v", w)
		}
	}
}

func TestSpanish(t *testing.T) {
	db := storetest.SQLite(t)
	user := sheettest.User(t, db, "")
	sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "es.csv"))
	filestest.Has(t, db, user, "sleep", map[string]any{
		"calendar_date": "2024-03-02", "type": "long_sleep", "total": 25200, "light": 12000, "deep": 6000, "rem": 7200, "awake": 1800, "score": 81, "efficiency": 93, "respiratory_rate": 15.1,
	})
}

func TestZones(t *testing.T) {
	for text, want := range map[string]int32{"UTCZ": 0, "UTC+01:00": 3600, "UTC-04:00": -14400, "-05:00": -18000, "UTC+05:30": 19800, "Z": 0} {
		if got, ok := zone(text); !ok || got != want {
			t.Errorf("%s is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "UTC", "America/New_York", "GMT-5", "UTC+99:00", "UTC+1"} {
		if got, ok := zone(text); ok {
			t.Errorf("%s is %d", text, got)
		}
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, raw := range map[string][]byte{
		"nothing": nil, "text": []byte("day,score\n"), "a zip of text": export(t, map[string][]byte{"a.csv": []byte("day,score\n1,2\n")}),
		"a zip of nothing": export(t, nil), "a cut zip": exportZip(t)[:400], "one endless line": bytes.Repeat([]byte("x"), 3<<20),
		"JSON": []byte(`{"Sleep onset":1,"Wake onset":2,"Nap":3}`),
	} {
		var unlike *files.UnlikeError
		if err := check(filestest.Save(t, raw), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := check(filestest.Save(t, content(t, "sleeps.csv")), 100); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

// keeper counts the summaries and keeps no data.
type keeper struct{ summaries int }

func (k *keeper) Ingest(_ context.Context, _ users.User, b wearables.Batch) (wearables.Result, error) {
	k.summaries += len(b.Summaries)
	return wearables.Result{}, nil
}

func (*keeper) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}

// A small zip may unpack to any size. The limit applies to the unpacked size.
func TestZipWithWrongSizes(t *testing.T) {
	row := "2024-03-01 23:30:00,,UTC+01:00,Read a book?,true,\n"
	bomb := export(t, map[string][]byte{"journal_entries.csv": []byte("Cycle start time,Cycle end time,Cycle timezone,Question text,Answered yes,Notes\n" + strings.Repeat(row, 60_000))})
	in := files.Input{Path: filestest.Save(t, bomb), Limit: 1 << 20, DB: storetest.SQLite(t), Sink: &keeper{}}
	if _, err := run(t.Context(), in); !fault.Is(err, fault.TooLarge) {
		t.Errorf("%d bytes: %v", len(bomb), err)
	}
	in.Limit = 4 << 20
	if o, err := run(t.Context(), in); err != nil || o.Records != 60_000 {
		t.Errorf("%v", err)
	}
}

// zipWithSizes returns a zip whose directory states the given sizes, one for each member.
func zipWithSizes(t *testing.T, sizes ...uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, size := range sizes {
		raw := content(t, "journal_entries.csv")
		w, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i, ".csv"), Method: zip.Store, CompressedSize64: uint64(len(raw)), UncompressedSize64: size})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The sizes that a zip states are checked before anything is read.
func TestStatedSizesAreChecked(t *testing.T) {
	for name, sizes := range map[string][]uint64{
		"one": {5 << 30}, "together": {600 << 20, 600 << 20}, "no number of bytes": {1 << 63}, "endless": {1<<63 - 1, 1<<63 - 1},
	} {
		if err := check(filestest.Save(t, zipWithSizes(t, sizes...)), 0); !fault.Is(err, fault.TooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := check(filestest.Save(t, zipWithSizes(t, 600<<20, 400<<20)), 0); err != nil {
		t.Errorf("below the limit: %v", err)
	}
}

// Progress is also reported while no row is stored.
func TestProgress(t *testing.T) {
	row := "2024-03-01 23:30:00,,UTC+01:00,Read a book?,true,\n"
	table := []byte("Cycle start time,Cycle end time,Cycle timezone,Question text,Answered yes,Notes\n" + strings.Repeat(row, 100_000))
	var all []files.Progress
	in := files.Input{
		Path: filestest.Save(t, export(t, map[string][]byte{"journal_entries.csv": table})), DB: storetest.SQLite(t), Sink: &keeper{},
		Progress: func(p files.Progress) { all = append(all, p) },
	}
	if _, err := run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	first, last := all[0], all[len(all)-1]
	if len(all) < 5 || first.Done != 0 || last.Done != last.Total || last.Records != 100_000 {
		t.Fatalf("%d times: %+v to %+v", len(all), first, last)
	}
	for i, p := range all {
		if p.Step != files.Reading || p.Total != int64(len(table)) || i > 0 && p.Done < all[i-1].Done {
			t.Errorf("%d: %+v", i, p)
		}
	}
}

// Data before the damage is kept.
func TestDamage(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "sleeps.csv", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content(t, "sleeps.csv")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	raw := bytes.Replace(b.Bytes(), []byte("440,470"), []byte("441,470"), 1) // its checksum is wrong now
	k := &keeper{}
	o, err := run(t.Context(), files.Input{Path: filestest.Save(t, raw), DB: storetest.SQLite(t), Sink: k})
	if err != nil || !o.Truncated || o.Damaged != 1 || k.summaries == 0 {
		t.Errorf("%v %+v, %d", err, o.Report, k.summaries)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(canceled, files.Input{Path: filestest.Save(t, exportZip(t)), DB: storetest.SQLite(t), Sink: k}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range append(slices.Clone(names), "es.csv") {
		f.Add(content(f, name))
	}
	f.Add(exportZip(f))
	f.Add([]byte("Sleep onset,Wake onset,Nap,Asleep duration (min)\n2024-03-01 23:30:00,2024-03-02 07:00:00,,1e308\n"))
	db := storetest.SQLite(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(dir, "upload")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := run(t.Context(), files.Input{Path: path, Limit: 1 << 20, DB: db, Sink: &keeper{}})
		for _, err := range []error{check(path, 1<<20), err} {
			if kind := fault.KindOf(err); err != nil && kind != fault.Unprocessable && kind != fault.TooLarge {
				t.Fatal(err)
			}
		}
	})
}
