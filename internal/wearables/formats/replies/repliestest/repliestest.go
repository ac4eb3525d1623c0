// Package repliestest reads makers' replies in tests and gathers their values.
package repliestest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/storage"
)

// GatheredData holds the result of one reading, without a database.
type GatheredData struct {
	Report    files.Report
	Samples   []wearables.Samples
	Summaries []wearables.Summary
	Streams   []wearables.Stream
	Workouts  []derive.Workout
	Recorded  []files.Recording
	Sleepers  []*derive.Sleeper
	Facts     map[civil.Date][]derive.DayFacts
	Person    *derive.Person
	Devices   []files.Device
	Err       error // a fault of the file; others end the test
}

// Gather reads a file of a maker's, for a user with a fallback zone or none.
func Gather(tb testing.TB, m replies.Maker, zone *time.Location, content []byte) *GatheredData {
	tb.Helper()
	g := &GatheredData{Facts: map[civil.Date][]derive.DayFacts{}}
	r := &replies.Reader{
		Report: &g.Report, Zone: zone, Sink: sink{g},
		Device: func(_ context.Context, d files.Device) (uuid.UUID, error) {
			g.Devices = append(g.Devices, d)
			return uuid.Nil, nil
		},
		Stored: func(context.Context, string, string, string) ([]storage.StoredSummary, error) { return nil, nil },
	}
	g.Err = m.Read(context.Background(), bytes.NewReader(content), int64(len(content)), r)
	if g.Err != nil && fault.KindOf(g.Err) != fault.Unprocessable {
		tb.Fatal(g.Err)
	}
	return g
}

// Series returns the gathered samples of a resource, sample type and source type; an
// empty one if there are none.
func (g *GatheredData) Series(resource, sampleType, sourceType string) wearables.Samples {
	all := wearables.Samples{Resource: resource, Type: sampleType}
	for _, s := range g.Samples {
		if s.Resource == resource && s.Type == sampleType && s.Source.Type == sourceType {
			all.Source = s.Source
			all.Time, all.End, all.Offset = append(all.Time, s.Time...), append(all.End, s.End...), append(all.Offset, s.Offset...)
			all.Value, all.Value2 = append(all.Value, s.Value...), append(all.Value2, s.Value2...)
		}
	}
	return all
}

// Bodies returns the bodies of all summaries of a resource, in order. It adds their dates
// as calendar_date.
func (g *GatheredData) Bodies(tb testing.TB, resource string) []map[string]any {
	tb.Helper()
	var all []map[string]any
	for _, s := range g.Summaries {
		if s.Resource != resource {
			continue
		}
		body := map[string]any{}
		if err := json.Unmarshal(s.Body, &body); err != nil {
			tb.Fatal(err)
		}
		body["calendar_date"] = s.Date.String()
		all = append(all, body)
	}
	return all
}

type sink struct{ g *GatheredData }

func (s sink) Samples(_ context.Context, all []wearables.Samples) error {
	s.g.Samples = append(s.g.Samples, all...)
	return nil
}

func (s sink) Summaries(_ context.Context, all []wearables.Summary, streams ...wearables.Stream) error {
	s.g.Summaries, s.g.Streams = append(s.g.Summaries, all...), append(s.g.Streams, streams...)
	return nil
}

func (s sink) Workouts(_ context.Context, all []derive.Workout) error {
	s.g.Workouts = append(s.g.Workouts, all...)
	return nil
}

func (s sink) Recordings(_ context.Context, all []files.Recording) error {
	s.g.Recorded = append(s.g.Recorded, all...)
	return nil
}

func (s sink) Sleep(one *derive.Sleeper) { s.g.Sleepers = append(s.g.Sleepers, one) }

func (s sink) Fact(day civil.Date, f derive.DayFacts) {
	s.g.Facts[day] = append(s.g.Facts[day], f)
}

func (s sink) Person(p *derive.Person) { s.g.Person = p }

func (s sink) ReportProgress(_, _, _, _ int64) {}

// Check checks the invariants of every reading. Fuzz targets call it.
func (g *GatheredData) Check(tb testing.TB) {
	tb.Helper()
	for _, s := range g.Samples {
		resource, known := wearables.ResourceNamed(s.Resource)
		if !known || s.Source.Provider == "" || s.Source.Type == "" {
			tb.Fatalf("samples of %q of %+v", s.Resource, s.Source)
		}
		n := s.Len()
		if n == 0 || len(s.Value) != n || len(s.Offset) != n || len(s.End) != 0 && len(s.End) != n || len(s.Value2) != 0 && len(s.Value2) != n {
			tb.Fatalf("columns of %s differ", s.Resource)
		}
		if len(s.Value2) > 0 != resource.Pair {
			tb.Fatalf("%s of %d and %d values", s.Resource, len(s.Value), len(s.Value2))
		}
	}
	for i := range g.Summaries {
		g.checkSummary(tb, &g.Summaries[i])
	}
	for i := range g.Workouts {
		checkWorkout(tb, &g.Workouts[i])
	}
	for i := range g.Recorded {
		checkWorkout(tb, &g.Recorded[i].Workout)
		if n := len(g.Recorded[i].Course); n > files.MaxMoments {
			tb.Fatalf("a course of %d moments", n)
		}
	}
	if g.Report.Mapped > g.Report.Records {
		tb.Fatalf("%d of %d records", g.Report.Mapped, g.Report.Records)
	}
}

func checkWorkout(tb testing.TB, w *derive.Workout) {
	tb.Helper()
	if w.End < w.Start || w.End-w.Start > files.LongestWorkout.Microseconds() || w.Source.Provider == "" || w.Sport.Slug == "" {
		tb.Fatalf("a workout of %d µs, %+v, %+v", w.End-w.Start, w.Source, w.Sport)
	}
}

func (g *GatheredData) checkSummary(tb testing.TB, s *wearables.Summary) {
	tb.Helper()
	document, known := wearables.DocumentNamed(s.Resource)
	if !known || s.Source.Provider == "" || s.Source.Type == "" || s.Key == "" {
		tb.Fatalf("a summary of %q, key %q, of %+v", s.Resource, s.Key, s.Source)
	}
	if s.Deleted {
		return
	}
	if document.Dated && s.Date.IsZero() {
		tb.Fatalf("a %s without its date", s.Resource)
	}
	if document.End != "" && (s.Start.IsZero() || !s.End.After(s.Start)) {
		tb.Fatalf("a %s without its bounds", s.Resource)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(s.Body, &fields); err != nil {
		tb.Fatal(err)
	}
	for name := range fields {
		if _, ok := document.Settable(name); !ok {
			tb.Fatalf("%s has no field %s", s.Resource, name)
		}
	}
}

// File holds the expected outcome of a real file: by type, the numbers of read and of
// kept records.
type File map[string][2]int64

// Rejected is the type in a File for the number of values that the store must refuse.
const Rejected = "values rejected"

// Real imports every JSON file of a folder of the public samples, on both engines, twice.
// The second import must change nothing. want must name every file. A file with a nil
// File must be refused.
func Real(t *testing.T, kind files.Kind, folder string, want map[string]File) {
	t.Helper()
	folder = testdata.Shared(t, folder)
	entries, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d files, %d expected, %v", len(entries), len(want), err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for name, types := range want {
			path := filepath.Join(folder, name)
			if types == nil {
				if err := kind.Check(path, 0); err == nil {
					t.Errorf("%s passes for %s", name, kind.Name)
				}
				continue
			}
			o := sheettest.Run(t, db, kind, user, path)
			compare(t, name, o, types)
			if again := sheettest.Run(t, db, kind, user, path); again.Created+again.Updated != 0 {
				t.Errorf("%s the second time: %+v", name, again.Counts)
			}
		}
	})
}

func compare(t *testing.T, name string, o *files.Outcome, want File) {
	t.Helper()
	for of, n := range want {
		if of == Rejected {
			continue
		}
		if got := o.Types[of]; got == nil || got.Read != n[0] || got.Mapped != n[1] {
			t.Errorf("%s: %s is %+v, want %v", name, of, got, n)
		}
	}
	for of, got := range o.Types {
		if _, ok := want[of]; !ok {
			t.Errorf("%s: %s is %+v, not expected", name, of, *got)
		}
	}
	if o.Damaged != 0 || o.Truncated || o.Rejected != int(want[Rejected][0]) {
		t.Errorf("%s: %d damaged, truncated %v, rejected %v", name, o.Damaged, o.Truncated, o.Rejections)
	}
}

// CheckRefused checks that the kind accepts no file of other makers. It skips the files in the
// folder own.
func CheckRefused(t *testing.T, kind files.Kind, own string) {
	t.Helper()
	root := testdata.Shared(t, "wearables")
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" || filepath.Base(filepath.Dir(path)) == own {
			return err
		}
		seen++
		if err := kind.Check(path, 0); err == nil {
			t.Errorf("%s/%s passes for %s", filepath.Base(filepath.Dir(path)), filepath.Base(path), kind.Name)
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// Text imports a text and returns the outcome. The kind must accept the text.
func Text(t *testing.T, db *store.DB, kind files.Kind, zone, content string) *files.Outcome {
	t.Helper()
	return sheettest.Run(t, db, kind, sheettest.User(t, db, zone), filestest.Save(t, []byte(content)))
}

// OnlySummary returns the only element of a list of bodies, and fails the test if there
// are none or several.
func OnlySummary(t *testing.T, all []map[string]any) map[string]any {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d summaries, want one", len(all))
	}
	return all[0]
}

// List formats the elements of a list with spaces between them.
func List(v any) string { return strings.Trim(fmt.Sprint(v), "[]") }

// Seconds adds values to a map. The keys of values are seconds since 1970 as text.
func Seconds(t *testing.T, to map[int64]float64, values map[string]float64) {
	t.Helper()
	for text, v := range values {
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		to[at*1e6] = v
	}
}

// SameSamples compares a series with values by their instants in microseconds.
func SameSamples(t *testing.T, got wearables.Samples, want map[int64]float64) {
	t.Helper()
	if got.Len() != len(want) {
		t.Errorf("%s has %d samples, want %d", got.Resource, got.Len(), len(want))
	}
	for i, at := range got.Time {
		if v, ok := want[at]; !ok || v != got.Value[i] {
			t.Errorf("%s at %v is %v, want %v", got.Resource, time.UnixMicro(at).UTC(), got.Value[i], v)
			return
		}
	}
}
