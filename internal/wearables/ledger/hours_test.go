package ledger_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables/ledger"
)

func (b *fixture) about(body string, first int64) (id ledger.ID) {
	b.t.Helper()
	return b.keepPacked(ledger.Pack(ledger.Samples, "apple_health_kit", "heartrate", []byte(body)).WithTime(first))
}

func (b *fixture) hours() []int64 {
	b.t.Helper()
	var all []int64
	b.write(func(tx *store.Tx) error {
		rows, err := tx.Query(b.ctx, `SELECT hour FROM payload_hours WHERE team_id = $1 AND user_id = $2 ORDER BY hour`, b.user.Team, b.user.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var hour int64
			if err := rows.Scan(&hour); err != nil {
				return err
			}
			all = append(all, hour)
		}
		return rows.Err()
	})
	return all
}

// Reads find bodies of any hour by their user and by their id. A body that
// arrives again is the stored one.
func TestPayloadsOfAnyHour(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	hour := time.Hour.Microseconds()
	forEachEngine(t, func(b *fixture) {
		other := *b
		other.user = userstest.New(t, b.db, b.user.Team, users.NewUser{})
		other.about("another user's", noon)
		bodies := map[string]int64{
			"of no time": 0, "of the first hour": hour, "at noon": noon, "within the hour": noon + hour - 1, "an hour later": noon + hour,
			"before 1970": -5 * hour, "before all": math.MinInt64, "after all": math.MaxInt64,
			"last with room": (1<<48 - 1) * 1000, "without room": (1<<48-1)*1000 + hour,
		}
		ids := map[ledger.ID]string{}
		for body, first := range bodies {
			ids[b.about(body, first)] = body
		}
		for body, first := range bodies {
			ids[b.about(body, first)] = body
		}
		all := b.list()
		if len(all) != len(bodies) || len(ids) != len(bodies) {
			t.Fatalf("%d payloads and %d ids of %d bodies", len(all), len(ids), len(bodies))
		}
		for _, p := range all {
			if text := string(b.body(p)); text != ids[p.ID] || p.Times != 2 {
				t.Errorf("%s is %q, %d times", ids[p.ID], text, p.Times)
			}
			b.write(func(tx *store.Tx) error {
				_, err := ledger.Get(b.ctx, tx, b.user.Team, b.user.ID, p.ID)
				return err
			})
		}
		if len(other.list()) != 1 {
			t.Errorf("the other user has %d", len(other.list()))
		}
		n := noon / hour
		if got, want := b.hours(), []int64{1, n, n + 1, (1<<48 - 1) * 1000 / hour}; !slices.Equal(got, want) {
			t.Errorf("hours %v, want %v", got, want)
		}
		for _, table := range []string{"payloads", "payload_hours"} {
			b.write(func(tx *store.Tx) error {
				_, err := ledger.EraseTable(b.ctx, tx, table, b.user.Team, b.user.ID)
				return err
			})
		}
		if len(b.list()) != 0 || len(b.hours()) != 0 || len(other.list()) != 1 || len(other.hours()) != 1 {
			t.Errorf("erasing left %d payloads and the hours %v; the other user has %d and %v",
				len(b.list()), b.hours(), len(other.list()), other.hours())
		}
	})
}

// An hour is forgotten with the last body that is about it.
func TestRetentionRemovesHours(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	forEachEngine(t, func(b *fixture) {
		b.about("old", noon)
		b.later(time.Hour)
		b.about("newer", noon)
		forget := func(before time.Time) {
			t.Helper()
			if n, err := ledger.RemoveExpired(b.ctx, b.db, b.user.Team, before); n != 1 || err != nil {
				t.Fatalf("forgot %d, %v", n, err)
			}
		}
		forget(b.now.Add(-time.Minute))
		if len(b.hours()) != 1 || len(b.list()) != 1 {
			t.Errorf("one of two forgotten: hours %v, %d payloads", b.hours(), len(b.list()))
		}
		forget(b.now.Add(time.Minute))
		if len(b.hours()) != 0 || len(b.list()) != 0 {
			t.Errorf("both forgotten: hours %v, %d payloads", b.hours(), len(b.list()))
		}
	})
}

// A body that is stored while the last other body of its hour is removed has an hour by
// which it is found. A body that arrives again at that time is stored.
func TestBodyPushedWhileItsHourIsRemoved(t *testing.T) {
	t.Run("new", func(t *testing.T) { keepDuringRemoval(t, "new") })
	t.Run("once more", func(t *testing.T) { keepDuringRemoval(t, "old") })
}

func keepDuringRemoval(t *testing.T, body string) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	forEachEngine(t, func(b *fixture) {
		b.about("old", noon)
		b.later(time.Hour)
		forgotten := make(chan error, 1)
		b.write(func(tx *store.Tx) error {
			var kept store.Batch
			packed := ledger.Pack(ledger.Samples, "apple_health_kit", "heartrate", []byte(body)).WithTime(noon)
			if _, err := b.l.Keep(b.ctx, tx, &kept, b.user.Team, b.user.ID, packed); err != nil {
				return err
			}
			if err := tx.Run(b.ctx, &kept); err != nil {
				return err
			}
			go func() {
				_, err := ledger.RemoveExpired(b.ctx, b.db, b.user.Team, b.now.Add(-time.Minute))
				forgotten <- err
			}()
			time.Sleep(300 * time.Millisecond) // it comes as far as it can
			return nil
		})
		if err := <-forgotten; err != nil {
			t.Fatal(err)
		}
		if all := b.list(); len(all) != 1 || string(b.body(all[0])) != body {
			t.Errorf("%d payloads are found, in the hours %v", len(all), b.hours())
		}
	})
}
