package replay

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/ledger"
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
