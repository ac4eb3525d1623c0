package ingest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
)

// A connection that is removed or paused, or a user who is deleted, waits for the
// push batch that was planned with it.
func TestRemovalWaitsForAPushBatch(t *testing.T) {
	removals := map[string]func(f fixture, tx *store.Tx) error{
		"deleted": func(f fixture, tx *store.Tx) error { return users.Delete(f.ctx, tx, f.user.Team, f.user.ID) },
		"removed": func(f fixture, tx *store.Tx) error {
			return connections.Deregister(f.ctx, tx, f.user.Team, f.user.ID, "apple_health_kit")
		},
		"paused": func(f fixture, tx *store.Tx) error {
			_, err := tx.Exec(f.ctx, `UPDATE connections SET status = 'paused' WHERE team_id = $1 AND user_id = $2`, f.user.Team, f.user.ID)
			return err
		},
	}
	forEachEngine(t, func(f fixture) {
		t := f.t
		users.Register(f.db, connections.UserRecords()...)
		for name, remove := range removals {
			f.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
			f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 61)}})
			removed := make(chan error, 1)
			b := wearables.Batch{Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{heartRates(day.Add(time.Hour), 62)}}
			r, err := f.in.PushInBatch(f.ctx, f.user.Team, f.user.ID, b, func() {
				go func() { removed <- f.db.Write(f.ctx, func(tx *store.Tx) error { return remove(f, tx) }) }()
				select {
				case err := <-removed:
					t.Errorf("%s: did not wait: %v", name, err)
					removed <- err
				case <-time.After(200 * time.Millisecond):
				}
			})
			if err != nil || r.Created != 1 {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			if err := <-removed; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A push after the user was deleted is refused. After the connection was removed
// it connects again, and a paused connection stores nothing.
func TestPushAfterARemoval(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		t := f.t
		push := func(want int, kind fault.Kind, events ...string) {
			t.Helper()
			before := len(f.allTypes())
			_, r, err := f.in.Push(f.ctx, f.user.Team, f.user.ID, wearables.Batch{
				Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{heartRates(day.Add(time.Hour), 62)},
			})
			if got := f.allTypes()[before:]; r.Created != want || fault.KindOf(err) != kind || !slices.Equal(got, events) {
				t.Errorf("%+v, %v, events %v", r, err, got)
			}
		}
		change := func(fn func(tx *store.Tx) error) {
			t.Helper()
			f.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
			f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 61)}})
			if err := f.db.Write(f.ctx, fn); err != nil {
				t.Fatal(err)
			}
		}
		change(func(tx *store.Tx) error { return users.Delete(f.ctx, tx, f.user.Team, f.user.ID) })
		push(0, fault.NotFound)
		change(func(tx *store.Tx) error {
			return connections.Deregister(f.ctx, tx, f.user.Team, f.user.ID, "apple_health_kit")
		})
		push(1, 0, "provider.connection.created", "daily.data.heartrate.created")
		change(func(tx *store.Tx) error {
			_, err := tx.Exec(f.ctx, `UPDATE connections SET status = 'paused' WHERE team_id = $1 AND user_id = $2`, f.user.Team, f.user.ID)
			return err
		})
		push(0, 0)
	})
}

// The event about a newer value has a greater number than the event about the value
// that it replaces, in push batches and alone.
func TestEventNumbersFollowReplacement(t *testing.T) {
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		f := newFixture(t, db)
		const people, values = 60, 6
		var all sync.WaitGroup
		for i := range people {
			f := f
			f.user = userstest.New(t, db, f.user.Team, users.NewUser{})
			all.Go(func() {
				for v := range values {
					b := wearables.Batch{Samples: []wearables.Samples{heartRates(day, float64(60+v))}}
					if (i+v)%4 == 3 {
						f.imported(b)
					} else {
						f.push(b) // the first one alone, the others in push batches
					}
				}
			})
		}
		all.Wait()
		last := map[uuid.UUID]float64{}
		for _, e := range f.events() {
			var data struct{ Data []struct{ Value float64 } }
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.Type, "daily.data.heartrate.") {
				continue
			}
			was, value := last[e.User], data.Data[0].Value
			if value != max(was+1, 60) || (was == 0) != strings.HasSuffix(e.Type, "created") {
				t.Errorf("%s of %v after %v", e.Type, value, was)
			}
			last[e.User] = value
		}
		if len(last) != people {
			t.Errorf("events about %d people", len(last))
		}
	})
}

// imported stores a batch alone, on any goroutine.
func (f fixture) imported(b wearables.Batch) {
	b.Provider, b.Stage = "apple_health_kit", wearables.Daily
	if _, err := f.in.Ingest(f.ctx, f.user, b); err != nil {
		f.t.Error(err)
	}
}
