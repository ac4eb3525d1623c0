// Package orderstest creates orders for tests of any package. It creates a team
// with the lab tests of the sandbox, a user with demographics, and orders in any
// status.
package orderstest

import (
	"context"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Team creates a sandbox team that has its four lab tests.
func Team(tb testing.TB, db *store.DB) teams.Team {
	tb.Helper()
	team := userstest.Team(tb, db)
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error { return catalogue.Seed(ctx, tx, team) })
	return team
}

// User creates a user with demographics.
func User(tb testing.TB, db *store.DB, team teams.ID) users.User {
	tb.Helper()
	user := userstest.New(tb, db, team, users.NewUser{})
	userstest.WithInfo(tb, db, user, userstest.Info())
	return user
}

// Test returns the team's seeded lab test of a method.
func Test(tb testing.TB, db *store.DB, team teams.ID, method orders.Method) catalogue.Test {
	tb.Helper()
	var found catalogue.Test
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		own := false
		all, err := catalogue.ListTests(ctx, tx, team, catalogue.TestFilter{Methods: []catalogue.Method{method}, Generated: &own})
		if len(all) > 0 {
			found = all[0]
		}
		return err
	})
	if found.ID.IsZero() {
		tb.Fatalf("the team has no lab test of method %s", method)
	}
	return found
}

// Patient returns a valid patient.
func Patient() orders.Patient {
	return orders.Patient{
		FirstName: "Ada", LastName: "Byron", BirthDate: civil.MustParse("1984-12-10"), Gender: "female",
		PhoneNumber: "+14155550132", Email: "ada@example.org",
	}
}

// Address returns a valid address.
func Address() orders.Address {
	return orders.Address{
		Receiver: "Ada Byron", PhoneNumber: "+14155550132",
		Address: person.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: person.US},
	}
}

// Request returns a request for a lab test, with answers to the questions of its
// markers.
func Request(tb testing.TB, db *store.DB, user users.User, test catalogue.Test) orders.Request {
	tb.Helper()
	return orders.Request{
		User: user.ID, Set: &orders.OrderSet{TestIDs: []catalogue.TestID{test.ID}},
		Patient: Patient(), Address: Address(), Answers: Answers(tb, db, user.Team, test),
	}
}

// Answers returns answers to all required questions of a lab test.
func Answers(tb testing.TB, db *store.DB, team teams.ID, test catalogue.Test) []orders.Answer {
	tb.Helper()
	var all []orders.Answer
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		c, err := catalogue.Load(ctx, tx, team)
		if err != nil {
			return err
		}
		for _, m := range c.MarkersOf(test) {
			for _, q := range m.Questions {
				answer := "1"
				if len(q.Answers) > 0 {
					answer = q.Answers[0].Code
				}
				if q.Required {
					all = append(all, orders.Answer{MarkerID: m.ID, QuestionID: q.ID, Answer: answer})
				}
			}
		}
		return nil
	})
	return all
}

// New creates an order of the team's seeded lab test of a method. For a
// registrable kit use Kit.
func New(tb testing.TB, db *store.DB, team teams.ID, method orders.Method) orders.Order {
	tb.Helper()
	user, test := User(tb, db, team), Test(tb, db, team, method)
	r := Request(tb, db, user, test)
	var o orders.Order
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = orders.Create(ctx, tx, team, r)
		return err
	})
	return o
}

// Kit creates the order of a registrable test kit.
func Kit(tb testing.TB, db *store.DB, team teams.ID) orders.Order {
	tb.Helper()
	user, test := User(tb, db, team), Test(tb, db, team, catalogue.TestKit)
	var o orders.Order
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = orders.CreateKit(ctx, tx, team, orders.KitRequest{User: user.ID, LabTest: test.ID, Shipping: Address()})
		return err
	})
	return o
}

// MoveTo moves an order to a status by the shortest way.
func MoveTo(tb testing.TB, db *store.DB, o *orders.Order, to orders.Status) {
	tb.Helper()
	for _, a := range o.Course().Path(o.Status, to) {
		Move(tb, db, o, orders.Move{To: a.To, By: a.By, Change: func(o *orders.Order) {
			if a.To == orders.RequisitionCreated && o.SampleID == "" {
				o.SampleID = "S-" + o.ID.String()[24:]
			}
		}})
	}
	if o.Status != to {
		tb.Fatalf("the order has the status %s, want %s", o.Status, to)
	}
}

// Move tries one move, which may have no effect.
func Move(tb testing.TB, db *store.DB, o *orders.Order, m orders.Move) (changed bool) {
	tb.Helper()
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		changed, err = orders.Advance(ctx, tx, o, m)
		return err
	})
	return changed
}

// History returns an order's events, oldest first.
func History(ctx context.Context, tx *store.Tx, o *orders.Order) ([]orders.Event, error) {
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	return facts[0].Events, nil
}
