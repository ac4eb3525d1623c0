package ingest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ingest"

	"github.com/google/uuid"
)

// parting is what may happen to a user between the plan of a crowd and its
// transaction.
type parting struct {
	name  string
	part  func(f fixture, tx *store.Tx) error
	fault fault.Kind
	told  []string
}

func partings() []parting {
	return []parting{
		{"stays", func(fixture, *store.Tx) error { return nil }, 0, []string{"daily.data.heartrate.created"}},
		{"deleted", func(f fixture, tx *store.Tx) error {
			return users.Delete(f.ctx, tx, f.user.Team, f.user.ID)
		}, fault.NotFound, nil},
		{"removed", func(f fixture, tx *store.Tx) error {
			return connections.Deregister(f.ctx, tx, f.user.Team, f.user.ID, "apple_health_kit")
		}, 0, []string{"provider.connection.created", "daily.data.heartrate.created"}},
		{"paused", func(f fixture, tx *store.Tx) error {
			_, err := tx.Exec(f.ctx, `UPDATE connections SET status = 'paused' WHERE team_id = $1 AND user_id = $2`, f.user.Team, f.user.ID)
			return err
		}, 0, nil},
	}
}

// A large crowd is planned on a reader on SQLite, and what it was planned with may
// be gone when it is written: who was deleted gets nothing more, and whose
// provider was removed connects anew.
func TestWhoIsGoneWhenACrowdIsWritten(t *testing.T) {
	each(t, func(f fixture) {
		t := f.t
		if f.db.Engine() == store.Postgres {
			t.Skip("PostgreSQL plans in the transaction that writes: see TestWhoPartsWaitsForASmallCrowd")
		}
		users.Register(f.db, connections.UserRecords()...)
		for _, c := range partings() {
			f.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
			f.in = &ingest.Ingester{DB: f.db, Connect: connections.Ensure}
			f.ingest(wearables.Batch{Samples: []wearables.Samples{beats(day, 61)}})
			before, planned := len(f.types()), 0
			f.in.Linked = func(provider string) (string, func(string, []string) bool) {
				column, brings := connections.Linked(provider)
				return column, func(found string, resources []string) bool {
					known := brings(found, resources)
					if planned++; planned == 1 {
						if err := f.db.Write(f.ctx, func(tx *store.Tx) error { return c.part(f, tx) }); err != nil {
							t.Error(err)
						}
					}
					return known
				}
			}
			all := []ingest.Push{{User: f.user.ID}}
			for len(all) <= ingest.Enough { // of nobody
				all = append(all, ingest.Push{User: users.ID(uuid.New())})
			}
			for i := range all {
				all[i].Batch = wearables.Batch{
					Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{beats(day.Add(time.Hour), 62)},
				}
			}
			f.in.PushAll(f.ctx, f.user.Team, all)
			r := all[0].Result
			if fault.KindOf(all[0].Err) != c.fault {
				t.Errorf("%s: %v", c.name, all[0].Err)
			}
			if got := f.types()[before:]; !slices.Equal(got, c.told) || planned == 0 || r.Created != min(1, len(c.told)) {
				t.Errorf("%s: told %v, want %v; %+v", c.name, got, c.told, r)
			}
		}
	})
}

// A small crowd is planned in the transaction that writes it, on PostgreSQL any,
// and whoever parts meanwhile waits for it.
func TestWhoPartsWaitsForASmallCrowd(t *testing.T) {
	each(t, func(f fixture) {
		t := f.t
		users.Register(f.db, connections.UserRecords()...)
		for _, c := range partings() {
			if c.name == "stays" {
				continue
			}
			f.user = userstest.New(t, f.db, f.user.Team, users.NewUser{})
			f.in = &ingest.Ingester{DB: f.db, Connect: connections.Ensure, Hold: connections.Hold}
			f.ingest(wearables.Batch{Samples: []wearables.Samples{beats(day, 61)}})
			parted := make(chan error, 1)
			f.in.Linked = func(provider string) (string, func(string, []string) bool) {
				column, brings := connections.Linked(provider)
				return column, func(found string, resources []string) bool {
					go func() { parted <- f.db.Write(f.ctx, func(tx *store.Tx) error { return c.part(f, tx) }) }()
					select {
					case err := <-parted:
						t.Errorf("%s: did not wait: %v", c.name, err)
						parted <- err
					case <-time.After(200 * time.Millisecond):
					}
					return brings(found, resources)
				}
			}
			_, r, err := f.in.Push(f.ctx, f.user.Team, f.user.ID, wearables.Batch{
				Provider: "apple_health_kit", Stage: wearables.Daily, Samples: []wearables.Samples{beats(day.Add(time.Hour), 62)},
			})
			if err != nil || r.Created != 1 {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
			if err := <-parted; err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// What replaces a value is announced with a greater number than what it
// replaces, however the two were stored and whoever pushes at the same moment.
func TestNumbersFollowWhatIsReplaced(t *testing.T) {
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		f := person(t, db)
		const people, values = 60, 6
		var all sync.WaitGroup
		for i := range people {
			f := f
			f.user = userstest.New(t, db, f.user.Team, users.NewUser{})
			all.Go(func() {
				for v := range values {
					b := wearables.Batch{Samples: []wearables.Samples{beats(day, float64(60+v))}}
					if (i+v)%4 == 3 {
						f.imported(b)
					} else {
						f.push(b) // the first goes alone, the others in crowds
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
			t.Errorf("told of %d people", len(last))
		}
	})
}

// imported stores a batch by itself, on any goroutine.
func (f fixture) imported(b wearables.Batch) {
	b.Provider, b.Stage = "apple_health_kit", wearables.Daily
	if _, err := f.in.Ingest(f.ctx, f.user, b); err != nil {
		f.t.Error(err)
	}
}
