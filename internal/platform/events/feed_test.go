package events_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Many writers work at once, and a third of their transactions roll back. Every
// committed event is in the feed once, the numbers have no gap, and a reader that
// follows the feed meanwhile misses none.
func TestNumbersHaveNoGaps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		const writers, each = 8, 40
		var mu sync.Mutex
		committed := map[events.ID]bool{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					var ids []events.ID
					err := db.Write(system, func(tx *store.Tx) (err error) {
						all := []events.New{stepsEvent(team, fmt.Sprintf(`{"w":%d,"i":%d}`, w, i))}
						if i%4 == 0 {
							all = append(all, stepsEvent(team, `{}`), stepsEvent(team, `{}`))
						}
						if ids, err = events.EmitMany(system, tx, all); err == nil && i%3 == 0 {
							return errors.New("rolled back")
						}
						return err
					})
					if err == nil {
						mu.Lock()
						for _, id := range ids {
							committed[id] = true
						}
						mu.Unlock()
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		seen, next, finished := map[events.ID]bool{}, int64(0), false
		for deadline := time.Now().Add(time.Minute); ; {
			page, err := events.Await(system, db, team, next, 7, nil, 50*time.Millisecond, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Events {
				if e.Seq != next+1 {
					t.Fatalf("after %d comes %d", next, e.Seq)
				}
				next, seen[e.ID] = e.Seq, true
			}
			select {
			case <-done:
				finished = true
			default:
			}
			mu.Lock()
			all := finished && len(seen) >= len(committed)
			mu.Unlock()
			if all {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d events seen", len(seen), len(committed))
			}
		}
		if len(seen) != len(committed) {
			t.Errorf("%d events in the feed, %d committed", len(seen), len(committed))
		}
		for id := range committed {
			if !seen[id] {
				t.Errorf("%s is not in the feed", id)
			}
		}
	})
}

// A page with a filter skips events of other types, and the pages together have
// exactly the events of the types.
func TestFeedWithTypes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		want := 0
		write(t, db, func(tx *store.Tx) error {
			var all []events.New
			want = 0
			for i := range 60 {
				e := stepsEvent(team, `{}`)
				if i%7 == 0 {
					e.Type = "daily.data.sleep.created"
					want++
				}
				all = append(all, e)
			}
			_, err := events.EmitMany(system, tx, all)
			return err
		})
		waitForEvents(t, db, team, 60)
		got, next := 0, int64(0)
		for range 20 {
			page := readAfter(t, db, team, next, 2, "daily.data.sleep.created")
			for _, e := range page.Events {
				if e.Type != "daily.data.sleep.created" {
					t.Fatalf("a %s came", e.Type)
				}
				got++
			}
			next = page.Next
			if !page.HasMore {
				break
			}
		}
		if got != want || next != 60 {
			t.Errorf("%d events up to number %d, want %d up to 60", got, next, want)
		}
	})
}

func TestAwaitReturnsWithTheEvent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		began := time.Now()
		if page, err := events.Await(system, db, team, 0, 10, nil, 30*time.Millisecond, nil); err != nil || len(page.Events) != 0 {
			t.Fatalf("%v, %+v", err, page)
		}
		if time.Since(began) < 30*time.Millisecond {
			t.Error("did not wait")
		}
		go func() {
			time.Sleep(20 * time.Millisecond)
			write(t, db, func(tx *store.Tx) error {
				_, err := events.Emit(system, tx, stepsEvent(team, `{}`))
				return err
			})
		}()
		page, err := events.Await(system, db, team, 0, 10, nil, time.Minute, nil)
		if err != nil || len(page.Events) != 1 || time.Since(began) > 50*time.Second {
			t.Errorf("%v, %d events after %v", err, len(page.Events), time.Since(began))
		}
	})
}

// A waiting reader is answered when the process is about to stop.
func TestAwaitEndsWithTheProcess(t *testing.T) {
	db := storetest.SQLite(t)
	team := newTeam(t, db)
	stopping := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(stopping) })
	began := time.Now()
	page, err := events.Await(system, db, team, 0, 10, nil, time.Minute, stopping)
	if err != nil || len(page.Events) != 0 || time.Since(began) > 50*time.Second {
		t.Errorf("%v, %d events after %v", err, len(page.Events), time.Since(began))
	}
}

// Retention deletes old events that were delivered. It leaves events with
// pending deliveries, and the event with the last number.
func TestForget(t *testing.T) {
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		mu.Lock()
		now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		mu.Unlock()
		team := newTeam(t, db)
		endpoint := uuid.New()
		write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(system, `INSERT INTO webhook_endpoints (team_id, id, description, state, reason, filtered, target, revision, created_at, updated_at)
				VALUES ($1, $2, '', 'on', '', FALSE, 1, 1, 0, 0)`, team, endpoint)
			return err
		})
		for range 6 {
			write(t, db, func(tx *store.Tx) error {
				_, err := events.Emit(system, tx, stepsEvent(team, `{}`))
				return err
			})
		}
		waitForEvents(t, db, team, 6)
		write(t, db, func(tx *store.Tx) error { // all have arrived but number 2
			_, err := tx.Exec(system, `UPDATE webhook_deliveries SET state = 'sent', ended_at = 1
				WHERE event_id IN (SELECT id FROM events WHERE team_id = $1 AND seq <> 2)`, team)
			return err
		})
		mu.Lock()
		now = now.Add(31 * 24 * time.Hour)
		mu.Unlock()
		n, err := events.Forget(system, db, team, db.Now().Add(-30*24*time.Hour))
		if err != nil || n != 4 {
			t.Fatalf("forgot %d, %v; want 4", n, err)
		}
		page := readAfter(t, db, team, 0, 10)
		if len(page.Events) != 2 || page.Events[0].Seq != 2 || page.Events[1].Seq != 6 {
			t.Errorf("left: %+v", page.Events)
		}
		write(t, db, func(tx *store.Tx) error {
			_, err := events.Emit(system, tx, stepsEvent(team, `{}`))
			return err
		})
		waitForEvents(t, db, team, 7)
		var left int
		err = db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT COUNT(*) FROM webhook_deliveries`).Scan(&left)
		})
		if err != nil || left != 3 {
			t.Errorf("%d deliveries left, want 3", left)
		}
	})
}

// A body that names a key which its user has not is damaged; only one whose user
// has no key is erased.
func TestADamagedKeyNumberIsNoErasure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		e := stepsEvent(team, `{}`)
		emit(t, db, e)
		waitForEvents(t, db, team, 1)
		write(t, db, func(tx *store.Tx) error {
			var body []byte
			if err := tx.QueryRow(system, `SELECT body FROM events WHERE team_id = $1`, team).Scan(&body); err != nil {
				return err
			}
			body[0] ^= 0x10
			_, err := tx.Exec(system, `UPDATE events SET body = $1 WHERE team_id = $2`, body, team)
			return err
		})
		if m := readAfter(t, db, team, 0, 1).Events[0]; m.Body != nil || !errors.Is(m.Unreadable, events.ErrUnreadable) {
			t.Errorf("%q, %v", m.Body, m.Unreadable)
		}
		write(t, db, func(tx *store.Tx) error { return tx.Shred(system, team, e.User) })
		if m := readAfter(t, db, team, 0, 1).Events[0]; m.Body != nil || m.Unreadable != nil {
			t.Errorf("erased: %q, %v", m.Body, m.Unreadable)
		}
	})
}
