package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// numbered are the payloads of pairs [group, place] for n events of a team.
func numbered(team uuid.UUID, group, n int) (all []events.New) {
	user := uuid.New()
	for i := range n {
		e := steps(team, fmt.Sprintf(`[%d,%d]`, group, i))
		e.User = user
		all = append(all, e)
	}
	return all
}

// everything is a courier that has room for the endpoints of a team.
type everything struct {
	endpoints []uuid.UUID
	got       []events.Fresh
}

func (c *everything) Room(uuid.UUID) ([]uuid.UUID, uuid.UUID) { return c.endpoints, uuid.New() }
func (c *everything) Hand(_ uuid.UUID, all []events.Fresh)    { c.got = append(c.got, all...) }

// The events of an outage of the sequencer are not numbered by a crowd, nor is
// what the crowd brings: that follows when the sequencer has come to it, and only
// then is it handed out. Of this many and no more it numbers all, and what waits
// of another team is not its affair.
func TestACrowdNumbersNoBacklog(t *testing.T) {
	db := storetest.Postgres(t)
	team, other := bareTeam(t, db), bareTeam(t, db)
	to := &everything{endpoints: []uuid.UUID{endpointOf(t, db, team), endpointOf(t, db, other)}}
	defer events.HandTo(to)()
	rung := map[uuid.UUID]int{}
	defer events.OnDue(func(team uuid.UUID) { rung[team]++ })()

	write(t, db, func(tx *store.Tx) error { return many(tx, numbered(team, 0, events.NumberAtOnce)...) })
	write(t, db, func(tx *store.Tx) error { return crowd(tx, numbered(team, 1, 2)...) })
	if got := len(inFeed(t, db, team)); got != events.NumberAtOnce+2 || len(to.got) != 2 || rung[team] != 1 {
		t.Fatalf("%d in the feed, %d handed over, rung %d times", got, len(to.got), rung[team])
	}
	to.got = nil
	clear(rung)

	write(t, db, func(tx *store.Tx) error { return many(tx, numbered(team, 2, events.NumberAtOnce)...) })
	write(t, db, func(tx *store.Tx) error { return one(tx, numbered(team, 3, 1)...) })
	write(t, db, func(tx *store.Tx) error { return crowd(tx, numbered(team, 4, 2)...) })
	write(t, db, func(tx *store.Tx) error { return crowd(tx, numbered(other, 0, 2)...) })
	if got := len(inFeed(t, db, team)); got != events.NumberAtOnce+2 || rung[team] != 0 {
		t.Errorf("%d in the feed, rung %d times", got, rung[team])
	}
	if got := len(inFeed(t, db, other)); got != 2 || len(to.got) != 2 {
		t.Errorf("of the other team %d in the feed, %d handed over", got, len(to.got))
	}
	if n := count(t, db, `SELECT COUNT(*) FROM webhook_deliveries d JOIN events v ON v.id = d.event_id WHERE v.seq IS NULL AND d.node IS NOT NULL`); n != 0 {
		t.Errorf("%d deliveries without a number are in a hand", n)
	}

	if err := (&events.Sequencer{DB: db}).Settle(system); err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	for _, data := range inFeed(t, db, team) {
		var at [2]int
		if err := json.Unmarshal([]byte(data), &at); err != nil {
			t.Fatal(err)
		}
		got = append(got, at)
	}
	if len(got) != 2*events.NumberAtOnce+5 || !slices.IsSortedFunc(got, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		t.Errorf("%d in the feed, or not in order", len(got))
	}
	if rung[team] == 0 {
		t.Error("nobody was told")
	}
}

func endpointOf(t *testing.T, db *store.DB, team uuid.UUID) uuid.UUID {
	id := uuid.New()
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `INSERT INTO webhook_endpoints (team_id, id, description, state, reason, filtered, target, revision, created_at, updated_at)
			VALUES ($1, $2, '', 'on', '', FALSE, 1, 1, 0, 0)`, team, id)
		return err
	})
	return id
}

func count(t *testing.T, db *store.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.Read(system, func(tx *store.Tx) error { return tx.QueryRow(system, query, args...).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

// What waits for a number is found by an index of what waits, and nothing that has
// one is read. A crowd reads what its team waits for.
func TestNumberingReadsOnlyWhatWaits(t *testing.T) {
	db := storetest.Postgres(t)
	team, other := bareTeam(t, db), bareTeam(t, db)
	write(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `INSERT INTO events (team_id, id, seq, type, size, created_at, body)
			SELECT CASE WHEN g % 2 = 0 OR g > 20010 THEN $1::uuid ELSE $2::uuid END, gen_random_uuid(), CASE WHEN g <= 20000 THEN g END, 'x', 1, 0, ''
			FROM generate_series(1, 22000) AS g`, other, team)
		return err
	})
	for _, known := range []string{`SELECT 1`, `ANALYZE events`} {
		write(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(system, known)
			return err
		})
		for index, c := range map[string]struct{ query, prefer string }{
			"events_unnumbered":         {query: `SELECT id FROM events WHERE seq IS NULL ORDER BY turn LIMIT 1000`},
			"events_unnumbered_of_team": {`SELECT id FROM events WHERE team_id = '` + team.String() + `' AND seq IS NULL ORDER BY turn LIMIT 1001`, events.PreferTeam},
		} {
			if plan := planOf(t, db, c.query, c.prefer); !strings.Contains(plan, "using "+index+" on") {
				t.Errorf("after %s:\n%s", known, plan)
			}
		}
	}
}

// planOf is how PostgreSQL carries out a query of the sequencer's.
func planOf(t *testing.T, db *store.DB, query, prefer string) string {
	t.Helper()
	var plan []string
	write(t, db, func(tx *store.Tx) error {
		plan = nil
		var err error
		if prefer == "" {
			err = events.PreferIndexes(system, tx)
		} else {
			_, err = tx.Exec(system, `SELECT 1`+prefer)
		}
		if err != nil {
			return err
		}
		rows, err := tx.Query(system, `EXPLAIN (COSTS OFF) `+query)
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
	return strings.Join(plan, "\n")
}
