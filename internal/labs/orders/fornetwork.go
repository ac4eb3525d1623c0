package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/people/insurance"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ForNetwork is the order as its lab needs it. It returns no NotFound fault: o is
// there, and whoever reads it and hears of one takes the order for erased.
func ForNetwork(ctx context.Context, tx *store.Tx, o *Order) (networks.Order, error) {
	n, err := forNetwork(ctx, tx, o)
	if fault.Is(err, fault.NotFound) {
		err = fmt.Errorf("orders: what %s names is not there: %s", o.ID, err.Error())
	}
	return n, err
}

func forNetwork(ctx context.Context, tx *store.Tx, o *Order) (networks.Order, error) {
	team, err := teams.Get(ctx, tx, o.Team)
	if err != nil {
		return networks.Order{}, err
	}
	facts, err := Around(ctx, tx, o.Team, []Order{*o})
	if err != nil {
		return networks.Order{}, err
	}
	account, err := catalogue.AccountOf(ctx, tx, o.Team, o.Account)
	if err != nil {
		return networks.Order{}, fmt.Errorf("orders: the account of %s: %w", o.ID, err)
	}
	f := facts[0]
	n := networks.Order{
		ID: o.ID.UUID(), Transaction: o.Transaction.UUID(), Team: o.Team.UUID(), Sandbox: team.Environment == teams.Sandbox,
		Lab: f.Lab.Slug, Account: networks.Account{Number: account.Number, Name: account.Name}, Method: string(o.Method),
		SampleID: o.SampleID, Priority: o.Priority, Billing: string(o.Billing), ICDCodes: o.Body.ICDCodes,
		Notes: notes(o.Body.ClinicalNotes, account.DefaultNotes), Fasting: f.Test.Fasting, PlacedAt: o.CreatedAt,
		Notice: o.HasABN, Tests: testsOf(f.Markers), Answers: answersOf(f.Markers, o.Body.Answers),
	}
	if p := o.Body.Patient; p != nil {
		n.Patient = p.forNetwork(o.User.UUID(), o.Body.Address)
	}
	if p := o.Body.Physician; p != nil {
		n.Physician = networks.Physician{FirstName: p.FirstName, LastName: p.LastName, NPI: p.NPI}
	}
	switch {
	case o.Method == catalogue.TestKit && o.Body.Shipping != nil:
		n.ShipTo = o.Body.Shipping.forNetwork()
	case o.Method == catalogue.TestKit:
		n.ShipTo = o.Body.Address.forNetwork()
	}
	n.Insurance, err = insuranceOf(ctx, tx, o)
	return n, err
}

func notes(own, account string) string {
	if own != "" && account != "" {
		return own + "\n" + account
	}
	return own + account
}

func insuranceOf(ctx context.Context, tx *store.Tx, o *Order) (*networks.Insurance, error) {
	if o.Insurance == nil {
		return nil, nil
	}
	r, err := insurance.Get(ctx, tx, o.Team, o.User, *o.Insurance)
	if err != nil {
		return nil, fmt.Errorf("orders: the insurance of %s: %w", o.ID, err)
	}
	i := r.Insured
	n := &networks.Insurance{
		PayorCode: r.PayorCode, Company: r.Company.Name, MemberID: r.MemberID, GroupID: r.GroupID, Relationship: string(r.Relationship),
		Insured: networks.Patient{
			FirstName: i.FirstName, LastName: i.LastName, DOB: i.BirthDate, Gender: i.Gender, Phone: i.PhoneNumber, Email: i.Email,
			Address: *(&Address{Address: i.Address}).forNetwork(),
		},
	}
	if g := r.Guarantor; g != nil {
		n.Guarantor = &networks.Patient{
			FirstName: g.FirstName, LastName: g.LastName, Phone: g.PhoneNumber, Email: g.Email,
			Address: *(&Address{Address: g.Address}).forNetwork(),
		}
	}
	return n, nil
}

func (p *Patient) forNetwork(user uuid.UUID, a *Address) networks.Patient {
	return networks.Patient{
		ID: user, FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: p.Gender, Phone: p.PhoneNumber, Email: p.Email,
		Address: *a.forNetwork(), Race: p.Race, Ethnicity: p.Ethnicity,
	}
}

func (a *Address) forNetwork() *networks.Address {
	if a == nil {
		return &networks.Address{}
	}
	return &networks.Address{
		Receiver: a.Receiver, FirstLine: a.FirstLine, SecondLine: a.SecondLine, City: a.City, State: a.State, Zip: a.Zip,
		Country: a.Country, Phone: a.PhoneNumber, AccessNotes: a.AccessNotes,
	}
}

func testsOf(markers []*catalogue.Marker) []networks.Test {
	all := make([]networks.Test, len(markers))
	for i, m := range markers {
		all[i] = networks.Test{MarkerID: m.ID, ProviderID: m.ProviderID, Name: m.Name, Slug: m.Slug}
		for _, r := range m.Results {
			e := networks.Expected{ProviderID: r.ProviderID, Name: r.Name, Slug: r.Slug, Required: r.Required, LOINC: r.LOINC}
			if c := r.Code(); c != nil {
				e.LOINCSlug, e.Unit = c.Slug(), c.Unit
			}
			all[i].Expected = append(all[i].Expected, e)
		}
	}
	return all
}

func answersOf(markers []*catalogue.Marker, given []Answer) []networks.Answer {
	var all []networks.Answer
	for _, a := range given {
		for _, m := range markers {
			for _, q := range m.Questions {
				if m.ID == a.MarkerID && q.ID == a.QuestionID {
					all = append(all, networks.Answer{MarkerID: m.ID, ProviderID: m.ProviderID, QuestionCode: q.Code, Question: q.Value, Answer: a.Answer})
				}
			}
		}
	}
	return all
}
