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

// Simulation moves an order to a status.
//
// Reference 1.15, POST /v3/order/{order_id}/test.
type Simulation struct {
	// Final is an event string; empty means completed.
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

// Simulate moves an order to a status on the shortest path, now or after a
// delay of real time. It returns the status in which the order will end as far
// as it is known; the present status when nothing happens, or only later.
func (l *Lab) Simulate(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, s Simulation) (orders.Status, error) {
	o, err := simulatedOrder(ctx, tx, team, id)
	if err != nil {
		return "", err
	}
	args := simulateArgs{team, id, s.Final, s.Outcome}
	if s.Delay > 0 {
		_, err := simulateKind.Enqueue(ctx, tx, args, jobs.Options{Team: team.UUID(), At: tx.Now().Add(s.Delay)})
		return o.Status, err
	}
	return l.planSimulation(ctx, tx, &o, args)
}

func (l *Lab) simulate(ctx context.Context, _ *jobs.Run, args simulateArgs) error {
	err := l.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := simulatedOrder(ctx, tx, args.Team, args.Order)
		if err != nil {
			return err
		}
		_, err = l.planSimulation(ctx, tx, &o, args)
		return err
	})
	if fault.Is(err, fault.NotFound) || fault.CodeOf(err) == "order_held" { // erased meanwhile, or its user is deleted
		return nil
	}
	return err
}

// simulatedOrder returns an order that may be simulated.
func simulatedOrder(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (orders.Order, error) {
	if err := Check(ctx, tx, team); err != nil {
		return orders.Order{}, err
	}
	o, err := orders.Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "Order doesn't exist")
	}
	if err == nil && o.Network != orders.SandboxNetwork {
		err = fault.New(fault.Refused, "The test system of the lab has this order: it reports, and nothing is simulated").WithType("order_at_test_system")
	}
	if err == nil {
		err = orders.RefuseHeld(ctx, tx, &o)
	}
	return o, err
}

// planSimulation plans the shortest path to a status, due at once, in place of
// the planned steps.
func (l *Lab) planSimulation(ctx context.Context, tx *store.Tx, o *orders.Order, args simulateArgs) (orders.Status, error) {
	if _, err := l.accept(ctx, tx, o); err != nil {
		return "", err
	}
	visit, err := liveBooking(ctx, tx, o)
	if err != nil {
		return "", err
	}
	steps := shortestPath(o, targetStatus(o, args.Final), visit)
	if len(steps) == 0 {
		return o.Status, nil
	}
	now, err := TimeOf(ctx, tx, o.Team)
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
	if err := replacePlan(ctx, tx, o, now, steps); err != nil {
		return "", err
	}
	return steps[len(steps)-1].Status, enqueueAdvance(ctx, tx, o.Team)
}

// targetStatus returns the status of an event string. A status that no
// simulation reaches, or of another method, means a completed order.
//
// Reference 1.15, observed.
func targetStatus(o *orders.Order, final string) orders.Status {
	low := orders.Status(final[strings.LastIndexByte(final, '.')+1:])
	others := []orders.Status{orders.Ordered, orders.Cancelled, orders.DoNotProcess}
	if final != low.Full(o.Method) || !o.Course().Includes(low) || slices.Contains(others, low) {
		return orders.Completed
	}
	return low
}

// shortestPath returns the shortest successful path from the order's status,
// or the path to one of the failures. It is empty when there is nothing to
// simulate.
func shortestPath(o *orders.Order, to orders.Status, visit *appointment) []Step {
	if o.Status.Terminal() {
		if to == orders.Corrected && o.Course().Allows(o.Status, to, orders.Lab) {
			return []Step{correctedReport(0)}
		}
		return nil
	}
	switch o.Method {
	case catalogue.TestKit:
		return kitPath(o, to)
	case catalogue.AtHome:
		return atHomePath(o, to, visit)
	case catalogue.WalkIn, catalogue.OnSite:
	}
	steps := []Step{{Act: Accept, Status: orders.RequisitionCreated}}
	if o.Method == catalogue.OnSite {
		steps = append(steps, Step{Act: Draw, Status: orders.DrawCompleted})
	}
	switch to {
	case orders.RequisitionCreated, orders.RequisitionBypassed, orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled:
		return remainingSteps(steps[:1], o.Status)
	case orders.DrawCompleted:
		return remainingSteps(steps, o.Status)
	default:
		if visit != nil {
			steps = append(steps, visit.confirmation()...)
		}
		return remainingSteps(append(steps, labSteps(o.Method, to)...), o.Status)
	}
}

// labSteps returns the lab's steps to a status.
func labSteps(m orders.Method, to orders.Status) []Step {
	partial := partialAndFinalReports(0)[:1]
	switch to {
	case orders.SampleError:
		return []Step{{Act: Reject, Status: orders.SampleError, Code: mislabelledCode}}
	case orders.PartialResults:
		return partial
	case orders.Corrected:
		return append(labSteps(m, orders.Completed), correctedReport(0))
	default:
		if m == catalogue.WalkIn { // in the reference, a walk-in order gets partial results first
			return append(partial, finalReport(0))
		}
		return []Step{finalReport(0)}
	}
}

// mislabelledCode is a reason to reject a sample that has no status_detail.
const mislabelledCode = "RM"

// atHomePath ends at the requisition without a booked visit, and continues
// with one.
func atHomePath(o *orders.Order, to orders.Status, visit *appointment) []Step {
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
		return remainingSteps(steps, o.Status)
	default:
		return remainingSteps(append(steps, labSteps(o.Method, to)...), o.Status)
	}
}

// kitPath follows the order's transitions, and stops before the ones that only
// the patient can make: a kit waits for its registration.
func kitPath(o *orders.Order, to orders.Status) []Step {
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
			s = finalReport(0)
		case a.To == orders.Corrected:
			s = correctedReport(0)
		case a.To == orders.SampleError:
			s.Act, s.Code = Reject, mislabelledCode
		case a.To == orders.LabProcessingBlocked:
			s.Act, s.Code = Reject, "RP"
		}
		steps = append(steps, s)
	}
	return steps
}
