package inbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Results with an order's number are applied only if the person on the report
// is the order's patient.
func TestIdentityOnReports(t *testing.T) {
	const born, apply = "1984-12-10", inbox.Reason("")
	type person struct{ first, last, dob, sex string }
	ada := person{"Ada", "Byron", born, "female"}
	with := func(change func(p *person)) person { p := ada; change(&p); return p }
	first := func(name string) person { return with(func(p *person) { p.first = name }) }
	last := func(name string) person { return with(func(p *person) { p.last = name }) }
	dob := func(day string) person { return with(func(p *person) { p.dob = day }) }
	sex := func(word string) person { return with(func(p *person) { p.sex = word }) }
	for _, c := range []struct {
		what            string
		order, reported person
		want            inbox.Reason
	}{
		{"the same", ada, ada, apply},
		{"upper case", ada, person{"ADA", "BYRON", born, "female"}, apply},
		{"lower case", ada, person{"ada", "byron", born, "female"}, apply},
		{"accents", ada, person{"Adá", "Bÿrön", born, "female"}, apply},
		{"accents on the order", person{"José", "Muñoz", born, "male"}, person{"JOSE", "MUNOZ", born, "male"}, apply},
		{"letters with strokes", person{"Søren", "Łukasz", born, "male"}, person{"Soren", "Lukasz", born, "male"}, apply},
		{"a sharp s", last("Groß"), last("GROSS"), apply},
		{"a transliteration", last("Müller"), last("Mueller"), "last_name_mismatch"},
		{"spaces around", ada, person{"  Ada ", " Byron", born, "female"}, apply},

		{"an apostrophe left out", last("O'Brien"), last("OBRIEN"), apply},
		{"another apostrophe", last("O'Brien"), last("O’Brien"), apply},
		{"a space for an apostrophe", last("O'Brien"), last("O Brien"), apply},
		{"a hyphen left out", last("Garcia-Lopez"), last("GarciaLopez"), apply},
		{"a space for a hyphen", last("Garcia-Lopez"), last("Garcia Lopez"), apply},
		{"another hyphen", last("Garcia-Lopez"), last("Garcia – Lopez"), apply},
		{"particles together", last("De La Cruz"), last("DELACRUZ"), apply},
		{"two parts turned round", last("Garcia Lopez"), last("Lopez-Garcia"), apply},
		{"the first part of a double name", last("Garcia-Lopez"), last("Garcia"), "last_name_mismatch"},
		{"the last part of a double name", last("Garcia Lopez"), last("Lopez"), "last_name_mismatch"},
		{"a longer name", last("Garcia"), last("Garcia-Lopez"), "last_name_mismatch"},
		{"another second part", last("Garcia-Lopez"), last("Garcia-Diaz"), "last_name_mismatch"},
		{"one part more", last("Garcia Lopez"), last("Garcia Lopez Diaz"), "last_name_mismatch"},
		{"a missing particle", last("De La Cruz"), last("Cruz"), "last_name_mismatch"},

		{"a suffix", last("Byron"), last("Byron Jr."), apply},
		{"a suffix after a comma", last("Byron"), last("BYRON, III"), apply},
		{"different suffixes", last("Byron Sr"), last("Byron Jr"), apply},
		{"a suffix at the first name", first("Ada"), first("Ada II"), apply},
		{"a suffix as the name", last("Byron"), last("Jr"), "last_name_mismatch"},
		{"another last name", ada, last("Hopper"), "last_name_mismatch"},
		{"a typing error in the last name", ada, last("Byran"), "last_name_mismatch"},
		{"an initial as last name", ada, last("B"), "last_name_mismatch"},
		{"a beginning of the last name", ada, last("Byr"), "last_name_mismatch"},
		{"no last name", ada, last(""), "last_name_missing"},
		{"a last name of signs", ada, last(" -.'"), "last_name_missing"},
		{"an HL7 null as last name", ada, last(`""`), "last_name_missing"},
		{"an order without a last name", last(""), ada, "last_name_missing"},

		{"an initial", ada, first("A"), apply},
		{"an initial with a dot", ada, first("A."), apply},
		{"an initial on the order", first("A"), ada, apply},
		{"another initial", ada, first("E."), "first_name_mismatch"},
		{"a middle name", ada, first("Ada Augusta"), apply},
		{"a middle initial", ada, first("Ada A."), apply},
		{"a middle name on the order", first("Ada Augusta"), ada, apply},
		{"a middle name and its initial", first("Ada Augusta"), first("ADA A"), apply},
		{"an initial and a middle name", first("Ada Augusta"), first("A. Augusta"), apply},
		{"two middle names", first("Ada Augusta"), first("Ada Maria"), "first_name_mismatch"},
		{"another middle initial", first("Ada Augusta"), first("Ada M"), "first_name_mismatch"},
		{"the middle name alone", first("Ada Augusta"), first("Augusta"), "first_name_mismatch"},
		{"a compound first name", first("Mary-Jane"), first("Mary Jane"), apply},
		{"a compound in one word", first("Mary-Jane"), first("MARYJANE"), apply},
		{"half of a compound", first("Anna-Lena"), first("Anna"), "first_name_mismatch"},
		{"a twin", ada, first("Eva"), "first_name_mismatch"},
		{"a twin with a similar name", ada, first("Ida"), "first_name_mismatch"},
		{"a twin of the other sex", ada, person{"Adam", "Byron", born, "male"}, "first_name_mismatch"},
		{"a short form", first("Alfred"), first("Al"), "first_name_mismatch"},
		{"another spelling", first("Jon"), first("John"), "first_name_mismatch"},
		{"no first name", ada, first(""), "first_name_missing"},
		{"a dot as first name", ada, first("."), "first_name_missing"},
		{"an order without a first name", first(""), ada, "first_name_missing"},
		{"names in the wrong place", ada, person{"Byron", "Ada", born, "female"}, "last_name_mismatch"},
		{"a whole name of one letter", first("李"), first("李明"), "first_name_mismatch"},
		{"vowel signs", first("मीना"), first("मोना"), "first_name_mismatch"},
		{"another script", first("Анна"), first("АННА"), apply},

		{"another day", ada, dob("1984-12-11"), "birth_date_mismatch"},
		{"day and month exchanged", ada, dob("1984-10-12"), "birth_date_mismatch"},
		{"another year", ada, dob("1985-12-10"), "birth_date_mismatch"},
		{"another century", ada, dob("1884-12-10"), "birth_date_mismatch"},
		{"no birth date", ada, dob(""), "birth_date_missing"},
		{"an order without a birth date", dob(""), ada, "birth_date_missing"},

		{"the other sex", ada, sex("male"), "sex_mismatch"},
		{"the letter of the other sex", ada, sex("M"), "sex_mismatch"},
		{"the letter of the sex", ada, sex("F"), apply},
		{"an unknown sex", ada, sex("unknown"), apply},
		{"no sex", ada, sex(""), apply},
		{"an unknown sex on the order", sex("unknown"), sex("male"), apply},
		{"other", ada, sex("other"), "sex_mismatch"},
		{"other on both", sex("other"), sex("O"), apply},

		{"nothing", ada, person{}, "last_name_missing"},
		{"a sex alone", ada, person{sex: "female"}, "last_name_missing"},
		{"names alone", ada, person{first: "Ada", last: "Byron"}, "birth_date_missing"},
		{"a birth date alone", ada, person{dob: born}, "last_name_missing"},
		{"a difference before an absence", ada, person{first: "Eva", dob: born}, "first_name_mismatch"},
		{"another person", ada, person{"Grace", "Hopper", "1906-12-09", "female"}, "last_name_mismatch"},
	} {
		o := orders.Order{ID: ids.FromUUID[orders.Order](uuid.New()), Body: orders.Body{Patient: &orders.Patient{
			FirstName: c.order.first, LastName: c.order.last, BirthDate: dateOf(c.order.dob), Gender: c.order.sex,
		}}}
		r := networks.Report{Placer: o.ID.String(), Results: &networks.ResultSet{}, Patient: networks.ReportedPatient{
			FirstName: c.reported.first, LastName: c.reported.last, DOB: dateOf(c.reported.dob), Gender: c.reported.sex,
		}}
		if got := inbox.IdentityMismatch(&o, r); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func dateOf(day string) civil.Date {
	if day == "" {
		return civil.Date{}
	}
	return civil.MustParse(day)
}

// A lab that never sends names identifies the patient by our number alone. The
// facts that it sends must agree all the same. Reports without results may
// lack facts as well.
func TestIdentityByOrderNumber(t *testing.T) {
	o := orders.Order{ID: ids.FromUUID[orders.Order](uuid.New()), SampleID: "S-1", Body: orders.Body{Patient: &orders.Patient{
		FirstName: "Ada", LastName: "Byron", BirthDate: adaByron.DOB, Gender: "female",
	}}}
	set := &networks.ResultSet{}
	for what, c := range map[string]struct {
		report networks.Report
		want   inbox.Reason
	}{
		"no name":                    {networks.Report{Placer: o.ID.String(), IdentityByNumber: true, Results: set}, ""},
		"another name":               {networks.Report{Placer: o.ID.String(), IdentityByNumber: true, Results: set, Patient: networks.ReportedPatient{FirstName: "Eva"}}, "first_name_mismatch"},
		"the sample alone":           {networks.Report{SampleID: "S-1", IdentityByNumber: true, Results: set}, "last_name_missing"},
		"a lab that sends names":     {networks.Report{Placer: o.ID.String(), Results: set}, "last_name_missing"},
		"a status":                   {networks.Report{Placer: o.ID.String(), Status: "cancelled"}, ""},
		"a status of another person": {networks.Report{Placer: o.ID.String(), Status: "cancelled", Patient: networks.ReportedPatient{FirstName: "Eva", LastName: "Byron"}}, "first_name_mismatch"},
	} {
		if got := inbox.IdentityMismatch(&o, c.report); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// A first report, a later partial one and a correction obey the same rule. A
// report that names another person, or does not identify one, waits for review.
// The results remain as they were. The person as reported is stored with the
// results.
func TestReportsOfOtherPeopleChangeNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		o := r.order(catalogue.WalkIn)
		_, found := r.tests(o)
		account := ""
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			a, err := catalogue.AccountOf(ctx, tx, o.Team, o.Account)
			account = a.Number
			return err
		})
		twin, nameless, undated := adaByron, adaByron, adaByron
		twin.FirstName, nameless.LastName, nameless.FirstName, undated.DOB = "Eva", "", "", civil.Date{}
		mallory := networks.ReportedPatient{FirstName: "Mallory", LastName: "Elsewhere", DOB: civil.MustParse("1951-02-03")}
		send := func(set networks.ResultSet, network string, report networks.Report) string {
			t.Helper()
			report.Placer, report.Lab, report.Results = o.ID.String(), r.lab(networks.Report{Placer: o.ID.String()}), &set
			key := uuid.NewString()
			r.send(network, key, report)
			r.settle()
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.outcomes[network+":"+key+":0"]
		}
		current := func() (v results.Revision) {
			t.Helper()
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				var err error
				if v, err = results.Get(ctx, tx, &o, 0); fault.Is(err, fault.NotFound) {
					err = nil
				}
				return err
			})
			return v
		}
		refuseAll := func(what string, set networks.ResultSet, revision int) {
			t.Helper()
			for want, report := range map[string]networks.Report{
				"first_name_mismatch 1": {Patient: twin},
				"last_name_missing 1":   {Patient: nameless},
				"birth_date_missing 1":  {Patient: undated},
				"last_name_mismatch 1":  {Patient: mallory},
				"other_account 1":       {Patient: adaByron, Account: account + "9"},
			} {
				if got := send(set, orders.SandboxNetwork, report); got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			if got := send(set, orders.HL7Network, networks.Report{Patient: adaByron}); got != "other_network 1" {
				t.Errorf("%s, another network: %q", what, got)
			}
			if now := current(); now.Number != revision {
				t.Errorf("%s: the results have the revision %d, want %d", what, now.Number, revision)
			}
		}
		partial := networks.ResultSet{Partial: true, Results: found}
		refuseAll("the first report", partial, 0)
		asReported := networks.ReportedPatient{FirstName: "ADA M.", LastName: "BYRON", DOB: adaByron.DOB, Gender: "unknown"}
		send(partial, orders.SandboxNetwork, networks.Report{Patient: asReported, Account: account})
		if now := current(); now.Number != 1 || now.Patient != asReported {
			t.Fatalf("the results are %d of %v", now.Number, now.Patient)
		}
		final := networks.ResultSet{Results: found}
		refuseAll("the final report", final, 1)
		send(final, orders.SandboxNetwork, networks.Report{Patient: adaByron})
		corrected := networks.ResultSet{Corrected: true, Results: []networks.Result{found[0]}}
		corrected.Results[0].Value, corrected.Results[0].Status = "9", "C"
		refuseAll("a correction", corrected, 2)
		send(corrected, orders.SandboxNetwork, networks.Report{Patient: adaByron})
		if now := current(); now.Number != 3 || now.Patient != adaByron {
			t.Errorf("the results are %d of %v", now.Number, now.Patient)
		}
	})
}

// A report with the number of another open order waits for review: the values
// may be that order's. Our sample number finds the order also beside the number
// of the lab.
func TestNumbersOfAnotherOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		o, other, third, fourth := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		slug := r.lab(networks.Report{Placer: o.ID.String()})
		for _, c := range []struct {
			name   string
			report networks.Report
			want   string
		}{
			{"the sample", networks.Report{Placer: o.ID.String(), SampleID: other.SampleID}, "other_order 2"},
			{"the specimen", networks.Report{Placer: o.ID.String(), SampleID: "LAB-1", OtherSamples: []string{other.SampleID}}, "other_order 2"},
			{"a second order number", networks.Report{Placer: o.ID.String(), OtherPlacers: []string{other.ID.String()}}, "other_order 2"},
			{"two samples", networks.Report{SampleID: o.SampleID, OtherSamples: []string{other.SampleID}}, "other_order 2"},
			{"the lab's number, then ours", networks.Report{SampleID: "LAB-1", OtherSamples: []string{o.SampleID}}, "results"},
			{"the sample of an order that is completed", networks.Report{Placer: other.ID.String(), SampleID: o.SampleID}, "results"},
			{"another sample as order number", networks.Report{Placer: third.ID.String(), OtherPlacers: []string{fourth.SampleID}}, "other_order 2"},
			{"our sample number as order number", networks.Report{Placer: fourth.SampleID, SampleID: "LAB-4"}, "results"},
			{"foreign numbers", networks.Report{Placer: third.ID.String(), SampleID: "LAB-2", OtherPlacers: []string{"4711"}, OtherSamples: []string{"LAB-3"}}, "results"},
		} {
			c.report.Lab, c.report.Results = slug, &networks.ResultSet{}
			key := uuid.NewString()
			r.put(key, c.report)
			r.settle()
			if got := r.outcome(key); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	})
}

// A lab may give two orders of one person one sample number. A report with that
// number alone waits for review, and one with the order number as well is applied.
func TestOneSampleNumberOfTwoOrders(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		o, other := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		slug := r.lab(networks.Report{Placer: o.ID.String()})
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE orders SET sample_id = $1 WHERE id = $2`, o.SampleID, other.ID)
			return err
		})
		for _, c := range []struct {
			name   string
			report networks.Report
			want   string
		}{
			{"the sample", networks.Report{SampleID: o.SampleID}, "other_order 2"},
			{"the sample as a further number", networks.Report{SampleID: "LAB-1", OtherSamples: []string{o.SampleID}}, "other_order 2"},
			{"the order number too", networks.Report{Placer: o.ID.String(), SampleID: o.SampleID}, "results"},
			{"after one order is completed", networks.Report{SampleID: o.SampleID}, "results"},
		} {
			c.report.Lab, c.report.Results = slug, &networks.ResultSet{}
			key := uuid.NewString()
			r.put(key, c.report)
			r.settle()
			if got := r.outcome(key); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	})
}

// An order is found by the lab's number of a report, also if it has a sample id.
func TestNumberOfTheLabFindsTheOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		o := r.order(catalogue.WalkIn)
		r.receive(networks.Report{Placer: o.ID.String(), SampleID: "ACC-2026-7", Status: string(orders.RequisitionCreated)})
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			page, err := orders.NewIndex().List(ctx, tx, o.Team, orders.Filter{Search: "acc 2026 7", Page: 1, Size: 9})
			if err == nil && (len(page.Orders) != 1 || page.Orders[0].ID != o.ID || page.Orders[0].SampleID != o.SampleID || o.SampleID == "ACC-2026-7") {
				t.Errorf("found: %d orders", len(page.Orders))
			}
			return err
		})
	})
}

// A report with none of the order's tests, or without values, waits for review.
func TestContentForReview(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.work()
		o, done := r.order(catalogue.WalkIn), r.order(catalogue.WalkIn)
		_, found := r.tests(o)
		other := networks.Result{ProviderID: "no-such", TestProviderID: "no-such", Name: "Another test", Value: "4", Status: "F"}
		named := networks.Result{ProviderID: "their code", Name: strings.ToUpper(r.markers(o)[0].Name), Value: "4", Status: "F"}
		test := r.markers(o)[0]
		row := test.Results[0]
		renamed := networks.Result{ProviderID: "new", TestProviderID: "new", LOINC: row.LOINC, Value: "4", Status: "P"}
		conflicting := networks.Result{ProviderID: row.ProviderID, TestProviderID: test.ProviderID, LOINC: r.otherLOINC(o), Value: "4"}
		send := func(o orders.Order, set networks.ResultSet) string {
			t.Helper()
			key := uuid.NewString()
			r.put(key, networks.Report{Placer: o.ID.String(), Results: &set})
			r.settle()
			return r.outcome(key)
		}
		pdf := []byte("%PDF-1.7")
		dated := func(one networks.Result, days int) networks.Result {
			one.At.Time = db.Now().AddDate(0, 0, days)
			return one
		}
		for _, c := range []struct {
			name string
			set  networks.ResultSet
			want string
		}{
			{"other tests", networks.ResultSet{Results: []networks.Result{other}}, "other_tests 1"},
			{"another missing test", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "no-such", Note: "QNS"}}}, "other_tests 1"},
			{"a document", networks.ResultSet{PDF: pdf}, "no_values 1"},
			{"notes", networks.ResultSet{Comments: []string{"CRITICAL K 7.9 called"}}, "no_values 1"},
			{"a preliminary document", networks.ResultSet{Partial: true, PDF: pdf}, "results"},
			{"an unknown code in an ordered test", networks.ResultSet{Results: []networks.Result{{ProviderID: "new", TestProviderID: test.ProviderID, Value: "4"}}}, "unknown_code 1"},
			{"the LOINC code of another result", networks.ResultSet{Results: []networks.Result{conflicting}}, "code_conflict 1"},
			{"a value of an earlier order", networks.ResultSet{Results: []networks.Result{dated(found[0], -30)}}, "old_values 1"},
			{"values of an earlier order and of this one", networks.ResultSet{Partial: true, Results: []networks.Result{dated(found[0], -30), dated(found[0], 0)}}, "results"},
			{"an unknown code with the LOINC code", networks.ResultSet{Partial: true, Results: []networks.Result{renamed}}, "results"},
		} {
			if got := send(o, c.set); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		for i, set := range []networks.ResultSet{
			{Results: []networks.Result{named}},
			{Results: []networks.Result{found[0], other}},
			{Corrected: true, Results: []networks.Result{other}}, // an earlier report added this test
		} {
			if got := send(done, set); got != "results" {
				t.Errorf("report %d: %q", i, got)
			}
		}
	})
}

// otherLOINC returns a LOINC code of the order's lab that the order does not
// have.
func (r *fixture) otherLOINC(o orders.Order) (code string) {
	r.t.Helper()
	ordered := map[string]bool{"": true}
	for _, m := range r.markers(o) {
		for _, row := range m.Results {
			ordered[row.LOINC] = true
		}
	}
	userstest.Read(r.t, r.db, func(ctx context.Context, tx *store.Tx) error {
		offered, err := catalogue.Load(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		for _, m := range offered.Markers(catalogue.MarkerFilter{Labs: []catalogue.LabID{o.Lab}}) {
			for _, row := range m.Results {
				if !ordered[row.LOINC] {
					code = row.LOINC
				}
			}
		}
		return nil
	})
	return code
}

// A lab's answer to an order cannot bring another person's results either.
func TestAnswersOfOtherPeople(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		o := r.order(catalogue.WalkIn)
		slug := r.lab(networks.Report{Placer: o.ID.String()})
		answer := func(key string, p networks.ReportedPatient) string {
			t.Helper()
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				now, err := orders.Get(ctx, tx, o.Team, o.ID)
				if err != nil {
					return err
				}
				return r.in.TakeAnswer(ctx, tx, &now, networks.Message{Network: orders.SandboxNetwork, Key: key, Raw: []byte(key), Reports: []networks.Report{
					{Placer: o.ID.String(), Lab: slug, Patient: p, Results: &networks.ResultSet{}},
				}})
			})
			return r.outcome(key)
		}
		twin := adaByron
		twin.FirstName = "Eva"
		if got := answer("twin", twin); got != "first_name_mismatch 1" {
			t.Errorf("a twin's results: %q", got)
		}
		if got := answer("own", adaByron); got != "results" {
			t.Errorf("the patient's results: %q", got)
		}
		if n := r.count(`SELECT COUNT(*) FROM inbox_reports WHERE state = 'unmatched'`); n != 1 {
			t.Errorf("%d reports wait", n)
		}
	})
}
