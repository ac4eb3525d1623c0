package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// clinic books, moves and cancels visits for the first team. Its orders go to the
// built-in sandbox, because no network that this process can simulate supports
// appointments. The test compares the sandbox's own table of bookings after the nodes
// have ended.
type clinic struct {
	call     *caller
	feed     *feed
	products map[string]product // by collection method
	site     string             // code of the service center

	mu       sync.Mutex
	ahead    map[string]int // collection method → days from tomorrow on that are full
	visits   []*visit
	promises []*promise
	taken    int // slots that another writer booked first
	moved    int
	canceled int
	final    map[string]appointment // by order, at the end of the run
}

func newClinic(call *caller, f *feed) *clinic {
	return &clinic{call: call, feed: f, products: map[string]product{}, ahead: map[string]int{}}
}

// The states of an order's appointment. cancelled and completed are statuses of the API.
// booked means every other status, and nowhere means that there is no appointment.
const (
	noVisit        = ""
	visitBooked    = "booked"
	visitCancelled = "cancelled"
	visitCompleted = "completed"
)

type orderState struct {
	visit  string // the appointment's id; not known when the answer was lost
	status string
	start  string // empty while there is no time
}

// visit holds an acknowledged order and the acknowledged state of its appointment. Only
// one writer uses it during the run.
type visit struct {
	order, method string
	asked         bool // a visit without a time
	known         orderState
	maybe         *orderState // state of the last request, whose answer was lost
}

// promise holds a POST with an idempotency key, and the id in its answer.
type promise struct {
	key, path string
	body      any
	id        string // empty if the answer was lost
}

// errUnheard ends the work on an order whose state is unknown until the end of the run.
var errUnheard = errors.New("the answer was lost")

// creation is an answer to a POST of the clinic: an order or an appointment.
type creation struct {
	appointment
	Order struct {
		ID string `json:"id"`
	} `json:"order"`
}

func (c creation) id() string {
	if c.Order.ID != "" {
		return c.Order.ID
	}
	return c.ID
}

// post sends a request that takes effect once, and repeats it until there is an answer.
// It returns errUnheard if the kill happened between the change and its answer.
func (c *clinic) post(ctx context.Context, p promise) (made creation, err error) {
	err = c.call.askOnce(ctx, p.key, http.MethodPost, p.path, p.body, &made)
	if _, claimed := isStatus(err, http.StatusConflict); claimed {
		err = errUnheard
	} else if err != nil {
		return made, err
	}
	if p.id = made.id(); p.id == "" && err == nil {
		return made, fmt.Errorf("%s: the answer names nothing", p.path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promises = append(c.promises, &p)
	return made, err
}

// repeat sends a request again whose answer is known. It returns an error unless the
// answer is the same.
func (c *clinic) repeat(ctx context.Context, p *promise) error {
	var made creation
	if err := c.call.askOnce(ctx, p.key, http.MethodPost, p.path, p.body, &made); err != nil {
		return fmt.Errorf("repeated under its key: %w", err)
	}
	if made.id() != p.id {
		return fmt.Errorf("repeated under its key, %s names %s and not %s", p.path, made.id(), p.id)
	}
	return nil
}

// repeatSome repeats the latest requests, after a kill.
func (c *clinic) repeatSome(ctx context.Context) error {
	c.mu.Lock()
	latest := slices.Clone(c.promises[max(0, len(c.promises)-4):])
	c.mu.Unlock()
	for _, p := range latest {
		if p.id == "" {
			continue
		}
		if err := c.repeat(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// slotTaken reports that a booking failed: another order has the slot, or an earlier
// attempt, whose answer was lost, was abandoned.
func slotTaken(err error) bool {
	body, refused := isStatus(err, http.StatusBadRequest)
	return refused && (bytes.Contains(body, []byte("The slot was taken")) || bytes.Contains(body, []byte("The provider did not take the appointment")))
}

// isOwnRetry reports whether the server refused a request without a key because an
// earlier attempt, which got no answer, had started the same booking.
func isOwnRetry(err error) bool {
	var r *refusal
	if !errors.As(err, &r) || !r.again {
		return false
	}
	return r.status == http.StatusConflict || r.status == http.StatusBadRequest && bytes.Contains(r.body, []byte("booking_key was used before"))
}
