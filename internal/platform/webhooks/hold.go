package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Whoever switches an endpoint on says from when on events are to be sent. What
// waits for it from before is then held. There may be millions of that, so the
// switch itself holds a few and leaves an order for the rest with the endpoint.
// The deliverer carries it out, a few at a time, and sends nothing until it is
// done.

// holdAtOnce is how many waiting deliveries one transaction looks at.
const holdAtOnce = 500

// holdOrder says what is to be held. What has a greater number, or none yet,
// came after the switch, whatever another node's clock said.
type holdOrder struct {
	before  int64 // microseconds; of the event
	through int64 // number
}

// place is that of a delivery in the index of pending ones.
type place struct {
	lane  int
	due   int64
	event events.ID
}

var (
	firstPlace = place{lane: -1}
	lastPlace  = place{lane: lanes}
)

// switchedOn holds what is older than since, or at least begins to.
func switchedOn(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, since time.Time) error {
	last, err := events.LastNumber(ctx, tx, team.UUID())
	if err != nil {
		return err
	}
	o := holdOrder{before: store.Micros(since), through: last}
	next, err := o.step(ctx, tx, team, id, firstPlace)
	if err != nil || next == lastPlace {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET hold_before = $1, hold_through = $2 WHERE team_id = $3 AND id = $4`,
		o.before, o.through, team, id)
	if err != nil {
		return fmt.Errorf("webhooks: ordering to hold: %w", err)
	}
	return nil
}

// step holds those among the next deliveries after a place that the order is
// about, and returns the place of the last one it looked at.
func (o holdOrder) step(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, after place) (place, error) {
	if err := events.PreferIndexes(ctx, tx); err != nil {
		return after, err
	}
	next := lastPlace
	err := tx.QueryRow(ctx, `SELECT lane, due_at, event_id FROM webhook_deliveries
		WHERE team_id = $1 AND endpoint_id = $2 AND state = 'pending' AND (lane, due_at, event_id) > ($3, $4, $5)
		ORDER BY lane, due_at, event_id LIMIT 1 OFFSET $6`,
		team, id, after.lane, after.due, after.event, holdAtOnce-1).Scan(&next.lane, &next.due, &next.event)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return after, fmt.Errorf("webhooks: looking for deliveries to hold: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET state = 'held', ended_at = $1
		WHERE team_id = $2 AND endpoint_id = $3 AND event_id IN (
			SELECT v.id FROM webhook_deliveries d JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
			WHERE d.team_id = $2 AND d.endpoint_id = $3 AND d.state = 'pending'
			AND (d.lane, d.due_at, d.event_id) > ($4, $5, $6) AND (d.lane, d.due_at, d.event_id) <= ($7, $8, $9)
			AND v.created_at < $10 AND v.seq <= $11)`,
		store.Micros(tx.Now()), team, id, after.lane, after.due, after.event, next.lane, next.due, next.event, o.before, o.through)
	if err != nil {
		return after, fmt.Errorf("webhooks: holding deliveries: %w", err)
	}
	return next, nil
}

// hold carries out an endpoint's order, unless this process is at it.
func (d *Deliverer) hold(team uuid.UUID, id EndpointID) {
	d.mu.Lock()
	_, busy := d.holding[id]
	d.holding[id] = struct{}{}
	d.mu.Unlock()
	if !busy {
		d.later(func() { d.holdAll(teamID(team), id) })
	}
}

func (d *Deliverer) holdAll(team teams.ID, id EndpointID) {
	ctx := store.AsSystem(context.Background())
	done, err := d.holdUntilDone(ctx, team, id)
	d.mu.Lock()
	delete(d.holding, id)
	d.mu.Unlock()
	switch {
	case err != nil: // the next sweep comes here again
		d.cfg.Log.ErrorContext(ctx, "holding deliveries", "endpoint", id, "error", err)
	case done:
		d.refreshLater(team.UUID())
	}
}

func (d *Deliverer) holdUntilDone(ctx context.Context, team teams.ID, id EndpointID) (done bool, err error) {
	var h, next holder
	for !h.done {
		err := d.db.Write(ctx, func(tx *store.Tx) (err error) {
			next, err = h.step(ctx, tx, team, id)
			return err
		})
		if err != nil {
			return false, err
		}
		h = next
		select {
		case <-d.halt:
			return false, nil
		default:
		}
	}
	return true, nil
}

// holder is how far an order is carried out.
type holder struct {
	order holdOrder
	at    place
	done  bool
}

// step goes on with the order as it is now, from its beginning if it is
// another one than before. When all is held, the endpoint is sent to.
func (h holder) step(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) (holder, error) {
	if err := tx.Lock(ctx, "webhooks.hold:"+id.String()); err != nil { // another node may be at it as well
		return h, err
	}
	var o holdOrder
	err := tx.QueryRow(ctx, `SELECT hold_before, hold_through FROM webhook_endpoints
		WHERE team_id = $1 AND id = $2 AND hold_before IS NOT NULL AND deleted_at IS NULL`, team, id).Scan(&o.before, &o.through)
	if errors.Is(err, store.ErrNoRows) {
		return holder{done: true}, nil
	}
	if err != nil {
		return h, fmt.Errorf("webhooks: reading an order to hold: %w", err)
	}
	if h.order != o {
		h = holder{order: o, at: firstPlace}
	}
	if h.at, err = o.step(ctx, tx, team, id, h.at); err != nil || h.at != lastPlace {
		return h, err
	}
	n, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET hold_before = NULL, hold_through = NULL
		WHERE team_id = $1 AND id = $2 AND hold_before = $3 AND hold_through = $4`, team, id, o.before, o.through)
	if err != nil {
		return h, fmt.Errorf("webhooks: ending an order to hold: %w", err)
	}
	return holder{done: n > 0}, nil
}
