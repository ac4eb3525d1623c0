package documents

import (
	"context"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Subject is an order with the data of its documents.
type Subject struct {
	Order orders.Order
	Facts orders.Facts
	// Full is the order as its lab gets it, so that document and message agree.
	Full networks.Order
	// Zone is the zone of the place of the collection, nil if it is unknown.
	Zone *time.Location
	// Stated is the time of collection as the lab wrote it; zero without one.
	Stated networks.Moment
	// Signature is the image of the physician's signature, a PNG; nil without one.
	Signature []byte
}

// Read reads the data for the documents of a team's order, or returns a NotFound
// fault.
func Read(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (*Subject, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	return NewSubject(ctx, tx, &o)
}

// NewSubject reads the data for the documents of an order that the caller has already read.
func NewSubject(ctx context.Context, tx *store.Tx, o *orders.Order) (*Subject, error) {
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	full, err := orders.ForNetwork(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	zone, err := zoneOfPlace(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	signature, err := orders.Signature(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	s := &Subject{Order: *o, Facts: facts[0], Full: full, Zone: zone, Signature: signature}
	if o.CollectedAt != nil {
		s.Stated, err = results.StatedCollection(ctx, tx, o)
	}
	return s, err
}

// Cancelled reports whether the order was cancelled, or the lab will not perform it. Its
// documents must not lead to a collection.
func (s *Subject) Cancelled() bool {
	return s.Order.Status.Stage(s.Order.Method) == orders.StageCancelled
}

// ErrCancelled refuses documents of a cancelled order that leave the team.
var ErrCancelled = fault.New(fault.Refused, "The order is cancelled").WithType("order_cancelled")

// banner returns the text at the top of every page of a cancelled order, empty
// for other orders.
func (s *Subject) banner() string {
	if !s.Cancelled() {
		return ""
	}
	return "CANCELLED on " + formatDay(s.local(s.Order.StatusAt)) + " - do not collect a sample for this order"
}

// placedAt returns the time at which the lab got the order: the date in its documents.
func (s *Subject) placedAt() time.Time {
	for _, e := range s.Facts.Events {
		if e.Status == orders.RequisitionCreated {
			return e.CreatedAt
		}
	}
	return s.Order.CreatedAt
}

// footer returns the last line of every page. It names the order and no
// person.
func (s *Subject) footer() string {
	words := "Order " + s.Order.ID.String()
	if s.Full.Sandbox {
		words += "   SANDBOX - not for clinical use"
	}
	return words
}

// frame returns the texts of every page. title is that of later pages, which
// begin with the given lines after the patient.
func (s *Subject) frame(title string, lines ...string) pageFrame {
	return pageFrame{
		banner: s.banner(), title: title, lines: append([]string{s.patientLine()}, lines...),
		laboratory: laboratoryLine(s.laboratory()), foot: s.footer(),
	}
}

// patientLine identifies the patient and the order.
func (s *Subject) patientLine() string {
	p := s.Full.Patient
	return joinNonEmpty(" · ", labelledValue("Patient", lastFirst(p)), labelledValue("Born", formatBirth(p)), labelledValue("Sex", label(p.Gender)),
		labelledValue("Patient ID", p.ID.String()), labelledValue("Control number", s.Order.SampleID))
}

func labelledValue(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + value
}

// laboratory returns the laboratory of the catalogue in the form of messages.
func (s *Subject) laboratory() networks.Laboratory { return laboratoryOf(s.Facts.Lab) }

func laboratoryOf(lab catalogue.Lab) networks.Laboratory {
	return networks.Laboratory{
		Name: lab.Name, CLIA: lab.CLIA, Phone: lab.Phone,
		Address: &networks.Address{FirstLine: lab.Address, City: lab.City, State: lab.State, Zip: lab.Zip},
	}
}

// laboratoryLine names a laboratory with its address, certificate and telephone
// number.
func laboratoryLine(lab networks.Laboratory) string {
	return joinNonEmpty(" · ", lab.Name, oneLine(lab.Address), clia(lab.CLIA), phone(lab.Phone))
}

// practice writes who ordered, with all telephone numbers: a laboratory calls one of them
// about a critical result.
func (s *pdfDocument) practice(c networks.Practice) {
	if c == (networks.Practice{}) {
		return
	}
	numbers := joinNonEmpty("\n", phone(c.Phone), labelledValue("Fax", phone(c.Fax)), labelledValue("After hours", phone(c.AfterHours)))
	s.fields(3, field{"Ordered by", c.Name}, field{"Clinic's address", address(c.Address)}, field{"Clinic's phone", numbers})
}

// oneLine formats an address in one line.
func oneLine(a *networks.Address) string {
	if a == nil {
		return ""
	}
	return strings.ReplaceAll(address(*a), "\n", ", ")
}

// phone formats an American telephone number: (602) 555-0100.
func phone(number string) string {
	digits, american := strings.CutPrefix(number, "+1")
	if !american || len(digits) != 10 {
		return number
	}
	return "(" + digits[:3] + ") " + digits[3:6] + "-" + digits[6:]
}

// tube is a specimen with its tests. Tests of one material in one container, at one
// temperature of transport, share it.
type tube struct {
	name, container, temperature string
	tests                        []networks.Test
}

// volume returns the minimum volumes of the tests, each once.
func (t *tube) volume() string {
	var all []string
	for _, test := range t.tests {
		if v := test.Specimen.MinVolume; v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	volume := strings.Join(all, " + ")
	if len(all) == 1 && len(t.tests) > 1 {
		return volume + " per test"
	}
	return volume
}

// specimens lists the specimens of the tests, each once.
func (s *Subject) specimens() []tube {
	var all []tube
	for _, t := range s.Full.Tests {
		n := t.Specimen
		if n.Name == "" {
			continue
		}
		i := slices.IndexFunc(all, func(o tube) bool {
			return o.name == n.Name && o.container == n.Container && o.temperature == n.Temperature
		})
		if i < 0 {
			i, all = len(all), append(all, tube{name: n.Name, container: n.Container, temperature: n.Temperature})
		}
		all[i].tests = append(all[i].tests, t)
	}
	return all
}

// collectionRows returns the stability and the notes of the specimens. Only equal ones
// share a row. Rows of one specimen name their tests.
func (s *Subject) collectionRows() []row {
	type group struct {
		of    networks.SpecimenNeeded
		codes []string
	}
	var all []group
	same := func(a, b networks.SpecimenNeeded) bool { return a.Name == b.Name && a.Container == b.Container }
	for _, t := range s.Full.Tests {
		n := t.Specimen
		if n.Stability == "" && n.Notes == "" {
			continue
		}
		i := slices.IndexFunc(all, func(g group) bool { return same(g.of, n) && g.of.Stability == n.Stability && g.of.Notes == n.Notes })
		if i < 0 {
			i, all = len(all), append(all, group{of: n})
		}
		all[i].codes = append(all[i].codes, t.ProviderID)
	}
	var rows []row
	for i, g := range all {
		name := g.of.Name
		shared := func(o networks.Test) bool {
			n := o.Specimen
			return same(n, g.of) && (n.Stability != g.of.Stability || n.Notes != g.of.Notes)
		}
		if slices.ContainsFunc(s.Full.Tests, shared) {
			name += " for " + strings.Join(all[i].codes, ", ")
		}
		rows = append(rows, row{cells: []cell{{words: name}, {words: g.of.Container}, {words: g.of.Stability}, {words: g.of.Notes}}})
	}
	return rows
}

// specimenNames names the specimens of the tests, or the kinds of samples.
func (s *Subject) specimenNames() string {
	var names []string
	for _, n := range s.specimens() {
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	if names == nil {
		for _, sample := range s.samples() {
			names = append(names, label(sample))
		}
	}
	return strings.Join(names, "; ")
}

// samples lists the kinds of samples, each once.
func (s *Subject) samples() []catalogue.SampleType {
	all := []catalogue.SampleType{s.Facts.Test.SampleType}
	for _, m := range s.Facts.Markers {
		if !slices.Contains(all, m.Sample) {
			all = append(all, m.Sample)
		}
	}
	return all
}

func notFound(what string) error { return fault.New(fault.NotFound, what) }

// label makes a word of the wire readable: at_home_phlebotomy becomes At home
// phlebotomy.
func label[S ~string](value S) string {
	text := strings.ReplaceAll(string(value), "_", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func joinNonEmpty(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}

// address formats an address in one or more lines.
func address(a networks.Address) string {
	return joinNonEmpty("\n", a.FirstLine, a.SecondLine, joinNonEmpty(" ", joinNonEmpty(", ", a.City, a.State), a.Zip))
}

// lastFirst returns a name in the order in which labs file it.
func lastFirst(p networks.Patient) string { return joinNonEmpty(", ", p.LastName, p.FirstName) }

func formatBirth(p networks.Patient) string {
	if p.DOB.IsZero() {
		return ""
	}
	return formatDay(p.DOB.In(time.UTC))
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}
