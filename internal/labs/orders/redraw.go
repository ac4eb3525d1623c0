package orders

import (
	"context"
	"fmt"
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// redrawLabs take a second sample without a new requisition from a physician.
//
// Reference 1.7. Labs of the sandbox all do.
var redrawLabs = []string{"labcorp", "quest", "bioreference"}

// Redraw ends an order whose final results lack markers because the lab could
// not measure them, and orders those anew in the same transaction. done is
// false when the order must simply be completed: the team did not ask for
// redraws, the order's method or lab has none, or the transaction had one.
//
// Reference 1.7. Whoever stores results calls it, in their transaction, instead
// of advancing to completed; m says by which report.
func Redraw(ctx context.Context, tx *store.Tx, o *Order, missing []catalogue.MarkerID, m Move) (next Order, done bool, err error) {
	if o.Method != catalogue.WalkIn || o.Origin == RedrawOf || len(missing) == 0 || !o.Course().May(o.Status, RedrawAvailable, Lab) {
		return Order{}, false, nil
	}
	if err := lockTransaction(ctx, tx, o.Team, o.Transaction); err != nil {
		return Order{}, false, err
	}
	if ok, err := mayRedraw(ctx, tx, o); err != nil || !ok {
		return Order{}, false, err
	}
	panel, err := catalogue.PanelOf(ctx, tx, o.Team, missing, o.Method)
	if fault.Is(err, fault.Refused) { // the lab offers them no more
		return Order{}, false, nil
	}
	if err != nil {
		return Order{}, false, err
	}
	m.To, m.By = RedrawAvailable, Lab
	changed, err := Advance(ctx, tx, o, m)
	if err != nil || !changed {
		return Order{}, false, err
	}
	next = o.again(RedrawOf)
	next.LabTest = panel.Test.ID
	if err := start(ctx, tx, &next); err != nil {
		return Order{}, false, err
	}
	return next, true, dispatch(ctx, tx, &next)
}

func mayRedraw(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	team, err := teams.Get(ctx, tx, o.Team)
	if err != nil || !team.Settings.Redraws {
		return false, err
	}
	offered, err := catalogue.For(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	lab, _ := offered.Lab(o.Lab)
	if team.Environment != teams.Sandbox && !slices.Contains(redrawLabs, lab.Slug) {
		return false, nil
	}
	members, err := readMembers(ctx, tx, o.Team, o.Transaction)
	return !slices.ContainsFunc(members, func(m Member) bool { return m.Origin == RedrawOf }), err
}

// again is a new order that goes on from o.
func (o *Order) again(origin Origin) Order {
	parent := o.ID
	next := Order{
		Team: o.Team, User: o.User, Transaction: o.Transaction, Parent: &parent, Origin: origin,
		Lab: o.Lab, LabTest: o.LabTest, Account: o.Account, Method: o.Method,
		Priority: o.Priority, Billing: o.Billing, Insurance: o.Insurance, SMSEnabled: o.SMSEnabled, Body: o.Body,
	}
	next.Body.Notes = ""
	return next
}

// Recreate says how an order is made again.
type Recreate struct {
	// Test replaces the lab test; with another lab comes a fresh account.
	Test *catalogue.TestID
	// Account is the fresh one; nil has it chosen.
	Account *catalogue.AccountID
	// IncorrectLab has the lab account chosen afresh instead of inherited.
	//
	// Spec: Further operations, update reason INCORRECT_LAB.
	IncorrectLab bool
	// User is the person that the sample turned out to be from, with the details
	// that the new order shows; nil for the same one.
	User    *users.ID
	Patient *Patient
	Address *Address
	// SampleID means that the lab has the sample already: the order is not placed.
	SampleID string
}

// Again replaces an order by a new one, in the same transaction unless it goes
// to another person. The old order is cancelled, if it can be.
//
// Reference 1.7, recreation.
func Again(ctx context.Context, tx *store.Tx, old *Order, r Recreate) (Order, error) {
	next := old.again(Recreation)
	if r.User != nil && *r.User != old.User {
		if r.Patient == nil {
			return Order{}, fault.New(fault.Unprocessable, "Another person's order needs that person's details")
		}
		// What the first person's physician, team and insurer said of them is
		// nobody else's.
		next.User, next.Transaction, next.Insurance, next.Billing = *r.User, TransactionID{}, nil, catalogue.ClientBill
		next.Body = Body{Patient: r.Patient, Address: r.Address, Physician: old.Body.Physician}
	}
	if err := next.retarget(ctx, tx, r); err != nil {
		return Order{}, err
	}
	next.SampleID = r.SampleID
	if _, err := Advance(ctx, tx, old, Move{To: Cancelled, By: Operator}); err != nil {
		return Order{}, err
	}
	if old.Status.Stage(old.Method) == StageCancelled {
		if err := withdraw(ctx, tx, old); err != nil {
			return Order{}, err
		}
	}
	if err := start(ctx, tx, &next); err != nil {
		return Order{}, err
	}
	if r.SampleID == "" {
		return next, dispatch(ctx, tx, &next)
	}
	changed, err := Advance(ctx, tx, &next, Move{To: RequisitionBypassed, By: Call})
	return next, must(changed, err, &next, RequisitionBypassed)
}

// retarget finds the lab test and the account of a recreated order.
func (o *Order) retarget(ctx context.Context, tx *store.Tx, r Recreate) error {
	if r.Test != nil {
		test, err := catalogue.GetTest(ctx, tx, o.Team, *r.Test)
		if err != nil {
			return err
		}
		r.IncorrectLab = r.IncorrectLab || test.Lab != o.Lab
		o.LabTest, o.Lab, o.Method = test.ID, test.Lab, test.Method
	}
	if !r.IncorrectLab {
		return nil
	}
	account, err := catalogue.ChooseAccount(ctx, tx, o.Team, o.Lab, r.Account, r.SampleID != "")
	if err != nil {
		return fmt.Errorf("orders: an account for a recreated order: %w", err)
	}
	o.Account = account.ID
	return nil
}

// Replaced finds the order that was made again from an order, if any.
func Replaced(ctx context.Context, tx *store.Tx, o *Order) (ID, bool, error) {
	members, err := readMembers(ctx, tx, o.Team, o.Transaction)
	for _, m := range members {
		if m.Origin == Recreation && m.Parent != nil && *m.Parent == o.ID {
			return m.ID, true, nil
		}
	}
	return ids.Of[Order]{}, false, err
}
