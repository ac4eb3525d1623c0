package matching_test

import (
	"context"
	"reflect"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An order that is made again for another person has nothing of what was said
// of the first one.
func TestNothingOfTheFirstPerson(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ask := orderstest.Request(t, db, orderstest.User(t, db, d.team.ID), orderstest.Test(t, db, d.team.ID, catalogue.WalkIn))
		mine := "the clinic's own"
		ask.ClinicalNotes, ask.Passthrough = "pregnant", &mine
		var o orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Create(ctx, tx, d.team.ID, ask)
			return err
		})
		orderstest.To(t, db, &o, orders.RequisitionCreated)
		info := userstest.Info()
		info.FirstName, info.LastName, info.BirthDate = "Grace", "Hopper", civil.MustParse("1956-12-09")
		grace := userstest.New(t, db, d.team.ID, users.NewUser{})
		userstest.WithInfo(t, db, grace, info)
		id := d.arrive(d.report(o, func(r *networks.Report) {
			r.SampleID = o.SampleID
			r.Patient = networks.ReportedPatient{FirstName: "Grace", LastName: "Hopper", DOB: info.BirthDate, Gender: "F"}
		}))
		next, err := d.accept(id, matching.Choice{User: &grace.ID})
		if err != nil {
			t.Fatal(err)
		}
		if next.User != grace.ID || next.Body.Patient.LastName != "Hopper" {
			t.Fatalf("made for %s", next.User)
		}
		said := next.Body
		said.Patient, said.Address, said.Physician = nil, nil, nil
		if !reflect.DeepEqual(said, orders.Body{}) || next.Billing != catalogue.ClientBill {
			t.Error("the order has something of the first person")
		}
	})
}
