package matching

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// The lowest scores of high and medium confidence.
const (
	highScore   = 0.8
	mediumScore = 0.5
)

// reportFacts holds the facts of a report that are compared with orders.
type reportFacts struct {
	Person   Person
	Lab      string // slug; empty for an unknown sender
	Account  string // number
	SampleID string
	Placer   string
	Markers  []Marker
	At       time.Time
}

// knownOrder holds the facts of an order that are compared with reports.
type knownOrder struct {
	orders.Order
	Person  Person
	Lab     string // slug
	Account string // number
	Markers []*catalogue.Marker
}

// finding is the comparison of a report with an order.
type finding struct {
	order   *knownOrder
	named   bool // the report names the order's number or sample
	person  personMatch
	lab     agreement
	account agreement
	overlap Overlap
	state   orderState
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

// orderStateOf returns the state of an order. A cancelled or failed order
// waits for no result. No sample can exist for an order that its lab does not
// have, for an unregistered kit, or for a visit that has not taken place.
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
	return finding{
		order:   o,
		named:   r.SampleID != "" && r.SampleID == o.SampleID || r.Placer != "" && r.Placer == o.ID.String(),
		person:  comparePersons(r.Person, o.Person),
		lab:     compareTexts(r.Lab, o.Lab),
		account: compareTexts(r.Account, o.Account),
		overlap: overlapOf(r.Markers, o.Markers),
		state:   orderStateOf(&o.Order),
	}
}

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
		count(0.4, SameSample)
	}
	score += f.person.points()
	switch {
	case f.person.contradicts():
		against(maxOtherPerson, PersonDiffers)
	case f.person.isSamePerson():
		g.Reasons = append(g.Reasons, PersonSame)
	default:
		most = min(most, maxWithoutPerson)
	}
	switch f.lab {
	case agrees:
		count(0.1, SameLab)
	case differs:
		against(maxOtherLab, OtherLab)
	case unknownAgreement:
	}
	if f.account == differs {
		against(maxClosed, OtherAccount)
	}
	switch why := f.overlap.reason(); why {
	case MarkersExact:
		count(0.2, why)
	case MarkersPartial:
		count(0.1, why)
	case MarkersNone:
		against(maxOtherLab, why)
	default:
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

// points returns a person's points. A birth date says most.
func (l personMatch) points() float64 {
	var sum float64
	for _, part := range []struct {
		got    agreement
		points float64
	}{{l.DOB, 0.22}, {l.Last, 0.16}, {l.First, 0.12}, {l.Sex, 0.05}} {
		if part.got == agrees {
			sum += part.points
		}
	}
	return sum
}

// personMatch compares the persons of a report and an order, field by field.
type personMatch struct {
	First, Last, DOB, Sex agreement
}

// agreement compares two values that may be unknown.
type agreement int8

// The agreements.
const (
	unknownAgreement agreement = iota
	agrees
	differs
)

// comparePersons compares two persons. Names are compared by their letters; a
// middle name or initial on one side only is no difference.
func comparePersons(a, b Person) personMatch {
	return personMatch{
		First: compareFirstNames(a.FirstName, b.FirstName),
		Last:  compareTexts(letters(a.LastName), letters(b.LastName)),
		DOB:   compareDates(a, b),
		Sex:   compareTexts(sexLetter(a.Gender), sexLetter(b.Gender)),
	}
}

func compareTexts(a, b string) agreement {
	switch {
	case a == "" || b == "":
		return unknownAgreement
	case a == b:
		return agrees
	}
	return differs
}

func compareDates(a, b Person) agreement {
	switch {
	case a.DOB.IsZero() || b.DOB.IsZero():
		return unknownAgreement
	case a.DOB == b.DOB:
		return agrees
	}
	return differs
}

// compareFirstNames agrees when the names have the same letters, or when one
// is the other with more names after it.
func compareFirstNames(a, b string) agreement {
	if got := compareTexts(letters(a), letters(b)); got != differs {
		return got
	}
	one, other := strings.Fields(a), strings.Fields(b)
	if len(one) > 0 && len(other) > 0 && len(one) != len(other) && letters(one[0]) == letters(other[0]) {
		return agrees
	}
	return differs
}

// sexLetter returns the letter that labs write; empty when the sex is unknown.
func sexLetter(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "f", "female":
		return "f"
	case "m", "male":
		return "m"
	}
	return ""
}

// letters returns a name's letters and digits, lower case and without accents.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
}

// isSamePerson reports that it is the same person: every identifying field is
// known and equal, and the sex does not contradict.
func (l personMatch) isSamePerson() bool {
	return l.DOB == agrees && l.Last == agrees && l.First == agrees && l.Sex != differs
}

// contradicts reports that it cannot be the same person, or that a reviewer
// should decide. First names are spelled in many ways, so a different one
// counts only together with another difference.
func (l personMatch) contradicts() bool {
	return l.DOB == differs || l.Last == differs || l.First == differs && l.DOB != agrees
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

// reportedMarkers lists the tests on a report, each once: by the lab's code of
// the ordered test, else by the code of the result.
func reportedMarkers(set *networks.ResultSet) []Marker {
	if set == nil {
		return nil
	}
	var all []Marker
	listed := map[string]bool{"": true}
	add := func(test, result, name string) {
		m := Marker{ProviderID: test, Name: name}
		if test == "" {
			m.ProviderID = result
		}
		if key := m.key(); !listed[key] {
			listed[key] = true
			all = append(all, m)
		}
	}
	for _, r := range set.Results {
		add(r.TestProviderID, r.ProviderID, r.Name)
	}
	for _, m := range set.Missing {
		add(m.TestProviderID, m.ProviderID, m.Name)
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
// results.
func coversMarker(r Marker, m *catalogue.Marker) bool {
	if r.ProviderID != "" {
		return r.ProviderID == m.ProviderID || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return e.ProviderID == r.ProviderID })
	}
	return strings.EqualFold(r.Name, m.Name) || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return strings.EqualFold(e.Name, r.Name) })
}
