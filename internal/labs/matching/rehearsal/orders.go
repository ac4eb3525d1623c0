package rehearsal

import (
	"context"
	"fmt"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// chooseTests sets panel to the lab test that the rehearsal orders. If the test case
// reports through a different lab, it also sets wrongPanel to the test of that lab.
func (p *execution) chooseTests(ctx context.Context) error {
	return p.db.Read(ctx, func(tx *store.Tx) (err error) {
		at := p.LabTest
		if o, ok := p.Artifacts[p.firstRole()]; ok {
			order, err := orders.Get(ctx, tx, p.Team, o.Order)
			if err != nil {
				return err
			}
			at = &order.LabTest
		}
		if p.panel, err = p.findPanel(ctx, tx, at, nil); err != nil {
			return err
		}
		if len(p.testCase.Labs) == 0 || p.testCase.Labs[0] != differentLab {
			return nil
		}
		p.wrongPanel, err = p.findPanel(ctx, tx, p.WrongLabTest, p.panel)
		return err
	})
}

func (p *execution) firstRole() string {
	if len(p.testCase.Roles) == 0 {
		return ""
	}
	return p.testCase.Roles[0]
}

// findPanel returns the named lab test, or the first active walk-in test. When
// not is set, the test is of another lab than not.
func (p *execution) findPanel(ctx context.Context, tx *store.Tx, named *catalogue.TestID, not *panel) (*panel, error) {
	offered, err := catalogue.Load(ctx, tx, p.Team)
	if err != nil {
		return nil, err
	}
	whole := func(t catalogue.Test) (*panel, error) {
		lab, ok := offered.Lab(t.Lab)
		switch {
		case !ok:
			return nil, newFailure("lab_gone", "The lab of the lab test is no longer offered")
		case not != nil && not.lab.ID == t.Lab:
			return nil, newFailure("same_lab", "wrong_lab_test_id must be of another lab than the order")
		}
		return &panel{lab, t, offered.MarkersOf(t)}, nil
	}
	if named != nil {
		t, err := catalogue.GetTest(ctx, tx, p.Team, *named)
		if fault.Is(err, fault.NotFound) {
			return nil, newFailure("lab_test_not_found", "The lab test does not exist")
		}
		if err != nil {
			return nil, err
		}
		return whole(t)
	}
	tests, err := catalogue.ListTests(ctx, tx, p.Team, catalogue.TestFilter{Statuses: []catalogue.TestStatus{catalogue.Active}})
	if err != nil {
		return nil, err
	}
	for _, t := range tests {
		if not == nil && t.Method == catalogue.WalkIn || not != nil && t.Lab != not.lab.ID {
			return whole(t)
		}
	}
	if not != nil { // any test of another lab is suitable
		for _, lab := range offered.Labs() {
			if markers := offered.Markers(catalogue.MarkerFilter{Labs: []catalogue.LabID{lab.ID}}); lab.ID != not.lab.ID && len(markers) > 0 {
				return &panel{lab: lab, markers: markers[:1]}, nil
			}
		}
	}
	return nil, newFailure("no_lab_test", "The team has no active lab test that suits the case")
}

// createOrders creates the users and orders of a managed run.
func (p *execution) createOrders(ctx context.Context) error {
	if p.Source != Managed || len(p.Artifacts) > 0 {
		return nil
	}
	return p.db.Write(ctx, func(tx *store.Tx) error {
		p.Artifacts = map[string]Artifact{}
		for n, role := range p.testCase.Roles {
			o, err := p.createOrder(ctx, tx, n)
			if fault.KindOf(err) != fault.Internal && err != nil {
				return newFailure("order_refused", "An order of the lab test was refused: "+err.Error())
			}
			if err != nil {
				return err
			}
			p.Artifacts[role] = Artifact{o.ID, o.User, o.Transaction}
		}
		return p.save(ctx, tx)
	})
}

func (p *execution) createOrder(ctx context.Context, tx *store.Tx, n int) (orders.Order, error) {
	who := p.testPatient()
	user, err := users.Create(ctx, tx, p.Team, users.NewUser{ClientUserID: fmt.Sprintf("unmatched-result-test-%s-%d", p.ID, n+1)})
	if err != nil {
		return orders.Order{}, err
	}
	_, err = users.PutInfo(ctx, tx, p.Team, user.ID, users.Info{
		FirstName: who.FirstName, LastName: who.LastName, Email: who.Email, PhoneNumber: who.PhoneNumber, Gender: who.Gender,
		BirthDate: who.BirthDate, Address: homeAddress,
	})
	if err != nil {
		return orders.Order{}, err
	}
	return orders.Create(ctx, tx, p.Team, orders.Request{
		User: user.ID, Set: &orders.OrderSet{TestIDs: []catalogue.TestID{p.panel.test.ID}}, Patient: who,
		Address: orders.Address{Address: homeAddress, Receiver: who.Name()}, Answers: answersTo(p.panel.markers),
	})
}

var homeAddress = person.Address{FirstLine: "1 Example Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: person.US}

// testPatient returns a person who differs from all others: name and birth date follow
// from the run's id.
func (p *execution) testPatient() orders.Patient {
	id := p.ID.UUID()
	name := strings.Map(func(r rune) rune { // hexadecimal digits as letters
		switch {
		case r >= '0' && r <= '9':
			return 'k' + r - '0'
		case r == '-':
			return -1
		}
		return r
	}, p.ID.String()[19:])
	return orders.Patient{
		FirstName: "Rehearsal", LastName: strings.ToUpper(name[:1]) + name[1:], Gender: "female",
		BirthDate:   civil.MustParse("1950-01-01").AddDays((int(id[14])<<8 | int(id[15])) % 15_000),
		PhoneNumber: "+14155550199", Email: "rehearsal@example.com",
	}
}

// answersTo answers the required questions of the markers.
func answersTo(markers []*catalogue.Marker) []orders.Answer {
	var all []orders.Answer
	for _, m := range markers {
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
	return all
}

// transition moves the orders of a managed run to the status that the case
// requires.
func (p *execution) transition(ctx context.Context) error {
	if p.Source != Managed {
		return nil
	}
	for _, role := range p.testCase.Roles {
		err := p.db.Write(ctx, func(tx *store.Tx) error {
			o, err := orders.Get(ctx, tx, p.Team, p.Artifacts[role].Order)
			if err != nil {
				return err
			}
			return p.moveTo(ctx, tx, &o, p.testCase.Required[role])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *execution) moveTo(ctx context.Context, tx *store.Tx, o *orders.Order, to orders.Status) error {
	if o.Status == orders.Ordered {
		sample := "T-" + o.ID.String()[24:]
		_, err := orders.Advance(ctx, tx, o, orders.Move{
			To: orders.RequisitionCreated, By: orders.Requisition, Change: func(o *orders.Order) { o.SampleID = sample },
		})
		if err != nil {
			return err
		}
	}
	switch {
	case o.Status == to:
		return nil
	case to == orders.Cancelled:
		_, _, err := orders.Cancel(ctx, tx, p.Team, o.ID)
		return err
	case to == orders.Completed:
		set := resultsOf(p.panel.markers, orders.Normal, tx.Now())
		return results.Take(ctx, tx, o, results.Arrival{Key: "rehearsal:" + p.ID.String() + ":first", At: tx.Now(), SampleID: o.SampleID, Set: set})
	}
	return newFailure("order_status", "The order could not be brought to "+string(to))
}
