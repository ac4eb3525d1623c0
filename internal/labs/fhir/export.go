package fhir

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
)

// ContentType is the media type of a bundle.
const ContentType = "application/fhir+json"

// Export returns the bundle of an order. now is the time of the export.
func Export(order Order, now time.Time) Bundle {
	e := exporter{order: order}
	e.bundle = Bundle{ResourceType: "Bundle", ID: e.id("bundle"), Type: "collection", Timestamp: instant(now)}
	e.patient()
	e.practitioner()
	e.lab = e.organization(order.Lab)
	e.coverage()
	e.specimen()
	e.requests()
	e.report()
	return e.bundle
}

// ExportAll returns one bundle with all orders and parsed reports of a user. Resources of
// parsed reports have a tag that says so, and the id of the report as their source.
func ExportAll(id uuid.UUID, patient Patient, ordered []Order, read []ParsedReport, now time.Time) Bundle {
	all := Bundle{ResourceType: "Bundle", ID: uuid.NewSHA1(id, []byte("results")).String(), Type: "collection", Timestamp: instant(now)}
	for _, o := range ordered {
		all.Entry = append(all.Entry, Export(o, now).Entry...)
	}
	for _, r := range read {
		e := exporter{order: Order{ID: r.ID, Patient: patient, Lab: Organization{Key: r.Lab, Name: r.Lab}, Report: &r.Report}}
		e.meta = &Meta{Source: "urn:uuid:" + r.ID.String(), Tag: []Coding{parsedReportTag}}
		e.patient()
		e.lab = e.organization(e.order.Lab)
		e.specimen()
		e.report()
		all.Entry = append(all.Entry, e.bundle.Entry...)
	}
	return all
}

// parsedReportTag marks resources that were read from an uploaded report.
var parsedReportTag = Coding{System: "urn:hale:origin", Code: "parsed-report", Display: "Read from an uploaded report"}

// exporter holds the bundle and the references to its resources.
type exporter struct {
	order  Order
	meta   *Meta // of report and observations; nil for none
	bundle Bundle

	subject, lab Reference
	requester    *Reference
	insurance    []Reference
	samples      []sample
	further      map[string]furtherSample // specimens of the report, by key
	tests        []Reference              // a request for each test of the order
	labs         map[string]Reference     // performing laboratories by key
}

// id returns the id of a resource: the same for the same order and name.
func (e *exporter) id(name string) string {
	return uuid.NewSHA1(e.order.ID, []byte(name)).String()
}

// add adds a resource to the bundle and returns the reference to it.
func (e *exporter) add(id string, resource any) Reference {
	url := "urn:uuid:" + id
	e.bundle.Entry = append(e.bundle.Entry, Entry{url, resource})
	return Reference{Reference: url}
}

func (e *exporter) patient() {
	p := e.order.Patient
	r := PatientResource{
		ResourceType: "Patient", ID: e.id("patient"), Extension: raceAndEthnicity(p),
		Identifier: []Identifier{{System: uriSystem, Value: "urn:uuid:" + p.ID.String()}},
		Name:       name(p.FirstName, p.LastName), Telecom: append(contact("phone", p.Phone), contact("email", p.Email)...),
		Address: address(p.Address, "home"),
	}
	r.Gender, r.BirthDate = genderCode(p.Gender), birthDate(p.DOB)
	e.subject = e.add(r.ID, r)
}

func (e *exporter) practitioner() {
	p := e.order.Physician
	if p == nil {
		return
	}
	r := PractitionerResource{ResourceType: "Practitioner", ID: e.id("practitioner"), Name: name(p.FirstName, p.LastName)}
	if p.NPI != "" {
		r.Identifier = []Identifier{{System: npi, Value: p.NPI}}
	}
	ref := e.add(r.ID, r)
	e.requester = &ref
}

// organization adds a laboratory once.
func (e *exporter) organization(o Organization) Reference {
	if ref, known := e.labs[o.Key]; known {
		return ref
	}
	r := OrganizationResource{
		ResourceType: "Organization", ID: e.id("laboratory " + o.Key), Name: cmp.Or(clean(o.Name), o.Key, "Laboratory"),
		Type:    []CodeableConcept{concept(terminology+"organization-type", "prov", "Healthcare Provider")},
		Telecom: contact("phone", o.Phone), Address: address(o.Address, "work"),
	}
	if o.CLIA != "" {
		r.Identifier = []Identifier{{System: clia, Value: o.CLIA}}
	}
	ref := e.add(r.ID, r)
	if e.labs == nil {
		e.labs = map[string]Reference{}
	}
	e.labs[o.Key] = ref
	return ref
}

func (e *exporter) coverage() {
	c := e.order.Coverage
	if c == nil {
		return
	}
	payor := OrganizationResource{
		ResourceType: "Organization", ID: e.id("payor"), Name: cmp.Or(clean(c.Payor), "Payor"),
		Type: []CodeableConcept{concept(terminology+"organization-type", "pay", "Payer")},
	}
	payor.Address = address(c.PayorAddress, "work")
	if c.PayorCode != "" {
		payor.Identifier = []Identifier{{System: e.system("payor"), Value: c.PayorCode}}
	}
	r := CoverageResource{
		ResourceType: "Coverage", ID: e.id("coverage"), Status: "active", SubscriberID: c.MemberID,
		Subscriber: e.subscriber(c), Beneficiary: e.subject, Relationship: relationship(c.Relationship), Payor: []Reference{e.add(payor.ID, payor)},
	}
	if c.GroupID != "" {
		r.Class = []CoverageClass{{concept(terminology+"coverage-class", "group", "Group"), c.GroupID}}
	}
	e.insurance = []Reference{e.add(r.ID, r)}
}

// subscriber returns the insured person: the patient, or a person who is added;
// nil if nothing is known about that person.
func (e *exporter) subscriber(c *Coverage) *Reference {
	if c.Relationship == "Self" {
		return &e.subject
	}
	p := c.Insured
	r := RelatedPersonResource{
		ResourceType: "RelatedPerson", ID: e.id("subscriber"), Patient: e.subject, Name: name(p.FirstName, p.LastName), Address: address(p.Address, "home"),
	}
	if r.Name == nil {
		return nil
	}
	r.Gender, r.BirthDate = genderCode(p.Gender), birthDate(p.DOB)
	ref := e.add(r.ID, r)
	return &ref
}

func genderCode(gender string) string {
	switch gender {
	case "female", "male", "other", "unknown":
		return gender
	}
	return ""
}

func birthDate(day civil.Date) string {
	if day.IsZero() {
		return ""
	}
	return day.String()
}

// system returns a namespace for numbers without a public one.
func (e *exporter) system(name string) string { return "urn:hale:" + name }

func name(first, last string) []HumanName {
	n := HumanName{Use: "official", Family: clean(last)}
	if first = clean(first); first != "" {
		n.Given = []string{first}
	}
	if n.Family == "" && n.Given == nil {
		return nil
	}
	return []HumanName{n}
}

func contact(system, value string) []ContactPoint {
	if value = clean(value); value == "" {
		return nil
	}
	return []ContactPoint{{system, value}}
}

func address(a Address, use string) []PostalAddress {
	p := PostalAddress{City: clean(a.City), State: clean(a.State), PostalCode: clean(a.Zip), Country: clean(a.Country)}
	for _, line := range []string{clean(a.FirstLine), clean(a.SecondLine)} {
		if line != "" {
			p.Line = append(p.Line, line)
		}
	}
	if p.Line == nil && p.City+p.State+p.PostalCode == "" {
		return nil
	}
	p.Use = use
	return []PostalAddress{p}
}

// The extensions of US Core for a person: race and ethnicity. Each has a text. It also
// has the category of the Office of Management and Budget, if there is one.
//
// https://hl7.org/fhir/us/core/STU3.1.1/StructureDefinition-us-core-race.html
// and …-us-core-ethnicity.html.
const (
	usCoreRace      = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"
	usCoreEthnicity = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity"
	cdcRace         = "urn:oid:2.16.840.1.113883.6.238"
)

// raceAndEthnicity returns the extensions of a patient, as far as they are
// known.
func raceAndEthnicity(p Patient) []Extension {
	var all []Extension
	if race, known := person.FindCategory(person.Races, p.Race); known {
		all = append(all, categoryExtension(race, usCoreRace))
	}
	if ethnicity, known := person.FindCategory(person.Ethnicities, p.Ethnicity); known {
		all = append(all, categoryExtension(ethnicity, usCoreEthnicity))
	}
	return all
}

// categoryExtension returns the category, if there is one, and always the text.
func categoryExtension(c person.Category, url string) Extension {
	e := Extension{URL: url}
	if c.OMB != "" {
		e.Extension = append(e.Extension, Extension{URL: "ombCategory", ValueCoding: &Coding{cdcRace, c.OMB, c.Text}})
	}
	e.Extension = append(e.Extension, Extension{URL: "text", ValueString: c.Text})
	return e
}
