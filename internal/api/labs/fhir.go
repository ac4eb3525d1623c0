package labs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/fhir"
	"hale/internal/labs/loinc"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
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
		exported, err := exportedOrder(ctx, tx, c.Team, &o)
		if err != nil {
			return err
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

// exportedOrder returns an order with its results, if there are any.
func exportedOrder(ctx context.Context, tx *store.Tx, team teams.ID, o *orders.Order) (fhir.Order, error) {
	whole, err := orders.ForNetwork(ctx, tx, o)
	if err != nil {
		return fhir.Order{}, err
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return fhir.Order{}, err
	}
	lab, _ := offered.Lab(o.Lab)
	exported := fhirOrder(o, whole, lab)
	for i, t := range whole.Tests {
		exported.Tests[i].Answers = fhirAnswers(offered, t.MarkerID, o.Body.Answers)
	}
	r, err := results.Get(ctx, tx, o, 0)
	switch {
	case fault.Is(err, fault.NotFound):
	case err != nil:
		return fhir.Order{}, err
	default:
		pdf, err := results.PDF(ctx, tx, o, r.Number)
		if err != nil {
			return fhir.Order{}, err
		}
		exported.Report = fhirReport(&r, pdf)
	}
	return exported, nil
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
		Lab: fhir.Organization{
			Key: lab.Slug, Name: lab.Name, CLIA: lab.CLIA, Phone: lab.Phone,
			Address: fhir.Address{FirstLine: lab.Address, City: lab.City, State: lab.State, Zip: lab.Zip, Country: "US"},
		},
	}
	if p := o.Body.Physician; p != nil {
		f.Physician = &fhir.Practitioner{FirstName: p.FirstName, LastName: p.LastName, NPI: p.NPI}
	}
	if i := n.Insurance; i != nil {
		f.Coverage = &fhir.Coverage{
			PayorCode: i.PayorCode, Payor: i.Company, PayorAddress: fhirAddress(&i.CompanyAddress), MemberID: i.MemberID, GroupID: i.GroupID,
			Relationship: i.Relationship,
			Insured: fhir.Insured{
				FirstName: i.Insured.FirstName, LastName: i.Insured.LastName, DOB: i.Insured.DOB, Gender: i.Insured.Gender, Address: fhirAddress(&i.Insured.Address),
			},
		}
	}
	return f
}

// fhirTests returns the ordered tests. A test without a code of its own and with a
// single observation has the code of that.
func fhirTests(all []networks.Test) []fhir.Test {
	tests := make([]fhir.Test, len(all))
	for i, t := range all {
		n := t.Specimen
		tests[i] = fhir.Test{
			Code: t.ProviderID, Name: t.Name, LOINC: t.LOINC,
			Specimen: fhir.Material{Name: n.Name, SNOMED: n.SNOMED, SNOMEDName: n.SNOMEDName, HL7: n.HL7, HL7Name: n.HL7Name},
		}
		if t.LOINC == "" && len(t.Expected) == 1 {
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
	for _, w := range r.Warnings {
		report.Comments = append(slices.Clone(report.Comments), w.Message())
	}
	if person := reportedPatientText(r.Patient); person != "" {
		report.Comments = append(slices.Clone(report.Comments), person)
	}
	for i, s := range r.UsedSamplesFirst() {
		p := s.Specimen
		specimen := fhir.Specimen{
			Number: s.Key, Collected: fhir.Moment(p.Collected), Received: fhir.Moment(p.Received), Fasting: p.Fasting, Information: p.Information,
			Type: p.Type,
		}
		if i == 0 {
			report.Specimen = specimen
		} else {
			specimen.Key, specimen.Number = s.Key, p.Number
			report.Specimens = append(report.Specimens, specimen)
		}
		if p.Reported.Time.After(report.Issued) || i == 0 && !p.Reported.Time.IsZero() {
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
		missing := fhir.MissingResult{
			Code: m.ProviderID, TestCode: m.TestID, Name: m.Name, LOINC: m.LOINC, Reason: string(m.Failure), Note: m.Note, Specimen: m.Sample,
		}
		if w := m.Previous; w != nil {
			unit, _ := loinc.UCUM(w.Unit)
			missing.Withdrawn = &fhir.Result{
				Value: w.Text, Unit: w.Unit, UCUM: unit, Range: w.Range, Interpretation: string(w.Interpretation), Flag: w.Flag,
				Notes: append([]string{"The laboratory withdrew this value at " + api.Time(m.WithdrawnAt).String() + "."}, w.Notes...),
			}
		}
		report.Missing = append(report.Missing, missing)
	}
	return report
}

// reportedPatientText names the person as the laboratory reported it. R4 has no
// field for it: the subject is the order's patient.
func reportedPatientText(p networks.ReportedPatient) string {
	if p == (networks.ReportedPatient{}) {
		return ""
	}
	parts := []string{strings.TrimSpace(p.LastName + ", " + p.FirstName)}
	if !p.DOB.IsZero() {
		parts = append(parts, "born "+p.DOB.String())
	}
	if p.Gender != "" {
		parts = append(parts, "sex "+p.Gender)
	}
	return "Patient as reported by the laboratory: " + strings.Join(parts, "; ")
}

// statusLetter returns the status of a value as a letter of HL7 table 0085. A lab
// may mark every value of a corrected report; only those that changed are
// corrected.
func statusLetter(r *results.Result) string {
	switch r.Finality {
	case results.PreliminaryValue:
		return "P"
	case results.FinalValue:
		return "F"
	case results.CorrectedValue:
		return "C"
	}
	return r.Status
}

// fhirResult moves exclusive bounds to the text of the range, because bounds in FHIR
// are inclusive.
func fhirResult(r *results.Result) fhir.Result {
	f := fhir.Result{
		Code: r.ProviderID, TestCode: r.TestID, Name: r.Name, LOINC: r.LOINC, Value: r.Text, Type: string(r.Type), Unit: r.Unit, UCUM: r.UCUM,
		Range: r.Range.Text, Interpretation: string(r.Interpretation), Flag: r.Flag, Status: statusLetter(r),
		At: fhir.Moment(r.At), Notes: r.Notes, Laboratory: r.Laboratory, Specimen: r.Sample,
		Above: r.Above != nil && *r.Above, Below: r.Below != nil && *r.Below,
	}
	if note := r.ConflictNote(); note != "" {
		f.Notes = append(slices.Clone(f.Notes), note)
	}
	if low := r.Range.Low; low != nil && low.Inclusive {
		f.Low = &low.Value
	}
	if high := r.Range.High; high != nil && high.Inclusive {
		f.High = &high.Value
	}
	return f
}

// fhirUser returns the person of a user's reports.
func fhirUser(ctx context.Context, tx *store.Tx, team teams.ID, id users.ID) (fhir.Patient, error) {
	p := fhir.Patient{ID: id.UUID(), Gender: "unknown"}
	info, err := users.LatestInfo(ctx, tx, team, id)
	switch {
	case users.IsNoInfo(err):
		user, err := users.Get(ctx, tx, team, id)
		if err == nil && user.BirthDate != nil {
			p.DOB = user.BirthDate.Value
		}
		return p, err
	case err != nil:
		return p, err
	}
	a := info.Address
	return fhir.Patient{
		ID: id.UUID(), FirstName: info.FirstName, LastName: info.LastName, DOB: info.BirthDate, Gender: strings.ToLower(info.Gender),
		Phone: info.PhoneNumber, Email: info.Email, Race: info.Race, Ethnicity: info.Ethnicity,
		Address: fhir.Address{FirstLine: a.FirstLine, SecondLine: a.SecondLine, City: a.City, State: a.State, Zip: a.Zip, Country: a.Country},
	}, nil
}

// fhirParsedReport returns a report without the rows that an order or an earlier report has.
func fhirParsedReport(r *reports.ReportResults) fhir.ParsedReport {
	m := r.Metadata
	parsed := fhir.ParsedReport{
		ID: r.Job.ID.UUID(), Lab: m.Lab,
		Report: fhir.Report{Status: "final", Issued: r.Job.CreatedAt, Specimen: fhir.Specimen{Number: m.Specimen}},
	}
	if day, err := civil.ParseDate(m.CollectedDate); err == nil {
		parsed.Report.Specimen.Collected = fhir.Moment{Time: day.In(time.UTC)}
	}
	if r.Job.Reviewed && len(r.Changes) > 0 {
		parsed.Report.Status = "corrected"
	}
	for i := range r.Rows {
		if _, repeats := r.Repeated[i]; !repeats && !r.Removed[i] && r.Rows[i].HasValue() {
			parsed.Report.Results = append(parsed.Report.Results, fhirParsedRow(&r.Rows[i], i))
		}
	}
	return parsed
}

func fhirParsedRow(r *extract.Row, row int) fhir.Result {
	f := fhir.Result{
		Key: strconv.Itoa(row), Name: r.NameWithOrganism(), Value: r.Value, Type: "comment", Unit: r.Unit, UCUM: r.UCUM, Range: r.Range.Text,
		Interpretation: r.Interpretation, Flag: r.Flag, Status: "F",
	}
	if r.Number != nil {
		f.Type, f.Value = "numeric", plainDecimal(r)
	}
	if r.Status == extract.AutoMatch && len(r.Matches) > 0 {
		f.LOINC = r.Matches[0].Code
	}
	if r.Note != "" {
		f.Notes = append(f.Notes, r.Note)
	}
	if r.NeedsReview {
		f.Status = "P"
		f.Notes = append(f.Notes, "Read from a report and not confirmed by a person.")
	}
	if !r.Range.MinExclusive {
		f.Low = r.Range.Min
	}
	if !r.Range.MaxExclusive {
		f.High = r.Range.Max
	}
	return f
}

// plainDecimal returns a number as FHIR has it: without thousands separators, decimal
// commas and powers of ten. Digits after a decimal point stay as printed.
func plainDecimal(r *extract.Row) string {
	digits := strings.TrimSpace(strings.TrimLeft(r.Value, "<>=≤≥ "))
	if n, err := strconv.ParseFloat(digits, 64); err != nil || n != *r.Number {
		digits = strconv.FormatFloat(*r.Number, 'f', -1, 64)
	}
	return r.Comparator + digits
}
