package sandboxlab

import (
	"context"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Simulation asks for an order to be brought to a status.
//
// Reference 1.15, POST /v3/order/{order_id}/test.
type Simulation struct {
	// Final is an event string; empty means that the order is to be completed.
	Final   string
	Delay   time.Duration
	Outcome Outcome
}

type simulateArgs struct {
	Team    teams.ID  `json:"team"`
	Order   orders.ID `json:"order"`
	Final   string    `json:"final"`
	Outcome Outcome   `json:"outcome"`
}

// Simulate brings an order to a status the shortest way, now or after a delay
// of real time. It returns where the order is going to end, as far as that is
// known: the status it has when nothing happens, or only later.
func (l *Lab) Simulate(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, s Simulation) (orders.Status, error) {
	o, err := simulated(ctx, tx, team, id)
	if err != nil {
		return "", err
	}
	args := simulateArgs{team, id, s.Final, s.Outcome}
	if s.Delay > 0 {
		_, err := simulateKind.Enqueue(ctx, tx, args, jobs.Options{Team: team.UUID(), At: tx.Now().Add(s.Delay)})
		return o.Status, err
	}
	return l.walk(ctx, tx, &o, args)
}

func (l *Lab) simulate(ctx context.Context, _ *jobs.Run, args simulateArgs) error {
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := simulated(ctx, tx, args.Team, args.Order)
		if err != nil {
			return err
		}
		_, err = l.walk(ctx, tx, &o, args)
		return err
	})
	if fault.Is(err, fault.NotFound) { // erased meanwhile
		return nil
	}
	return err
}

// simulated is an order that may be simulated.
func simulated(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (orders.Order, error) {
	if err := Check(ctx, tx, team); err != nil {
		return orders.Order{}, err
	}
	o, err := orders.Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "Order doesn't exist")
	}
	return o, err
}

// walk plans the way to a status as due at once, instead of what was planned.
func (l *Lab) walk(ctx context.Context, tx *store.Tx, o *orders.Order, args simulateArgs) (orders.Status, error) {
	if _, err := l.accept(ctx, tx, o); err != nil {
		return "", err
	}
	visit, err := visitOf(ctx, tx, o)
	if err != nil {
		return "", err
	}
	steps := way(o, target(o, args.Final), visit)
	if len(steps) == 0 {
		return o.Status, nil
	}
	now, err := Now(ctx, tx, o.Team)
	if err != nil {
		return "", err
	}
	for i := range steps {
		steps[i].Wait, steps[i].due = 0, now
		if steps[i].Act == Report {
			partial, corrected := steps[i].Outcome.Partial, steps[i].Outcome.Corrected
			steps[i].Outcome = args.Outcome
			steps[i].Outcome.Partial, steps[i].Outcome.Corrected = partial, corrected
		}
	}
	if err := planInstead(ctx, tx, o, now, steps); err != nil {
		return "", err
	}
	return steps[len(steps)-1].Status, turn(ctx, tx, o.Team)
}

// target is the status that an event string means. What no simulation brings
// about, and the statuses of other methods, stand for a completed order.
//
// Reference 1.15, observed.
func target(o *orders.Order, final string) orders.Status {
	low := orders.Status(final[strings.LastIndexByte(final, '.')+1:])
	others := []orders.Status{orders.Ordered, orders.Cancelled, orders.DoNotProcess}
	if final != low.Full(o.Method) || !o.Course().Has(low) || slices.Contains(others, low) {
		return orders.Completed
	}
	return low
}

// way is the shortest way of success from where an order is, or to one of the
// ends that are none. It is empty when there is nothing to simulate.
func way(o *orders.Order, to orders.Status, visit *appointment) []Step {
	if o.Status.Terminal() {
		if to == orders.Corrected && o.Course().May(o.Status, to, orders.Lab) {
			return []Step{corrected(0)}
		}
		return nil
	}
	switch o.Method {
	case catalogue.TestKit:
		return kitWay(o, to)
	case catalogue.AtHome:
		return atHomeWay(o, to, visit)
	case catalogue.WalkIn, catalogue.OnSite:
	}
	steps := []Step{{Act: Accept, Status: orders.RequisitionCreated}}
	if o.Method == catalogue.OnSite {
		steps = append(steps, Step{Act: Draw, Status: orders.DrawCompleted})
	}
	switch to {
	case orders.RequisitionCreated, orders.RequisitionBypassed, orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled:
		return after(steps[:1], o.Status)
	case orders.DrawCompleted:
		return after(steps, o.Status)
	default:
		if visit != nil {
			steps = append(steps, visit.confirmation()...)
		}
		return after(append(steps, ending(o.Method, to)...), o.Status)
	}
}

// ending is how the lab's part goes.
func ending(m orders.Method, to orders.Status) []Step {
	partial := partialThenFinal(0)[:1]
	switch to {
	case orders.SampleError:
		return []Step{{Act: Reject, Status: orders.SampleError, Code: mislabelled}}
	case orders.PartialResults:
		return partial
	case orders.Corrected:
		return append(ending(m, orders.Completed), corrected(0))
	default:
		if m == catalogue.WalkIn { // a walk-in order is seen to get partial results first
			return append(partial, final(0))
		}
		return []Step{final(0)}
	}
}

// mislabelled is a reason to reject a sample that has no status_detail.
const mislabelled = "RM"

// atHomeWay goes as far as the requisition, and on when a visit was booked.
func atHomeWay(o *orders.Order, to orders.Status, visit *appointment) []Step {
	if rank(o.Status) < rank(orders.RequisitionCreated) {
		return []Step{{Act: Accept, Status: orders.RequisitionCreated}}
	}
	var steps []Step
	switch {
	case o.Status == orders.DrawCompleted || o.Status == orders.PartialResults:
	case visit != nil && o.Status != orders.AppointmentCancelled:
		steps = visit.steps()
	case o.Status == orders.AppointmentScheduled:
		steps = []Step{{Act: Scan, Status: orders.DrawCompleted}}
	default:
		return nil
	}
	switch to {
	case orders.RequisitionCreated, orders.RequisitionBypassed, orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled:
		return nil
	case orders.DrawCompleted:
		return after(steps, o.Status)
	default:
		return after(append(steps, ending(o.Method, to)...), o.Status)
	}
}

// kitWay follows the table of the order's course, and stops before what only
// the patient can do: a kit waits for its registration.
func kitWay(o *orders.Order, to orders.Status) []Step {
	const ours = orders.Carrier | orders.Lab | orders.Requisition
	arrows := o.Course().Path(o.Status, to)
	if slices.ContainsFunc(arrows, func(a orders.Arrow) bool { return a.By&ours == 0 }) {
		arrows = o.Course().Path(o.Status, orders.WithCustomer)
	}
	var steps []Step
	for _, a := range arrows {
		s := Step{Act: Scan, Status: a.To}
		switch {
		case a.By&ours == 0:
			return steps
		case a.To == orders.RequisitionCreated:
			s.Act = Accept
		case a.To == orders.Completed:
			s = final(0)
		case a.To == orders.Corrected:
			s = corrected(0)
		case a.To == orders.SampleError:
			s.Act, s.Code = Reject, mislabelled
		case a.To == orders.LabProcessingBlocked:
			s.Act, s.Code = Reject, "RP"
		}
		steps = append(steps, s)
	}
	return steps
}
