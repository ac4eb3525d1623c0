package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

// outgoing holds back everything that acts on other systems: webhooks, orders to
// laboratories, their folders, partners, SMS and e-mails. A restored copy starts held,
// because the original may have sent the same things.
type outgoing struct {
	held atomic.Bool
	free chan struct{} // closed when sending is allowed
}

// holdCheck is the time between two looks at the mark of the database.
const holdCheck = time.Second

// heldByFlag is the reason of the setting hold-outgoing.
const heldByFlag = "started with hold-outgoing"

// examineOutgoing reads the mark of the database, and sets it if the configuration
// says so. It runs before the workers start.
func (a *App) examineOutgoing(ctx context.Context) error {
	a.outgoing.free = make(chan struct{})
	if a.Config.HoldOutgoing {
		if err := a.DB.HoldOutgoing(ctx, heldByFlag); err != nil {
			return err
		}
	}
	hold, err := a.DB.OutgoingHold(ctx)
	if err != nil {
		return err
	}
	if !hold.Active() {
		close(a.outgoing.free)
		return nil
	}
	a.outgoing.held.Store(true)
	a.Held = hold
	a.warnHeld(ctx)
	return nil
}

func (a *App) warnHeld(ctx context.Context) {
	a.Log.WarnContext(ctx, "nothing is sent to other systems: webhooks, orders, messages and files wait; hale resume-outgoing --dry-run counts them",
		"since", a.Held.Since, "reason", a.Held.Reason)
}

// watchOutgoing waits until the mark is removed. It repeats the warning each hour.
func (a *App) watchOutgoing() {
	a.Metrics.Gauge("outgoing_held", "1 while nothing is sent to other systems, such as after a restore.", func() float64 {
		if a.outgoing.held.Load() {
			return 1
		}
		return 0
	})
	if !a.outgoing.held.Load() {
		return
	}
	a.workers.add("waiting for permission to send", func(ctx context.Context) error {
		check, warn := time.NewTicker(holdCheck), time.NewTicker(time.Hour)
		defer check.Stop()
		defer warn.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-warn.C:
				a.warnHeld(ctx)
			case <-check.C:
				hold, err := a.DB.OutgoingHold(store.AsSystem(ctx))
				if err != nil || hold.Active() {
					continue
				}
				a.Log.InfoContext(ctx, "sending to other systems is allowed again")
				a.outgoing.held.Store(false)
				close(a.outgoing.free)
				return nil
			}
		}
	})
}

// whenFree returns the loop of a worker that starts when sending is allowed.
func (a *App) whenFree(run func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-a.outgoing.free:
			return run(ctx)
		}
	}
}

// checkSending returns the error of a request that would act on another system while
// sending is held.
func (a *App) checkSending() error {
	if a.outgoing.held.Load() {
		return fault.New(fault.Unavailable, "nothing is sent to other systems: this is a restored copy or a rehearsal, and an operator must allow it").WithType("outgoing_paused")
	}
	return nil
}

// detail describes the hold on /readyz.
func (o *outgoing) detail() string {
	if o.held.Load() {
		return "nothing is sent to other systems: hale resume-outgoing --dry-run counts what waits, hale resume-outgoing sends it"
	}
	return ""
}

// sendingKinds lists the kinds of jobs that act on other systems, with words for people.
var sendingKinds = []struct{ kind, text string }{
	{"orders.place", "orders to laboratories"},
	{"orders.withdraw", "cancellations to laboratories"},
	{"orders.ship", "kits to ship"},
	{"appointments.settle", "appointments to book or release"},
	{"messages.send", "SMS and e-mails to patients"},
	{"critical.mail", "e-mails about critical results"},
	{"critical.operators", "e-mails to the operators"},
}

// WaitingKind counts one kind of work that waits to be sent.
type WaitingKind struct {
	Kind  string    `json:"kind"`
	Count int64     `json:"count"`
	First time.Time `json:"first,omitzero"` // when the first is due, or was created
}

// CountOutgoing counts what would be sent if sending were allowed.
func CountOutgoing(ctx context.Context, db *store.DB) (all []WaitingKind, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		backlog, err := webhooks.CountBacklog(ctx, tx)
		if err != nil {
			return err
		}
		all = append(all, WaitingKind{"webhooks", backlog.Waiting, backlog.Oldest})
		for _, k := range sendingKinds {
			n, first, err := jobs.CountQueued(ctx, tx, k.kind)
			if err != nil {
				return err
			}
			all = append(all, WaitingKind{k.text, n, first})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("app: counting what waits to be sent: %w", err)
	}
	return all, nil
}
