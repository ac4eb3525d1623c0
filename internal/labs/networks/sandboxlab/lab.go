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

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Lab is the network.
type Lab struct {
	DB    *store.DB
	Inbox networks.Inbox
	Log   *slog.Logger
}

var (
	_ networks.Network = (*Lab)(nil)
	_ networks.Shipper = (*Lab)(nil)
	_ networks.Booker  = (*Lab)(nil)
)

// Slug names the network.
func (*Lab) Slug() string { return orders.SandboxNetwork }

// ErrNotSandbox refuses what is real.
var ErrNotSandbox = errors.New("sandboxlab: only orders of sandbox teams are taken")

// The states of an order here.
const (
	shipped   = "shipped" // a kit is out, and nobody knows yet whom it is for
	taken     = "placed"
	cancelled = "cancelled"
)

// Place takes an order. The receipt follows when the clock is turned or the
// order is simulated: in sandbox nothing moves by itself.
func (l *Lab) Place(ctx context.Context, order networks.Order) (networks.Receipt, error) {
	if err := l.take(ctx, order); err != nil {
		return networks.Receipt{}, err
	}
	return networks.Receipt{Pending: true}, nil
}

// Ship sends out a kit that is registered later.
func (l *Lab) Ship(ctx context.Context, order networks.Order) error {
	return l.take(ctx, order)
}

func (l *Lab) take(ctx context.Context, order networks.Order) error {
	if !order.Sandbox {
		return ErrNotSandbox
	}
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, ids.From[teams.Team](order.Team), ids.From[orders.Order](order.ID))
		if err != nil {
			return err
		}
		_, err = l.accept(ctx, tx, &o)
		return err
	})
}

// accept notes an order and plans what will happen to it. An order that was
// taken before stays as it is: fresh is false. A kit is taken a second time
// when it was registered.
func (l *Lab) accept(ctx context.Context, tx *store.Tx, o *orders.Order) (fresh bool, err error) {
	now, err := Now(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	state := taken
	if unregistered(o) {
		state = shipped
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
	return true, replan(ctx, tx, o)
}

// Cancel takes an order back: what was planned will not happen.
func (l *Lab) Cancel(ctx context.Context, order networks.Order) error {
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE sandbox_orders SET state = 'cancelled' WHERE team_id = $1 AND id = $2`, order.Team, order.ID)
		if err != nil {
			return fmt.Errorf("sandboxlab: cancelling %s: %w", order.ID, err)
		}
		return forget(ctx, tx, ids.From[teams.Team](order.Team), ids.From[orders.Order](order.ID))
	})
}

// sampleNumber is the control number of an order: the kit's or the import's,
// else ten digits that stay the same.
func sampleNumber(o *orders.Order) string {
	if o.SampleID != "" {
		return o.SampleID
	}
	return fmt.Sprintf("%010d", chance(o.ID.UUID(), "sample")%10_000_000_000)
}

// chance is a number that looks random and is always the same for an order and
// a purpose.
func chance(order uuid.UUID, purpose string) uint64 {
	sum := sha256.Sum256(append([]byte(purpose+":"), order[:]...))
	return binary.BigEndian.Uint64(sum[:8])
}

// part is chance as a fraction, at least 0 and less than 1.
func part(order uuid.UUID, purpose string) float64 {
	return float64(chance(order, purpose)>>11) / (1 << 53)
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return users.RowsOf("sandbox_orders", "sandbox_steps", "sandbox_bookings")
}

// day is one of the lab's.
const day = 24 * time.Hour
