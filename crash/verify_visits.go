package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// verify compares the acknowledged orders and appointments of the clinic with the
// server's and with the feed. verifyNetwork compares those of the network after the
// nodes have ended.
func (c *clinic) verify(ctx context.Context, v *verdict) error {
	if err := c.verifyPromises(ctx, v); err != nil {
		return err
	}
	if err := c.settle(ctx, v); err != nil {
		return err
	}
	if err := c.feed.read(ctx, c.call); err != nil {
		return err
	}
	all, err := allOrders(ctx, c.call)
	if err != nil {
		return err
	}
	c.verifyKeys(all, v)
	final := map[string]appointment{} // by order
	for _, visit := range c.visits {
		o, there := all[visit.order]
		if !there {
			v.lose("order %s was acknowledged and is gone", visit.order)
			continue
		}
		a, there, err := c.appointmentOf(ctx, visit.order, visit.method)
		if err != nil {
			return err
		}
		if there {
			final[visit.order] = a
		}
		visit.check(o, a, v)
		c.feed.checkOrder(o, v)
	}
	c.feed.checkVisits(final, v)
	c.final = final
	return nil
}

// verifyPromises repeats every request under its key. A request with an answer must get
// the same answer again. A request whose answer was lost gets it now, or the refusal
// that it took effect.
func (c *clinic) verifyPromises(ctx context.Context, v *verdict) error {
	byKey := map[string]*promise{}
	for _, p := range c.promises {
		byKey[p.key] = p
	}
	return checkEach(ctx, byKey, func(ctx context.Context, key string, p *promise) error {
		if p.id == "" {
			return c.recall(ctx, p, v)
		}
		err := c.repeat(ctx, p)
		if r := (*refusal)(nil); err != nil && !errors.As(err, &r) && ctx.Err() != nil {
			return err
		}
		if err != nil {
			v.lose("key %s: %v", key, err)
		}
		return nil
	})
}

// recall repeats a request whose answer was lost, as soon as the server no longer
// considers it running.
func (c *clinic) recall(ctx context.Context, p *promise, v *verdict) error {
	for deadline := time.Now().Add(retryFor); ; {
		var made creation
		err := c.call.askOnce(ctx, p.key, http.MethodPost, p.path, p.body, &made)
		body, claimed := isStatus(err, http.StatusConflict)
		switch {
		case err == nil:
			p.id = made.id()
			return nil
		case claimed && bytes.Contains(body, []byte("IDEMPOTENT_ANSWER_LOST")), slotTaken(err):
			return nil
		case !claimed:
			return err
		case time.Now().After(deadline):
			v.lose("key %s: the request is said to run, %v after the last kill", p.key, retryFor)
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle waits until no job sends to the network or handles its messages.
func (c *clinic) settle(ctx context.Context, v *verdict) error {
	for deadline := time.Now().Add(settleFor); ; {
		n, err := c.atWork(ctx)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(deadline) {
			v.lose("visits: after %v %d jobs are still at work", settleFor, n)
			return nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// verifyKeys looks for one order of each request.
func (c *clinic) verifyKeys(all map[string]storedOrder, v *verdict) {
	byKey := map[string]int{}
	for _, o := range all {
		byKey[o.Passthrough]++
	}
	for _, p := range c.promises {
		if n := byKey[p.key]; p.path == "/v3/order" && n != 1 {
			v.doubles++
			v.lose("key %s: one request made %d orders", p.key, n)
		}
	}
}

// check compares an order and its appointment with their acknowledged states, and with
// each other.
func (w *visit) check(o storedOrder, a appointment, v *verdict) {
	got := a.state()
	if a.ID == "" {
		got = orderState{}
	}
	if w.maybe != nil && got.status == w.maybe.status && got.start == w.maybe.start {
		v.recovered++ // the last request took effect, but its answer was lost
	} else if got != w.known {
		v.lose("appointment of order %s: acknowledged %+v, asked for unheard %+v, it is %+v", w.order, w.known, w.maybe, got)
	}
	if err := o.agrees(); err != nil {
		v.lose("%v", err)
	}
	if a.ID != "" {
		if err := a.agrees(); err != nil {
			v.lose("%v", err)
		}
	}
	if want := goesWith(a, w); !slices.Contains(want, lowStatus(o.LastEvent.Status)) {
		v.lose("order %s has the status %s, its appointment %q", o.ID, o.LastEvent.Status, a.EventStatus)
	}
}

// goesWith returns the statuses that an order may have with the present status of
// its appointment.
func goesWith(a appointment, w *visit) []string {
	switch {
	case a.ID == "":
		return []string{"ordered", "requisition_created"}
	case a.EventStatus == "reserved":
		return []string{"ordered"}
	case a.EventStatus == "pending":
		return []string{"ordered", "appointment_pending"}
	case a.EventStatus == visitCancelled:
		return []string{"appointment_cancelled"}
	case a.EventStatus == visitCompleted: // corrected when it was simulated twice, as the first answer was lost
		return []string{"completed", "corrected"}
	}
	return []string{w.arranged()}
}

// checkOrder compares an order with its events.
func (f *feed) checkOrder(o storedOrder, v *verdict) {
	h := f.orders[o.ID]
	if changes := o.announced(); h == nil || h.announced != len(changes) || h.last != o.LastEvent.Status {
		v.lose("order %s went %v, and the feed has %+v", o.ID, changes, h)
	}
}

// checkVisits compares the announced appointments with the present one of each order.
// Earlier appointments of the order must have ended.
func (f *feed) checkVisits(final map[string]appointment, v *verdict) {
	for id, h := range f.visits {
		a, there := final[h.of]
		switch {
		case !there:
			v.lose("appointment %s of order %s was announced and is gone", id, h.of)
		case a.ID != id && h.last != visitCancelled:
			v.lose("appointment %s of order %s is %s, and %s is there beside it", id, h.of, h.last, a.ID)
		case a.ID == id && (h.announced != len(a.Events) || h.last != a.EventStatus):
			v.lose("appointment %s went %v, and the feed has %+v", id, a.path(), *h)
		}
	}
	for _, a := range final {
		if f.visits[a.ID] == nil {
			v.lose("appointment %s was never announced", a.ID)
		}
	}
}

// booking is a row of the sandbox's own table.
type booking struct {
	id, order, provider, site, state string
	start                            time.Time
}

// capacity counts the appointments of a time: of a phlebotomist, and at a service
// center.
func (b booking) capacity() int {
	if b.site == "" {
		return 2
	}
	return 3
}

// readBookings reads the bookings of the network from its own table.
func readBookings(ctx context.Context, db *store.DB) (all []booking, err error) {
	ctx = store.AsSystem(ctx)
	err = db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		rows, err := tx.Query(ctx, `SELECT id, order_id, provider, site, state, starts_at FROM sandbox_bookings ORDER BY made_at, id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var b booking
			var id, order uuid.UUID
			if err := rows.Scan(&id, &order, &b.provider, &b.site, &b.state, store.ScanTime(&b.start)); err != nil {
				return err
			}
			b.id, b.order = id.String(), order.String()
			all = append(all, b)
		}
		return rows.Err()
	})
	return all, err
}

// verifyNetwork compares the network's bookings with the appointments. Each
// appointment that is not cancelled must have exactly one booking, and each booking
// must have such an appointment. No time may have more bookings than its capacity.
func (c *clinic) verifyNetwork(bookings []booking, v *verdict) {
	held := map[string]int{} // order → bookings
	full := map[booking]int{}
	for _, b := range bookings {
		if b.state == visitCancelled {
			continue
		}
		v.bookings++
		if held[b.order]++; held[b.order] > 1 {
			v.doubles++
			v.lose("network: order %s has %d bookings", b.order, held[b.order])
		}
		a, there := c.final[b.order]
		if !there || a.EventStatus == visitCancelled || a.ProviderID != b.id {
			v.lose("network: booking %s of order %s is held without an appointment; the appointment is %q of %s", b.id, b.order, a.EventStatus, a.ProviderID)
		}
		place := booking{provider: b.provider, site: b.site, start: b.start}
		if full[place]++; b.state == visitBooked && full[place] > b.capacity() {
			v.doubles++
			v.lose("network: %d appointments with %s %s at %v", full[place], b.provider, b.site, b.start)
		}
	}
	for order, a := range c.final {
		if a.EventStatus != visitCancelled && held[order] == 0 {
			v.lose("network: it has no booking for order %s, whose appointment is %s", order, a.EventStatus)
		}
	}
}

// print prints the outcome of the clinic.
func (c *clinic) print(out io.Writer, v *verdict) {
	asked := 0
	for _, p := range c.promises {
		if p.id == "" {
			asked++
		}
	}
	fmt.Fprintf(out, "  visits           %d orders, %d appointments announced, %d moves and %d cancellations acknowledged\n",
		len(c.visits), len(c.feed.visits), c.moved, c.canceled)
	fmt.Fprintf(out, "                   %d POSTs repeated under their keys, %d more whose answer was lost, %d changes recovered; %d slots taken by others\n",
		len(c.promises)-asked, asked, v.recovered, c.taken)
	fmt.Fprintf(out, "  network          %d bookings held, one for each appointment that is not canceled\n", v.bookings)
}
