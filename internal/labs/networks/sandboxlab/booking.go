package sandboxlab

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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
	Requested  bool      // the provider must confirm first
	At         time.Time // time of the confirmation, by the lab's clock
	Start, End time.Time
}

// confirmationDelay is the time until a phlebotomist is found.
const confirmationDelay = 4 * time.Hour

// steps returns the steps of a visit. Their status is the status of the order, which the
// appointment sets, not the lab.
func (a *appointment) steps() []Step {
	all := a.confirmation()
	return append(all, a.step("in_progress", orders.DrawCompleted, a.Start), a.step("completed", orders.DrawCompleted, a.End))
}

// confirmation returns the step of a provider that confirms later.
func (a *appointment) confirmation() []Step {
	if !a.Requested {
		return nil
	}
	return []Step{a.step("scheduled", orders.AppointmentScheduled, a.At)}
}

func (a *appointment) step(status string, to orders.Status, due time.Time) Step {
	return Step{Act: Visit, Status: to, Visit: status, Booking: a.ID.String(), Start: a.Start, End: a.End, due: due}
}

// Book books a slot; the wish is the booking's id. An order may hold its slot twice for a
// moment, when it books the slot again before the first booking is released. The slot
// then has one booking too many, and earlier wishes keep their slots.
func (l *Lab) Book(ctx context.Context, wish uuid.UUID, order networks.Order, slot networks.Slot) (networks.Booking, error) {
	b := networks.Booking{Provider: slot.Provider, Slot: slot, ID: wish.String(), ExternalID: externalID(wish)}
	capacity := visitCapacity
	if slot.Site != "" {
		capacity = chairCapacity
	}
	err := l.changeBookings(ctx, order, func(ctx context.Context, tx *store.Tx, o *orders.Order) error {
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
		case others >= capacity && granted == 0:
			return networks.ErrSlotTaken
		}
		return storeBooking(ctx, tx, o, wish, slot, "booked")
	})
	return b, err
}

// Request asks for a visit without a time: at ten on the day after a
// phlebotomist was found.
func (l *Lab) Request(ctx context.Context, wish uuid.UUID, order networks.Order, provider string, at networks.Address, _ string) (networks.Booking, error) {
	if provider != Phlebfinders {
		return networks.Booking{}, networks.ErrUnsupported
	}
	if len(at.Zip) < 5 || at.Zip[:5] != servedZip[provider] {
		return networks.Booking{}, networks.ErrUnsupported
	}
	b := networks.Booking{Provider: provider, ID: wish.String(), ExternalID: externalID(wish)}
	err := l.changeBookings(ctx, order, func(ctx context.Context, tx *store.Tx, o *orders.Order) error {
		now, err := TimeOf(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		zone := location("America/Chicago") // of the one ZIP code that is served
		start := nextDayAtTen(now.Add(confirmationDelay).In(zone))
		slot := networks.Slot{Provider: provider, Zone: zone.String(), Start: start, End: start.Add(visitLength)}
		return storeBooking(ctx, tx, o, wish, slot, "requested")
	})
	return b, err
}

func nextDayAtTen(t time.Time) time.Time {
	return timeOn(civil.DateOf(t).AddDays(1), 10, 0, t.Location()).UTC()
}

// Unbook releases the slot of a booking, or withdraws a request. The newest
// booking planned the visit; releasing a replaced one changes no plan.
func (l *Lab) Unbook(ctx context.Context, b networks.Booking) error {
	id, err := uuid.Parse(b.ID)
	if err != nil {
		return nil //nolint:nilerr // not a booking of this lab, so there is nothing to release
	}
	ctx = store.AsSystem(ctx) // a booking is identified by its id alone
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
		if left, err := liveBooking(ctx, tx, &o); err != nil || left != nil && left.isNewer(id) {
			return err
		}
		return replanAccepted(ctx, tx, &o)
	})
}

// isNewer reports whether an appointment was booked after another one. Wishes are UUIDs
// of version 7, which grow.
func (a *appointment) isNewer(than uuid.UUID) bool { return bytes.Compare(a.ID[:], than[:]) > 0 }

// changeBookings changes an order's bookings and plans the order again. An
// order that was not placed yet is planned when it is placed.
func (l *Lab) changeBookings(ctx context.Context, order networks.Order, change func(ctx context.Context, tx *store.Tx, o *orders.Order) error) error {
	if !order.Sandbox {
		return ErrNotSandbox
	}
	ctx = store.WithTeam(ctx, order.Team)
	return l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, ids.FromUUID[teams.Team](order.Team), ids.FromUUID[orders.Order](order.ID))
		if err != nil {
			return err
		}
		if err := change(ctx, tx, &o); err != nil {
			return err
		}
		return replanAccepted(ctx, tx, &o)
	})
}

// replanAccepted makes a new plan for an order that the lab has accepted. For an order at
// a lab's test system, it plans only the visit.
func replanAccepted(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	if o.Network != orders.SandboxNetwork {
		return replanVisit(ctx, tx, o)
	}
	var state string
	err := tx.QueryRow(ctx, `SELECT state FROM sandbox_orders WHERE team_id = $1 AND id = $2`, o.Team, o.ID).Scan(&state)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("sandboxlab: reading %s: %w", o.ID, err)
	case state == stateCancelled || o.Status.Terminal():
		return nil
	}
	return replanNow(ctx, tx, o)
}

// replanVisit plans the visit of an order that another network has.
func replanVisit(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	now, err := TimeOf(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	visit, err := liveBooking(ctx, tx, o)
	if err != nil {
		return err
	}
	var steps []Step
	if visit != nil {
		steps = slices.DeleteFunc(visit.steps(), func(s Step) bool { return s.Act != Visit })
	}
	return replacePlan(ctx, tx, o, now, steps)
}

func storeBooking(ctx context.Context, tx *store.Tx, o *orders.Order, id uuid.UUID, slot networks.Slot, state string) error {
	now, err := TimeOf(ctx, tx, o.Team)
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

// liveBooking returns the latest live booking of an order, or nil if it has none.
func liveBooking(ctx context.Context, tx *store.Tx, o *orders.Order) (*appointment, error) {
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
	a.Requested, a.At = state == "requested" || provider == SonoraQuest, made.Add(confirmationDelay)
	return &a, nil
}

// externalID returns the number for the patient.
func externalID(booking uuid.UUID) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], hashNumber(booking, "external"))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])[:6]
}

// The providers of appointments. They behave as the reference's sandbox does.
//
// Reference 1.15, 2.1.
const (
	Getlabs      = "getlabs"      // phlebotomists with slots
	Phlebfinders = "phlebfinders" // phlebotomists on request
	Quest        = "quest"        // service centers
	SonoraQuest  = "sonora_quest"
)

// servedZip are the only ZIP codes that phlebotomists visit in sandbox.
//
// Reference 1.15.
var servedZip = map[string]string{Getlabs: "85004", Phlebfinders: "54650"}

const (
	horizon = 14 // days of slots
	// appointments of one slot
	visitCapacity, chairCapacity = 2, 3
	visitPrice                   = 3500 // US cents
	visitLength                  = 2 * time.Hour
	chairLength                  = 20 * time.Minute
	minNotice                    = 2 * time.Hour // before a visit
)

// Slots lists the free slots of a provider. A phlebotomist has slots of two
// hours from 8:00 to 18:00. A service center has slots of 20 minutes from 7:00
// to 12:00, in the time of New York. On the current day they run from the next
// full hour until 17:00.
//
// Reference 1.15, 2.3.
func (l *Lab) Slots(ctx context.Context, q networks.SlotQuery) ([]networks.Slot, error) {
	var all []networks.Slot
	switch q.Provider {
	case Getlabs:
		if q.Zip != servedZip[Getlabs] {
			return nil, nil
		}
		all = visitSlots(q)
	case Quest, SonoraQuest:
		all = chairSlots(q)
	default:
		return nil, networks.ErrUnsupported
	}
	return l.removeBooked(ctx, q, all)
}

func visitSlots(q networks.SlotQuery) []networks.Slot {
	zone := location(q.Zone)
	var all []networks.Slot
	for n := range horizon {
		date := q.Start.AddDays(n)
		for hour := 8; hour < 18; hour += 2 {
			start := timeOn(date, hour, 0, zone)
			if start.Before(q.Now.Add(minNotice)) {
				continue
			}
			all = append(all, newSlot(q, zone, start, visitLength, visitPrice, visitCapacity, hour == 8))
		}
	}
	return all
}

func chairSlots(q networks.SlotQuery) []networks.Slot {
	zone := location("America/New_York")
	today := civil.DateOf(q.Now.In(zone))
	var all []networks.Slot
	for n := range horizon {
		date := q.Start.AddDays(n)
		from, to := timeOn(date, 7, 0, zone), timeOn(date, 12, 0, zone)
		switch {
		case date.Before(today):
			continue
		case date == today && !q.Now.Before(timeOn(date, 16, 0, zone)):
			continue
		case date == today:
			from, to = q.Now.In(zone).Truncate(time.Hour).Add(time.Hour), timeOn(date, 17, 0, zone)
		}
		for start := from; !start.Add(chairLength).After(to); start = start.Add(chairLength) {
			if q.Open != nil && !q.Open(start, start.Add(chairLength)) {
				continue
			}
			all = append(all, newSlot(q, zone, start, chairLength, 0, chairCapacity, false))
		}
	}
	return all
}

func newSlot(q networks.SlotQuery, zone *time.Location, start time.Time, length time.Duration, price int64, free int, priority bool) networks.Slot {
	return networks.Slot{
		Provider: q.Provider, Site: q.Site, Zone: zone.String(), Start: start.UTC(), End: start.Add(length).UTC(),
		Price: price, Free: free, Priority: priority, Key: fmt.Sprintf("%s|%s|%d", q.Provider, q.Site, start.Unix()),
	}
}

func timeOn(d civil.Date, hour, minute int, zone *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, hour, minute, 0, 0, zone)
}

func location(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// removeBooked removes the slots that the query's team has booked.
func (l *Lab) removeBooked(ctx context.Context, q networks.SlotQuery, all []networks.Slot) ([]networks.Slot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	booked := map[int64]int{}
	err := l.DB.Read(store.WithTeam(ctx, q.Team), func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT starts_at, COUNT(*) FROM sandbox_bookings WHERE team_id = $1 AND provider = $2 AND site = $3
			AND state = 'booked' AND starts_at >= $4 GROUP BY starts_at`, q.Team, q.Provider, q.Site, store.Micros(all[0].Start))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var start int64
			var n int
			if err := rows.Scan(&start, &n); err != nil {
				return err
			}
			booked[start] = n
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("sandboxlab: reading bookings: %w", err)
	}
	var left []networks.Slot
	for _, s := range all {
		if s.Free -= booked[store.Micros(s.Start)]; s.Free > 0 {
			left = append(left, s)
		}
	}
	return left, nil
}
