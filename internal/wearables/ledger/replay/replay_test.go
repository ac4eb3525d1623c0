package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
	"hale/internal/wearables/storage"
)

// fixture is a store with a ledger and one user, with the real services.
type fixture struct {
	t       *testing.T
	db      *store.DB
	ctx     context.Context
	user    users.User
	ledger  *ledger.Ledger
	sink    *ingest.Ingester
	uploads *imports.Service
	service *Service
	idle    bool // no import is worked on
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	t.Helper()
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	dir := filepath.Join(t.TempDir(), "spool")
	b := &fixture{t: t, db: db, user: user, ctx: store.WithTeam(context.Background(), user.Team.UUID()), ledger: &ledger.Ledger{}}
	b.sink = ingest.New(db)
	b.uploads = &imports.Service{DB: db, Ledger: b.ledger, Sink: b.sink, Dir: dir}
	b.service = &Service{DB: db, Sink: ingest.NewReprocessor(db), Imports: b.uploads, Dir: dir}
	return b
}

func (b *fixture) write(fn func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.Write(b.ctx, fn); err != nil {
		b.t.Fatal(err)
	}
}

// work runs jobs until fn says that it is done.
func (b *fixture) work(done func() bool) {
	b.t.Helper()
	system := store.AsSystem(context.Background())
	node, err := jobs.Join(system, b.db, time.Second, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(system)
	ended := make(chan error)
	go func() {
		kinds := []jobs.Handler{b.service.Job()}
		if !b.idle {
			kinds = append(kinds, b.uploads.Job())
		}
		ended <- jobs.NewRunner(b.db, jobs.Config{Node: node, Kinds: kinds}).Run(ctx)
	}()
	for range 4800 {
		if done() {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	cancel()
	if err := errors.Join(<-ended, node.Leave(system)); err != nil {
		b.t.Error(err)
	}
}

// receive stores a file as the API does, until it is in the ledger.
func (b *fixture) receive(data []byte) *imports.Upload {
	b.t.Helper()
	up, err := b.uploads.Receive(b.ctx, "", bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.uploads.Share(b.ctx, b.user.Team, b.user.ID, up); err != nil {
		b.t.Fatal(err)
	}
	return up
}

// begin makes the import of a file that waits for its job.
func (b *fixture) begin(data []byte) (made imports.Import) {
	b.t.Helper()
	up := b.receive(data)
	b.write(func(tx *store.Tx) (err error) {
		made, err = b.uploads.Create(b.ctx, tx, b.user, up, false)
		return err
	})
	return made
}

// upload imports a file and waits for the end.
func (b *fixture) upload(data []byte) {
	b.t.Helper()
	made := b.begin(data)
	b.work(func() bool {
		b.write(func(tx *store.Tx) (err error) {
			made, err = imports.Get(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
			return err
		})
		return made.Status != imports.Queued && made.Status != imports.Running
	})
	if made.Status != imports.Succeeded {
		b.t.Fatalf("the import %s: %s", made.Status, made.Error)
	}
}

// push stores a body of samples as the API does.
func (b *fixture) push(resource, data string) {
	b.t.Helper()
	b.pushOf("health_connect", resource, data)
}

func (b *fixture) pushOf(provider, resource, data string) {
	b.t.Helper()
	text := []byte(`{"stage":"daily","provider":"` + provider + `","data":` + data + `}`)
	r, _ := wearables.ResourceNamed(resource)
	body, err := push.Parse(text, r)
	if err != nil {
		b.t.Fatal(err)
	}
	batch, _ := body.Batch(r)
	packed := ledger.Pack(ledger.Samples, body.Provider, resource, text)
	batch.Also = func(ctx context.Context, tx *store.Tx, also *store.Batch, _ []uuid.UUID) error {
		_, err := b.ledger.Keep(ctx, tx, also, b.user.Team, b.user.ID, packed)
		return err
	}
	if _, err := b.sink.Ingest(b.ctx, b.user, batch); err != nil {
		b.t.Fatal(err)
	}
}

// run orders a run and waits for its end.
func (b *fixture) run(o Order) (r Run) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		r, err = b.service.Create(b.ctx, tx, b.user.Team, o)
		return err
	})
	b.work(func() bool {
		b.write(func(tx *store.Tx) (err error) {
			r, err = Get(b.ctx, tx, b.user.Team, r.ID)
			return err
		})
		return r.Status != jobs.Queued && r.Status != jobs.Running
	})
	if r.Status != jobs.Succeeded || r.Done != r.Total {
		b.t.Fatalf("%+v", r)
	}
	return r
}

func (b *fixture) events() (names []string) {
	b.t.Helper()
	b.write(func(tx *store.Tx) error {
		names = nil
		rows, err := tx.Query(b.ctx, `SELECT type FROM events WHERE team_id = $1 ORDER BY created_at, id`, b.user.Team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names
}

func (b *fixture) samples(resource, provider string) (all wearables.Samples) {
	b.t.Helper()
	b.write(func(tx *store.Tx) error {
		groups, _, err := storage.ListSamples(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), storage.SamplesQuery{
			Resource: resource, Provider: provider, From: 0, To: 1 << 60,
		})
		if err == nil && len(groups) > 0 {
			all = groups[0]
		}
		return err
	})
	return all
}

func (b *fixture) summaries(resource string) (all []storage.StoredSummary) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		all, err = storage.ListSummaries(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), storage.SummaryQuery{Resource: resource})
		return err
	})
	return all
}

// corrupt makes the store look as if another mapping had read everything: one
// heart rate is wrong, and so is one day's distance.
func (b *fixture) corrupt() {
	b.t.Helper()
	beat := b.samples("heartrate", "apple_health_kit")
	beat.Time, beat.Value, beat.Offset, beat.End = beat.Time[:1], []float64{beat.Value[0] + 1}, beat.Offset[:1], nil
	quiet := ingest.New(b.db)
	days := b.summaries("activity")
	day := days[len(days)-1]
	var said struct {
		Date string `json:"calendar_date"`
	}
	if err := json.Unmarshal(day.Body, &said); err != nil {
		b.t.Fatal(err)
	}
	if _, err := quiet.Ingest(b.ctx, b.user, wearables.Batch{
		Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{beat},
	}); err != nil {
		b.t.Fatal(err)
	}
	// The summary is spoiled in place, since its key is known to the import alone.
	body := bytes.Replace(day.Body, []byte(`"distance":`), []byte(`"distance":1`), 1)
	if bytes.Equal(body, day.Body) {
		b.t.Fatalf("the day has no distance: %s", day.Body)
	}
	b.write(func(tx *store.Tx) error {
		sealed, err := tx.Seal(b.ctx, b.user.Team.UUID(), b.user.ID.UUID(), "summaries.body:"+day.ID.String(), body)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(b.ctx, `UPDATE summaries SET body = $3 WHERE team_id = $1 AND id = $2`, b.user.Team, day.ID, sealed); err != nil {
			return err
		}
		_, err = tx.Exec(b.ctx, `UPDATE payloads SET mapping = 0 WHERE team_id = $1`, b.user.Team)
		return err
	})
}

func export(t *testing.T, days int) []byte {
	t.Helper()
	return exportOf(t, applehealthtest.Options{Days: days})
}

func exportOf(t *testing.T, o applehealthtest.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := applehealthtest.WriteZip(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An import and some pushes, then a mapping that was wrong and is corrected: only the
// wrong values are updated and announced.
func TestCorrectedMappingScenario(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.upload(export(t, 3))
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60,"source_type":"watch"}]`)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":70,"source_type":"watch"},{"timestamp":"2026-02-01T08:01:00Z","value":71,"source_type":"watch"}]`)
		b.push("steps", `[{"timestamp":"2026-02-01T08:00:00Z","end":"2026-02-01T09:00:00Z","value":600,"source_type":"watch"}]`)
		before := b.events()

		if r := b.run(Order{}); r.Report.Users != 0 || r.Report.Payloads != 0 {
			t.Errorf("read again though nothing is stale: %+v", r.Report)
		}
		r := b.run(Order{Every: true})
		if len(r.Report.Resources) != 0 || r.Report.Users != 1 || r.Report.Payloads != 4 {
			t.Errorf("the same mapping changes something: %+v %s", r.Report, asText(r.Report))
		}
		beats, days := b.samples("heartrate", "apple_health_kit"), b.summaries("activity")

		b.corrupt()
		want := `{"activity":{"created":0,"updated":1,"first_created":null,"first_updated":{"provider":"apple_health_kit","source_type":"SOURCE","day":"DAY","fields":["distance"]}},` +
			`"heartrate":{"created":0,"updated":1,"first_created":null,"first_updated":{"provider":"apple_health_kit","source_type":"TYPE","day":"","fields":[]}}}`
		last := days[len(days)-1]
		var said struct {
			Date string `json:"calendar_date"`
		}
		_ = json.Unmarshal(last.Body, &said)
		want = strings.NewReplacer("SOURCE", last.Source.Type, "DAY", said.Date, "TYPE", beats.Source.Type).Replace(want)

		dry := b.run(Order{DryRun: true})
		if got := asText(dry.Report.Resources); got != want {
			t.Errorf("dry run\ngot  %s\nwant %s", got, want)
		}
		if v := b.samples("heartrate", "apple_health_kit").Value[0]; v != beats.Value[0]+1 || len(b.events()) != len(before) {
			t.Error("a dry run changed something")
		}

		r = b.run(Order{User: &b.user.ID})
		if got := asText(r.Report.Resources); got != want {
			t.Errorf("run\ngot  %s\nwant %s", got, want)
		}
		if got := b.samples("heartrate", "apple_health_kit"); !slices.Equal(got.Value, beats.Value) {
			t.Error("the heart rates are not what they were")
		}
		if got := b.summaries("activity"); !bytes.Equal(got[len(got)-1].Body, last.Body) {
			t.Errorf("the day is %s, was %s", got[len(got)-1].Body, last.Body)
		}
		if got := b.samples("heartrate", "health_connect"); !slices.Equal(got.Value, []float64{70, 71}) {
			t.Errorf("a push was undone: %v", got.Value)
		}
		after := b.events()[len(before):]
		slices.Sort(after)
		if strings.Join(after, " ") != "daily.data.activity.updated daily.data.heartrate.updated" {
			t.Errorf("announced %v", after)
		}
		if r := b.run(Order{}); r.Report.Users != 0 {
			t.Errorf("still stale afterwards: %+v", r.Report)
		}
	})
}

// A workout that an earlier mapping stored under another source type is found
// in the store, also when its file is read again beside it.
func TestARecordingOfAnEarlierMapping(t *testing.T) {
	const track = `<gpx version="1.1" creator="Garmin Connect"><trk><trkseg>
		<trkpt lat="46.0" lon="14.0"><time>2026-02-01T08:00:00Z</time><extensions><hr>98</hr></extensions></trkpt>
		<trkpt lat="46.001" lon="14.0"><time>2026-02-01T08:01:00Z</time><extensions><hr>99</hr></extensions></trkpt></trkseg></trk></gpx>`
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		start := time.Date(2026, 2, 1, 8, 0, 0, 0, time.UTC)
		unknown := wearables.Source{Type: "unknown"}
		if _, err := b.sink.Ingest(b.ctx, b.user, wearables.Batch{Provider: "garmin", Stage: wearables.Daily, Summaries: []wearables.Summary{{
			Resource: "workouts", Key: derive.WorkoutKey(start.UnixMicro(), unknown), Source: unknown,
			Start: start, End: start.Add(time.Minute), Body: []byte(`{}`),
		}}}); err != nil {
			t.Fatal(err)
		}
		b.upload([]byte(track))
		if r := b.run(Order{Every: true}); r.Report.Payloads != 1 || len(r.Report.Resources) != 0 {
			t.Errorf("%+v %s", r.Report, asText(r.Report))
		}
		if all := b.summaries("workouts"); len(all) != 1 {
			t.Errorf("%d workouts", len(all))
		}
	})
}

// A phone pushes for some days, then an export of the same days is imported. Its
// activities and workouts are derived from both, also after reprocessing.
func TestAFileReadsWhatWasPushedBefore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.pushOf("apple_health_kit", "wheelchair_push", `[{"timestamp":"2026-03-30T08:00:00Z","end":"2026-03-30T09:00:00Z","value":77,"source_type":"watch"}]`)
		b.pushOf("apple_health_kit", "steps", `[{"timestamp":"2026-03-30T01:00:00Z","end":"2026-03-30T01:30:00Z","value":500,"source_type":"watch"}]`)
		b.upload(export(t, 2))
		if !slices.ContainsFunc(b.summaries("activity"), func(day storage.StoredSummary) bool {
			return bytes.Contains(day.Body, []byte(`"wheelchair_push":77`))
		}) {
			t.Error("the import did not see what was pushed before")
		}
		before := len(b.events())
		if r := b.run(Order{Every: true}); len(r.Report.Resources) != 0 || r.Report.Payloads != 3 {
			t.Errorf("the same mapping changes something: %s", asText(r.Report))
		}
		if after := b.events(); len(after) != before {
			t.Errorf("announced %v", after[before:])
		}
	})
}

func asText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// An offset from a fallback zone does not count as stated when it is reprocessed,
// whether the ledger is complete or not.
func TestOffsetsOfAFallbackZone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		zone := "Europe/Berlin"
		b.user = userstest.New(t, db, b.user.Team, users.NewUser{TimeZone: &zone})
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		b.push("steps", `[{"timestamp":"2026-02-01T08:00:00Z","end":"2026-02-01T09:00:00Z","value":600}]`)
		for _, forgotten := range []string{"FALSE", "TRUE"} {
			b.write(func(tx *store.Tx) error {
				_, err := tx.Exec(b.ctx, `UPDATE payload_keys SET forgotten = `+forgotten+` WHERE team_id = $1`, b.user.Team)
				return err
			})
			if r := b.run(Order{Every: true}); len(r.Report.Resources) != 0 || r.Report.Payloads != 2 {
				t.Errorf("forgotten %s: %s", forgotten, asText(r.Report))
			}
		}
		if got := b.samples("heartrate", "health_connect").Offset; !slices.Equal(got, []int32{3600}) {
			t.Errorf("offsets %v", got)
		}
	})
}

// Days are derived from all samples, also from those whose payload is gone.
func TestAnIncompleteLedger(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.upload(export(t, 2))
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `UPDATE payload_keys SET forgotten = TRUE WHERE team_id = $1`, b.user.Team)
			return err
		})
		if r := b.run(Order{Every: true}); len(r.Report.Resources) != 0 || r.Report.Payloads != 1 {
			t.Errorf("%s", asText(r.Report))
		}
	})
}

// The file of a canceled import is not reprocessed, for both ways to cancel an
// import. A file without an import is not reprocessed either. If a canceled file is
// uploaded again, it is reprocessed.
func TestCanceledImportsAreNotReprocessed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		data, second, third := export(t, 2), export(t, 3), export(t, 4)
		made := b.begin(data)
		b.write(func(tx *store.Tx) error {
			_, err := b.uploads.Cancel(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
			return err
		})
		made = b.begin(second)
		b.write(func(tx *store.Tx) error {
			_, err := jobs.Stop(b.ctx, tx, b.user.Team.UUID(), ids.FromUUID[jobs.Job](made.ID.UUID()))
			return err
		})
		b.receive(third).Discard()
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		if r := b.run(Order{Every: true}); r.Report.Payloads != 1 || len(r.Report.Resources) != 0 {
			t.Errorf("read again: %s", asText(r.Report))
		}
		if got := b.samples("heartrate", "apple_health_kit"); len(got.Time) != 0 {
			t.Errorf("%d heart rates came in", len(got.Time))
		}
		b.upload(data)
		if r := b.run(Order{Every: true}); r.Report.Payloads != 2 || len(r.Report.Resources) != 0 {
			t.Errorf("uploaded once more: %s", asText(r.Report))
		}
	})
}

// The data that an import stored before it was canceled stays, and days are still
// derived from it.
func TestDataOfACanceledImportStays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.upload(export(t, 2))
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `UPDATE imports SET status = 'canceled' WHERE team_id = $1`, b.user.Team)
			return err
		})
		b.upload(exportOf(t, applehealthtest.Options{Days: 1, Seed: 7}))
		before, beats := b.summaries("activity"), b.samples("heartrate", "apple_health_kit")
		if r := b.run(Order{Every: true}); r.Report.Payloads != 1 || len(r.Report.Resources) != 0 {
			t.Errorf("%s", asText(r.Report))
		}
		for i, day := range b.summaries("activity") {
			if !bytes.Equal(day.Body, before[i].Body) {
				t.Errorf("a day is %s, was %s", day.Body, before[i].Body)
			}
		}
		if got := b.samples("heartrate", "apple_health_kit"); !slices.Equal(got.Value, beats.Value) || len(got.Value) == 0 {
			t.Errorf("%d heart rates, were %d", len(got.Value), len(beats.Value))
		}
	})
}

// Data that arrives while the ledger is read is newer than the reprocessed data.
func TestNewerValuesAreNotOverwritten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		run := Run{Team: b.user.Team, ID: ids.FromUUID[Run](b.user.ID.UUID()), Report: *newChanges()}
		p := &person{attempt: &attempt{Service: b.service, run: &run}, user: b.user, seen: newChanges()}
		old := b.samples("heartrate", "health_connect")
		old.Value = []float64{55}
		batch := wearables.Batch{Provider: "health_connect", Samples: []wearables.Samples{old}}
		if err := p.store(b.ctx, batch); !errors.Is(err, errNewer) {
			t.Errorf("%v", err)
		}
		if got := b.samples("heartrate", "health_connect"); got.Value[0] != 60 || len(run.Report.Resources) != 0 {
			t.Errorf("%v, %s", got.Value, asText(run.Report))
		}
	})
}

// A payload that the current mapping refuses does not affect other payloads.
func TestUnreadablePayloads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
		packed := ledger.Pack(ledger.Samples, "health_connect", "heartrate", []byte(`{"data":[`))
		b.write(func(tx *store.Tx) error {
			var kept store.Batch
			if _, err := b.ledger.Keep(b.ctx, tx, &kept, b.user.Team, b.user.ID, packed); err != nil {
				return err
			}
			return tx.Run(b.ctx, &kept)
		})
		file := ledger.File{
			Team: b.user.Team, User: b.user.ID, Kind: "no_such_kind", Path: filepath.Join(t.TempDir(), "file"), Size: 4, SHA256: bytes.Repeat([]byte{7}, 32),
		}
		if err := os.WriteFile(file.Path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ledger.KeepFile(b.ctx, b.db, file); err != nil {
			t.Fatal(err)
		}
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `INSERT INTO imports (team_id, user_id, id, kind, size, sha256, history_only, status, stage, spool,
					step, done, total, records, skipped, error, attempts, created_at)
				VALUES ($1, $2, $2, $3, $4, $5, FALSE, 'succeeded', '', '', '', 0, 0, 0, 0, '', 1, 0)`, file.Team, file.User, file.Kind, file.Size, file.SHA256)
			return err
		})
		r := b.run(Order{Every: true})
		if r.Report.Payloads != 1 || r.Report.Unreadable[ledger.Samples] != 1 || r.Report.Unreadable["no_such_kind"] != 1 {
			t.Errorf("%s", asText(r.Report))
		}
	})
}
