package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// Lanes keep late work from delaying fresh events.
const (
	laneFirst = iota
	laneRetry
	laneReplay
	lanes
)

// parcel is one delivery in hand: one event on its way to one endpoint.
type parcel struct {
	event    events.ID
	seq      int64
	kind     string
	user     uuid.UUID // zero for none
	created  time.Time
	due      time.Time
	lane     int
	attempts int // made before this one
	tries    int // of this round of the schedule
	body     []byte
}

// hand tells one parcel from another of the same delivery: once an attempt is
// recorded, the row is a new one, which may be claimed before the record's
// writer has let go of the old one.
type hand struct {
	event    events.ID
	attempts int
}

func (p *parcel) hand() hand { return hand{p.event, p.attempts} }

// haul is what one claim brought.
type haul struct {
	parcels  []*parcel
	left     int       // how many of them were marked as this node's, and in nobody's hand
	revision int64     // of the endpoint; 0 when there was no row to tell
	next     time.Time // when the next retry is due; zero when none is known
}

// due selects pending and due deliveries (d) of one lane of an endpoint that is
// on. $1 team, $2 endpoint, $3 lane, $4 now.
const due = `d.team_id = $1 AND d.endpoint_id = $2 AND d.state = 'pending' AND d.lane = $3 AND d.due_at <= $4
	AND ` + revision + ` IS NOT NULL`

// revision is that of the endpoint, NULL while it is off, or was switched on and
// what waited is still being held.
const revision = `(SELECT e.revision FROM webhook_endpoints e WHERE e.team_id = $1 AND e.id = $2 AND e.state = 'on' AND e.hold_before IS NULL AND e.deleted_at IS NULL)`

// claimSQLite reads due rows and passes over those in hand. Nothing is
// written: there is one process, and what it has in hand is in its memory. It
// stops reading when it has enough; a LIMIT that differs from call to call
// would make SQLite plan the statement anew each time.
func claimSQLite(ctx context.Context, tx *store.Tx, team uuid.UUID, id EndpointID, lane, most int, inHand map[hand]struct{}) (haul, error) {
	rows, err := tx.Query(ctx, `SELECT c.event_id, v.seq, v.type, v.user_id, v.created_at, c.due_at, c.attempts, c.tries, `+revision+`, FALSE
		FROM (SELECT d.event_id, d.due_at, d.attempts, d.tries FROM webhook_deliveries d WHERE `+due+` ORDER BY d.due_at, d.event_id LIMIT 10000) AS c
		CROSS JOIN events v WHERE v.team_id = $1 AND v.id = c.event_id`,
		team, id, lane, store.Micros(tx.Now()))
	if err != nil {
		return haul{}, fmt.Errorf("webhooks: claiming: %w", err)
	}
	defer rows.Close()
	return readHaul(rows, lane, most, inHand)
}

// claimPostgres marks due rows as this node's. Rows that another transaction
// is claiming are passed over, and so are those of nodes that are alive and, since
// this node's lease may have lapsed, those that are in hand. Rows that are marked
// as ours and not in hand were left so by a commit of which no answer came; those
// that are due since ours are taken as well, unless it is zero.
func claimPostgres(ctx context.Context, tx *store.Tx, team uuid.UUID, id EndpointID, lane, most int, node uuid.UUID, ours time.Time, inHand map[hand]struct{}) (haul, error) {
	held, attempts := make([][16]byte, 0, len(inHand)), make([]int64, 0, len(inHand))
	for h := range inHand {
		held, attempts = append(held, h.event), append(attempts, int64(h.attempts))
	}
	since := int64(math.MinInt64)
	if !ours.IsZero() {
		since = store.Micros(ours)
	}
	// OFFSET 0 keeps the lookup of the event a lookup: as a plain join it tempts
	// PostgreSQL, while there are no statistics, to begin with the wrong table.
	rows, err := tx.Query(ctx, `WITH c AS MATERIALIZED (
			SELECT d.event_id, COALESCE(d.node = $6, FALSE) AS mine, v.seq, v.type, v.user_id, v.created_at
			FROM webhook_deliveries d CROSS JOIN LATERAL (
				SELECT v.seq, v.type, v.user_id, v.created_at FROM events v
				WHERE v.id = d.event_id AND v.team_id = d.team_id AND v.seq IS NOT NULL OFFSET 0) AS v
			WHERE `+due+` AND (d.node = $6 AND d.due_at <= $7 OR `+jobs.Free("d.node")+`)
				AND (d.event_id, d.attempts) NOT IN (SELECT * FROM UNNEST($8::uuid[], $9::bigint[]))
			ORDER BY d.due_at, d.event_id LIMIT $5 FOR UPDATE OF d SKIP LOCKED)
		UPDATE webhook_deliveries d SET node = $6 FROM c
		WHERE d.event_id = c.event_id AND d.endpoint_id = $2 AND d.team_id = $1
		RETURNING d.event_id, c.seq, c.type, c.user_id, c.created_at, d.due_at, d.attempts, d.tries, `+revision+`, c.mine`,
		team, id, lane, store.Micros(tx.Now()), most, node, since, held, attempts)
	if err != nil {
		return haul{}, fmt.Errorf("webhooks: claiming: %w", err)
	}
	defer rows.Close()
	h, err := readHaul(rows, lane, most, nil)
	slices.SortFunc(h.parcels, func(a, b *parcel) int { return cmp.Compare(a.seq, b.seq) })
	return h, err
}

// readHaul keeps what is not in hand.
func readHaul(rows *store.Rows, lane, most int, inHand map[hand]struct{}) (haul, error) {
	var h haul
	for len(h.parcels) < most && rows.Next() {
		p := &parcel{lane: lane}
		var user *uuid.UUID
		var left bool
		err := rows.Scan(&p.event, &p.seq, &p.kind, &user, store.ScanTime(&p.created), store.ScanTime(&p.due),
			&p.attempts, &p.tries, &h.revision, &left)
		if err != nil {
			return h, fmt.Errorf("webhooks: scanning a delivery: %w", err)
		}
		if user != nil {
			p.user = *user
		}
		if _, held := inHand[p.hand()]; held {
			continue
		}
		if h.parcels = append(h.parcels, p); left {
			h.left++
		}
	}
	return h, rows.Err()
}

// nextRetry is when the next retry of an endpoint will be due.
func nextRetry(ctx context.Context, tx *store.Tx, team uuid.UUID, id EndpointID) (time.Time, error) {
	var at *time.Time
	err := tx.QueryRow(ctx, `SELECT MIN(due_at) FROM webhook_deliveries
		WHERE team_id = $1 AND endpoint_id = $2 AND state = 'pending' AND lane = $3 AND due_at > $4`,
		team, id, laneRetry, store.Micros(tx.Now())).Scan(store.ScanNullTime(&at))
	if err != nil {
		return time.Time{}, fmt.Errorf("webhooks: looking for retries: %w", err)
	}
	return orZero(at), nil
}

// backlog is what waits for one endpoint: the earliest due time of each lane,
// zero for an empty one.
type backlog struct {
	team     uuid.UUID
	endpoint EndpointID
	revision int64
	holding  bool // nothing is sent until what waited is held
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
