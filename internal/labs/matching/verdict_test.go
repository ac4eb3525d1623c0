package matching

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
)

var ada = Person{"Ada", "Byron", civil.MustParse("1984-12-10"), "female"}

// lipids is a marker with two required results.
var lipids = &catalogue.Marker{ProviderID: "303756", Name: "Lipid panel", Results: []catalogue.Result{
	{Name: "Cholesterol", ProviderID: "001065"}, {Name: "HDL", ProviderID: "011817"},
}}

// anOrder returns Ada's walk-in order that waits for its results. change may alter it.
func anOrder(change ...func(o *knownOrder)) knownOrder {
	o := knownOrder{
		Order: orders.Order{
			ID: orders.ID(uuid.New()), User: users.ID(uuid.New()), Method: catalogue.WalkIn, Status: orders.RequisitionCreated, SampleID: "S-1", Network: "sandboxlab",
			Body: orders.Body{Patient: &orders.Patient{}},
		},
		Person: ada, Lab: "northlab", Account: "12345", Markers: []*catalogue.Marker{lipids},
	}
	for _, fn := range change {
		fn(&o)
	}
	return o
}

// aReport returns a report with the markers of anOrder, Ada and an unknown sample. change
// may alter it.
func aReport(change ...func(r *reportFacts)) reportFacts {
	r := reportFacts{Person: ada, Network: "sandboxlab", Lab: "northlab", Account: "12345", Samples: []string{"S-9"}, Markers: []Marker{{ProviderID: "303756", Name: "Cholesterol"}}, At: time.Now()}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func sample(id string) func(r *reportFacts)        { return func(r *reportFacts) { r.Samples = []string{id} } }
func person(p Person) func(r *reportFacts)         { return func(r *reportFacts) { r.Person = p } }
func atStatus(s orders.Status) func(o *knownOrder) { return func(o *knownOrder) { o.Status = s } }
func withLab(lab string) func(o *knownOrder)       { return func(o *knownOrder) { o.Lab = lab } }
func method(m catalogue.Method) func(o *knownOrder) {
	return func(o *knownOrder) { o.Method = m }
}
func noSample(o *knownOrder) { o.SampleID = "" }

func otherPerson() Person {
	return Person{"Grace", "Hopper", civil.MustParse("1906-12-09"), "female"}
}

// The test checks every decision, its conditions, and whether the match is safe.
func TestDecisions(t *testing.T) {
	wrongDay := ada
	wrongDay.DOB = civil.MustParse("1984-12-11")
	for _, c := range []struct {
		name  string
		r     reportFacts
		among []knownOrder
		want  Decision
		safe  bool
	}{
		{"its sample", aReport(sample("S-1")), []knownOrder{anOrder()}, SampleMatch, true},
		{
			"its number", aReport(func(r *reportFacts) { r.Placers = []string{"00000000-0000-4000-8000-000000000001"} }),
			[]knownOrder{anOrder(func(o *knownOrder) { o.ID = orders.ID(uuid.MustParse("00000000-0000-4000-8000-000000000001")) })},
			SampleMatch, true,
		},
		{"its sample, name written otherwise", aReport(sample("S-1"), person(Person{"ÁDA M", "BYRON", ada.DOB, "F"})), []knownOrder{anOrder()}, SampleMatch, true},
		{"its sample, other account", aReport(sample("S-1"), func(r *reportFacts) { r.Account = "999" }), []knownOrder{anOrder()}, SampleMatch, false},
		{"its sample, account in lower case", aReport(sample("S-1"), func(r *reportFacts) { r.Account = "ab1" }), []knownOrder{anOrder(func(o *knownOrder) { o.Account = "AB1" })}, SampleMatch, true},
		{"its sample, other tests", aReport(sample("S-1"), func(r *reportFacts) { r.Markers = []Marker{{ProviderID: "1", Name: "Other"}} }), []knownOrder{anOrder()}, SampleMatch, false},
		{"its sample, without tests", aReport(sample("S-1"), func(r *reportFacts) { r.Markers = nil }), []knownOrder{anOrder()}, SampleMatch, false},
		{"its sample, no birth date", aReport(sample("S-1"), person(Person{FirstName: "Ada", LastName: "Byron"})), []knownOrder{anOrder()}, SampleMatch, false},
		{"its sample, a twin", aReport(sample("S-1"), person(Person{"Eve", "Byron", ada.DOB, "female"})), []knownOrder{anOrder()}, OtherPerson, false},
		{"its sample, other sex", aReport(sample("S-1"), person(Person{"Ada", "Byron", ada.DOB, "male"})), []knownOrder{anOrder()}, OtherPerson, false},
		{"its sample, other network", aReport(sample("S-1"), func(r *reportFacts) { r.Network = "hl7v2" }), []knownOrder{anOrder()}, SampleMatch, false},
		{"its sample, other birth date", aReport(sample("S-1"), person(wrongDay)), []knownOrder{anOrder()}, OtherPerson, false},
		{"its sample, another person", aReport(sample("S-1"), person(otherPerson())), []knownOrder{anOrder()}, OtherPerson, false},
		{"its sample, completed", aReport(sample("S-1")), []knownOrder{anOrder(atStatus(orders.Completed))}, CompletedMatch, false},
		{"its sample, cancelled", aReport(sample("S-1")), []knownOrder{anOrder(atStatus(orders.Cancelled))}, CancelledMatch, false},
		{"its sample, not with the lab yet", aReport(sample("S-1")), []knownOrder{anOrder(atStatus(orders.Ordered))}, WrongCollection, false},
		{"its sample, other lab", aReport(sample("S-1")), []knownOrder{anOrder(withLab("southlab"))}, WrongLab, false},
		{"its sample, an unknown lab", aReport(sample("S-1"), func(r *reportFacts) { r.Lab = "" }), []knownOrder{anOrder()}, SampleMatch, false},
		{"two orders with its sample", aReport(sample("S-1")), []knownOrder{anOrder(), anOrder()}, SampleMatch, false},
		{
			"its sample, and that of another order", aReport(func(r *reportFacts) { r.Samples = []string{"S-1", "S-2"} }),
			[]knownOrder{anOrder(), anOrder(func(o *knownOrder) { o.SampleID = "S-2" })},
			SampleMatch, false,
		},
		{
			"its sample, and that of a completed order", aReport(func(r *reportFacts) { r.Samples = []string{"S-1", "S-2"} }),
			[]knownOrder{anOrder(), anOrder(atStatus(orders.Completed), func(o *knownOrder) { o.SampleID = "S-2" })},
			SampleMatch, true,
		},
		{"its sample behind the lab's number", aReport(func(r *reportFacts) { r.Samples = []string{"LAB-1", "S-1"} }), []knownOrder{anOrder()}, SampleMatch, true},
		{"a person", aReport(), []knownOrder{anOrder()}, PersonMatch, false},
		{"a person, an unknown lab", aReport(sample(""), func(r *reportFacts) { r.Lab = "" }), []knownOrder{anOrder()}, PersonMatch, false},
		{"a person, order without a sample", aReport(), []knownOrder{anOrder(noSample)}, PersonMatch, false},
		{"a person, report without a sample", aReport(sample("")), []knownOrder{anOrder()}, PersonMatch, false},
		{"a person of unknown sex", aReport(sample(""), person(Person{"Ada", "Byron", ada.DOB, ""})), []knownOrder{anOrder()}, PersonMatch, false},
		{"a person, more tests than ordered", aReport(sample(""), func(r *reportFacts) { r.Markers = append(r.Markers, Marker{ProviderID: "9", Name: "More"}) }), []knownOrder{anOrder()}, PersonMatch, false},
		{"a person with two orders", aReport(sample("")), []knownOrder{anOrder(), anOrder(noSample)}, SeveralPeople, false},
		{"a person, completed", aReport(), []knownOrder{anOrder(atStatus(orders.Completed))}, CompletedMatch, false},
		{"a person, given up", aReport(), []knownOrder{anOrder(atStatus(orders.SampleError))}, CancelledMatch, false},
		{"a person, visit to come", aReport(), []knownOrder{anOrder(method(catalogue.AtHome), atStatus(orders.AppointmentScheduled))}, WrongCollection, false},
		{"a person, visit over", aReport(), []knownOrder{anOrder(method(catalogue.AtHome), atStatus(orders.DrawCompleted), noSample)}, PersonMatch, false},
		{"a person, other lab", aReport(), []knownOrder{anOrder(withLab("southlab"))}, WrongLab, false},
		{"a person, other lab, other codes", aReport(func(r *reportFacts) { r.Markers = []Marker{{ProviderID: "1", Name: "Other"}} }), []knownOrder{anOrder(withLab("southlab"))}, WrongLab, false},
		{"a person, other tests", aReport(func(r *reportFacts) { r.Markers = []Marker{{ProviderID: "1", Name: "Other"}} }), []knownOrder{anOrder()}, NoMatch, false},
		{"an open order before a completed one", aReport(), []knownOrder{anOrder(atStatus(orders.Completed)), anOrder(noSample)}, PersonMatch, false},
		{"another lab before a completed one", aReport(), []knownOrder{anOrder(atStatus(orders.Completed)), anOrder(withLab("southlab"))}, WrongLab, false},
		{"nobody", aReport(person(otherPerson())), []knownOrder{anOrder()}, NoMatch, false},
		{"the same name on another day", aReport(person(wrongDay)), []knownOrder{anOrder(noSample)}, NoMatch, false},
		{"nothing at all", aReport(), nil, NoMatch, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(c.r, c.among)
			if v.Decision != c.want || (v.Safe != nil) != c.safe {
				t.Errorf("judged %s, safe %v; want %s, %v", v.Decision, v.Safe != nil, c.want, c.safe)
			}
		})
	}
}

// A result needs a review before it goes to a person with another birth date or
// last name. The same applies to an order that is closed or with another lab.
func TestUnsafeMatchesWaitForReview(t *testing.T) {
	days := []civil.Date{ada.DOB, civil.MustParse("1984-12-11"), civil.MustParse("1948-10-12"), {}}
	pick := func(t *rapid.T) Person {
		return Person{
			rapid.SampledFrom([]string{"Ada", "ada", "Adá M.", "Grace", ""}).Draw(t, "first"),
			rapid.SampledFrom([]string{"Byron", "BYRON", "Byron-Lovelace", ""}).Draw(t, "last"),
			rapid.SampledFrom(days).Draw(t, "dob"),
			rapid.SampledFrom([]string{"female", "F", "male", "", "unknown"}).Draw(t, "sex"),
		}
	}
	words := func(t *rapid.T, name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	rapid.Check(t, func(t *rapid.T) {
		among := make([]knownOrder, rapid.IntRange(0, 4).Draw(t, "orders"))
		for i := range among {
			among[i] = anOrder(func(o *knownOrder) {
				o.Person = pick(t)
				o.Lab, o.Account, o.SampleID = words(t, "lab", "northlab", "southlab"), words(t, "account", "12345", "999", ""), words(t, "sample", "S-1", "S-2", "")
				o.Status = rapid.SampledFrom(orders.Statuses).Draw(t, "status")
				o.Method = rapid.SampledFrom(catalogue.Methods).Draw(t, "method")
			})
		}
		r := aReport(func(r *reportFacts) {
			r.Person, r.Network = pick(t), words(t, "network", "sandboxlab", "hl7v2")
			r.Lab, r.Account, r.Samples = words(t, "report lab", "northlab", ""), words(t, "report account", "12345", ""), []string{words(t, "report sample", "S-1", "S-2", "")}
		})
		v := judge(r, among)
		if v.Decision.Sentence() == "" {
			t.Fatalf("decision %q", v.Decision)
		}
		for _, c := range v.Candidates {
			if c.Score < 0 || c.Score > 1 || c.SamePerson && contains(c.Reasons, PersonDiffers) || c.Confidence() == High && !c.SamePerson {
				t.Fatalf("candidate %+v", c.Grounds)
			}
		}
		if v.Safe == nil {
			return
		}
		o := among[slices.IndexFunc(among, func(o knownOrder) bool { return o.ID == *v.Safe })]
		if !identity.Compare(identity.Person(r.Person), identity.Person(o.Person)).IsSamePerson() {
			t.Fatalf("%+v went to %+v without a review", r.Person, o.Person)
		}
		if o.Network != r.Network || !slices.Contains(r.Samples, o.SampleID) || o.Lab != r.Lab || orderStateOf(&o.Order) != stateOpen || o.Account != "" && r.Account != "" && o.Account != r.Account {
			t.Fatalf("went to an order at %s of %s without a review", o.Status, o.Lab)
		}
	})
}

// The likeliest candidate comes first, and each has the reasons against it.
func TestCandidatesAreSortedWithReasons(t *testing.T) {
	best, elsewhere := anOrder(), anOrder(withLab("southlab"))
	elsewhere.User = best.User
	stranger := anOrder(func(o *knownOrder) { o.Person = Person{"Eve", "Byron", civil.MustParse("2001-01-01"), "female"} })
	v := judge(aReport(sample("S-1")), []knownOrder{stranger, elsewhere, best})
	if len(v.Candidates) != 3 || v.Candidates[0].Order != best.ID || v.Candidates[1].Order != elsewhere.ID || v.Candidates[2].Order != stranger.ID {
		t.Fatalf("candidates %+v", v.Candidates)
	}
	for i, want := range [][]Reason{
		{SameSample, PersonSame, SameLab, MarkersExact},
		{SameSample, PersonSame, OtherLab, MarkersExact, SameUser},
		{SameSample, PersonDiffers, Reason(identity.FirstNameMismatch), Reason(identity.BirthDateMismatch), SameLab, MarkersExact},
	} {
		if got := v.Candidates[i].Reasons; !slices.Equal(got, want) {
			t.Errorf("candidate %d: %v, want %v", i, got, want)
		}
	}
	if got := []Confidence{v.Candidates[0].Confidence(), v.Candidates[1].Confidence(), v.Candidates[2].Confidence()}; !slices.Equal(got, []Confidence{High, Medium, Low}) {
		t.Errorf("confidence %v", got)
	}
}

// A large team has many people with the same birth date. Reviewers see few of them, and
// all orders of people who share two facts.
func TestFewStrangersAreCandidates(t *testing.T) {
	born := func(first, last string) func(o *knownOrder) {
		return func(o *knownOrder) { o.Person = Person{first, last, ada.DOB, ""} }
	}
	var among []knownOrder
	for range 30 {
		among = append(among, anOrder(born("Eve", "Adams")))
	}
	named, married, nickname := anOrder(born("Eve", "Adams")), anOrder(born("Ada", "King"), withLab("southlab")), anOrder(born("Augusta", "Byron"), withLab("southlab"))
	named.SampleID = "S-9"
	among = append(among, married, nickname, named)
	strangers, others := 0, map[orders.ID]bool{}
	for _, c := range judge(aReport(), among).Candidates {
		switch c.Order {
		case named.ID, married.ID, nickname.ID:
			if strangers > 0 {
				t.Errorf("a stranger is listed before %s", c.Order)
			}
			others[c.Order] = true
		default:
			strangers++
		}
	}
	if strangers != 5 || len(others) != 3 {
		t.Errorf("%d strangers and %d others, want 5 and 3", strangers, len(others))
	}
}
