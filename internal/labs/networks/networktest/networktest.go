// Package networktest is a lab network for tests: it accepts every order,
// counts calls, and reports on request.
package networktest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
)

// Lab is the network. Its zero value has the slug of the sandbox network.
type Lab struct {
	// Name replaces the slug sandboxlab.
	Name string
	// Refuse, when set, returns the reason to refuse an order, or "".
	Refuse func(networks.Order) string
	// Pending leaves every order without a receipt.
	Pending bool

	mu        sync.Mutex
	placed    map[uuid.UUID]networks.Order
	calls     map[uuid.UUID]int
	cancelled map[uuid.UUID]int // number of cancellations by order
	failed    int
	notice    bool
	inbox     networks.Inbox
	ready     chan struct{}
	once      sync.Once
}

// Slug names the network.
func (l *Lab) Slug() string {
	if l.Name != "" {
		return l.Name
	}
	return "sandboxlab"
}

// Fail makes the next n calls of Place fail.
func (l *Lab) Fail(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = n
}

// WantNotices makes the lab ask, with each receipt, for the patient's
// signature on a notice that an insurance may not pay.
func (l *Lab) WantNotices(want bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice = want
}

// Place accepts an order.
func (l *Lab) Place(_ context.Context, o networks.Order) (networks.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed > 0 {
		l.failed--
		return networks.Receipt{}, errors.New("networktest: the connection is down")
	}
	if l.placed == nil {
		l.placed, l.calls = map[uuid.UUID]networks.Order{}, map[uuid.UUID]int{}
	}
	l.placed[o.ID] = o
	l.calls[o.ID]++
	if l.Refuse != nil {
		if reason := l.Refuse(o); reason != "" {
			return networks.Receipt{}, &networks.Refusal{Reason: reason}
		}
	}
	if l.Pending {
		return networks.Receipt{Pending: true}, nil
	}
	return networks.Receipt{SampleID: SampleID(o.ID), Notice: l.notice}, nil
}

// SampleID returns the number that the lab gives an order.
func SampleID(order uuid.UUID) string { return fmt.Sprintf("T%X", order[10:]) }

// Cancel cancels an order.
func (l *Lab) Cancel(_ context.Context, o networks.Order) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancelled == nil {
		l.cancelled = map[uuid.UUID]int{}
	}
	l.cancelled[o.ID]++
	return nil
}

// Run connects the lab to an inbox.
func (l *Lab) Run(ctx context.Context, in networks.Inbox) error {
	l.mu.Lock()
	l.inbox = in
	l.mu.Unlock()
	l.once.Do(func() { close(l.readiness()) })
	<-ctx.Done()
	return nil
}

func (l *Lab) readiness() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ready == nil {
		l.ready = make(chan struct{})
	}
	return l.ready
}

// Report sends one report under its own key, from the lab that has the order
// unless it names another.
func (l *Lab) Report(ctx context.Context, key string, r networks.Report) error {
	select {
	case <-l.readiness():
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	in := l.inbox
	if order, err := uuid.Parse(r.Placer); err == nil && r.Lab == "" {
		r.Lab = l.placed[order].Lab
	}
	l.mu.Unlock()
	return in.Put(ctx, networks.Message{Network: l.Slug(), Key: key, Raw: []byte(key), Reports: []networks.Report{r}})
}

// Placed returns the order as it was placed, and the number of times.
func (l *Lab) Placed(id uuid.UUID) (networks.Order, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.placed[id], l.calls[id]
}

// Cancelled returns the number of cancellations of an order.
func (l *Lab) Cancelled(id uuid.UUID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cancelled[id]
}
