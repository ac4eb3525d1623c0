package replay

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
)

// pushSummaries stores summaries as the API does.
func (b *fixture) pushSummaries(resource, data string) {
	b.t.Helper()
	b.pushSummariesOf("health_connect", resource, data)
}

func (b *fixture) pushSummariesOf(provider, resource, data string) {
	b.t.Helper()
	text := []byte(`{"stage":"daily","provider":"` + provider + `","data":[` + data + `]}`)
	d, _ := wearables.DocumentNamed(resource)
	body, err := push.ParseSummaries(text, d)
	if err != nil {
		b.t.Fatal(err)
	}
	packed := ledger.Pack(ledger.Summaries, body.Provider, resource, text)
	r, err := b.sink.Ingest(b.ctx, b.user, wearables.Batch{
		Provider: body.Provider, Summaries: body.Summaries,
		Also: func(ctx context.Context, tx *store.Tx, also *store.Batch, _ []uuid.UUID) error {
			_, err := b.ledger.Keep(ctx, tx, also, b.user.Team, b.user.ID, packed)
			return err
		},
	})
	if err != nil || r.Created+r.Updated == 0 {
		b.t.Fatalf("%+v, %v", r, err)
	}
}

func (b *fixture) change(u users.Update) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		b.user, err = users.Change(b.ctx, tx, b.user.Team, b.user.ID, u)
		return err
	})
}

// stale makes the ledger look as if another mapping had read everything.
func (b *fixture) stale() {
	b.t.Helper()
	b.write(func(tx *store.Tx) error {
		_, err := tx.Exec(b.ctx, `UPDATE payloads SET mapping = 0 WHERE team_id = $1`, b.user.Team)
		return err
	})
}

// changesNothing reads everything again and wants to hear nothing.
func (b *fixture) changesNothing(what string, payloads int64) {
	b.t.Helper()
	before := len(b.events())
	if r := b.run(Order{Every: true}); len(r.Report.Resources) != 0 || r.Report.Payloads != payloads {
		b.t.Errorf("%s: %s", what, asText(r.Report))
	}
	if after := b.events(); len(after) != before {
		b.t.Errorf("%s: announced %v", what, after[before:])
	}
}

// removePayloads ends the retention of everything that came so far.
func (b *fixture) removePayloads() {
	b.t.Helper()
	if n, err := ledger.RemoveExpired(b.ctx, b.db, b.user.Team, b.db.Now()); n == 0 || err != nil {
		b.t.Fatalf("forgot %d, %v", n, err)
	}
}

// ride is a file that states no offset, of a ride that begins late in the
// evening of UTC.
const ride = `<?xml version="1.0"?><TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities>
	<Activity Sport="Biking"><Id>2026-02-01T23:30:00Z</Id><Lap StartTime="2026-02-01T23:30:00Z"><TotalTimeSeconds>120</TotalTimeSeconds><DistanceMeters>900</DistanceMeters><Track>
	<Trackpoint><Time>2026-02-01T23:30:00Z</Time><HeartRateBpm><Value>100</Value></HeartRateBpm></Trackpoint>
	<Trackpoint><Time>2026-02-01T23:32:00Z</Time><HeartRateBpm><Value>120</Value></HeartRateBpm></Trackpoint></Track></Lap></Activity></Activities></TrainingCenterDatabase>`

// clock is a file with the time of a clock on the wall.
const clock = `{"weight":[{"bmi":23.5,"date":"2024-05-06","logId":9001,"source":"Aria","time":"23:05:30","weight":72.5}]}
	{"activities":[{"activityId":2,"activityParentName":"Run","duration":600000,"hasStartTime":true,"logId":7002,"startDate":"2024-05-06","startTime":"23:30"}],"summary":{"caloriesOut":2000,"sedentaryMinutes":700}}`

// A fallback zone changes no stored data, also when data without an offset is
// reprocessed.
func TestFallbackZoneSetAfterThePush(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.pushSummaries("workouts", `{"time_start":"2026-02-01T23:30:00Z","time_end":"2026-02-01T23:50:00Z","provider_id":"a","distance":3000}`)
		b.pushSummaries("sleep", `{"bedtime_start":"2026-02-01T15:00:00Z","bedtime_stop":"2026-02-01T23:30:00Z"}`)
		b.pushSummaries("activity", `{"calendar_date":"2026-02-01","steps":77}`)
		b.upload([]byte(ride))
		b.upload([]byte(clock))
		if all := b.summaries("workouts"); len(all) != 3 {
			t.Fatalf("%d workouts", len(all))
		}
		for _, zone := range []patch.Field[string]{patch.Set("Europe/Berlin"), patch.Set("Asia/Tokyo"), patch.Null[string]()} {
			b.change(users.Update{TimeZone: zone})
			b.changesNothing("the zone is "+zone.Value, 5)
		}
		b.removePayloads()
		b.change(users.Update{TimeZone: patch.Set("Europe/Berlin")})
		b.push("heartrate", `[{"timestamp":"2026-02-02T08:00:00Z","value":61}]`)
		b.change(users.Update{TimeZone: patch.Set("Asia/Tokyo")})
		b.push("heartrate", `[{"timestamp":"2026-02-03T08:00:00Z","value":62}]`)
		b.changesNothing("without the whole ledger", 2)
		if got := b.samples("heartrate", "health_connect").Offset; !slices.Equal(got, []int32{3600, 9 * 3600}) {
			t.Errorf("offsets %v", got)
		}
	})
}

// A value that arrived twice is one value, also if the first body was removed or was
// the file of a canceled import.
func TestRepeatedValueIsReprocessedOnce(t *testing.T) {
	const (
		list = `{"activities":[{"activeDuration":1700000,"activityName":"Walk","duration":1805000,"logId":7001,"logType":"manual","startTime":"2024-05-06T18:10:23.000+02:00","steps":2600}],"pagination":{}}`
		day  = `{"activities":[{"activityId":2,"activityParentName":"Walk","duration":1800000,"hasStartTime":true,"logId":7001,"startDate":"2024-05-06","startTime":"18:10","steps":2600}],"summary":{"caloriesOut":2000,"sedentaryMinutes":700}}`
	)
	for name, gone := range map[string]func(b *fixture){
		"forgotten": (*fixture).removePayloads,
		"canceled": func(b *fixture) {
			b.write(func(tx *store.Tx) error {
				_, err := tx.Exec(b.ctx, `UPDATE imports SET status = 'canceled' WHERE team_id = $1`, b.user.Team)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := newFixture(t, db)
				b.upload([]byte(list))
				gone(b)
				b.upload([]byte(day))
				b.changesNothing(name, 1)
				if all := b.summaries("workouts"); len(all) != 1 {
					t.Errorf("%d workouts", len(all))
				}
			})
		})
	}
}

// night are steps at an hour when the phone of the export counts none.
const night = `[{"timestamp":"2026-03-30T01:00:00Z","end":"2026-03-30T01:30:00Z","value":500,"source_type":"watch"}]`

// A body that came before a file and once more behind it was there when the
// days of the file were made.
func TestBodyPushedBeforeAndAfterAFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.pushOf("apple_health_kit", "steps", night)
		b.upload(export(t, 2))
		b.pushOf("apple_health_kit", "steps", night)
		b.changesNothing("pushed again", 2)
	})
}

// ingestDuringRead is a sink that is busy once, before the first samples are there.
type ingestDuringRead struct {
	files.Sink
	busy func()
}

func (m *ingestDuringRead) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if m.busy != nil {
		m.busy()
		m.busy = nil
	}
	return m.Sink.Ingest(ctx, user, b)
}

// Data that is pushed while a file is read counts for the file's days.
func TestBodyPushedWhileAFileIsRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.uploads.Sink = &ingestDuringRead{b.sink, func() { b.pushOf("apple_health_kit", "steps", night) }}
		b.upload(export(t, 2))
		b.changesNothing("pushed meanwhile", 2)
	})
}

// Reprocessing adds no data from a file whose import is queued or running. The import
// itself stores the data of the file.
func TestUnfinishedImport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.idle = true
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		made := b.begin(export(t, 2))
		for _, status := range []imports.Status{imports.Queued, imports.Running} {
			b.write(func(tx *store.Tx) error {
				_, err := tx.Exec(b.ctx, `UPDATE imports SET status = $2 WHERE team_id = $1`, b.user.Team, string(status))
				return err
			})
			b.stale()
			b.changesNothing(string(status), 1)
		}
		b.write(func(tx *store.Tx) error {
			_, err := b.uploads.Cancel(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
			return err
		})
		if got := b.samples("heartrate", "apple_health_kit"); len(got.Time) != 0 {
			t.Errorf("%d heart rates came in", len(got.Time))
		}
	})
}

// A file's value that replaced an older value stays after its import was canceled. The
// current mapping has already read the body with the older value.
func TestCorrectionsOfACanceledImport(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":100}]`)
		made := b.begin(export(t, 2))
		corrected := b.samples("heartrate", "health_connect")
		corrected.Value = []float64{101}
		batch := wearables.Batch{Provider: "health_connect", Stage: wearables.Historical, Samples: []wearables.Samples{corrected}}
		if _, err := b.sink.Ingest(b.ctx, b.user, batch); err != nil {
			t.Fatal(err)
		}
		b.write(func(tx *store.Tx) error {
			_, err := b.uploads.Cancel(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
			return err
		})
		b.push("heartrate", `[{"timestamp":"2026-02-01T09:00:00Z","value":70}]`)
		b.changesNothing("canceled", 1)
		if got := b.samples("heartrate", "health_connect").Value; !slices.Equal(got, []float64{101, 70}) {
			t.Errorf("%v", got)
		}
		b.stale()
		if r := b.run(Order{}); r.Report.Payloads != 2 {
			t.Errorf("what another mapping read is not read again: %s", asText(r.Report))
		}
		if got := b.samples("heartrate", "health_connect").Value; !slices.Equal(got, []float64{100, 70}) {
			t.Errorf("what another mapping read goes first: %v", got)
		}
	})
}

// Data that came in while it was collected is read again also when collection
// is over.
func TestAfterCollectionHasEnded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		wrong := b.samples("heartrate", "health_connect")
		wrong.Value = []float64{55}
		batch := wearables.Batch{Provider: "health_connect", Stage: wearables.Historical, Samples: []wearables.Samples{wrong}}
		if _, err := b.sink.Ingest(b.ctx, b.user, batch); err != nil {
			t.Fatal(err)
		}
		b.change(users.Update{IngestionEnd: patch.Set(civil.MustParse("2026-02-10"))})
		b.stale()
		r := b.run(Order{})
		if c := r.Report.Resources["heartrate"]; c == nil || c.Updated != 1 || r.Report.Payloads != 1 {
			t.Errorf("%s", asText(r.Report))
		}
		if got := b.samples("heartrate", "health_connect").Value; !slices.Equal(got, []float64{60}) {
			t.Errorf("%v", got)
		}
	})
}

// A user with newer data is started over.
func TestReprocessingRestartsAUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.upload(export(t, 2))
		b.corrupt()
		newer := 1
		b.service.Sink = ingest.NewReprocessor(db, func(ctx context.Context, tx *store.Tx, _ users.User, _ []wearables.TouchedData) error {
			if newer--; newer < 0 {
				return nil
			}
			_, err := tx.Exec(ctx, `UPDATE payloads SET last_at = last_at + 1 WHERE team_id = $1`, b.user.Team)
			return err
		})
		run := Run{Team: b.user.Team, ID: ids.FromUUID[Run](b.user.ID.UUID()), Report: *newChanges()}
		w := &attempt{Service: b.service, run: &run}
		defer func() { w.scratch.drop() }()
		if err := w.person(b.ctx, b.user); err != nil {
			t.Fatal(err)
		}
		if newer > 0 || run.Report.Resources["activity"].Updated != 1 || run.Report.Resources["heartrate"].Updated != 1 {
			t.Errorf("%d, %s", newer, asText(run.Report))
		}
	})
}

// The stored data is copied completely into a scratch database, and no event is sent.
func TestSeedingSendsNoEvents(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		var days []string
		for i := range 205 {
			days = append(days, `{"calendar_date":"`+civil.MustParse("2025-03-01").AddDays(i).String()+`","steps":77}`)
		}
		b.pushSummaries("activity", strings.Join(days, ","))
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		p := &person{attempt: &attempt{Service: b.service}, user: b.user, seen: newChanges()}
		defer func() { p.scratch.drop() }()
		if err := p.prepare(b.ctx); err != nil {
			t.Fatal(err)
		}
		if err := p.seed(b.ctx); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int{"events": 0, "summaries": len(days), "sample_blocks": 1} {
			err := p.scratch.db.Read(b.ctx, func(tx *store.Tx) (err error) {
				var n int
				if err = tx.QueryRow(b.ctx, `SELECT COUNT(*) FROM `+table).Scan(&n); err == nil && n != want {
					t.Errorf("%d %s, want %d", n, table, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
