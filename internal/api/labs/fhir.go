package labs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/fhir"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func writesFHIR(rt api.Route) api.Route {
	return api.WritesAs(rt, fhir.ContentType, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "A Bundle of FHIR R4."})
}

// getOrderFHIR returns an order, with its results if there are any.
func (h *Handlers) getOrderFHIR(ctx context.Context, c api.Caller, in *OrderPath) (*api.Encoded, error) {
	var bundle fhir.Bundle
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orderOfResults(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		whole, err := orders.ForNetwork(ctx, tx, &o)
		if err != nil {
			return err
		}
		offered, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		lab, _ := offered.Lab(o.Lab)
		exported := fhirOrder(&o, whole, lab)
		for i, t := range whole.Tests {
			exported.Tests[i].Answers = fhirAnswers(offered, t.MarkerID, o.Body.Answers)
		}
		r, err := results.Get(ctx, tx, &o, 0)
		switch {
		case fault.Is(err, fault.NotFound):
		case err != nil:
			return err
		default:
			pdf, err := results.PDF(ctx, tx, &o, r.Number)
			if err != nil {
				return err
			}
			exported.Report = fhirReport(&r, pdf)
		}
		bundle = fhir.Export(exported, tx.Now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(bundle)
	if err != nil {
		return nil, fmt.Errorf("api: marshalling a bundle: %w", err)
	}
	return api.WriteAs(fhir.ContentType, body), nil
}

func fhirOrder(o *orders.Order, n networks.Order, lab catalogue.Lab) fhir.Order {
	f := fhir.Order{
		ID: n.ID, SampleID: o.SampleID, Status: string(o.Status.Stage(o.Method)), PlacedAt: o.CreatedAt, Priority: o.Priority,
		Notes: n.Notes, ICDCodes: n.ICDCodes, Tests: fhirTests(n.Tests),
		Patient: fhir.Patient{
			ID: o.User.UUID(), FirstName: n.Patient.FirstName, LastName: n.Patient.LastName, DOB: n.Patient.DOB, Gender: n.Patient.Gender,
			Phone: n.Patient.Phone, Email: n.Patient.Email, Address: fhirAddress(&n.Patient.Address),
			Race: n.Patient.Race, Ethnicity: n.Patient.Ethnicity,
		},
		Lab: fhir.Organization{Key: lab.Slug, Name: lab.Name, Address: fhir.Address{FirstLine: lab.Address, City: lab.City, Zip: lab.Zip, Country: "US"}},
	}
	if p := o.Body.Physician; p != nil {
		f.Physician = &fhir.Practitioner{FirstName: p.FirstName, LastName: p.LastName, NPI: p.NPI}
	}
	if i := n.Insurance; i != nil {
		f.Coverage = &fhir.Coverage{PayorCode: i.PayorCode, Payor: i.Company, MemberID: i.MemberID, GroupID: i.GroupID, Relationship: i.Relationship}
	}
	return f
}

// fhirTests returns the ordered tests. A test with a single observation has its code.
func fhirTests(all []networks.Test) []fhir.Test {
	tests := make([]fhir.Test, len(all))
	for i, t := range all {
		tests[i] = fhir.Test{Code: t.ProviderID, Name: t.Name}
		if len(t.Expected) == 1 {
			tests[i].LOINC = t.Expected[0].LOINC
		}
	}
	return tests
}

// fhirAnswers returns the answers to the questions of a marker. A chosen answer has the
// lab's text.
func fhirAnswers(offered *catalogue.Catalogue, marker catalogue.MarkerID, given []orders.Answer) []fhir.Answer {
	m, ok := offered.Marker(marker)
	if !ok {
		return nil
	}
	var all []fhir.Answer
	for _, q := range m.Questions {
		at := slices.IndexFunc(given, func(a orders.Answer) bool { return a.MarkerID == m.ID && a.QuestionID == q.ID })
		if at < 0 {
			continue
		}
		a := fhir.Answer{Code: q.Code, Question: q.Value}
		switch q.Type {
		case catalogue.Choice, catalogue.MultiChoice:
			for code := range strings.SplitSeq(given[at].Answer, ",") {
				code = strings.TrimSpace(code)
				chosen := fhir.AnswerValue{Code: code}
				if i := slices.IndexFunc(q.Answers, func(x catalogue.Answer) bool { return x.Code == code }); i >= 0 {
					chosen.Text = q.Answers[i].Value
				}
				a.Values = append(a.Values, chosen)
			}
		case catalogue.Numeric, catalogue.Text:
			a.Values = []fhir.AnswerValue{{Text: given[at].Answer, Numeric: q.Type == catalogue.Numeric}}
		}
		all = append(all, a)
	}
	return all
}

func fhirAddress(a *networks.Address) fhir.Address {
	if a == nil {
		return fhir.Address{}
	}
	return fhir.Address{FirstLine: a.FirstLine, SecondLine: a.SecondLine, City: a.City, State: a.State, Zip: a.Zip, Country: a.Country}
}

func fhirReport(r *results.Revision, pdf []byte) *fhir.Report {
	report := &fhir.Report{Status: string(r.Status), Issued: r.CreatedAt, Comments: r.Comments, PDF: pdf}
	if r.Corrected {
		report.Status = "corrected"
	}
	for _, s := range r.Samples {
		p := s.Specimen
		report.Specimen = fhir.Specimen{
			Number: s.Key, Collected: fhir.Moment(p.Collected), Received: fhir.Moment(p.Received), Fasting: p.Fasting, Information: p.Information,
		}
		if !p.Reported.Time.IsZero() {
			report.Issued = p.Reported.Time
		}
		for _, key := range slices.Sorted(maps.Keys(s.Laboratories)) {
			lab := s.Laboratories[key]
			report.Laboratories = append(report.Laboratories, fhir.Organization{
				Key: key, Name: lab.Name, CLIA: lab.CLIA, Phone: lab.Phone, Address: fhirAddress(lab.Address),
			})
		}
	}
	for i := range r.Results {
		report.Results = append(report.Results, fhirResult(&r.Results[i]))
	}
	for _, m := range r.Missing {
		report.Missing = append(report.Missing, fhir.Missing{
			Code: m.ProviderID, TestCode: m.TestID, Name: m.Name, LOINC: m.LOINC, Reason: string(m.Failure), Note: m.Note,
		})
	}
	return report
}

// fhirResult moves exclusive bounds to the text of the range, because bounds in FHIR
// are inclusive.
func fhirResult(r *results.Result) fhir.Result {
	f := fhir.Result{
		Code: r.ProviderID, TestCode: r.TestID, Name: r.Name, LOINC: r.LOINC, Value: r.Text, Type: string(r.Type), Unit: r.Unit, UCUM: r.UCUM,
		Range: r.Range.Text, Interpretation: string(r.Interpretation), Flag: r.Flag, Status: r.Status,
		At: fhir.Moment(r.At), Notes: r.Notes, Laboratory: r.Laboratory,
	}
	if low := r.Range.Low; low != nil && low.Inclusive {
		f.Low = &low.Value
	}
	if high := r.Range.High; high != nil && high.Inclusive {
		f.High = &high.Value
	}
	return f
}
