package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// crowd writes events as pushes that go together do: last in their transaction,
// and with numbers.
func crowd(tx *store.Tx, all ...events.New) error {
	drafts, err := events.Draft(system, tx, all)
	if err != nil {
		return err
	}
	var b store.Batch
	if err := drafts.Add(system, tx, &b); err != nil {
		return err
	}
	return tx.Run(system, &b)
}

// one writes an event by itself.
func one(tx *store.Tx, all ...events.New) error {
	for _, e := range all {
		if _, err := events.Emit(system, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// many writes events together and leaves their numbers to the sequencer.
func many(tx *store.Tx, all ...events.New) error {
	_, err := events.EmitMany(system, tx, all)
	return err
}

// bareTeam is a team of a database without a sequencer.
func bareTeam(t *testing.T, db *store.DB) uuid.UUID {
	var team teams.Team
	write(t, db, func(tx *store.Tx) (err error) {
		team, err = teams.Create(system, tx, "Test", teams.Sandbox)
		return err
	})
	return team.ID.UUID()
}

// inFeed are the payloads of a team's feed, in order; the numbers have no gap.
func inFeed(t *testing.T, db *store.DB, team uuid.UUID) (all []string) {
	t.Helper()
	for next, more := int64(0), true; more; {
		page := after(t, db, team, next, events.MaxPage)
		for _, e := range page.Events {
			if e.Seq != next+1 {
				t.Fatalf("after %d comes %d", next, e.Seq)
			}
			next = e.Seq
			var body struct{ Data json.RawMessage }
			if err := json.Unmarshal(e.Body, &body); err != nil {
				t.Fatal(err)
			}
			all = append(all, string(body.Data))
		}
		more = page.HasMore
	}
	return all
}

// What was committed without a number is not overtaken by a crowd, which gives
// it one; what another team waits for is left to the sequencer.
func TestCrowdsOvertakeNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, other := bareTeam(t, db), bareTeam(t, db)
		rung := map[uuid.UUID]int{}
		defer events.OnDue(func(team uuid.UUID) { rung[team]++ })()
		write(t, db, func(tx *store.Tx) error { return one(tx, steps(other, `0`)) })
		write(t, db, func(tx *store.Tx) error { return one(tx, steps(team, `1`)) })
		write(t, db, func(tx *store.Tx) error { return many(tx, steps(team, `2`), steps(team, `3`)) })
		clear(rung)
		write(t, db, func(tx *store.Tx) error {
			if err := one(tx, steps(team, `4`)); err != nil {
				return err
			}
			return crowd(tx, steps(team, `5`), steps(team, `6`))
		})
		if rung[team] == 0 || rung[other] != 0 {
			t.Errorf("rung %v for %v", rung, team)
		}
		write(t, db, func(tx *store.Tx) error { return crowd(tx, steps(team, `7`)) })
		if got := inFeed(t, db, team); !slices.Equal(got, []string{"1", "2", "3", "4", "5", "6", "7"}) {
			t.Errorf("in the feed %v", got)
		}
		if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
			t.Fatal(err)
		}
		if got := inFeed(t, db, other); !slices.Equal(got, []string{"0"}) {
			t.Errorf("of the other team %v", got)
		}
	})
}

// Each writer's events are in the feed in the order in which it was answered,
// whichever way it wrote them and whoever else wrote meanwhile.
func TestNumbersFollowTheAnswers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		const writers, each = 6, 40
		ways := []func(*store.Tx, ...events.New) error{one, crowd, many, crowd, crowd, one}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					err := db.Write(system, func(tx *store.Tx) error {
						return ways[(w+i)%len(ways)](tx, steps(team, fmt.Sprintf(`[%d,%d]`, w, i)))
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		settled(t, db, team, writers*each)
		var next [writers]int
		for _, data := range inFeed(t, db, team) {
			var at [2]int
			if err := json.Unmarshal([]byte(data), &at); err != nil {
				t.Fatal(err)
			}
			if at[1] != next[at[0]] {
				t.Fatalf("of writer %d comes %d, want %d", at[0], at[1], next[at[0]])
			}
			next[at[0]]++
		}
	})
}

// The order of numbers is that of the transactions, though the clock of one node
// is ahead of another's, and its ids are.
func TestNumbersDoNotGoByClocks(t *testing.T) {
	db := storetest.Postgres(t)
	for name, end := range map[string]func(team uuid.UUID){
		"the sequencer": func(uuid.UUID) {
			if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
				t.Fatal(err)
			}
		},
		"a crowd": func(team uuid.UUID) {
			write(t, db, func(tx *store.Tx) error { return crowd(tx, steps(team, `{}`)) })
		},
	} {
		team := bareTeam(t, db)
		var want []string
		for i := range 4 {
			e := steps(team, `{}`)
			e.Type = []string{"daily.data.steps.created", "daily.data.sleep.created"}[i%2]
			want = append(want, e.Type)
			write(t, db, func(tx *store.Tx) error {
				id, err := events.Emit(system, tx, e)
				if err != nil || i > 1 {
					return err
				}
				at := time.Now().Add(time.Duration(10-i) * time.Minute) // so are the first two
				ahead := uuid.UUID(id)
				for k := range 6 {
					ahead[k] = byte(at.UnixMilli() >> (8 * (5 - k)))
				}
				_, err = tx.Exec(system, `UPDATE events SET id = $1 WHERE id = $2`, ahead, id)
				return err
			})
		}
		end(team)
		if got := typesInOrder(t, db, team); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("by %s: %v, want %v", name, got, want)
		}
	}
}

// A transaction that began first and waited for another's lock comes after it,
// though its own id is the older one.
func TestNumbersFollowTheLocks(t *testing.T) {
	db := storetest.Postgres(t)
	for name, end := range map[string]func(team uuid.UUID){
		"the sequencer": func(uuid.UUID) {
			if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
				t.Fatal(err)
			}
		},
		"a crowd": func(team uuid.UUID) {
			write(t, db, func(tx *store.Tx) error { return crowd(tx, steps(team, `3`)) })
		},
	} {
		team, began, first := bareTeam(t, db), make(chan struct{}), make(chan struct{})
		var waited sync.WaitGroup
		waited.Go(func() {
			err := db.Write(system, func(tx *store.Tx) error {
				var id int64
				if err := tx.QueryRow(system, `SELECT pg_current_xact_id()::text::bigint`).Scan(&id); err != nil {
					return err
				}
				close(began)
				<-first
				return one(tx, steps(team, `2`))
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-began
		write(t, db, func(tx *store.Tx) error { return one(tx, steps(team, `1`)) })
		close(first)
		waited.Wait()
		end(team)
		if got := inFeed(t, db, team); len(got) < 2 || !slices.Equal(got[:2], []string{"1", "2"}) {
			t.Errorf("by %s: %v", name, got)
		}
	}
}

// typesInOrder are the types of a team's events in order of number.
func typesInOrder(t *testing.T, db *store.DB, team uuid.UUID) (all []string) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) error {
		rows, err := tx.Query(system, `SELECT type FROM events WHERE team_id = $1 AND seq IS NOT NULL ORDER BY seq`, team)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			all = append(all, name)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
