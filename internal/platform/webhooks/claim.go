package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// Lanes keep retries and replays from delaying new events.
const (
	laneNew = iota
	laneRetry
	laneReplay
	lanes
)

// claimedDelivery is one event on its way to one endpoint.
type claimedDelivery struct {
	event     events.ID
	seq       int64
	eventType string
	user      uuid.UUID // zero for none
	created   time.Time
	lane      int
	attempts  int    // made before this one
	tries     int    // of this round of the schedule
	body      []byte // the envelope; nil if it is still to be read
}

// claimKey identifies a claimed delivery. Once an attempt is recorded, the row may
// be claimed again, with another number of attempts.
type claimKey struct {
	event    events.ID
	attempts int
}

func (c *claimedDelivery) key() claimKey { return claimKey{c.event, c.attempts} }

// claim holds what one claim took of a lane.
type claim struct {
	deliveries []*claimedDelivery
	revision   int64     // of the endpoint; 0 if there was no row
	nextRetry  time.Time // when the next retry is due; zero if none is known
}

// claimedBody is the largest envelope that a claim brings along, in bytes. A worker
// reads a larger one itself.
const claimedBody = 8 << 10

// dueRows selects pending and due deliveries (d) of one lane of an endpoint. $1 team, $2
// endpoint, $3 lane, $4 now.
const dueRows = `d.team_id = $1 AND d.endpoint_id = $2 AND d.state = 'pending' AND d.lane = $3 AND d.due_at <= $4`

// revision selects that of the endpoint: no row while the endpoint is off, or holds older
// deliveries after it was switched on.
const revision = `SELECT e.revision FROM webhook_endpoints e WHERE e.team_id = $1 AND e.id = $2 AND e.state = 'on' AND e.hold_before IS NULL AND e.deleted_at IS NULL`

// nextRetry selects when the next retry will be due. $1 team, $2 endpoint, $3 now.
const nextRetry = `SELECT MIN(due_at) FROM webhook_deliveries
	WHERE team_id = $1 AND endpoint_id = $2 AND state = 'pending' AND lane = 1 AND due_at > $3`

// claim claims at most the given number of due rows of each lane.
func (q *endpointQueue) claim(ctx context.Context, most [lanes]int) (got [lanes]claim, err error) {
	if q.d.db.Engine() == store.Postgres {
		err = q.d.db.Write(ctx, func(tx *store.Tx) (err error) {
			got, err = q.claimPostgres(ctx, tx, most)
			return err
		})
		if err == nil {
			err = q.d.db.Read(ctx, func(tx *store.Tx) error {
				q.openBodies(ctx, tx, got)
				return nil
			})
		}
	} else {
		// SQLite could read on another connection, but after each commit that one finds
		// its cache empty; the writer's is warm.
		err = q.d.db.Write(ctx, func(tx *store.Tx) (err error) {
			got, err = q.claimSQLite(ctx, tx, most)
			q.openBodies(ctx, tx, got)
			return err
		})
	}
	if err != nil {
		return got, fmt.Errorf("webhooks: claiming: %w", err)
	}
	return got, nil
}

// openBodies opens the envelopes that came with a claim. The worker reports one
// that does not open.
func (q *endpointQueue) openBodies(ctx context.Context, tx *store.Tx, got [lanes]claim) {
	for lane := range got {
		for _, c := range got[lane].deliveries {
			if c.body != nil {
				c.body, _ = events.Open(ctx, tx, q.team, c.user, c.event, c.body)
			}
		}
	}
}

// claimSQLite reads due rows and skips those that are claimed. It writes nothing: one
// process uses the database, and its memory has the claims. It stops reading when it has
// enough rows. A LIMIT that differs from call to call would make SQLite prepare the
// statement each time.
func (q *endpointQueue) claimSQLite(ctx context.Context, tx *store.Tx, most [lanes]int) (got [lanes]claim, err error) {
	for lane, n := range most {
		if n == 0 {
			continue
		}
		if got[lane], err = q.readDue(ctx, tx, lane, n); err != nil {
			return got, err
		}
		if lane == laneRetry && len(got[lane].deliveries) < n {
			row := tx.QueryRow(ctx, nextRetry, q.team, q.id, store.Micros(tx.Now()))
			if err := got[lane].scanNext(row); err != nil {
				return got, err
			}
		}
	}
	return got, nil
}

func (q *endpointQueue) readDue(ctx context.Context, tx *store.Tx, lane, most int) (got claim, err error) {
	rows, err := tx.Query(ctx, `SELECT c.event_id, v.seq, v.type, v.user_id, v.created_at, c.attempts, c.tries, (`+revision+`),
			CASE WHEN v.size <= $5 THEN v.body END
		FROM (SELECT d.event_id, d.due_at, d.attempts, d.tries FROM webhook_deliveries d WHERE `+dueRows+` AND (`+revision+`) IS NOT NULL ORDER BY d.due_at, d.event_id LIMIT 10000) AS c
		CROSS JOIN events v WHERE v.team_id = $1 AND v.id = c.event_id`,
		q.team, q.id, lane, store.Micros(tx.Now()), claimedBody)
	if err != nil {
		return got, err
	}
	defer rows.Close()
	for len(got.deliveries) < most && rows.Next() {
		if err := got.scan(rows, lane); err != nil {
			return got, err
		}
		if last := len(got.deliveries) - 1; q.hasClaimed(got.deliveries[last].key()) {
			got.deliveries = got.deliveries[:last]
		}
	}
	return got, rows.Err()
}

// claimRows claims due rows of a lane on PostgreSQL.
//
// It has one way through the indexes, whatever the size of the tables, because PostgreSQL
// keeps the plan that it made for empty ones. OFFSET 0 keeps the lookup of the event a
// lookup, and COALESCE keeps it from the index of numbers. The UPDATE takes its whole key
// from c: with $1 and $2 it could read all deliveries of the endpoint.
//
// Its parameters are:
//
//   - $1 team, $2 endpoint, $3 lane
//   - $4 now, $5 most rows, $6 node
//   - $7 and $8 the ids and attempts of rows that the queue has claimed
//   - $9 size of the largest body, $10 earliest due time
var claimRows = `WITH e AS MATERIALIZED (` + revision + `),
	c AS MATERIALIZED (
		SELECT d.event_id, d.endpoint_id, d.team_id, v.seq, v.type, v.user_id, v.created_at, v.body
		FROM webhook_deliveries d CROSS JOIN LATERAL (
			SELECT v.seq, v.type, v.user_id, v.created_at, CASE WHEN v.size <= $9 THEN v.body END AS body FROM events v
			WHERE v.id = d.event_id AND v.team_id = d.team_id AND COALESCE(v.seq, 0) > 0 OFFSET 0) AS v
		WHERE ` + dueRows + ` AND (SELECT revision FROM e) IS NOT NULL AND d.due_at >= $10 AND (d.node = $6 OR ` + jobs.FreeCondition("d.node") + `)
			AND (d.event_id, d.attempts) NOT IN (SELECT * FROM UNNEST($7::uuid[], $8::bigint[]))
		ORDER BY d.due_at, d.event_id LIMIT $5 FOR UPDATE OF d SKIP LOCKED)
	UPDATE webhook_deliveries d SET node = $6 FROM c
	WHERE d.event_id = c.event_id AND d.endpoint_id = c.endpoint_id AND d.team_id = c.team_id
	RETURNING d.event_id, c.seq, c.type, c.user_id, c.created_at, d.attempts, d.tries, (SELECT revision FROM e), c.body`

// claimPostgres marks due rows as this node's. It skips rows that another node has
// claimed or is claiming. It also skips rows that the queue has claimed before, under
// the node's present id or an earlier one. A row may have the node's mark and not be
// claimed. Then the commit of its claim got no answer, or a queue gave up its claims.
func (q *endpointQueue) claimPostgres(ctx context.Context, tx *store.Tx, most [lanes]int) (got [lanes]claim, err error) {
	claimed, attempts := q.claimedKeys()
	now := store.Micros(tx.Now())
	var since [lanes]int64
	if !q.claims.since.IsZero() {
		since[laneNew] = store.Micros(q.claims.since)
	}
	var b store.Batch
	events.AddKeepPlans(tx, &b)
	// A claim need not survive a crash, which ends the node's lease as well, so its
	// commit does not wait for the disk.
	b.Query(func(store.Scanner) error { return nil }, `SELECT set_config('synchronous_commit', 'off', TRUE)`)
	for lane, n := range most {
		if n == 0 {
			continue
		}
		b.Query(func(row store.Scanner) error { return got[lane].scan(row, lane) }, claimRows,
			q.team, q.id, lane, now, n, q.d.cfg.Node.ID(), claimed, attempts, claimedBody, since[lane])
		if lane == laneRetry {
			b.Query(got[lane].scanNext, nextRetry, q.team, q.id, now)
		}
	}
	if err := tx.Finish(ctx, &b); err != nil {
		return got, err
	}
	for lane := range got {
		slices.SortFunc(got[lane].deliveries, func(a, b *claimedDelivery) int { return cmp.Compare(a.seq, b.seq) })
	}
	return got, nil
}

// scan adds a row.
func (c *claim) scan(row store.Scanner, lane int) error {
	d := &claimedDelivery{lane: lane}
	var user *uuid.UUID
	err := row.Scan(&d.event, &d.seq, &d.eventType, &user, store.ScanTime(&d.created), &d.attempts, &d.tries, &c.revision, &d.body)
	if user != nil {
		d.user = *user
	}
	c.deliveries = append(c.deliveries, d)
	return err
}

func (c *claim) scanNext(row store.Scanner) error {
	var at *time.Time
	err := row.Scan(store.ScanNullTime(&at))
	c.nextRetry = orZero(at)
	return err
}

// backlog describes the pending deliveries of one endpoint: the earliest due time of
// each lane, zero for an empty one.
type backlog struct {
	team     uuid.UUID
	endpoint EndpointID
	revision int64
	holding  bool // nothing is sent until older deliveries are held
	earliest [lanes]time.Time
}

// readBacklogs looks at each endpoint that is on: a few index lookups each,
// whatever the number of deliveries.
func readBacklogs(ctx context.Context, tx *store.Tx) ([]backlog, error) {
	const earliest = `(SELECT MIN(d.due_at) FROM webhook_deliveries d
		WHERE d.team_id = e.team_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.lane = `
	rows, err := tx.Query(ctx, `SELECT e.team_id, e.id, e.revision, e.hold_before IS NOT NULL, `+earliest+`0), `+earliest+`1), `+earliest+`2)
		FROM webhook_endpoints e WHERE e.state = 'on' AND e.deleted_at IS NULL`)
	if err != nil {
		return nil, fmt.Errorf("webhooks: reading backlogs: %w", err)
	}
	defer rows.Close()
	var all []backlog
	for rows.Next() {
		var b backlog
		var at [lanes]*time.Time
		err := rows.Scan(&b.team, &b.endpoint, &b.revision, &b.holding,
			store.ScanNullTime(&at[0]), store.ScanNullTime(&at[1]), store.ScanNullTime(&at[2]))
		if err != nil {
			return nil, fmt.Errorf("webhooks: reading backlogs: %w", err)
		}
		for lane := range at {
			b.earliest[lane] = orZero(at[lane])
		}
		all = append(all, b)
	}
	return all, rows.Err()
}
