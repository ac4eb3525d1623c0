package replay

import (
	"archive/zip"
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/storage"
)

// calendar is a clock that can be set back.
type calendar struct{ behind atomic.Int64 }

func (c *calendar) now() time.Time { return time.Now().Add(-time.Duration(c.behind.Load())) }

func (c *calendar) daysAgo(n int) { c.behind.Store(int64(time.Duration(n) * 24 * time.Hour)) }

// heightProfile returns an Apple Health export with a height of 180 cm that was measured
// some days ago.
func heightProfile(t *testing.T, daysAgo int) []byte {
	t.Helper()
	day := time.Now().AddDate(0, 0, -daysAgo).UTC().Format("2006-01-02") + " 08:00:00 +0000"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("apple_health_export/export.xml")
	if err == nil {
		_, err = f.Write([]byte(strings.ReplaceAll(`<?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_DE"><ExportDate value="DAY"/>
			<Me HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"/>
			<Record type="HKQuantityTypeIdentifierHeight" sourceName="Health" unit="cm" creationDate="DAY" startDate="DAY" endDate="DAY" value="180"/>
			</HealthData>`, "DAY", day)))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A height without a time of measurement has the day of its arrival, even when it is
// reprocessed. A height that was measured later stays.
func TestHeightsAreReprocessed(t *testing.T) {
	const (
		account  = `{"polar-user-id":7,"member-id":"m-1","birthdate":"1979-10-11","gender":"FEMALE","height":172}`
		measured = `{"id":3,"transaction-id":9,"created":"DAYT07:11:33.000Z","maximum-heart-rate":186,"weight":71.5,"height":180.0}`
	)
	for name, story := range map[string]func(t *testing.T, b *fixture, c *calendar){
		"a push, then a file": func(t *testing.T, b *fixture, c *calendar) {
			c.daysAgo(365)
			b.pushSummariesOf("apple_health_kit", "profile", `{"height":172,"sex":"female"}`)
			c.daysAgo(0)
			b.upload(heightProfile(t, 150))
		},
		"a file, then a file": func(t *testing.T, b *fixture, c *calendar) {
			c.daysAgo(365)
			b.upload([]byte(account))
			c.daysAgo(0)
			b.upload([]byte(strings.ReplaceAll(measured, "DAY", time.Now().AddDate(0, 0, -150).UTC().Format("2006-01-02"))))
		},
		"a file that comes again and is not read": func(t *testing.T, b *fixture, c *calendar) {
			c.daysAgo(365)
			b.upload([]byte(account))
			c.daysAgo(100)
			b.pushSummariesOf("polar", "profile", `{"height":180}`)
			c.daysAgo(0)
			b.receive([]byte(account)).Discard()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c calendar
			storetest.EachAt(t, c.now, func(t *testing.T, db *store.DB) {
				c.daysAgo(366)
				b := newFixture(t, db)
				story(t, b, &c)
				for _, o := range []Order{{Every: true}, {}} {
					b.expectUnchanged("read again", o)
					b.stale()
				}
				if all := b.summaries("profile"); len(all) != 1 || !strings.Contains(string(all[0].Body), `"height":180`) {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}

// keep stores a body in the ledger as if an older mapping had read no data from it.
func (b *fixture) keep(kind, resource, data string) {
	b.t.Helper()
	packed := ledger.Pack(kind, "health_connect", resource, []byte(`{"stage":"daily","provider":"health_connect","data":[`+data+`]}`))
	b.write(func(tx *store.Tx) error {
		var kept store.Batch
		if _, err := b.ledger.Keep(b.ctx, tx, &kept, b.user.Team, b.user.ID, packed); err != nil {
			return err
		}
		return tx.Run(b.ctx, &kept)
	})
}

// A value that reprocessing adds has the offset that it would have had on arrival: none
// if the user had no fallback zone yet.
func TestNewValuesHaveTheZoneOfTheirArrival(t *testing.T) {
	const (
		steps   = `{"timestamp":"2026-02-0DT08:00:00Z","end":"2026-02-0DT08:00:05Z","value":426}`
		workout = `{"time_start":"2026-02-0DT23:30:00Z","time_end":"2026-02-0DT23:50:00Z","distance":3000}`
	)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		for i, zone := range []string{"", "Europe/Berlin", "Asia/Tokyo"} {
			if zone != "" {
				b.change(users.Update{TimeZone: patch.Set(zone)})
			}
			if zone != "Asia/Tokyo" {
				day := strings.NewReplacer("0D", "0"+string(rune('1'+i)))
				b.keep(ledger.Samples, "steps", day.Replace(steps))
				b.keep(ledger.Summaries, "workouts", day.Replace(workout))
			}
		}
		b.stale()
		r := b.run(Order{})
		if c := r.Report.Resources; c["steps"] == nil || c["steps"].Created != 2 || c["workouts"] == nil || c["workouts"].Created != 2 {
			t.Fatalf("%s", asText(r.Report))
		}
		none := int32(-1 << 31)
		if got := b.samples("steps", "health_connect").Offset; !slices.Equal(got, []int32{none, 3600}) {
			t.Errorf("offsets %v", got)
		}
		all := b.summaries("workouts")
		first, second := string(all[0].Body), string(all[1].Body)
		if strings.Contains(first, "timezone_offset") || !strings.Contains(first, `"calendar_date":"2026-02-01"`) {
			t.Errorf("before there was a zone: %s", first)
		}
		if !strings.Contains(second, `"timezone_offset":3600`) || !strings.Contains(second, `"calendar_date":"2026-02-03"`) {
			t.Errorf("in Berlin: %s", second)
		}
	})
}

// A user may receive newer data all the time, as during the import of an export.
// This neither blocks nor fails the run: the run returns to the user.
func TestReprocessingWhileTheUserPushes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		first := b.user
		others := []users.User{first, userstest.New(t, db, first.Team, users.NewUser{})}
		for _, b.user = range others {
			b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60}]`)
			b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Value = []float64{55} })
			b.stale()
		}
		var done []users.ID
		left := 2*maxTries + 1 // more than an attempt takes
		b.service.Sink = ingest.NewReprocessor(db, func(ctx context.Context, tx *store.Tx, user users.User, _ []wearables.TouchedData) error {
			if user.ID != first.ID {
				done = append(done, user.ID)
				return nil
			}
			if left--; left < 0 {
				done = append(done, user.ID)
				return nil
			}
			return errNewer
		})
		if r := b.run(Order{}); r.Done != 2 || r.Report.Users != 2 || r.Report.Resources["heartrate"].Updated != 2 {
			t.Errorf("%+v", r)
		}
		if !slices.Equal(done, []users.ID{others[1].ID, first.ID}) {
			t.Errorf("%v", done)
		}
		var attempts int
		b.write(func(tx *store.Tx) error {
			return tx.QueryRow(b.ctx, `SELECT MAX(attempts) FROM jobs WHERE kind = 'ledger.renormalise' AND team_id = $1`, first.Team).Scan(&attempts)
		})
		if attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}

		left = 2*maxTries + 1 // and one user alone
		b.user = first
		b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Value = []float64{55} })
		if r := b.run(Order{User: &first.ID, Every: true}); r.Report.Resources["heartrate"].Updated != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// An earlier version stated the day of a session. The session has that day when
// all of its versions are reprocessed, whether the session is still stored or
// not.
func TestReprocessedDayKeepsStatedTotals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		const bounds = `{"bedtime_start":"2026-02-01T15:00:00Z","bedtime_stop":"2026-02-01T23:30:00Z",`
		b.pushSummaries("sleep", bounds+`"calendar_date":"2026-02-02"},`+bounds+`"hr_average":55}`)
		b.changesNothing("while it is stored", 1)
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `DELETE FROM summaries WHERE team_id = $1 AND user_id = $2`, b.user.Team, b.user.ID)
			return err
		})
		b.run(Order{Every: true})
		if all := b.summaries("sleep"); len(all) != 1 || all[0].StatedDay() != civil.MustParse("2026-02-02") {
			t.Errorf("read again it is %d sleeps, %+v", len(all), all)
		}
	})
}

// Samples that were rejected because of another user's device are in the ledger as
// received. Reprocessing rejects them again.
func TestUnknownDevicesStayUnknown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		packed := ledger.Pack(ledger.Samples, "health_connect", "glucose", []byte(`{"stage":"daily","provider":"health_connect","data":[`+
			`{"timestamp":"2026-02-01T11:00:00Z","value":5,"source_device_id":"`+uuid.NewString()+`"},{"timestamp":"2026-02-01T12:00:00Z","value":6}]}`))
		b.write(func(tx *store.Tx) error {
			var also store.Batch
			if _, err := b.ledger.Keep(context.Background(), tx, &also, b.user.Team, b.user.ID, packed); err != nil {
				return err
			}
			return tx.Run(b.ctx, &also)
		})
		b.run(Order{Every: true})
		b.write(func(tx *store.Tx) error {
			all, err := storage.SeriesOf(b.ctx, tx, b.user.Team.UUID(), b.user.ID.UUID(), "glucose")
			if err == nil && (len(all) != 1 || all[0].Source.DeviceID != nil) {
				t.Errorf("%d series, %+v", len(all), all)
			}
			return err
		})
	})
}

func TestABodyOfSeveralSeriesIsReprocessed(t *testing.T) {
	batch, err := batchOf(&ledger.Payload{Kind: ledger.Series}, []byte(`{"stage":"historical","provider":"health_connect","series":{
		"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":61}],
		"body_weight":[{"timestamp":"2026-03-01T10:00:00Z","value":80000,"unit":"g"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := batch.Samples; batch.Provider != "health_connect" || len(s) != 2 || s[0].Resource != "heartrate" || s[1].Resource != "body_weight" || s[1].Value[0] != 80 {
		t.Errorf("%+v", batch)
	}
	if _, err := batchOf(&ledger.Payload{Kind: ledger.Series}, []byte(`{"series":[]}`)); err == nil {
		t.Error("what is no body was read")
	}
}

// The further words of samples are in the stored bodies, also in those from before the
// words were read.
func TestWordsOfStoredBodiesAreRead(t *testing.T) {
	const list = `"insulin_injection":[{"timestamp":"2026-03-01T10:00:00Z","value":4,"type":"rapid_acting","delivery_mode":"bolus"}]`
	for kind, body := range map[string]string{ledger.Series: `"series":{` + list + `}`, ledger.Samples: `"data"` + list[len(`"insulin_injection"`):]} {
		p := ledger.Payload{Kind: kind, Resource: "insulin_injection"}
		batch, err := batchOf(&p, []byte(`{"stage":"daily","provider":"health_connect",`+body+`}`))
		if err != nil || len(batch.Samples) != 1 || batch.Samples[0].Extra != "bolus,," {
			t.Errorf("%s: %+v, %v", kind, batch, err)
		}
		if p.Mapping, p.Kind = 1, kind; !p.Stale() {
			t.Errorf("%s are not read again", kind)
		}
	}
}
