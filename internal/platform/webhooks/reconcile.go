package webhooks

import (
	"context"
	"fmt"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Account is the audit of a range of numbers at one endpoint.
type Account struct {
	From, To int64
	Counts   map[DeliveryState]int64
	// Apart counts events in the range that the endpoint was not to get.
	Apart int64
	// Open lists what has not been answered with 2xx, at most maxOpen.
	Open []Delivery
	More bool // Open is cut short
}

const (
	// MaxAccount is how many numbers one account covers.
	MaxAccount = 100_000
	maxOpen    = 1000
)

// Reconcile tells what became of the events numbered from to to, so that a
// receiver can check us.
func Reconcile(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, from, to int64) (Account, error) {
	if _, err := Get(ctx, tx, team, id); err != nil {
		return Account{}, err
	}
	last, err := events.LastNumber(ctx, tx, team.UUID())
	if err != nil {
		return Account{}, err
	}
	to = min(to, last, from+MaxAccount-1)
	a := Account{From: from, To: max(to, from-1), Counts: map[DeliveryState]int64{Pending: 0, Sent: 0, Failed: 0, Held: 0}, Open: []Delivery{}}
	if err := a.count(ctx, tx, team, id); err != nil {
		return a, err
	}
	return a, a.list(ctx, tx, team, id)
}

const accounted = `FROM webhook_endpoints e JOIN events v ON v.team_id = e.team_id
	LEFT JOIN webhook_deliveries d ON d.event_id = v.id AND d.endpoint_id = e.id AND d.team_id = v.team_id
	WHERE e.team_id = $1 AND e.id = $2 AND v.team_id = $1 AND v.seq BETWEEN $3 AND $4`

func (a *Account) count(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	rows, err := tx.Query(ctx, `SELECT COALESCE(`+shownState+`, ''), COUNT(*) `+accounted+` GROUP BY 1`, team, id, a.From, a.To)
	if err != nil {
		return fmt.Errorf("webhooks: reconciling: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var state DeliveryState
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return err
		}
		if state == "" {
			a.Apart = n
		} else {
			a.Counts[state] = n
		}
	}
	return rows.Err()
}

func (a *Account) list(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) error {
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` `+accounted+` AND d.state <> 'sent' ORDER BY v.seq LIMIT $5`,
		team, id, a.From, a.To, maxOpen+1)
	if err != nil {
		return fmt.Errorf("webhooks: reconciling: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(a.Open) == maxOpen {
			a.More = true
			break
		}
		d, err := scanDelivery(rows)
		if err != nil {
			return err
		}
		a.Open = append(a.Open, d)
	}
	return rows.Err()
}
