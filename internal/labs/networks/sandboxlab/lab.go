package sandboxlab

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Lab is the network.
type Lab struct {
	DB    *store.DB
	Inbox networks.Inbox
	Log   *slog.Logger
	// Following are the kinds of jobs that follow from a report. The next step
	// waits for them.
	Following []string
	// Timed are the kinds of jobs that wait for a time of the team's clock.
	Timed []string
}

var (
	_ networks.Network = (*Lab)(nil)
	_ networks.Shipper = (*Lab)(nil)
	_ networks.Booker  = (*Lab)(nil)
)

// Slug names the network.
func (*Lab) Slug() string { return orders.SandboxNetwork }

// ErrNotSandbox refuses real orders.
var ErrNotSandbox = errors.New("sandboxlab: only orders of sandbox teams are accepted")

// The states of an order.
const (
	stateShipped   = "shipped" // a kit is out, and its user is not known yet
	statePlaced    = "placed"
	stateCancelled = "cancelled"
)

// Place accepts an order. The receipt follows when the clock is advanced or the
// order is simulated: in sandbox nothing moves on its own.
func (l *Lab) Place(ctx context.Context, order networks.Order) (networks.Receipt, error) {
	if err := l.acceptNetworkOrder(ctx, order); err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{Pending: true}, nil
}

// Ship sends out a kit that is registered later.
func (l *Lab) Ship(ctx context.Context, order networks.Order) error {
	return l.acceptNetworkOrder(ctx, order)
}

func (l *Lab) acceptNetworkOrder(ctx context.Context, order networks.Order) error {
	if !order.Sandbox {
		return ErrNotSandbox
	}
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, ids.FromUUID[teams.Team](order.Team), ids.FromUUID[orders.Order](order.ID))
		if err != nil {
			return err
		}
		_, err = l.accept(ctx, tx, &o)
		return err
	})
}

// accept stores an order and plans its steps. An order that was accepted
// before stays as it is: fresh is false. A kit is accepted a second time when
// it is registered. An order that waits for its deleted user is not accepted.
func (l *Lab) accept(ctx context.Context, tx *store.Tx, o *orders.Order) (fresh bool, err error) {
	if held, err := orders.IsHeld(ctx, tx, o); err != nil || held {
		return false, err
	}
	now, err := TimeOf(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	return acceptFrom(ctx, tx, o, now, startOf(o, now))
}

// acceptFrom accepts an order now, and plans its steps from a time.
func acceptFrom(ctx context.Context, tx *store.Tx, o *orders.Order, now, start time.Time) (fresh bool, err error) {
	state := statePlaced
	if isUnregistered(o) {
		state = stateShipped
	}
	n, err := tx.Exec(ctx, `INSERT INTO sandbox_orders (team_id, id, user_id, state, script, taken_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (team_id, id) DO UPDATE SET state = excluded.state, user_id = excluded.user_id
		WHERE sandbox_orders.state = 'shipped' AND excluded.state = 'placed'`,
		o.Team, o.ID, o.User, state, string(Success), store.Micros(now))
	if err != nil {
		return false, fmt.Errorf("sandboxlab: taking %s: %w", o.ID, err)
	}
	if n == 0 {
		return false, nil
	}
	return true, replan(ctx, tx, o, start)
}

// startOf returns the time at which a lab gets an order that it accepts now. If the clock
// has moved past the order's activate_by, the time is on that day.
func startOf(o *orders.Order, now time.Time) time.Time {
	if o.ActivateBy == nil {
		return now
	}
	if start := labclock.LaterOf(o.ActivationTime(), o.CreatedAt); start.Before(now) {
		return start
	}
	return now
}

// Cancel cancels an order: its planned steps are deleted.
func (l *Lab) Cancel(ctx context.Context, order networks.Order) error {
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE sandbox_orders SET state = 'cancelled' WHERE team_id = $1 AND id = $2`, order.Team, order.ID)
		if err != nil {
			return fmt.Errorf("sandboxlab: cancelling %s: %w", order.ID, err)
		}
		return deletePlan(ctx, tx, ids.FromUUID[teams.Team](order.Team), ids.FromUUID[orders.Order](order.ID))
	})
}

// sampleNumber returns the control number of an order: that of the kit or of the import,
// otherwise ten digits that follow from its id.
func sampleNumber(o *orders.Order) string {
	if o.SampleID != "" {
		return o.SampleID
	}
	return fmt.Sprintf("%010d", hashNumber(o.ID.UUID(), "sample")%10_000_000_000)
}

// hashNumber returns a number that looks random and is always the same for an
// order and a purpose.
func hashNumber(order uuid.UUID, purpose string) uint64 {
	sum := sha256.Sum256(append([]byte(purpose+":"), order[:]...))
	return binary.BigEndian.Uint64(sum[:8])
}

// hashFraction returns hashNumber as a fraction, at least 0 and less than 1.
func hashFraction(order uuid.UUID, purpose string) float64 {
	return float64(hashNumber(order, purpose)>>11) / (1 << 53)
}

// day is one day of the lab's clock.
const day = 24 * time.Hour
