package orders_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// requestBuilder builds a request: a team, its user and a valid order of the team's
// walk-in test.
type requestBuilder struct {
	testing.TB
	db   *store.DB
	team teams.Team
	user users.User
	r    orders.Request
}

func newRequestBuilder(tb testing.TB, db *store.DB) *requestBuilder {
	tb.Helper()
	c := &requestBuilder{TB: tb, db: db, team: orderstest.Team(tb, db)}
	c.user = orderstest.User(tb, db, c.team.ID)
	c.r = orderstest.Request(tb, db, c.user, orderstest.Test(tb, db, c.team.ID, catalogue.WalkIn))
	return c
}

func (c *requestBuilder) write(fn func(ctx context.Context, tx *store.Tx) error) {
	c.Helper()
	userstest.Write(c, c.db, fn)
}

// settings changes the settings of the team.
func (c *requestBuilder) settings(change func(s *teams.Settings)) {
	c.Helper()
	c.write(func(ctx context.Context, tx *store.Tx) error {
		change(&c.team.Settings)
		return teams.Update(ctx, tx, c.team)
	})
}

// account adds an account with the lab of the walk-in test and links it to the
// team.
func (c *requestBuilder) account(change func(n *catalogue.NewAccount)) (id catalogue.AccountID) {
	c.Helper()
	c.write(func(ctx context.Context, tx *store.Tx) (err error) {
		n := catalogue.NewAccount{
			Owner: &c.team.ID, Lab: c.lab(ctx, tx, "quest"), Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "1",
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: catalogue.States},
		}
		change(&n)
		id, err = catalogue.AddAccount(ctx, tx, n)
		return err
	})
	return id
}

func (c *requestBuilder) lab(ctx context.Context, tx *store.Tx, slug string) catalogue.LabID {
	c.Helper()
	offered, err := catalogue.Load(ctx, tx, c.team.ID)
	if err != nil {
		c.Fatal(err)
	}
	lab, ok := offered.LabBySlug(slug)
	if !ok {
		c.Fatalf("there is no lab %s", slug)
	}
	return lab.ID
}

// test creates another lab test of the same lab.
func (c *requestBuilder) test(method catalogue.Method, codes ...string) (id catalogue.TestID) {
	c.Helper()
	c.write(func(ctx context.Context, tx *store.Tx) error {
		made, err := catalogue.CreateTest(ctx, tx, c.team.ID, catalogue.NewTest{Name: "Another", Method: method, LabSlug: "quest", ProviderIDs: codes})
		id = made.ID
		return err
	})
	return id
}

// active approves a lab test.
func (c *requestBuilder) active(id catalogue.TestID) catalogue.TestID {
	c.Helper()
	c.write(func(ctx context.Context, tx *store.Tx) error {
		yes := true
		_, err := catalogue.UpdateTest(ctx, tx, c.team.ID, id, catalogue.TestUpdate{Active: &yes})
		return err
	})
	return id
}

// addOn adds single markers to the request.
func (c *requestBuilder) addOn(a orders.AddOn, method catalogue.Method) {
	c.r.Set.AddOn = &a
	if method != "" {
		c.r.Method = &method
	}
}

// insured bills the order to an insurance, with a diagnosis.
func (c *requestBuilder) insured(codes ...string) {
	c.r.Billing, c.r.ICDCodes = catalogue.CommercialInsurance, codes
}

func (c *requestBuilder) ofAge(years int) {
	c.r.Patient.BirthDate = civil.DateOf(c.db.Now()).AddDays(-366 * years)
}

// refusals returns the faults of Create. It checks that a dry run returns the
// same faults and that nothing was stored.
func (c *requestBuilder) refusals() []*fault.Error {
	c.Helper()
	_, err := c.create()
	var refused fault.List
	if !errors.As(err, &refused) {
		var one *fault.Error
		if !errors.As(err, &one) {
			c.Fatalf("answered %v", err)
		}
		refused = fault.List{one}
	}
	var trial orders.DryRunResult
	c.write(func(ctx context.Context, tx *store.Tx) (err error) {
		trial, err = orders.DryRun(ctx, tx, c.team.ID, c.r)
		return err
	})
	if n := totalOf(c.TB, c.db, orders.NewIndex(), c.team.ID, orders.Filter{}); n != 0 {
		c.Errorf("%d orders are left behind", n)
	}
	for _, e := range refused {
		if !slices.ContainsFunc(trial.Problems, func(p *fault.Error) bool {
			return p.Kind() == e.Kind() && p.Message() == e.Message() && p.Code() == e.Code()
		}) {
			c.Errorf("the dry run does not say: %v", e)
		}
	}
	return refused
}

func (c *requestBuilder) create() (o orders.Order, err error) {
	err = c.db.Write(store.WithTeam(c.Context(), c.team.ID.UUID()), func(tx *store.Tx) (err error) {
		o, err = orders.Create(c.Context(), tx, c.team.ID, c.r)
		return err
	})
	return o, err
}

// Every rule of reference 1.9 refuses with its own status, code, field and text,
// and stores nothing. A dry run refuses in the same way.
func TestCreateRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		plain := newRequestBuilder(t, db)
		good := plain.r
		for _, rule := range rules {
			c := plain
			if rule.own { // it changes the team
				c = newRequestBuilder(t, db)
			} else {
				c.r = good
				set := *good.Set
				c.r.Set = &set
			}
			rule.given(c)
			got := c.refusals()
			e := got[0]
			if len(got) != 1 || e.Kind() != rule.kind || e.Code() != rule.code || strings.Join(e.Loc(), ".") != "body."+rule.at || !strings.HasPrefix(e.Message(), rule.says) {
				t.Errorf("%s: %d refusals, the first is of kind %d, {%q, %q, %q}", rule.name, len(got), e.Kind(), e.Code(), strings.Join(e.Loc(), "."), e.Message())
			}
		}
		plain.r = good
		if _, err := plain.create(); err != nil {
			t.Errorf("the request that all of them began with: %v", err)
		}
	})
}

// A dry run and Create warn of problems for which the order is not refused.
func TestWarnings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		own := &catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893"}
		agreed := []orders.Consent{{Type: orders.Consents[0]}}
		for name, x := range map[string]struct {
			given func(r *orders.Request)
			want  []string
		}{
			"no consents":              {func(*orders.Request) {}, []string{"consents_missing body.consents"}},
			"consents":                 {func(r *orders.Request) { r.Consents = agreed }, nil},
			"the team's own physician": {func(r *orders.Request) { r.Physician = own }, nil},
			"codes that clash": {func(r *orders.Request) {
				r.Physician, r.ICDCodes = own, []string{"I10", "e119", "E10.9"}
			}, []string{"icd_excludes1 body.icd_codes.2"}},
			"codes that are not part of each other": {func(r *orders.Request) {
				r.Physician, r.ICDCodes = own, []string{"E21.3", "E83.52"}
			}, []string{"icd_excludes2 body.icd_codes.1"}},
			"another way to write the name": {func(r *orders.Request) {
				r.Physician, r.Patient.FirstName, r.Patient.LastName = own, "ADA", "byron"
			}, nil},
			"another person": {func(r *orders.Request) {
				r.Physician, r.Patient.FirstName, r.Patient.LastName, r.Patient.Gender = own, "Grace", "Hopper", "male"
				r.Patient.BirthDate = r.Patient.BirthDate.AddDays(1)
			}, []string{
				"patient_differs_from_user body.patient_details.first_name", "patient_differs_from_user body.patient_details.last_name",
				"patient_differs_from_user body.patient_details.dob", "patient_differs_from_user body.patient_details.gender",
			}},
		} {
			c := newRequestBuilder(t, db)
			x.given(&c.r)
			var trial orders.DryRunResult
			c.write(func(ctx context.Context, tx *store.Tx) (err error) {
				trial, err = orders.DryRun(ctx, tx, c.team.ID, c.r)
				return err
			})
			var got []string
			for _, w := range trial.Warnings {
				got = append(got, w.Code()+" "+strings.Join(w.Loc(), "."))
				for _, personal := range []string{"Grace", "Hopper", "Ada", "Byron", "1984"} {
					if strings.Contains(w.Message(), personal) {
						t.Errorf("%s: the warning contains %s", name, personal)
					}
				}
			}
			if len(trial.Problems) > 0 || !slices.Equal(got, x.want) {
				t.Errorf("%s: %v, warnings %v", name, trial.Problems, got)
			}
			var warned []*fault.Error
			err := c.db.Write(store.WithTeam(c.Context(), c.team.ID.UUID()), func(tx *store.Tx) (err error) {
				_, warned, err = orders.CreateWithWarnings(c.Context(), tx, c.team.ID, c.r)
				return err
			})
			if err != nil || len(warned) != len(x.want) {
				t.Errorf("%s: created with %v, %d warnings", name, err, len(warned))
			}
		}
	})
}

// A question accepts one answer; a numeric question accepts numbers in the form
// that labs read. Refused answers are not sent.
func TestAnswers(t *testing.T) {
	c := newRequestBuilder(t, storetest.SQLite(t))
	walkIn := catalogue.WalkIn
	marker, question := questionOf(c, "LASTDOSE")
	c.r.Method, c.r.Set = &walkIn, &orders.OrderSet{AddOn: &orders.AddOn{MarkerIDs: []catalogue.MarkerID{marker}}}
	for _, x := range []struct {
		given []string
		want  string
	}{
		{[]string{"12"}, ""},
		{[]string{" -1.5 "}, ""},
		{[]string{".5"}, ""},
		{[]string{"12", "14"}, "aoe_repeated"},
		{[]string{"12", "12"}, "aoe_repeated"},
		{[]string{"NaN"}, "aoe_answer"},
		{[]string{"-Inf"}, "aoe_answer"},
		{[]string{"0x1p4"}, "aoe_answer"},
		{[]string{"1e3"}, "aoe_answer"},
		{[]string{"."}, "aoe_answer"},
		{[]string{"twelve"}, "aoe_answer"},
	} {
		c.r.Answers = nil
		for _, text := range x.given {
			c.r.Answers = append(c.r.Answers, orders.Answer{MarkerID: marker, QuestionID: question, Answer: text})
		}
		_, err := c.create()
		var refused *fault.Error
		if errors.As(err, &refused); err != nil && refused == nil || x.want != "" && refused == nil || refused != nil && refused.Code() != x.want {
			t.Errorf("%q: %v, want %q", x.given, err, x.want)
		}
	}
}

// The diagnoses of a kit's registration are checked as those of an order.
func TestDiagnosesOfARegistration(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		kit := orderstest.Kit(t, db, team.ID)
		register := func(codes ...string) error {
			ctx := store.WithTeam(t.Context(), team.ID.UUID())
			return db.Write(ctx, func(tx *store.Tx) error {
				_, err := orders.Register(ctx, tx, team.ID, orders.Registration{
					SampleID: kit.SampleID, Patient: orderstest.Patient(), Address: orderstest.Address(), ICDCodes: codes,
				})
				return err
			})
		}
		err := register("I10", "cough")
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "body.health_insurance.diagnosis_codes.1:") || strings.Contains(err.Error(), "cough") {
			t.Errorf("a word for a code: %v", err)
		}
		if err := register("I10", "e119"); err != nil {
			t.Errorf("codes: %v", err)
		}
	})
}

// Kit registrations and imports warn of a patient who differs from the user. An import
// also warns of a ZIP code in another state.
func TestWarningsOfKitsAndImports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newRequestBuilder(t, db)
		patient, address := orderstest.Patient(), orderstest.Address()
		patient.FirstName = "Eva"
		kit, test := orderstest.Kit(t, db, c.team.ID), seededTest(c, catalogue.WalkIn)
		codes := func(warnings []*fault.Error, err error) (all []string) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			for _, w := range warnings {
				all = append(all, w.Code())
			}
			return all
		}
		c.write(func(ctx context.Context, tx *store.Tx) error {
			_, warnings, err := orders.RegisterWithWarnings(ctx, tx, c.team.ID, orders.Registration{User: &c.r.User, SampleID: kit.SampleID, Patient: patient, Address: address})
			if got := codes(warnings, err); !slices.Contains(got, "patient_differs_from_user") {
				t.Errorf("a kit: %v", got)
			}
			return nil
		})
		address.State, address.Receiver = "NY", "Eva Byron"
		if address.Zip[0] == '1' {
			t.Fatal("the ZIP code is in New York")
		}
		c.write(func(ctx context.Context, tx *store.Tx) error {
			_, warnings, err := orders.ImportWithWarnings(ctx, tx, c.team.ID, orders.Import{
				User: c.r.User, Billing: catalogue.ClientBill, Set: orders.OrderSet{TestIDs: []catalogue.TestID{test}}, Method: catalogue.WalkIn, Patient: patient, Address: address, SampleID: "IMPORT-1",
				Physician: &catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893"},
			})
			if got := codes(warnings, err); !slices.Contains(got, "patient_differs_from_user") || !slices.Contains(got, "zip_state") {
				t.Errorf("an import: %v", got)
			}
			return nil
		})
	})
}

var unknownID = ids.MustParse[catalogue.Test]("019f0000-0000-7000-8000-000000000000")

// seededTest returns the team's seeded lab test of another method.
func seededTest(c *requestBuilder, method catalogue.Method) catalogue.TestID {
	return orderstest.Test(c, c.db, c.team.ID, method).ID
}

// bareUser creates a user without any data.
// A dry run lists all problems of the insurance, also those of a user without demographics.
func TestDryRunListsInsuranceProblems(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newRequestBuilder(t, db)
		c.insured("I10")
		for name, x := range map[string]struct {
			given func()
			want  []string
		}{
			"no record": {func() {}, []string{"demographics_missing", "insurance_missing"}},
			"a record that cannot be billed": {func() {
				insure(c, c.db, c.user, "ACME", func(r *insurance.Record) { r.Relationship = insurance.Spouse })
			}, []string{"demographics_missing", "payor_unknown", "guarantor_missing"}},
		} {
			c.user = bareUser(c)
			c.r.User = c.user.ID
			x.given()
			var trial orders.DryRunResult
			c.write(func(ctx context.Context, tx *store.Tx) (err error) {
				trial, err = orders.DryRun(ctx, tx, c.team.ID, c.r)
				return err
			})
			var codes []string
			for _, e := range trial.Problems {
				codes = append(codes, e.Code())
			}
			if !slices.Equal(codes, x.want) {
				t.Errorf("%s: %q, want %q", name, codes, x.want)
			}
		}
	})
}

func bareUser(c *requestBuilder) users.User {
	return userstest.New(c, c.db, c.team.ID, users.NewUser{})
}

// questionOf returns a marker of the lab with a question, and the question.
func questionOf(c *requestBuilder, code string) (marker catalogue.MarkerID, question int64) {
	c.write(func(ctx context.Context, tx *store.Tx) error {
		offered, err := catalogue.Load(ctx, tx, c.team.ID)
		if err != nil {
			return err
		}
		for _, m := range offered.Markers(catalogue.MarkerFilter{Labs: []catalogue.LabID{c.lab(ctx, tx, "quest")}}) {
			for _, q := range m.Questions {
				if q.Code == code && len(m.Questions) == 1 {
					marker, question = m.ID, q.ID
				}
			}
		}
		return nil
	})
	if question == 0 {
		c.Fatalf("no marker asks %s", code)
	}
	return marker, question
}

// askingMarker returns a marker of the lab with a required question without
// default.
func askingMarker(c *requestBuilder) (id catalogue.MarkerID) {
	c.write(func(ctx context.Context, tx *store.Tx) error {
		offered, err := catalogue.Load(ctx, tx, c.team.ID)
		if err != nil {
			return err
		}
		m, ok := offered.MarkerByCode(c.lab(ctx, tx, "quest"), "70030") // clotting, which asks for anticoagulants
		if !ok {
			c.Fatal("the marker is gone")
		}
		id = m.ID
		return nil
	})
	return id
}
