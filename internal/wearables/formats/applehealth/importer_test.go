package applehealth

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/ingest"
)

// createUser creates a user in a new team. It returns the user and the ingester that stores
// the user's data.
func createUser(t testing.TB, db *store.DB) (*ingest.Ingester, users.User) {
	t.Helper()
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	return ingest.New(db), user
}

// importFile imports a file. The stage says whether the data is historical or daily.
func importFile(t testing.TB, in files.Input, stage wearables.Stage) *files.Outcome {
	t.Helper()
	in.Stage = func(context.Context, string) (wearables.Stage, error) { return stage, nil }
	outcome, err := Kind.Run(store.WithTeam(context.Background(), in.User.Team.UUID()), in)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestImportRealExport(t *testing.T) {
	name := testdata.Shared(t, "wearables/apple-health/hkimport-export.xml")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		first := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if first.Workouts != 61 || first.Created == 0 || first.Updated != 0 || first.Rejected != 1 { // one workout moves for longer than it lasts
			t.Errorf("%+v", first)
		}
		t.Logf("created %d, unchanged %d, rejected %d %v in %d days", first.Created, first.Unchanged, first.Rejected, first.Rejections, first.Days)

		if got := filestest.Summaries(t, db, user, "workouts"); len(got) != 59 { // an app wrote one three times, a minute apart
			t.Errorf("%d workouts", len(got))
		}
		steps := 0.0
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			if n, ok := day["steps"].(float64); ok {
				steps += n
			}
		}
		// All steps together are 349765. The steps of each day's best source and the
		// typed steps are 326024. Two typed entries, of 30000 and 15000 steps, are far
		// higher than the phone's count on their days.
		if steps < 290_000 || steps > 326_024-15_000 {
			t.Errorf("%v steps", steps)
		}
		events := filestest.Events(t, db, user)
		if events["provider.connection.created"] != 1 || events["historical.data.heartrate.created"] != 1 || events["daily.data.workouts.created"] != 59 {
			t.Errorf("%v", events)
		}

		again := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Daily)
		if again.Created != 0 || again.Updated != 0 || again.Unchanged != first.Created+first.Unchanged {
			t.Errorf("the second time: %d created, %d updated, %d unchanged; %v", again.Created, again.Updated, again.Unchanged, again.Resources)
		}
		if after := filestest.Events(t, db, user); !maps.Equal(after, events) {
			t.Errorf("a repeated import announced something: %v, before %v", after, events)
		}
	})
}

// This phone writes the steps of five minutes with an interval of seconds.
func TestImportOfShortIntervals(t *testing.T) {
	name := testdata.Shared(t, "wearables/apple-health/export6s3sample.xml")
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if o.Rejected != 0 || o.Resources["steps"].Created != 10 {
			t.Errorf("%+v, rejected %v", o.Resources["steps"], o.Rejections)
		}
		for _, day := range filestest.Summaries(t, db, user, "activity") {
			if day["calendar_date"] == "2014-09-13" && day["steps"] != 2517.0 {
				t.Errorf("%v steps, want 2517", day["steps"])
			}
		}
	})
}

func TestImportGeneratedZip(t *testing.T) {
	var file bytes.Buffer
	stats, err := applehealthtest.WriteZip(&file, applehealthtest.Options{Days: 12, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	name := saveFile(t, file.Bytes())
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		var steps []files.Progress
		o := importFile(t, files.Input{
			DB: db, Sink: sink, User: user, Path: name, HistoryOnly: true, Progress: func(p files.Progress) { steps = append(steps, p) },
		}, wearables.Historical)
		last := steps[len(steps)-1]
		if o.Bytes != stats.Bytes || last.Done != last.Total || last.Step != files.Summarising || last.Days != last.TotalDays || last.Days < 12 {
			t.Errorf("%+v of %d bytes", last, stats.Bytes)
		}
		if o.Rejected != 0 {
			t.Errorf("%v", o.Rejections)
		}
		if days := filestest.Summaries(t, db, user, "activity"); len(days) != 12 {
			t.Errorf("%d days of activity", len(days))
		}
		if nights := filestest.Summaries(t, db, user, "sleep"); len(nights) != 12 {
			t.Errorf("%d nights", len(nights))
		}
		withRoute := 0
		for _, w := range filestest.Summaries(t, db, user, "workouts") {
			if m, ok := w["map"].(map[string]any); ok && m["polyline"] != "" {
				withRoute++
			}
		}
		if withRoute != stats.Routes {
			t.Errorf("%d workouts with a route, want %d", withRoute, stats.Routes)
		}
		if people := filestest.Summaries(t, db, user, "profile"); len(people) != 1 || people[0]["birth_date"] != "1984-05-17" || people[0]["height"] != 171.0 {
			t.Errorf("%v", people)
		}
		events := filestest.Events(t, db, user)
		for _, resource := range []string{"profile", "workout_stream", "heartrate"} { // the first two have no date of their own
			if events["historical.data."+resource+".created"] != 1 {
				t.Errorf("the history of %s is not complete", resource)
			}
		}
		// All data is historical, so no event of daily data may exist.
		for kind := range events {
			if kind[:5] == "daily" {
				t.Errorf("%s was announced", kind)
			}
		}
	})
}

func BenchmarkImport(b *testing.B) {
	name := filepath.Join(b.TempDir(), "export.xml")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	stats, err := applehealthtest.Write(f, applehealthtest.Options{Bytes: 128 << 20})
	if err != nil || f.Close() != nil {
		b.Fatal(err)
	}
	for _, push := range []bool{false, true} {
		b.Run(map[bool]string{false: "history", true: "push"}[push], func(b *testing.B) {
			b.SetBytes(stats.Bytes)
			for b.Loop() {
				b.StopTimer()
				db := storetest.SQLite(b)
				sink, user := createUser(b, db)
				b.StartTimer()
				began := time.Now()
				o := importFile(b, files.Input{DB: db, Sink: sink, User: user, Path: name, HistoryOnly: !push}, wearables.Historical)
				b.ReportMetric(float64(stats.Records)/time.Since(began).Seconds(), "records/s")
				b.ReportMetric(float64(o.Days), "days")
			}
		})
	}
}
