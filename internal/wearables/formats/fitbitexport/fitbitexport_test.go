package fitbitexport

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/fitbitweb"
	"hale/internal/wearables/formats/sheet/sheettest"
	"hale/internal/wearables/merged"
)

// personOf reads a study's table without the package. It returns the rows of one person,
// and the table with the header and only these rows.
func personOf(t *testing.T, path, id string) (rows [][]string, table []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, row := range all {
		if i == 0 || row[0] == id {
			rows = append(rows, row)
		}
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return rows[1:], b.Bytes()
}

func TestImportRealTables(t *testing.T) {
	days := testdata.Shared(t, "wearables/fitbit/fitabase-dailyActivity_merged.csv")
	weights := testdata.Shared(t, "wearables/fitbit/fitabase-weightLogInfo_merged.csv")
	rows, table := personOf(t, days, "1503960366")
	weighed, scale := personOf(t, weights, "6962181067")
	if len(rows) != 31 || len(weighed) != 30 {
		t.Fatalf("the other reader finds %d days and %d weights", len(rows), len(weighed))
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		o := sheettest.Run(t, db, Kind, user, filestest.Save(t, table))
		if o.Records != 31 || o.Mapped != 31 || o.Created != 31 || o.Damaged != 0 {
			t.Errorf("%+v %+v", o.Report, o.Counts)
		}
		byDate := map[string]map[string]any{}
		for _, doc := range filestest.Summaries(t, db, user, "activity") {
			byDate[doc["calendar_date"].(string)] = doc
		}
		for _, row := range rows {
			at, err := time.Parse("1/2/2006", regexp.MustCompile(`^(\d\d)-(\d\d)-(\d\d)$`).ReplaceAllString(row[1], "$1/$2/20$3"))
			if err != nil {
				t.Fatal(err)
			}
			doc := byDate[at.Format(time.DateOnly)]
			for field, want := range map[string]float64{
				"steps": float(t, row[2]), "calories_total": float(t, row[14]), "high": float(t, row[10]), "medium": float(t, row[11]), "low": float(t, row[12]),
			} {
				if doc[field] != want {
					t.Errorf("%s %s: %v, want %v", row[1], field, doc[field], want)
				}
			}
			if got, _ := doc["distance"].(float64); math.Abs(got-1000*float(t, row[3])) > 0.01 {
				t.Errorf("%s: %v m, want %s km", row[1], got, row[3])
			}
		}
		o = sheettest.Run(t, db, Kind, user, filestest.Save(t, scale))
		if o.Records != 30 || o.Mapped != 30 {
			t.Errorf("%+v %+v", o.Report, o.Counts)
		}
		sum := 0.0
		for _, row := range weighed {
			sum += float(t, row[2])
		}
		got := 0.0
		for _, s := range sheettest.Series(t, db, user) {
			if s.Resource != "body_weight" {
				continue
			}
			for i, v := range s.Value {
				got += v
				if s.Offset[i] != wearables.NoOffset {
					t.Errorf("an offset of %d", s.Offset[i])
				}
			}
		}
		if math.Abs(got-sum) > 1e-6 {
			t.Errorf("the weights add up to %v, want %v", got, sum)
		}
	})
	for _, path := range []string{days, weights} {
		_, err := run(t.Context(), sheettest.Input(storetest.SQLite(t), sheettest.User(t, storetest.SQLite(t), ""), path))
		if !errors.Is(err, errSeveral) {
			t.Errorf("a study of many: %v", err)
		}
	}
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestImportFixtures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "Europe/Berlin")
		o := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "dailyActivity.csv"))
		if c := o.Types["dailyActivity"]; c == nil || *c != (files.TypeCount{Read: 5, Mapped: 3, BadDate: 1, BadValue: 1}) {
			t.Errorf("%+v", c)
		}
		if again := sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "dailyActivity.csv")); again.Unchanged != 3 || again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v", again.Counts)
		}
		o = sheettest.Run(t, db, Kind, user, filepath.Join("testdata", "weightLogInfo.csv"))
		if c := o.Types["weightLogInfo"]; c == nil || *c != (files.TypeCount{Read: 3, Mapped: 2, BadDate: 1}) {
			t.Errorf("%+v", c)
		}
		all := sheettest.Series(t, db, user)
		typed := sheettest.Find(t, all, "body_weight", "", "app")
		if at := time.Date(2024, 5, 2, 21, 59, 59, 0, time.UTC).UnixMicro(); typed.Time[0] != at || typed.Offset[0] != 7200 || typed.Value[0] != 52.5999984741211 {
			t.Errorf("%+v", typed)
		}
		if fat := sheettest.Find(t, all, "body_fat", "", "app"); fat.Len() != 1 || fat.Value[0] != 22 {
			t.Errorf("%+v", fat)
		}
		if scale := sheettest.Find(t, all, "body_mass_index", "", "scale"); scale.Len() != 1 || scale.Value[0] != 22.5 {
			t.Errorf("%+v", scale)
		}
		if bodies := filestest.Summaries(t, db, user, "body"); len(bodies) != 2 {
			t.Errorf("%d bodies", len(bodies))
		}
	})
}

// The store keeps hours beside Fitbit's minutes and the total of the day. A merged total
// counts each step once.
func TestHours(t *testing.T) {
	rows, table := personOf(t, testdata.Shared(t, "wearables/fitbit/fitabase-hourlySteps_merged.csv"), "1503960366")
	sum := 0.0
	for _, row := range rows {
		sum += float(t, row[2])
	}
	days, _ := personOf(t, testdata.Shared(t, "wearables/fitbit/fitabase-dailyActivity_merged.csv"), "1503960366")
	_, daily := personOf(t, testdata.Shared(t, "wearables/fitbit/fitabase-dailyActivity_merged.csv"), "1503960366")
	const minutes = `{"activities-steps": [{"dateTime": "2016-04-12", "value": "700"}], "activities-steps-intraday": {"dataset": [
		{"time": "00:00:00", "value": 7}, {"time": "00:01:00", "value": 5}], "datasetInterval": 1, "datasetType": "minute"}}`
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := sheettest.User(t, db, "")
		for _, kind := range []files.Kind{Kind, fitbitweb.Kind, Kind} { // in either order
			content := table
			if kind.Name != Kind.Name {
				content = []byte(minutes)
			}
			sheettest.Run(t, db, kind, user, filestest.Save(t, content))
		}
		sheettest.Run(t, db, Kind, user, filestest.Save(t, daily))
		o := sheettest.Run(t, db, Kind, user, filestest.Save(t, table))
		if o.Mapped != int64(len(rows)) || o.Created+o.Updated+o.Rejected != 0 || o.Unchanged != len(rows) {
			t.Errorf("again: %+v %+v", o.Report, o.Counts)
		}
		got, minutes := 0.0, 0
		for _, s := range sheettest.Series(t, db, user) {
			if s.Source.AppID == "" {
				minutes += s.Len()
				continue
			}
			for i, v := range s.Value {
				got += v
				if s.Resource != "steps" || s.End[i]-s.Time[i] != hour {
					t.Fatalf("%s of %d µs", s.Resource, s.End[i]-s.Time[i])
				}
			}
		}
		if got != sum || minutes != 2 {
			t.Errorf("%v steps in hours, want %v; %d minutes", got, sum, minutes)
		}
		for _, doc := range filestest.Summaries(t, db, user, "activity") {
			if doc["calendar_date"] == "2016-04-12" && doc["steps"] != float(t, days[0][2]) {
				t.Errorf("the day has %v steps, want %s", doc["steps"], days[0][2])
			}
		}
		if total, want := merge(t, db, user), sum-2.0/60*float(t, rows[0][2])+12; math.Abs(total-want) > 1e-6 {
			t.Errorf("one line has %v steps, want %v", total, want)
		}
	})
}

// merge returns the sum of the merged series of steps.
func merge(t *testing.T, db *store.DB, user users.User) (total float64) {
	t.Helper()
	resource, _ := wearables.ResourceNamed("steps")
	ctx := store.WithTeam(t.Context(), user.Team.UUID())
	err := db.Read(ctx, func(tx *store.Tx) error {
		page, err := merged.Read(ctx, tx, merged.Query{Team: user.Team.UUID(), User: user.ID.UUID(), Resource: resource}, merged.Range{Span: merged.Span{
			Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), End: time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
		}})
		for _, p := range page.Pieces {
			total += p.Value
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func TestSkippedHours(t *testing.T) {
	k := &keeper{}
	report, err := readAll([]byte("Id,ActivityHour,StepTotal\n1,4/12/2016 1:00:00 AM,3\n1,2016-4-12 2:00,0\n1,x,3\n1,4/12/2016 3:00:00 AM,-1\n1,4/12/2016 4:00:00 AM,many\n"), k)
	if c := report.Types["hourlySteps"]; err != nil || *c != (files.TypeCount{Read: 5, Mapped: 2, BadDate: 1, BadValue: 2}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// Known tables that cannot be imported are refused by name.
func TestTablesThatAreRefused(t *testing.T) {
	for name, word := range map[string]string{"hourlyCalories": "at rest", "sleepDay": "began or ended"} {
		path := testdata.Shared(t, "wearables/fitbit/fitabase-"+name+"_merged.csv")
		if err := check(path, 0); !fault.Is(err, fault.Unprocessable) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	for name, content := range map[string]string{
		"minutes": "Id,ActivityMinute,Steps\n1,4/12/2016 1:00:00 AM,3\n", "unknown": "ActivityHour,StepTotal\n", "text": "hello\n", "zip": "PK\x03\x04",
	} {
		var unlike *files.UnlikeError
		if err := check(filestest.Save(t, []byte(content)), 0); !errors.As(err, &unlike) {
			t.Errorf("%s: %v", name, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "dailyActivity.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(filestest.Save(t, raw), 10); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	k := &keeper{}
	report, err := readAll(raw[:bytes.LastIndex(raw, []byte(",1440"))], k)
	if err != nil || !report.Truncated || report.Damaged != 1 || len(k.days) != 2 {
		t.Errorf("cut: %v %+v", err, report)
	}
}

// keeper is a sink.
type keeper struct {
	samples []wearables.Samples
	days    []wearables.Summary
}

func (k *keeper) Samples(_ context.Context, all []wearables.Samples) error {
	k.samples = append(k.samples, all...)
	return nil
}

func (k *keeper) Summaries(_ context.Context, all []wearables.Summary, _ ...wearables.Stream) error {
	k.days = append(k.days, all...)
	return nil
}

func (k *keeper) ReportProgress(_, _, _, _ int64) {}

func readAll(content []byte, k *keeper) (files.Report, error) {
	var report files.Report
	r := &reader{report: &report, sink: k}
	in := bytes.NewReader(content)
	err := onePerson(context.Background(), in)
	if err == nil {
		err = r.read(context.Background(), in)
	}
	return report, err
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"dailyActivity.csv", "weightLogInfo.csv"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte("Id,ActivityHour,StepTotal\n1,4/12/2016 1:00:00 AM,3\n1,2016-4-12 2:00,0\n1,x,3\n1,4/12/2016 3:00:00 AM,-1\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		k := &keeper{}
		report, err := readAll(content, k)
		if err != nil && fault.KindOf(err) != fault.Unprocessable {
			t.Fatal(err)
		}
		if report.Mapped > report.Records || report.Mapped < int64(len(k.days)) {
			t.Fatalf("%+v", report)
		}
		for _, s := range k.samples {
			if s.Len() == 0 || len(s.Value) != s.Len() || len(s.Offset) != s.Len() {
				t.Fatalf("columns of %s differ", s.Resource)
			}
		}
	})
}
