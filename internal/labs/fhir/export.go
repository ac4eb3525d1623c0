package fhir

import (
	"cmp"
	"time"

	"github.com/google/uuid"
)

// ContentType is what a bundle is sent as.
const ContentType = "application/fhir+json"

// Export makes the bundle of an order. now is when it was made.
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

// exporter holds the bundle and what its resources refer to.
type exporter struct {
	order  Order
	bundle Bundle

	subject, lab Reference
	requester    *Reference
	insurance    []Reference
	sample       *Reference
	tests        []Reference          // a request for each test of the order
	labs         map[string]Reference // performing laboratories by key
}

// id is the id of a resource: the same for the same order and name.
func (e *exporter) id(name string) string {
	return uuid.NewSHA1(e.order.ID, []byte(name)).String()
}

// add puts a resource into the bundle and returns the reference to it.
func (e *exporter) add(id string, resource any) Reference {
	url := "urn:uuid:" + id
	e.bundle.Entry = append(e.bundle.Entry, Entry{url, resource})
	return Reference{Reference: url}
}

func (e *exporter) patient() {
	p := e.order.Patient
	r := PatientResource{
		ResourceType: "Patient", ID: e.id("patient"), Extension: background(p),
		Identifier: []Identifier{{System: uris, Value: "urn:uuid:" + p.ID.String()}},
		Name:       name(p.FirstName, p.LastName), Telecom: append(contact("phone", p.Phone), contact("email", p.Email)...),
		Address: address(p.Address, "home"),
	}
	switch p.Gender {
	case "female", "male", "other", "unknown":
		r.Gender = p.Gender
	}
	if !p.DOB.IsZero() {
		r.BirthDate = p.DOB.String()
	}
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
	if c.PayorCode != "" {
		payor.Identifier = []Identifier{{System: e.system("payor"), Value: c.PayorCode}}
	}
	r := CoverageResource{
		ResourceType: "Coverage", ID: e.id("coverage"), Status: "active", SubscriberID: c.MemberID,
		Beneficiary: e.subject, Relationship: relationship(c.Relationship), Payor: []Reference{e.add(payor.ID, payor)},
	}
	if c.GroupID != "" {
		r.Class = []CoverageClass{{concept(terminology+"coverage-class", "group", "Group"), c.GroupID}}
	}
	e.insurance = []Reference{e.add(r.ID, r)}
}

// system is a namespace of numbers that have no public one.
func (e *exporter) system(of string) string { return "urn:hale:" + of }

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
