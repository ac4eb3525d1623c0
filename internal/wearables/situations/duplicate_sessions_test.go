package situations

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// storeOld stores a session as versions did that did not compare it with others.
func (b *bed) storeOld(resource, body, start, end string, source wearables.Source, record string, age time.Duration) {
	b.t.Helper()
	from, _ := time.Parse(time.RFC3339, start)
	to, _ := time.Parse(time.RFC3339, end)
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		then := tx.Now().Add(-age)
		s := storage.StoredSummary{
			ID: uuid.New(), Team: b.team.ID.UUID(), User: b.user.ID.UUID(), Resource: resource, Source: source, Body: []byte(body),
			Day: end[:10], Version: 1, CreatedAt: then, UpdatedAt: then, Record: wearables.RecordID(b.user.ID.UUID(), source.Provider, resource, record),
		}
		return s.Write(ctx, tx, from, to)
	})
}

// Sessions that were stored twice are merged: the newest version stays.
func TestRepeatedSamples(t *testing.T) {
	phone := wearables.Source{Provider: apple, Type: "watch", AppID: "com.acme.health"}
	exported := wearables.Source{Provider: apple, Type: "watch", AppID: "com.apple.health.6F1F7CDE-97F5-5F0E-9B55-4A7A4BDF9D51"}
	other := wearables.Source{Provider: android, Type: "watch"}
	storetest.EachAt(t, testClock, func(t *testing.T, db *store.DB) {
		b := newService(t, db).bed(t)
		night := func(total, start, end string, source wearables.Source, record string, age time.Duration) {
			b.storeOld("sleep", `{"bedtime_start":"`+start+`","bedtime_stop":"`+end+`","total":`+total+`}`, start, end, source, record, age)
		}
		night("27000", "2026-03-01T22:00:00Z", "2026-03-02T06:00:00Z", phone, "", 3*time.Hour)
		night("26000", "2026-03-01T22:05:00Z", "2026-03-02T06:00:00Z", phone, "", 2*time.Hour)    // a later version
		night("25000", "2026-03-01T22:00:00Z", "2026-03-02T06:00:00Z", exported, "", 4*time.Hour) // in an export
		night("24000", "2026-03-01T21:50:00Z", "2026-03-02T06:00:00Z", other, "", 4*time.Hour)    // another provider
		night("23000", "2026-03-02T13:00:00Z", "2026-03-02T14:00:00Z", phone, "", 4*time.Hour)    // a nap
		night("22000", "2026-03-03T22:00:00Z", "2026-03-04T06:00:00Z", other, "a", 4*time.Hour)   // two records of one time
		night("21000", "2026-03-03T22:01:00Z", "2026-03-04T06:00:00Z", other, "b", 3*time.Hour)
		night("20000", "2026-03-05T22:00:00Z", "2026-03-06T06:00:00Z", other, "c", 4*time.Hour) // a record that moved
		night("19000", "2026-03-06T22:00:00Z", "2026-03-07T06:00:00Z", other, "c", 3*time.Hour)
		night("18000", "2026-03-09T22:00:00Z", "2026-03-10T06:00:00Z", phone, "", 4*time.Hour) // a night with two parts of it, later
		night("1200", "2026-03-09T23:00:00Z", "2026-03-09T23:20:00Z", phone, "", 3*time.Hour)
		night("1300", "2026-03-10T01:00:00Z", "2026-03-10T01:22:00Z", phone, "", 2*time.Hour)
		night("17000", "2026-03-11T22:00:00Z", "2026-03-12T06:00:00Z", phone, "", 4*time.Hour) // a part with an id
		night("1100", "2026-03-11T23:00:00Z", "2026-03-11T23:20:00Z", phone, "d", 3*time.Hour)
		run := func(distance, start, end string, age time.Duration) {
			b.storeOld("workouts", `{"time_start":"`+start+`","time_end":"`+end+`","distance":`+distance+`}`, start, end, phone, "", age)
		}
		run("10000", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", 2*time.Hour)
		run("9900", "2026-03-01T10:00:01Z", "2026-03-01T10:58:30Z", time.Hour)
		run("900", "2026-03-01T10:10:00Z", "2026-03-01T10:20:00Z", 3*time.Hour) // inside the other one

		const path = "/v2/user/*/data?duplicates=true"
		if got := b.want("DELETE", path+"&dry_run=true", ""); !strings.Contains(got, `"deleted":6`) {
			t.Errorf("dry run: %s", got)
		}
		countEvents("daily.data.sleep.deleted", 0).check(b)
		if got := b.want("DELETE", path, ""); !strings.Contains(got, `"deleted":6`) || !strings.Contains(got, `"status":"succeeded"`) {
			t.Errorf("merged: %s", got)
		}
		for _, w := range []truth{
			summaries("sleep", "total", "24000", "26000", "23000", "22000", "21000", "19000", "18000", "1100", "17000"), summaries("workouts", "distance", "9900", "900"),
			countEvents("daily.data.sleep.deleted", 1), countEvents("daily.data.workouts.deleted", 1),
		} {
			w.check(b)
		}
		if got := b.want("DELETE", path, ""); !strings.Contains(got, `"deleted":0`) {
			t.Errorf("merged again: %s", got)
		}
		if status, got := b.do("DELETE", path+"&provider=oura", ""); status != 422 {
			t.Errorf("with another filter: %d %s", status, got)
		}
		// An older version that is sent again is a version of the merged night.
		pushSummaries("sleep", apple, "UTC", `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z","total":27000,"source_type":"watch","source_app_id":"com.acme.health"}`)(b)
		summaries("sleep", "total", "24000", "27000", "23000", "22000", "21000", "19000", "18000", "1100", "17000").check(b)
	})
}
