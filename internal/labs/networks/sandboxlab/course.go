package sandboxlab

import (
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// How long things take here, by the lab's clock.
const (
	accepting  = 10 * time.Minute
	picking    = 6 * time.Hour  // until a carrier has a kit
	shipping   = 36 * time.Hour // until it is in the street
	delivering = 6 * time.Hour
	sampling   = day // until the patient sends it back
	returning  = 2 * day
	measuring  = day
	walkingIn  = 2 * day // until a patient comes who made no appointment
	drawing    = day     // until the team's own staff draws
	replacing  = day     // until a lab corrects itself
)

// course is all that will happen to an order, with what is behind it left out.
// Kits that nobody has registered only get to the patient. A visit is followed
// by results; without one a patient walks in some day, and a phlebotomist never
// comes.
func course(o *orders.Order, script Script, visit *appointment) []Step {
	steps := []Step{{Act: Accept, Status: orders.RequisitionCreated, Wait: accepting}}
	switch {
	case unregistered(o):
		steps = outbound()
	case o.Method == catalogue.TestKit && o.Registrable:
		steps = append(steps, inbound()...)
	case o.Method == catalogue.TestKit:
		steps = append(append(steps, outbound()...), inbound()...)
	case o.Method == catalogue.OnSite:
		steps = append(steps, Step{Act: Draw, Status: orders.DrawCompleted, Wait: drawing}, final(measuring))
	case o.Method == catalogue.WalkIn && visit != nil:
		first := partialThenFinal(0)
		first[0].due = visit.End.Add(measuring)
		steps = append(append(steps, visit.confirmation()...), first...)
	case o.Method == catalogue.WalkIn:
		steps = append(steps, partialThenFinal(walkingIn)...)
	case visit != nil:
		steps = append(append(steps, visit.steps()...), final(measuring))
	case o.Status == orders.DrawCompleted || o.Status == orders.PartialResults:
		steps = append(steps, final(measuring))
	}
	return after(script.change(steps), o.Status)
}

func unregistered(o *orders.Order) bool {
	return o.Registrable && rank(o.Status) < rank(orders.Registered) || o.Registrable && o.Body.Patient == nil
}

func outbound() []Step {
	return []Step{
		{Act: Scan, Status: orders.TransitCustomer, Wait: picking},
		{Act: Scan, Status: orders.OutForDelivery, Wait: shipping},
		{Act: Scan, Status: orders.WithCustomer, Wait: delivering},
	}
}

func inbound() []Step {
	return []Step{
		{Act: Scan, Status: orders.TransitLab, Wait: sampling},
		{Act: Scan, Status: orders.DeliveredToLab, Wait: returning},
		final(measuring),
	}
}

func final(wait time.Duration) Step {
	return Step{Act: Report, Status: orders.Completed, Wait: wait}
}

func partialThenFinal(wait time.Duration) []Step {
	return []Step{{Act: Report, Status: orders.PartialResults, Wait: wait, Outcome: Outcome{Partial: true}}, final(measuring)}
}

func corrected(wait time.Duration) Step {
	return Step{Act: Report, Status: orders.Corrected, Wait: wait, Outcome: Outcome{Corrected: true}}
}
