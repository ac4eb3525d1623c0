package matching

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const (
	// lookBack is how old an order may be that a report finds by its person.
	lookBack = 400 * 24 * time.Hour
	// mostFound bounds what one way of looking finds, newest first.
	mostFound = 60
)

// incomingOf is a report as it is compared with orders.
func incomingOf(r networks.Report) incoming {
	s := summarise(r)
	return incoming{Person: s.Patient, Lab: r.Lab, Account: r.Account, SampleID: r.SampleID, Placer: r.Placer, Markers: s.Markers, At: r.At}
}

// find looks for orders that a report may belong to: by our number, by the
// sample, by birth date and by last name. The last two look into what this
// process remembers of sealed names, which is why this runs in a reading
// transaction: a memory must not take what may yet be undone.
func find(ctx context.Context, tx *store.Tx, team teams.ID, r incoming) ([]orders.ID, error) {
	var all []orders.ID
	add := func(id orders.ID) {
		if !has(all, id) {
			all = append(all, id)
		}
	}
	if id, err := ids.Parse[orders.Order](r.Placer); err == nil {
		add(id)
	}
	if r.SampleID != "" {
		found, err := orders.BySample(ctx, tx, r.SampleID)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			if o.Team == team {
				add(o.ID)
			}
		}
	}
	since := tx.Now().Add(-lookBack)
	f := orders.Filter{Created: orders.Span{From: &since}, Key: orders.ByCreation, Page: 1, Size: mostFound}
	for _, look := range []struct{ search, name string }{{search: dayOf(r.Person)}, {name: r.Person.LastName}} {
		if look.search == "" && look.name == "" {
			continue
		}
		f.Search, f.PatientName = look.search, look.name
		found, _, err := orders.Select(ctx, tx, team, f)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			add(id)
		}
	}
	return all, nil
}

func dayOf(p Person) string {
	if p.DOB.IsZero() {
		return ""
	}
	return p.DOB.String()
}

// look reads orders for the comparison. Those that are not there, not of the
// team or of a deleted user are left out.
func look(ctx context.Context, tx *store.Tx, team teams.ID, at []orders.ID) ([]known, error) {
	offered, err := catalogue.For(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	numbers := map[catalogue.AccountID]string{}
	var all []known
	for _, id := range at {
		o, err := orders.Get(ctx, tx, team, id)
		if err == nil {
			err = users.Exists(ctx, tx, team, o.User)
		}
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		test, err := catalogue.GetTest(ctx, tx, team, o.LabTest)
		if err != nil {
			return nil, err
		}
		if _, known := numbers[o.Account]; !known {
			account, err := catalogue.AccountOf(ctx, tx, team, o.Account)
			if err != nil {
				return nil, err
			}
			numbers[o.Account] = account.Number
		}
		lab, _ := offered.Lab(o.Lab)
		all = append(all, known{Order: o, Person: patientOf(&o), Lab: lab.Slug, Account: numbers[o.Account], Markers: offered.MarkersOf(test)})
	}
	return all, nil
}

func patientOf(o *orders.Order) Person {
	p := o.Body.Patient
	if p == nil {
		return Person{}
	}
	return Person{p.FirstName, p.LastName, p.BirthDate, p.Gender}
}
