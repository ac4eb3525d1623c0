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

// A request that switches an endpoint on says from when on events are sent. Waiting
// deliveries of older events are held. There may be millions of them, so the request
// holds a few and stores a rule for the rest with the endpoint. The deliverer applies
// the rule, a few deliveries at a time, and sends nothing until it is done.

// holdAtOnce limits the deliveries of one transaction.
const holdAtOnce = 500

// holdRule selects the deliveries to hold. An event with a greater number, or without
// one, was written after the endpoint was enabled, even if its node's clock says otherwise.
type holdRule struct {
	before  int64 // microseconds; of the event
	through int64 // number
}

// position locates a delivery in the index of pending ones.
type position struct {
	lane  int
	due   int64
	event events.ID
}

var (
	firstPosition = position{lane: -1}
	lastPosition  = position{lane: lanes}
)

// beginHold holds the first deliveries of events before since. It stores the rule if
// more follow.
func beginHold(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, since time.Time) error {
	last, err := events.LastNumber(ctx, tx, team.UUID())
	if err != nil {
		return err
	}
	rule := holdRule{before: store.Micros(since), through: last}
	next, err := rule.apply(ctx, tx, team, id, firstPosition)
	if err != nil || next == lastPosition {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET hold_before = $1, hold_through = $2 WHERE team_id = $3 AND id = $4`,
		rule.before, rule.through, team, id)
	if err != nil {
		return fmt.Errorf("webhooks: storing a rule to hold: %w", err)
	}
	return nil
}

// apply holds those of the next deliveries after a position that the rule selects. It
// returns the position of the last one that it looked at.
func (r holdRule) apply(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, after position) (position, error) {
	if err := events.PreferIndexes(ctx, tx); err != nil {
		return after, err
	}
	next := lastPosition
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
		store.Micros(tx.Now()), team, id, after.lane, after.due, after.event, next.lane, next.due, next.event, r.before, r.through)
	if err != nil {
		return after, fmt.Errorf("webhooks: holding deliveries: %w", err)
	}
	return next, nil
}

// hold applies an endpoint's rule, unless this process is doing so.
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
	case err != nil: // the next sweep tries again
		d.cfg.Log.ErrorContext(ctx, "deliveries cannot be held", "endpoint", id, "error", err)
	case done:
		d.refreshLater(team.UUID())
	}
}

func (d *Deliverer) holdUntilDone(ctx context.Context, team teams.ID, id EndpointID) (done bool, err error) {
	var progress, next holdProgress
	for !progress.done {
		err := d.db.Write(ctx, func(tx *store.Tx) (err error) {
			next, err = progress.step(ctx, tx, team, id)
			return err
		})
		if err != nil {
			return false, err
		}
		progress = next
		select {
		case <-d.halt:
			return false, nil
		default:
		}
	}
	return true, nil
}

// holdProgress says how far a rule is applied.
type holdProgress struct {
	rule holdRule
	at   position
	done bool
}

// step applies the stored rule to more deliveries, from the first one if the rule
// changed. It removes the rule when no delivery is left.
func (p holdProgress) step(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) (holdProgress, error) {
	if err := tx.Lock(ctx, "webhooks.hold:"+id.String()); err != nil { // another node may do the same
		return p, err
	}
	var rule holdRule
	err := tx.QueryRow(ctx, `SELECT hold_before, hold_through FROM webhook_endpoints
		WHERE team_id = $1 AND id = $2 AND hold_before IS NOT NULL AND deleted_at IS NULL`, team, id).Scan(&rule.before, &rule.through)
	if errors.Is(err, store.ErrNoRows) {
		return holdProgress{done: true}, nil
	}
	if err != nil {
		return p, fmt.Errorf("webhooks: reading a rule to hold: %w", err)
	}
	if p.rule != rule {
		p = holdProgress{rule: rule, at: firstPosition}
	}
	if p.at, err = rule.apply(ctx, tx, team, id, p.at); err != nil || p.at != lastPosition {
		return p, err
	}
	n, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET hold_before = NULL, hold_through = NULL
		WHERE team_id = $1 AND id = $2 AND hold_before = $3 AND hold_through = $4`, team, id, rule.before, rule.through)
	if err != nil {
		return p, fmt.Errorf("webhooks: removing a rule to hold: %w", err)
	}
	return holdProgress{done: n > 0}, nil
}
