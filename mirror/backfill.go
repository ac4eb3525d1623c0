package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
)

// backfill starts the late copy: it reads what exists while others write, long lists with
// cursors. The first answer has the smallest number, after which events follow.
func (t *trial) backfill(ctx context.Context) error {
	r := rand.New(rand.NewPCG(t.seed, 2000))
	a, err := t.api.get(ctx, "/v2/user?limit=1")
	if err != nil {
		return err
	}
	t.lateAfter = a.seq
	usersBefore, ordersBefore := t.world.known()
	var users []string
	err = t.walk(ctx, fmt.Sprintf("/v2/user?limit=%d", 1+r.IntN(9)), "users", "user_id", func(seq int64, user object) error {
		delete(user, "connected_sources")
		users = append(users, textField(user, "user_id"))
		t.late.set("user", textField(user, "user_id"), seq, user)
		return t.backfillUser(ctx, textField(user, "user_id"))
	})
	if err != nil {
		return err
	}
	t.expectWalked("users", usersBefore, users)
	path := fmt.Sprintf("/v3/orders?size=%d&order_key=%s&order_direction=%s", 1+r.IntN(9),
		pick(r, []string{"created_at", "updated_at", "last_status"}), pick(r, []string{"asc", "desc"}))
	var orders []string
	err = t.walk(ctx, path, "orders", "id", func(seq int64, order object) error {
		orders = append(orders, textField(order, "id"))
		t.late.takeOrder(seq, order)
		return eachVisit(ctx, t.api, order, func(seq int64, visit object) { t.late.set("appointment", textField(visit, "id"), seq, visit) })
	})
	t.expectWalked("orders", ordersBefore, orders)
	if err != nil {
		return err
	}
	for _, status := range []string{"pending_customer_review", "pending_ops_review", "resolved"} {
		if err := eachReview(ctx, t.api, status, func(seq int64, one object) { t.late.set("review", textField(one, "id"), seq, one) }); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) backfillUser(ctx context.Context, user string) error {
	if err := eachConnection(ctx, t.api, user, func(seq int64, one object) { t.late.set("connection", connectionKey(one), seq, one) }); err != nil {
		return err
	}
	if err := eachDevice(ctx, t.api, user, func(seq int64, one object) { t.late.set("device", textField(one, "id"), seq, one) }); err != nil {
		return err
	}
	for _, resource := range summaries {
		if err := t.read(ctx, t.late, pull{user, resource, firstDay, lastDay}); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		if err := t.read(ctx, t.late, pull{user, eventName(k.name), firstDay, lastDay}); err != nil {
			return err
		}
	}
	return nil
}

// walk reads a list page by page. No record may occur twice.
func (t *trial) walk(ctx context.Context, path, list, id string, take func(seq int64, one object) error) error {
	seen := map[string]bool{}
	for cursor := ""; ; {
		a, err := t.api.get(ctx, path+cursor)
		if err != nil {
			return err
		}
		for _, one := range listField(a.body, list) {
			if seen[textField(one, id)] {
				t.receiver.complain(fmt.Sprintf("%s has %s twice", path, textField(one, id)))
			}
			seen[textField(one, id)] = true
			if err := take(a.seq, one); err != nil {
				return err
			}
		}
		next := textField(a.body, "next_cursor")
		if next == "" {
			return nil
		}
		cursor = "&next_cursor=" + url.QueryEscape(next)
	}
}

// expectWalked complains about records that were there all the time, and that a walk left out.
func (t *trial) expectWalked(what string, before, walked []string) {
	if len(walked) == 0 {
		t.receiver.complain("the backfill found no " + what)
	}
	for _, id := range before {
		if !slices.Contains(walked, id) && !t.world.wasDeleted(id) {
			t.receiver.complain(fmt.Sprintf("the backfill left out %s %s", what, id))
		}
	}
}

// known returns the ids of the users and orders that exist.
func (w *world) known() (users, orders []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.orders {
		orders = append(orders, o.id)
	}
	return slices.Clone(w.users), orders
}

func (w *world) wasDeleted(user string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.deleted, user)
}
