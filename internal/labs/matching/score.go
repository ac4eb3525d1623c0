package matching

import (
	"math"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/identity"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// The lowest scores of high and medium confidence.
const (
	highScore   = 0.8
	mediumScore = 0.5
)

// namedPoints are the points of an order that the report names.
const namedPoints = 0.4

// reportFacts holds the facts of a report that are compared with orders.
type reportFacts struct {
	Person  Person
	Network string
	Lab     string // slug; empty for an unknown sender
	Account string // number
	Samples []string
	Placers []string
	Markers []Marker
	Values  []catalogue.Naming
	Set     *networks.ResultSet
	At      time.Time
}

// knownOrder holds the facts of an order that are compared with reports.
type knownOrder struct {
	orders.Order
	Person  Person
	Lab     string // slug
	Account string // number
	Markers []*catalogue.Marker
	Reflex  []*catalogue.Marker // that may follow from the results of Markers
	// Offered is the catalogue of the team.
	Offered          *catalogue.Catalogue
	FirstObservation time.Time // no value of the order is older; zero if unknown
}

// finding is the comparison of a report with an order.
type finding struct {
	order   *knownOrder
	named   bool // the report names the order's number or sample
	person  identity.Comparison
	network identity.Agreement
	lab     identity.Agreement
	account identity.Agreement
	overlap Overlap
	// reflex is true if the report has a reflex test of an ordered marker.
	reflex bool
	codes  catalogue.CodeProblem
	old    bool // a value is from before the order
	state  orderState
}

// orderState says whether an order can have results now.
type orderState int8

// The states.
const (
	stateOpen orderState = iota
	stateUncollected
	stateCompleted
	stateCancelled
)

// orderStateOf returns the state of an order. A cancelled or failed order waits
// for no result. No sample can exist before the lab has the order, before a kit
// is registered, or before a visit takes place.
func orderStateOf(o *orders.Order) orderState {
	switch stage := o.Status.Stage(o.Method); {
	case stage == orders.StageCancelled || stage == orders.StageFailed:
		return stateCancelled
	case stage == orders.StageCompleted || o.Status == orders.RedrawAvailable:
		return stateCompleted
	case !o.Status.HasRequisition() || o.Body.Patient == nil:
		return stateUncollected
	case o.Method == catalogue.AtHome && o.Status != orders.DrawCompleted && stage != orders.StageWithLab:
		return stateUncollected
	}
	return stateOpen
}

func examine(r reportFacts, o *knownOrder) finding {
	f := finding{
		order:   o,
		named:   o.SampleID != "" && slices.Contains(r.Samples, o.SampleID) || slices.Contains(r.Placers, o.ID.String()),
		person:  identity.Compare(identity.Person(r.Person), identity.Person(o.Person)),
		network: identity.CompareTexts(r.Network, o.Network),
		lab:     identity.CompareTexts(r.Lab, o.Lab),
		account: identity.CompareTexts(accountKey(r.Account), accountKey(o.Account)),
		overlap: overlapOf(r.Markers, o.Markers),
		state:   orderStateOf(&o.Order),
	}
	f.reflex = overlapOf(r.Markers, o.Reflex).Shared > 0
	f.old = r.Set != nil && r.Set.HasOld(o.Markers, o.FirstObservation)
	if f.lab == identity.Agrees && o.Offered != nil {
		f.codes = o.Offered.CheckCodes(o.Order.Lab, o.Offered.AddReflex(o.Markers), r.Values)
	}
	return f
}

// accountKey returns an account number for a comparison. Labs write its letters
// in either case.
func accountKey(number string) string { return strings.ToUpper(strings.TrimSpace(number)) }

// The highest scores of candidates that have something against them.
const (
	maxOtherPerson   = 0.4 // another birth date or name
	maxOtherLab      = 0.7
	maxClosed        = 0.75
	maxWithoutPerson = 0.6
)

// grounds returns the score and its reasons. The score adds the points for a
// candidate, and is limited by the strongest reason against it.
func (f finding) grounds() Grounds {
	g := Grounds{Overlap: f.overlap}
	score, most := 0.0, 1.0
	count := func(points float64, why Reason) {
		score += points
		if why != "" {
			g.Reasons = append(g.Reasons, why)
		}
	}
	against := func(limit float64, why Reason) {
		most = min(most, limit)
		g.Reasons = append(g.Reasons, why)
	}
	if f.named {
		count(namedPoints, SameSample)
	}
	score += personPoints(f.person)
	switch {
	case f.person.Contradicts():
		against(maxOtherPerson, PersonDiffers)
	case f.person.IsSamePerson():
		g.Reasons = append(g.Reasons, PersonSame)
	default:
		most = min(most, maxWithoutPerson)
	}
	for _, problem := range f.person.Problems() {
		g.Reasons = append(g.Reasons, Reason(problem))
	}
	if f.network == identity.Differs {
		against(maxOtherLab, OtherNetwork)
	}
	switch f.lab {
	case identity.Agrees:
		count(0.1, SameLab)
	case identity.Differs:
		against(maxOtherLab, OtherLab)
	case identity.Unknown:
	}
	if f.account == identity.Differs {
		against(maxClosed, OtherAccount)
	}
	switch why := f.overlapReason(); why {
	case MarkersExact:
		count(0.2, why)
	case MarkersPartial:
		count(0.1, why)
	case MarkersNone:
		against(maxOtherLab, why)
	default:
	}
	if f.codes != "" {
		against(maxOtherLab, Reason(f.codes))
	}
	if f.old {
		against(maxOtherLab, OldValues)
	}
	switch f.state {
	case stateCompleted:
		against(maxClosed, CompletedOrder)
	case stateCancelled:
		against(maxClosed, CancelledOrder)
	case stateUncollected:
		against(maxClosed, InvalidCollection)
	case stateOpen:
		score += 0.1
	}
	g.Score = math.Round(min(score, most)*100) / 100
	return g
}

// personPoints returns the points of a person. A birth date says most.
func personPoints(c identity.Comparison) float64 {
	var sum float64
	for _, part := range []struct {
		got    identity.Agreement
		points float64
	}{{c.DOB, 0.22}, {c.Last, 0.16}, {c.First, 0.12}, {c.Sex, 0.05}} {
		if part.got == identity.Agrees {
			sum += part.points
		}
	}
	return sum
}

// Overlap compares the reported tests with the ordered markers.
type Overlap struct {
	Ordered  int `json:"ordered"`  // markers of the order
	Reported int `json:"reported"` // tests on the report
	Shared   int `json:"shared"`   // ordered markers that were reported
}

// reason returns the overlap as a reason; empty when the report names no
// tests.
func (o Overlap) reason() Reason {
	switch {
	case o.Reported == 0 || o.Ordered == 0:
		return ""
	case o.Shared == 0:
		return MarkersNone
	case o.Shared == o.Ordered && o.Reported <= o.Shared:
		return MarkersExact
	}
	return MarkersPartial
}

// overlapReason returns the overlap as a reason. A reflex test that is reported alone
// is a part of the order.
func (f finding) overlapReason() Reason {
	if why := f.overlap.reason(); why != MarkersNone || !f.reflex {
		return why
	}
	return MarkersPartial
}

// reportedMarkers lists the tests on a report, each once: by the lab's code of
// the ordered test, else by the code of the result.
func reportedMarkers(set *networks.ResultSet) []Marker {
	if set == nil {
		return nil
	}
	var all []Marker
	listed := map[string]bool{"": true}
	add := func(test, result, name, loinc string) {
		m := Marker{ProviderID: test, Name: name, loinc: loinc}
		if test == "" {
			m.ProviderID = result
		}
		if key := m.key(); !listed[key] {
			listed[key] = true
			all = append(all, m)
		}
	}
	for _, r := range set.Results {
		add(r.TestProviderID, r.ProviderID, r.Name, r.LOINC)
	}
	for _, m := range set.Missing {
		add(m.TestProviderID, m.ProviderID, m.Name, m.LOINC)
	}
	return all
}

func (m Marker) key() string {
	if m.ProviderID != "" {
		return m.ProviderID
	}
	return strings.ToLower(m.Name)
}

// overlapOf counts the ordered markers that a report has: by the marker's own
// code, or by one of its results.
func overlapOf(report []Marker, ordered []*catalogue.Marker) Overlap {
	o := Overlap{Ordered: len(ordered), Reported: len(report)}
	found := make([]bool, len(report))
	for _, m := range ordered {
		shared := false
		for i, r := range report {
			if coversMarker(r, m) {
				shared, found[i] = true, true
			}
		}
		if shared {
			o.Shared++
		}
	}
	// Several results of one marker are one test.
	others := 0
	for _, f := range found {
		if !f {
			others++
		}
	}
	o.Reported = o.Shared + others
	return o
}

// coversMarker reports whether a reported test is a marker, or one of its
// results. A lab may change its code of a result that has a LOINC code.
func coversMarker(r Marker, m *catalogue.Marker) bool {
	if r.loinc != "" && slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return e.LOINC == r.loinc }) {
		return true
	}
	if r.ProviderID != "" {
		return r.ProviderID == m.ProviderID || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return e.ProviderID == r.ProviderID })
	}
	return strings.EqualFold(r.Name, m.Name) || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return strings.EqualFold(e.Name, r.Name) })
}
