package webhooks

import (
	"context"
	"fmt"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// DeliveryState is where a delivery stands.
type DeliveryState string

// A delivery is pending until an attempt succeeds (sent) or none is left
// (failed). Held means that it waits for its endpoint to be switched on, or
// was passed over when that happened, and can be replayed.
const (
	Pending DeliveryState = "pending"
	Sent    DeliveryState = "sent"
	Failed  DeliveryState = "failed"
	Held    DeliveryState = "held"
)

// Delivery is one event and what became of it at one endpoint.
type Delivery struct {
	Event     events.ID
	Seq       int64
	Type      string
	CreatedAt time.Time // of the event
	State     DeliveryState
	Attempts  int
	Code      *int       // of the last answer
	DueAt     *time.Time // next attempt; nil unless pending
	EndedAt   *time.Time
}

// shownState turns the stored state into the one that is shown.
const shownState = `CASE WHEN d.state = 'pending' AND (e.state <> 'on' OR e.hold_before IS NOT NULL) THEN 'held' ELSE d.state END`

const deliveryColumns = `v.id, v.seq, v.type, v.created_at, ` + shownState + `, d.attempts, d.code, d.due_at, d.ended_at`

func scanDelivery(row interface{ Scan(...any) error }) (Delivery, error) {
	var d Delivery
	var seq *int64
	var due time.Time
	err := row.Scan(&d.Event, &seq, &d.Type, store.ScanTime(&d.CreatedAt), &d.State, &d.Attempts, &d.Code,
		store.ScanTime(&due), store.ScanNullTime(&d.EndedAt))
	if seq != nil {
		d.Seq = *seq
	}
	if d.State == Pending {
		d.DueAt = &due
	}
	return d, err
}

// DeliveryFilter narrows a list of deliveries; zero fields do not.
type DeliveryFilter struct {
	State  DeliveryState
	Type   string
	Before int64 // only events with smaller numbers
	Limit  int
}

// logSpan is how many numbers one page of a log looks through at most: an
// endpoint may have got few of them.
const logSpan = 20_000

// since is the number at which the page of a log that begins with number last
// ends. There is nothing more after a page that ends with the endpoint's first.
func (e *Endpoint) since(ctx context.Context, tx *store.Tx, last int64) (int64, error) {
	stored, err := events.LastNumberUpTo(ctx, tx, e.Team.UUID(), last)
	return max(e.first, stored-logSpan+1), err
}

// Deliveries lists an endpoint's deliveries, the newest events first. A page
// may hold fewer than the limit, or none, and not be the last: next is what to
// go on before, 0 at the end.
func Deliveries(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, f DeliveryFilter) (all []Delivery, next int64, err error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, 0, err
	}
	if f.Before == 0 {
		f.Before = 1<<63 - 1
	}
	since, err := e.since(ctx, tx, f.Before-1)
	if err != nil {
		return nil, 0, err
	}
	if all, err = readDeliveries(ctx, tx, &e, f, since); err != nil {
		return nil, 0, err
	}
	switch {
	case len(all) > f.Limit:
		all = all[:f.Limit]
		next = all[f.Limit-1].Seq
	case since > e.first:
		next = since
	}
	return all, next, nil
}

// readDeliveries reads one more than the limit.
func readDeliveries(ctx context.Context, tx *store.Tx, e *Endpoint, f DeliveryFilter, since int64) ([]Delivery, error) {
	stored := ""
	switch f.State {
	case Held:
		stored = ` AND d.state IN ('held', 'pending') AND ` + shownState + ` = 'held'`
	case Pending:
		stored = ` AND d.state = 'pending' AND e.state = 'on' AND e.hold_before IS NULL`
	case Failed:
		stored = ` AND d.state = 'failed'`
	case Sent:
		stored = ` AND d.state = 'sent'`
	}
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_endpoints e
		JOIN webhook_deliveries d ON d.team_id = e.team_id AND d.endpoint_id = e.id
		JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
		WHERE e.team_id = $1 AND e.id = $2 AND v.team_id = $1 AND v.seq < $3 AND v.seq >= $6 AND ($4 = '' OR v.type = $4)`+stored+`
		ORDER BY v.seq DESC LIMIT $5`, e.Team, e.ID, f.Before, f.Type, f.Limit+1, since)
	if err != nil {
		return nil, fmt.Errorf("webhooks: listing deliveries: %w", err)
	}
	defer rows.Close()
	all := []Delivery{}
	for rows.Next() {
		d, err := scanDelivery(rows)
		if err != nil {
			return nil, fmt.Errorf("webhooks: listing deliveries: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}
