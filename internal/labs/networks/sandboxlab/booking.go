package sandboxlab

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// appointment is the live booking of an order.
type appointment struct {
	ID         uuid.UUID
	Requested  bool      // the provider has to confirm first
	At         time.Time // when it does, by the lab's clock
	Start, End time.Time
}

// finding is how long it takes to find a phlebotomist.
const finding = 4 * time.Hour

// steps are what becomes of a visit. Their status is what the order comes to,
// which the appointment brings about and not the lab.
func (a *appointment) steps() []Step {
	all := a.confirmation()
	return append(all, a.step("in_progress", orders.DrawCompleted, a.Start), a.step("completed", orders.DrawCompleted, a.End))
}

// confirmation is what a provider says that could not say yes at once.
func (a *appointment) confirmation() []Step {
	if !a.Requested {
		return nil
	}
	return []Step{a.step("scheduled", orders.AppointmentScheduled, a.At)}
}

func (a *appointment) step(status string, to orders.Status, due time.Time) Step {
	return Step{Act: Visit, Status: to, Visit: status, Booking: a.ID.String(), Start: a.Start, End: a.End, due: due}
}

// Book takes a slot; the wish is the booking's id. An order may hold its slot
// twice for a moment, when it takes back what it is about to give away: the slot
// is then over-full, and whoever has it by an earlier wish still does.
func (l *Lab) Book(ctx context.Context, wish uuid.UUID, order networks.Order, slot networks.Slot) (networks.Booking, error) {
	b := networks.Booking{Provider: slot.Provider, Slot: slot, ID: wish.String(), ExternalID: externalID(wish)}
	most := visitsAtOnce
	if slot.Site != "" {
		most = chairs
	}
	err := l.booked(ctx, order, func(ctx context.Context, tx *store.Tx, o *orders.Order) error {
		place := fmt.Sprintf("sandboxlab:%s:%s:%s:%d", o.Team, slot.Provider, slot.Site, slot.Start.Unix())
		if err := tx.Lock(ctx, place); err != nil {
			return err
		}
		var others, granted int
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FILTER (WHERE order_id <> $5), COUNT(*) FILTER (WHERE id = $6)
			FROM sandbox_bookings WHERE team_id = $1 AND provider = $2 AND site = $3 AND starts_at = $4 AND state = 'booked'`,
			o.Team, slot.Provider, slot.Site, store.Micros(slot.Start), o.ID, wish).Scan(&others, &granted)
		switch {
		case err != nil:
			return err
		case others >= most && granted == 0:
			return networks.ErrSlotTaken
		}
		return keep(ctx, tx, o, wish, slot, "booked")
	})
	return b, err
}

// Request asks for a visit without a time: on the day after a phlebotomist was
// found, at ten.
func (l *Lab) Request(ctx context.Context, wish uuid.UUID, order networks.Order, provider string, at networks.Address, _ string) (networks.Booking, error) {
	if provider != Phlebfinders {
		return networks.Booking{}, networks.ErrUnsupported
	}
	if len(at.Zip) < 5 || at.Zip[:5] != served[provider] {
		return networks.Booking{}, networks.ErrUnsupported
	}
	b := networks.Booking{Provider: provider, ID: wish.String(), ExternalID: externalID(wish)}
	err := l.booked(ctx, order, func(ctx context.Context, tx *store.Tx, o *orders.Order) error {
		now, err := Now(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		zone := location("America/Chicago") // of the one ZIP code that is served
		start := at10(now.Add(finding).In(zone))
		slot := networks.Slot{Provider: provider, Zone: zone.String(), Start: start, End: start.Add(visitLength)}
		return keep(ctx, tx, o, wish, slot, "requested")
	})
	return b, err
}

func at10(t time.Time) time.Time {
	return at(civil.DateOf(t).AddDays(1), 10, 0, t.Location()).UTC()
}

// Unbook frees the slot of a booking, or withdraws a request. What is going to
// happen was planned by the newest booking; giving back one that was replaced
// leaves it alone.
func (l *Lab) Unbook(ctx context.Context, b networks.Booking) error {
	id, err := uuid.Parse(b.ID)
	if err != nil {
		return nil //nolint:nilerr // it is none of ours, so there is nothing to free
	}
	ctx = store.AsSystem(ctx) // a booking is known by its id alone
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		var team teams.ID
		var order orders.ID
		err := tx.QueryRow(ctx, `UPDATE sandbox_bookings SET state = 'cancelled' WHERE id = $1 AND state <> 'cancelled' RETURNING team_id, order_id`, id).
			Scan(&team, &order)
		if errors.Is(err, store.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("sandboxlab: unbooking: %w", err)
		}
		o, err := orders.Get(ctx, tx, team, order)
		if err != nil {
			return err
		}
		if left, err := visitOf(ctx, tx, &o); err != nil || left != nil && left.newer(id) {
			return err
		}
		return replanLive(ctx, tx, &o)
	})
}

// newer reports that an appointment was booked after another one: wishes are
// UUIDs of version 7, which grow.
func (a *appointment) newer(than uuid.UUID) bool { return bytes.Compare(a.ID[:], than[:]) > 0 }

// booked runs a change of an order's bookings and plans anew. An order that was
// not handed over yet, as its requisition comes later, is taken then.
func (l *Lab) booked(ctx context.Context, order networks.Order, change func(ctx context.Context, tx *store.Tx, o *orders.Order) error) error {
	if !order.Sandbox {
		return ErrNotSandbox
	}
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, ids.From[teams.Team](order.Team), ids.From[orders.Order](order.ID))
		if err != nil {
			return err
		}
		if err := change(ctx, tx, &o); err != nil {
			return err
		}
		return replanLive(ctx, tx, &o)
	})
}

// replanLive plans anew for an order that the lab has.
func replanLive(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	var state string
	err := tx.QueryRow(ctx, `SELECT state FROM sandbox_orders WHERE team_id = $1 AND id = $2`, o.Team, o.ID).Scan(&state)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("sandboxlab: reading %s: %w", o.ID, err)
	case state == cancelled || o.Status.Terminal():
		return nil
	}
	return replan(ctx, tx, o)
}

func keep(ctx context.Context, tx *store.Tx, o *orders.Order, id uuid.UUID, slot networks.Slot, state string) error {
	now, err := Now(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO sandbox_bookings (team_id, id, order_id, user_id, provider, site, made_at, starts_at, ends_at, state)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (team_id, id) DO NOTHING`,
		o.Team, id, o.ID, o.User, slot.Provider, slot.Site, store.Micros(now), store.Micros(slot.Start), store.Micros(slot.End), state)
	if err != nil {
		return fmt.Errorf("sandboxlab: booking for %s: %w", o.ID, err)
	}
	return nil
}

// visitOf is the live booking of an order, the latest of several; nil when it
// has none.
func visitOf(ctx context.Context, tx *store.Tx, o *orders.Order) (*appointment, error) {
	var a appointment
	var made time.Time
	var state, provider string
	err := tx.QueryRow(ctx, `SELECT id, state, provider, made_at, starts_at, ends_at FROM sandbox_bookings WHERE team_id = $1 AND order_id = $2
		AND state <> 'cancelled' ORDER BY id DESC LIMIT 1`, o.Team, o.ID).
		Scan(&a.ID, &state, &provider, store.ScanTime(&made), store.ScanTime(&a.Start), store.ScanTime(&a.End))
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading the booking of %s: %w", o.ID, err)
	}
	a.Requested, a.At = state == "requested" || provider == SonoraQuest, made.Add(finding)
	return &a, nil
}

// externalID is the number that a patient is told.
func externalID(booking uuid.UUID) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], chance(booking, "external"))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])[:6]
}
