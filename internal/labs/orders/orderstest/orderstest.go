// Package orderstest makes orders for tests of any domain: a team with the
// sandbox's lab tests, a user with demographics, and orders brought to any
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

// Team makes a sandbox team that has its four lab tests.
func Team(tb testing.TB, db *store.DB) teams.Team {
	tb.Helper()
	team := userstest.Team(tb, db)
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error { return catalogue.Seed(ctx, tx, team) })
	return team
}

// User makes a user with demographics.
func User(tb testing.TB, db *store.DB, team teams.ID) users.User {
	tb.Helper()
	user := userstest.New(tb, db, team, users.NewUser{})
	userstest.WithInfo(tb, db, user, userstest.Info())
	return user
}

// Test finds the team's seeded lab test of a method.
func Test(tb testing.TB, db *store.DB, team teams.ID, method orders.Method) catalogue.Test {
	tb.Helper()
	var found catalogue.Test
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		own := false
		all, err := catalogue.ListTests(ctx, tx, team, catalogue.TestFilter{Method: method, Generated: &own})
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

// Patient keeps every rule.
func Patient() orders.Patient {
	return orders.Patient{
		FirstName: "Ada", LastName: "Byron", BirthDate: civil.MustParse("1984-12-10"), Gender: "female",
		PhoneNumber: "+14155550132", Email: "ada@example.org",
	}
}

// Address keeps every rule.
func Address() orders.Address {
	return orders.Address{
		Receiver: "Ada Byron", PhoneNumber: "+14155550132",
		Address: person.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: person.US},
	}
}

// Request asks for a lab test and answers what its markers ask.
func Request(tb testing.TB, db *store.DB, user users.User, test catalogue.Test) orders.Request {
	tb.Helper()
	return orders.Request{
		User: user.ID, Set: &orders.OrderSet{TestIDs: []catalogue.TestID{test.ID}},
		Patient: Patient(), Address: Address(), Answers: Answers(tb, db, user.Team, test),
	}
}

// Answers answers every required question of a lab test.
func Answers(tb testing.TB, db *store.DB, team teams.ID, test catalogue.Test) []orders.Answer {
	tb.Helper()
	var all []orders.Answer
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		c, err := catalogue.For(ctx, tx, team)
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

// New orders the team's seeded lab test of a method. For a registrable kit use
// Kit.
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

// Kit orders a registrable test kit.
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

// To brings an order to a status by the shortest way.
func To(tb testing.TB, db *store.DB, o *orders.Order, to orders.Status) {
	tb.Helper()
	for _, a := range o.Course().Path(o.Status, to) {
		Move(tb, db, o, orders.Move{To: a.To, By: a.By, Change: func(o *orders.Order) {
			if a.To == orders.RequisitionCreated && o.SampleID == "" {
				o.SampleID = "S-" + o.ID.String()[24:]
			}
		}})
	}
	if o.Status != to {
		tb.Fatalf("the order stands at %s, want %s", o.Status, to)
	}
}

// Move makes one move, which may be none.
func Move(tb testing.TB, db *store.DB, o *orders.Order, m orders.Move) (changed bool) {
	tb.Helper()
	userstest.Write(tb, db, func(ctx context.Context, tx *store.Tx) (err error) {
		changed, err = orders.Advance(ctx, tx, o, m)
		return err
	})
	return changed
}

// History reads an order's events, oldest first.
func History(ctx context.Context, tx *store.Tx, o *orders.Order) ([]orders.Event, error) {
	facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	return facts[0].Events, nil
}
