package orders

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Cancel cancels an order. already reports whether it was cancelled before.
//
// Reference 1.6.
func Cancel(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (o Order, already bool, err error) {
	if o, err = Get(ctx, tx, team, id); err != nil {
		if fault.Is(err, fault.NotFound) {
			err = noOrder()
		}
		return Order{}, false, err
	}
	changed, err := Advance(ctx, tx, &o, Move{To: Cancelled, By: Call})
	switch {
	case err != nil:
		return Order{}, false, err
	case changed:
		return o, false, withdraw(ctx, tx, &o)
	case o.Status.Stage(o.Method) == StageCancelled:
		return o, true, nil
	}
	return Order{}, false, fault.Newf(fault.Refused, "Order status %s is not cancellable", o.Full())
}

// withdraw enqueues the withdrawal of a cancelled order from its lab.
func withdraw(ctx context.Context, tx *store.Tx, o *Order) error {
	return enqueueJob(ctx, tx, withdrawKind, o, time.Time{})
}

func noOrder() error { return fault.New(fault.NotFound, "Order doesn't exist") }

// Reschedule changes the day before which the order is not placed; nil means
// now.
//
// Reference 1.11.
func Reschedule(ctx context.Context, tx *store.Tx, team teams.ID, id ID, day *civil.Date) (Order, error) {
	o, err := Get(ctx, tx, team, id)
	if err != nil {
		return Order{}, err
	}
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return Order{}, err
	}
	refuse := func(code, msg string) (Order, error) {
		return Order{}, fault.New(fault.Refused, msg).At("body", "activate_by").WithType(code)
	}
	switch {
	case o.Status != Ordered && o.Status != AwaitingRegistration:
		return refuse("order_not_waiting", "activate_by can only be changed while the order is ordered or awaiting_registration")
	case !o.Scheduled:
		return refuse("order_not_scheduled", "activate_by can only be changed on an order that was created with one")
	case day != nil && day.Before(Today(now)):
		return refuse("activate_by_past", "activate_by must be today or later")
	}
	if !sameDay(o.ActivateBy, day) { // otherwise the order keeps its version
		if err := Amend(ctx, tx, &o, func(o *Order) { o.ActivateBy = day }); err != nil {
			return Order{}, err
		}
	}
	if o.Status == AwaitingRegistration {
		return o, nil
	}
	return o, dispatch(ctx, tx, &o)
}

func sameDay(a, b *civil.Date) bool { return a == b || a != nil && b != nil && *a == *b }

// CompleteDraw records that a sample was drawn on site. already reports whether this was
// recorded before: a repeated call changes nothing.
//
// Reference 1.14.
func CompleteDraw(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (o Order, already bool, err error) {
	if o, err = Get(ctx, tx, team, id); err != nil {
		return Order{}, false, err
	}
	if o.Method != catalogue.OnSite {
		return Order{}, false, fault.New(fault.Refused, "Only on-site collection orders can be marked as drawn")
	}
	common, worst, err := Turnaround(ctx, tx, &o)
	if err != nil {
		return Order{}, false, err
	}
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return Order{}, false, err
	}
	changed, err := Advance(ctx, tx, &o, Move{To: DrawCompleted, By: Call, Change: func(o *Order) { o.SetDrawn(now, common, worst) }})
	if err != nil || changed {
		return o, false, err
	}
	history, err := histories(ctx, tx, []Order{o})
	if err != nil {
		return Order{}, false, err
	}
	drawn := slices.ContainsFunc(history[o.ID], func(e Event) bool { return e.Status == DrawCompleted })
	if !drawn || o.Status.Stage(o.Method) == StageCancelled {
		return Order{}, false, fault.Newf(fault.Refused, "Order status %s cannot be marked as drawn", o.Full())
	}
	return o, true, nil
}

// SetSMS turns text messages about an order on or off.
//
// Reference 1.14, communication_settings.
func SetSMS(ctx context.Context, tx *store.Tx, team teams.ID, id ID, enabled bool) (Order, error) {
	o, err := Get(ctx, tx, team, id)
	if err != nil {
		return Order{}, err
	}
	if o.SMSEnabled == enabled {
		return o, nil // the order keeps its version
	}
	return o, Amend(ctx, tx, &o, func(o *Order) { o.SMSEnabled = enabled })
}

// RevokeLinks ends all links to the order's requisition that were made so far. Each call
// ends those made since the last one.
func RevokeLinks(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Order, error) {
	o, err := Get(ctx, tx, team, id)
	if err != nil {
		return Order{}, err
	}
	if err := Amend(ctx, tx, &o, func(o *Order) { o.LinkGeneration++ }); err != nil {
		return Order{}, err
	}
	return o, nil
}

// longestResend is the maximum length of the time window of a Resend.
const longestResend = 60 * 24 * time.Hour

// Resend selects orders whose latest events are sent again: by id, by the time
// of their last change, or both.
//
// Reference 1.14, POST /v3/order/resend_events.
type Resend struct {
	IDs        []ID
	Start, End *time.Time
}

// Check refuses a request that selects no orders or too many.
func (r *Resend) Check(now time.Time) error {
	bad := func(field, msg string) error {
		return fault.New(fault.Invalid, "Value error, "+msg).At("body", field)
	}
	if len(r.IDs) == 0 && r.Start == nil {
		return bad("order_ids", "give order_ids or start_at")
	}
	if r.Start == nil {
		return nil
	}
	if r.End == nil {
		r.End = &now
	}
	switch {
	case r.End.Before(*r.Start):
		return bad("end_at", "end_at must not be before start_at")
	case r.End.Sub(*r.Start) > longestResend:
		return bad("start_at", "start_at and end_at may be at most 60 days apart")
	}
	return nil
}

// Select returns the ids without duplicates; some orders may not exist. Orders
// of a window are sorted by creation. They are selected at once: an order that
// changes meanwhile leaves the window, so a later page would skip another one.
// The transaction must be read-only.
func (r *Resend) Select(ctx context.Context, tx *store.Tx, x *Index, team teams.ID) ([]ID, error) {
	if r.Start == nil {
		named := map[ID]bool{}
		return slices.DeleteFunc(slices.Clone(r.IDs), func(id ID) bool {
			again := named[id]
			named[id] = true
			return again
		}), nil
	}
	f := Filter{Updated: Span{r.Start, r.End}, Ascending: true, Page: 1, Size: math.MaxInt32}
	if len(r.IDs) > 0 {
		f.IDs = r.IDs
	}
	all, err := x.Select(ctx, tx, team, f)
	return all.IDs, err
}

// ResendEvents sends events with the current state of orders and returns the ids of
// those that exist. It locks each order: an event of a concurrent move must not
// come before the event of the earlier state.
func ResendEvents(ctx context.Context, tx *store.Tx, team teams.ID, all []ID) ([]ID, error) {
	var sent []ID
	for _, id := range all {
		o, err := getLocked(ctx, tx, team, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		kind := UpdatedEvent
		if o.Status == Ordered {
			kind = CreatedEvent
		}
		if err := emit(ctx, tx, &o, kind); err != nil {
			return nil, err
		}
		sent = append(sent, id)
	}
	return sent, nil
}

// getLocked returns an order like Get, and locks it until the transaction ends.
func getLocked(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Order, error) {
	var held int
	err := tx.QueryRow(ctx, `SELECT 1 FROM orders WHERE team_id = $1 AND id = $2`+tx.ForUpdate(), team, id).Scan(&held)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return Order{}, fmt.Errorf("orders: locking %s: %w", id, err)
	}
	return Get(ctx, tx, team, id)
}
