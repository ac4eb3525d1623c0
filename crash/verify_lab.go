package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// storedOrder is an order as the server has it.
type storedOrder struct {
	ID          string      `json:"id"`
	Passthrough string      `json:"passthrough"`
	Status      string      `json:"status"`
	LastEvent   happening   `json:"last_event"`
	Events      []happening `json:"events"`
}

// happening is a row of a history.
type happening struct {
	Status string `json:"status"`
}

func (s storedOrder) path() (all []string) {
	for _, e := range s.Events {
		all = append(all, e.Status)
	}
	return all
}

// announced returns the part of the path that has events. Hale announces partial results only
// to teams that asked for them.
func (s storedOrder) announced() []string {
	return slices.DeleteFunc(s.path(), func(status string) bool { return lowStatus(status) == "partial_results" })
}

// agrees returns an error if the parts of an order contradict each other.
func (s storedOrder) agrees() error {
	path := s.path()
	if len(path) == 0 || path[len(path)-1] != s.LastEvent.Status || !strings.HasPrefix(s.LastEvent.Status, s.Status+".") {
		return fmt.Errorf("order %s is %s, its last event %s, its history %v", s.ID, s.Status, s.LastEvent.Status, path)
	}
	return nil
}

// course is the history of every order of the run.
var course = []string{"received.walk_in_test.ordered", "received.walk_in_test.requisition_created", "completed.walk_in_test.completed"}

// allOrders reads all orders of a team.
func allOrders(ctx context.Context, c *caller) (map[string]storedOrder, error) {
	all := map[string]storedOrder{}
	for page := 1; ; page++ {
		var got struct {
			Orders []storedOrder `json:"orders"`
		}
		path := fmt.Sprintf("/v3/orders?size=100&page=%d&order_key=created_at&order_direction=asc", page)
		if err := c.ask(ctx, http.MethodGet, path, nil, &got); err != nil {
			return nil, err
		}
		for _, o := range got.Orders {
			all[o.ID] = o
		}
		if len(got.Orders) == 0 {
			return all, nil
		}
	}
}

// settle waits until every order has its results.
func (l *lab) settle(ctx context.Context) (all map[string]storedOrder, err error) {
	for deadline := time.Now().Add(settleFor); ; {
		if all, err = allOrders(ctx, l.call); err != nil {
			return nil, err
		}
		waiting := 0
		for _, o := range all {
			if !slices.Equal(o.path(), course) {
				waiting++
			}
		}
		if waiting == 0 || time.Now().After(deadline) {
			return all, l.feed.read(ctx, l.call)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// retryLost repeats the requests whose answers were lost, after the server has ended them.
// Each returns its order, or the conflict that its answer was lost.
func (l *lab) retryLost(ctx context.Context, t *trial, v *verdict) error {
	return checkEach(ctx, l.lost, func(ctx context.Context, key string, _ bool) error {
		for deadline := time.Now().Add(retryFor); ; {
			id, err := l.order(ctx, key)
			body, claimed := isStatus(err, http.StatusConflict)
			switch {
			case err == nil:
				return l.keep(t, key, id)
			case !claimed:
				return err
			case bytes.Contains(body, []byte("IDEMPOTENT_ANSWER_LOST")):
				return nil
			case time.Now().After(deadline):
				v.lose("key %s: the request is said to run, %v after the last kill", key, retryFor)
				return nil
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// unanswered counts the orders that recall did not get either.
func (l *lab) unanswered() (n int) {
	for key := range l.lost {
		if _, known := l.ordered[key]; !known {
			n++
		}
	}
	return n
}

// retryFor is longer than a request without a caller may run.
const retryFor = 2 * time.Minute

// verify compares the acknowledged orders, the server's data, the lab's book and the
// events of the feed.
func (l *lab) verify(ctx context.Context, t *trial, v *verdict) error {
	if err := l.retryLost(ctx, t, v); err != nil {
		return err
	}
	all, err := l.settle(ctx)
	if err != nil {
		return err
	}
	l.verifyOrders(all, v)
	l.verifyBook(all, v)
	if err := l.verifyResults(ctx, v); err != nil {
		return err
	}
	return l.verifyReviews(ctx, v)
}

// verifyReviews looks for each report with a damaged identity in the queue of
// the team. The last one may have been stored without an acknowledgement.
func (l *lab) verifyReviews(ctx context.Context, v *verdict) error {
	l.mu.Lock()
	v.damaged = l.damaged
	l.mu.Unlock()
	var got struct {
		Total int `json:"total"`
	}
	err := l.call.ask(ctx, http.MethodGet, "/v3/unmatched_result?limit=1", nil, &got)
	if err == nil && got.Total < v.damaged {
		v.lose("%d reports on another person were taken, %d wait for review", v.damaged, got.Total)
	}
	return err
}

// verifyOrders looks for one order of each request, and one event of each step.
func (l *lab) verifyOrders(all map[string]storedOrder, v *verdict) {
	byKey := map[string]int{}
	for _, o := range all {
		byKey[o.Passthrough]++
		if !slices.Equal(o.path(), course) {
			v.lose("order %s went %v", o.ID, o.path())
		}
		if err := o.agrees(); err != nil {
			v.lose("%v", err)
		}
		l.feed.checkOrder(o, v)
	}
	for _, id := range l.ordered {
		if _, there := all[id]; !there {
			v.lose("order %s was acknowledged and is gone", id)
		}
	}
	for key := range l.lost {
		if byKey[key] == 0 {
			v.lose("key %s: the request was carried out, as the server says, and made no order", key)
		}
	}
	for key, n := range byKey {
		if n != 1 {
			v.doubles++
			v.lose("key %s: one request made %d orders", key, n)
		}
	}
}

// verifyBook compares the orders with those that the lab received.
func (l *lab) verifyBook(all map[string]storedOrder, v *verdict) {
	book := l.Orders()
	v.placed = len(book)
	for id := range all {
		placed, there := book[id]
		switch {
		case !there:
			v.lose("order %s never reached the lab", id)
			continue
		case placed.Different > 0:
			v.doubles++
			v.lose("order %s was placed with other content %d times", id, placed.Different)
		}
		v.repeats += placed.Messages - 1
	}
	for id := range book {
		if _, there := all[id]; !there {
			v.lose("order %s is with the lab and not here", id)
		}
	}
}

// verifyResults compares the results that the lab sent with the stored ones.
func (l *lab) verifyResults(ctx context.Context, v *verdict) error {
	l.mu.Lock()
	taken := maps.Clone(l.taken)
	l.mu.Unlock()
	v.reports = len(taken)
	return checkEach(ctx, taken, func(ctx context.Context, id string, _ bool) error {
		var got struct {
			Results []struct {
				Result string `json:"result"`
			} `json:"results"`
		}
		err := l.call.ask(ctx, http.MethodGet, "/v3/order/"+id+"/result", nil, &got)
		var r *refusal
		switch {
		case errors.As(err, &r):
			v.lose("results of order %s were taken and are gone: %v", id, err)
			return nil
		case err == nil && (len(got.Results) != 1 || got.Results[0].Result != l.Codes["W1"][0].Value):
			v.lose("results of order %s read %v", id, got.Results)
		}
		return err
	})
}
