package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// emit writes events in one transaction.
func emit(t *testing.T, db *store.DB, all ...events.New) {
	t.Helper()
	write(t, db, func(tx *store.Tx) error {
		_, err := events.EmitMany(system, tx, all)
		return err
	})
}

// newTeamWithoutSequencer makes a team; on PostgreSQL its events get no numbers by
// themselves.
func newTeamWithoutSequencer(t *testing.T, db *store.DB) uuid.UUID {
	t.Helper()
	var team teams.Team
	write(t, db, func(tx *store.Tx) (err error) {
		team, err = teams.Create(system, tx, "Test", teams.Sandbox)
		return err
	})
	return team.ID.UUID()
}

func settle(t *testing.T, db *store.DB) {
	t.Helper()
	if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
		t.Fatal(err)
	}
}

// feedPayloads returns the payloads of a team's feed, in order, and checks that
// the numbers have no gap.
func feedPayloads(t *testing.T, db *store.DB, team uuid.UUID) (all []string) {
	t.Helper()
	for next, more := int64(0), true; more; {
		page := readAfter(t, db, team, next, events.MaxPage)
		for _, e := range page.Events {
			if e.Seq != next+1 {
				t.Fatalf("number %d follows %d", e.Seq, next)
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

// Listeners are called for the team whose events got their numbers, and not
// before.
func TestListenersAreCalledOnceNumbered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, other := newTeamWithoutSequencer(t, db), newTeamWithoutSequencer(t, db)
		called := map[uuid.UUID]int{}
		defer events.OnNumbered(db, func(team uuid.UUID) {
			called[team]++
			if got := feedPayloads(t, db, team); len(got) != 3 {
				t.Errorf("called with %d events in the feed", len(got))
			}
		})()
		emit(t, db, stepsEvent(team, `1`), stepsEvent(team, `2`), stepsEvent(team, `3`))
		settle(t, db)
		if called[team] != 1 || called[other] != 0 {
			t.Errorf("called %d times, and %d for another team", called[team], called[other])
		}
	})
}

// Each writer's events are in the feed in the order in which its transactions
// committed, whatever others write meanwhile.
func TestNumbersFollowCommits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		const writers, each = 6, 40
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					err := db.Write(system, func(tx *store.Tx) error {
						_, err := events.Emit(system, tx, stepsEvent(team, fmt.Sprintf(`[%d,%d]`, w, i)))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		waitForEvents(t, db, team, writers*each)
		var next [writers]int
		for _, data := range feedPayloads(t, db, team) {
			var at [2]int
			if err := json.Unmarshal([]byte(data), &at); err != nil {
				t.Fatal(err)
			}
			if at[1] != next[at[0]] {
				t.Fatalf("writer %d: event %d in the place of %d", at[0], at[1], next[at[0]])
			}
			next[at[0]]++
		}
	})
}

// More events than one round numbers are numbered in order, those of each team by
// themselves.
func TestSequencerNumbersABacklog(t *testing.T) {
	db := storetest.Postgres(t)
	team, other := newTeamWithoutSequencer(t, db), newTeamWithoutSequencer(t, db)
	want := 2*events.NumberAtOnce + 500
	all := make([]events.New, want)
	for i := range all {
		all[i] = stepsEvent(team, fmt.Sprint(i))
		all[i].User = uuid.Nil
	}
	emit(t, db, all[:want/2]...)
	emit(t, db, stepsEvent(other, `0`))
	emit(t, db, all[want/2:]...)
	settle(t, db)
	got := feedPayloads(t, db, team)
	if len(got) != want {
		t.Fatalf("%d in the feed, want %d", len(got), want)
	}
	for i, data := range got {
		if data != fmt.Sprint(i) {
			t.Fatalf("%s in the place of %d", data, i)
		}
	}
	if got := feedPayloads(t, db, other); !slices.Equal(got, []string{"0"}) {
		t.Errorf("of the other team %v", got)
	}
}

// Numbers follow the order of the transactions, though the clock of one node, and
// with it its ids, is ahead of another's.
func TestNumbersDoNotFollowClocks(t *testing.T) {
	db := storetest.Postgres(t)
	team := newTeamWithoutSequencer(t, db)
	var want, got []events.ID
	for i := range 4 {
		write(t, db, func(tx *store.Tx) error {
			id, err := events.Emit(system, tx, stepsEvent(team, `{}`))
			if err != nil {
				return err
			}
			before := id
			if i < 2 { // two nodes are 10 and 9 minutes ahead
				at := time.Now().Add(time.Duration(10-i) * time.Minute)
				for k := range 6 {
					id[k] = byte(at.UnixMilli() >> (8 * (5 - k)))
				}
			}
			want = append(want[:i:i], id)
			_, err = tx.Exec(system, `UPDATE events SET id = $1 WHERE id = $2`, id, before)
			return err
		})
	}
	settle(t, db)
	for _, e := range readAfter(t, db, team, 0, 10).Events {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("in the feed %v, want %v", got, want)
	}
}

// A transaction that began first and waited for another's lock gets the later
// number, though its own id is the older one.
func TestNumbersFollowLocks(t *testing.T) {
	db := storetest.Postgres(t)
	team, began, first := newTeamWithoutSequencer(t, db), make(chan struct{}), make(chan struct{})
	var waited sync.WaitGroup
	waited.Go(func() {
		err := db.Write(system, func(tx *store.Tx) error {
			var id int64
			if err := tx.QueryRow(system, `SELECT pg_current_xact_id()::text::bigint`).Scan(&id); err != nil {
				return err
			}
			close(began)
			<-first
			_, err := events.Emit(system, tx, stepsEvent(team, `2`))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	emit(t, db, stepsEvent(team, `1`))
	close(first)
	waited.Wait()
	settle(t, db)
	if got := feedPayloads(t, db, team); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%v in the feed", got)
	}
}

// The sequencer reads the events without a number through their index and reads
// no event that has one. It finds each event to update by its key.
func TestNumberingReadsOnlyWaitingEvents(t *testing.T) {
	db := storetest.Postgres(t)
	team, other := newTeamWithoutSequencer(t, db), newTeamWithoutSequencer(t, db)
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `INSERT INTO events (team_id, id, seq, type, size, created_at, body)
			SELECT CASE WHEN g % 2 = 0 OR g > 20010 THEN $1::uuid ELSE $2::uuid END, gen_random_uuid(), CASE WHEN g <= 20000 THEN g END, 'x', 1, 0, ''
			FROM generate_series(1, 22000) AS g`, other, team)
		return err
	})
	for _, statistics := range []string{`SELECT 1`, `ANALYZE events`} {
		var plan []string
		write(t, db, func(tx *store.Tx) error {
			if _, err := tx.Exec(system, statistics); err != nil {
				return err
			}
			plan = nil
			if err := events.PreferIndexes(system, tx); err != nil {
				return err
			}
			rows, err := tx.Query(system, `EXPLAIN (COSTS OFF) `+events.AssignNumbers, events.NumberAtOnce)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					return err
				}
				plan = append(plan, line)
			}
			return rows.Err()
		})
		text := strings.Join(plan, "\n")
		for _, want := range []string{"Index Scan using events_unnumbered on events", "Index Scan using events_pkey on events", "events_by_seq"} {
			if !strings.Contains(text, want) {
				t.Errorf("after %s, no %s:\n%s", statistics, want, text)
			}
		}
	}
}
