package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// arrange orders one test after another and leads each to an appointment and on.
func (c *clinic) arrange(ctx context.Context, t *trial, writer int) error {
	methods := []string{atHome, walkIn}
	for n := 0; ; n++ {
		if err := t.goOn(); err != nil {
			return err
		}
		v, err := c.begin(ctx, t, fmt.Sprintf("visit-%d-%d", writer, n), methods[n%2])
		if err == nil {
			err = c.lead(ctx, t, v)
		}
		if err != nil && !errors.Is(err, errUnheard) {
			return err
		}
	}
}

// begin orders a test for a new patient.
func (c *clinic) begin(ctx context.Context, t *trial, key, method string) (*visit, error) {
	user, err := t.createUser(ctx, "crash-"+key)
	if err != nil {
		return nil, err
	}
	made, err := c.post(ctx, promise{key: key, path: "/v3/order", body: c.orderBody(user, key, method)})
	if err != nil {
		return nil, err
	}
	v := &visit{order: made.id(), method: method, asked: method == atHome && rand.IntN(5) == 0}
	return v, t.oracle.acknowledged("order", map[string]any{"order": v.order, "key": key}, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.visits = append(c.visits, v)
	})
}

// lead plays one order. Some appointments are reserved until the requisition comes. Some
// are moved, or cancelled and booked again, and some take place.
func (c *clinic) lead(ctx context.Context, t *trial, v *visit) error {
	steps := []func(context.Context, *trial, *visit) error{c.requisition, c.book}
	if rand.IntN(3) == 0 {
		steps = []func(context.Context, *trial, *visit) error{c.book, c.requisition}
	}
	for range rand.IntN(3) {
		if rand.IntN(2) == 0 {
			steps = append(steps, c.move)
		} else {
			steps = append(steps, c.callOff, c.book)
		}
	}
	switch rand.IntN(4) {
	case 0:
		steps = append(steps, c.callOff)
	case 1:
		steps = append(steps, c.takePlace)
	}
	for _, step := range steps {
		if err := step(ctx, t, v); err != nil {
			return err
		}
	}
	return nil
}

// acknowledged records the status of an appointment.
func (c *clinic) acknowledged(t *trial, v *visit, s orderState) error {
	facts := map[string]any{"order": v.order, "appointment": s.visit, "status": s.status, "start": s.start}
	return t.oracle.acknowledged("visit", facts, func() { v.known, v.maybe = s, nil })
}

// requisition makes the sandbox confirm the order. It then waits for the next status of
// the order. With a reserved appointment this is the result of arranged, and otherwise
// requisition_created.
func (c *clinic) requisition(ctx context.Context, _ *trial, v *visit) error {
	if err := c.simulate(ctx, v.order, "received."+v.method+".requisition_created"); err != nil {
		return err
	}
	for deadline := time.Now().Add(settleFor); ; {
		o, err := c.order(ctx, v.order)
		if err != nil {
			return err
		}
		if now := lowStatus(o.LastEvent.Status); now == v.arranged() || v.known.status == noVisit && now == "requisition_created" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("order %s has the status %s, %v after its requisition", v.order, o.LastEvent.Status, settleFor)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// arranged returns the status of an order whose appointment is booked, or requested if
// the visit was asked for.
func (v *visit) arranged() string {
	if v.asked {
		return "appointment_pending"
	}
	return "appointment_scheduled"
}

// book books a free slot, or requests a visit.
func (c *clinic) book(ctx context.Context, t *trial, v *visit) error {
	p := promise{path: appointmentPath(v.order, v.method) + "/request"}
	for try := 0; ; try++ {
		want := orderState{status: visitBooked}
		p.body = map[string]any{"provider": "phlebfinders", "address": visitedAddress(askedZip)}
		if !v.asked {
			free, err := c.pick(ctx, v.method)
			if err != nil {
				return err
			}
			want.start = free.Start
			p.path, p.body = appointmentPath(v.order, v.method)+"/book", map[string]any{"booking_key": free.Key}
		}
		p.key = fmt.Sprintf("%s after %q, %d", v.order, v.known.visit, try)
		made, err := c.post(ctx, p)
		switch {
		case slotTaken(err):
			c.count(&c.taken)
			continue
		case errors.Is(err, errUnheard):
			v.maybe = &want
			return err
		case err != nil:
			return err
		}
		if got := made.state(); got.status != visitBooked || got.start != want.start {
			return fmt.Errorf("booking %s for order %s was answered %+v", want.start, v.order, got)
		}
		return c.acknowledged(t, v, made.state())
	}
}

// move replaces the booked slot with another one. The request has no idempotency key, so
// a repeat after a lost answer gets a refusal.
func (c *clinic) move(ctx context.Context, t *trial, v *visit) error {
	if v.asked {
		return nil // there is no time to move
	}
	free, err := c.pick(ctx, v.method)
	if err != nil {
		return err
	}
	var a appointment
	err = c.call.ask(ctx, http.MethodPatch, appointmentPath(v.order, v.method)+"/reschedule", map[string]any{"booking_key": free.Key}, &a)
	switch {
	case slotTaken(err):
		c.count(&c.taken)
		return nil
	case isOwnRetry(err):
		v.maybe = &orderState{visit: v.known.visit, status: visitBooked, start: free.Start}
		return errUnheard
	case err != nil:
		return err
	}
	if got := a.state(); got != (orderState{v.known.visit, visitBooked, free.Start}) {
		return fmt.Errorf("moving appointment %s to %s was answered %+v", v.known.visit, free.Start, got)
	}
	c.count(&c.moved)
	return c.acknowledged(t, v, a.state())
}

// callOff cancels an appointment. A repeated request finds the appointment already
// cancelled.
func (c *clinic) callOff(ctx context.Context, t *trial, v *visit) error {
	var a appointment
	if err := c.call.ask(ctx, http.MethodPatch, appointmentPath(v.order, v.method)+"/cancel", cancellation(v.method), &a); err != nil {
		return err
	}
	if a.EventStatus != visitCancelled || a.ID != v.known.visit {
		return fmt.Errorf("cancelling appointment %s was answered %s, %s", v.known.visit, a.ID, a.EventStatus)
	}
	c.count(&c.canceled)
	return c.acknowledged(t, v, a.state())
}

// takePlace makes the sandbox carry out the appointment and report results. It does
// nothing for a visit without a time, which cannot take place.
func (c *clinic) takePlace(ctx context.Context, t *trial, v *visit) error {
	if v.asked {
		return nil
	}
	if err := c.simulate(ctx, v.order, "completed."+v.method+".completed"); err != nil {
		return err
	}
	return c.acknowledged(t, v, orderState{v.known.visit, visitCompleted, v.known.start})
}

func (c *clinic) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}
