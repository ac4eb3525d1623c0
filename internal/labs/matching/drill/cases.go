package drill

import (
	"slices"

	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
)

// Source says whose orders a run uses.
type Source string

// The sources: orders that the run makes, or the team's own.
const (
	Managed  Source = "managed"
	Provided Source = "provided"
)

// The lab constraints of cases.
const (
	sameLab      = "same_lab"      // all orders are with the lab that reports
	differentLab = "different_lab" // the lab that reports is not the order's
)

// Case is a verdict that can be rehearsed.
type Case struct {
	Decision matching.Decision
	// Roles name the orders that take part.
	Roles []string
	// Required is where each of them must stand.
	Required map[string]orders.Status
	Labs     []string

	// providedOnly means that no order is made for it: a visit has to be asked
	// for by somebody.
	providedOnly bool
}

const role = "order"

func one(d matching.Decision, at orders.Status, lab string) Case {
	return Case{Decision: d, Roles: []string{role}, Required: map[string]orders.Status{role: at}, Labs: []string{lab}}
}

// Cases lists them all.
var Cases = []Case{
	one(matching.CompletedMatch, orders.Completed, sameLab),
	one(matching.CancelledMatch, orders.Cancelled, sameLab),
	visit(one(matching.WrongCollection, orders.RequisitionCreated, sameLab)),
	one(matching.WrongLab, orders.RequisitionCreated, differentLab),
	{
		Decision: matching.SeveralPeople, Roles: []string{"first", "second"}, Labs: []string{sameLab},
		Required: map[string]orders.Status{"first": orders.RequisitionCreated, "second": orders.RequisitionCreated},
	},
	one(matching.OtherPerson, orders.RequisitionCreated, sameLab),
	one(matching.PersonMatch, orders.RequisitionCreated, sameLab),
	{Decision: matching.NoMatch, Roles: []string{}, Required: map[string]orders.Status{}, Labs: []string{}},
}

func visit(c Case) Case { c.providedOnly = true; return c }

func caseOf(d matching.Decision) (Case, bool) {
	i := slices.IndexFunc(Cases, func(c Case) bool { return c.Decision == d })
	if i < 0 {
		return Case{}, false
	}
	return Cases[i], true
}
