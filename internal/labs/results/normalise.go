package results

import (
	"cmp"
	"strings"
	"time"

	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
)

// version makes an order's results of all reports.
func version(e *expectations, m merged) Version {
	v := Version{
		Status: m.status, Corrected: m.corrected, Interpretation: orders.Normal, Samples: m.samples,
		Laboratory: cmp.Or(m.laboratory, e.lab.Name), CLIA: m.clia, Account: cmp.Or(m.account, e.account), Comments: m.comments,
	}
	sex, age := e.person(m.samples)
	for _, f := range m.results {
		r := e.normalise(f, sex, age)
		v.Interpretation = gravest(v.Interpretation, r.Interpretation)
		v.Results = append(v.Results, r)
	}
	if len(v.Results) == 0 {
		v.Interpretation = orders.Unknown
	}
	v.Missing = e.missing(&v, m)
	return v
}

// normalise brings one value into the form that all labs' have.
func (e *expectations) normalise(f found, sex string, age int) Result {
	id := e.identify(f.ProviderID, f.TestProviderID, f.LOINC, f.Name)
	v := read(f.Value, Type(f.Type))
	r := Result{
		Name: id.name, Slug: id.slug, ProviderID: id.code, TestID: f.TestProviderID, SubID: f.SubID, LOINC: id.loinc, LOINCSlug: id.loincSlug,
		Type: v.kind, Text: v.text, Number: v.number, Flag: f.Flag, Status: f.Status, At: f.At,
		Laboratory: f.Laboratory, Sample: f.sample, Markers: id.markers,
	}
	r.Range.Text = strings.TrimSpace(f.Range)
	if v.kind != Coded {
		r.Unit = strings.TrimSpace(f.Unit)
	}
	r.UCUM, _ = loinc.UCUM(r.Unit)
	if v.kind == Range || v.kind == Comment || v.text != strings.TrimSpace(f.Value) && v.kind == Coded {
		r.Notes = []string{strings.TrimSpace(f.Value)}
	}
	for _, note := range f.Notes {
		if note = strings.TrimSpace(note); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	r.judge(v, id.assay, sex, age)
	e.cancerSignal(&r)
	return r
}

// person is the patient's sex, and age in years when the sample was taken; -1
// when nobody knows it.
func (e *expectations) person(samples []Sample) (sex string, age int) {
	p := e.order.Body.Patient
	if p == nil || p.BirthDate.IsZero() {
		return "", -1
	}
	return p.Gender, p.Age(collected(e.order, samples))
}

// CollectedOn is the day on which the sample of some results was taken, as far
// as it is known.
func CollectedOn(o *orders.Order, v *Version) civil.Date { return collected(o, v.Samples) }

// collected is the day on which the sample was taken, as far as it is known.
func collected(o *orders.Order, samples []Sample) civil.Date {
	if at := stated(samples); !at.Time.IsZero() {
		return civil.DateOf(Local(at.Time, at.Offset))
	}
	if o.CollectedAt != nil {
		return civil.DateOf(*o.CollectedAt)
	}
	return civil.DateOf(o.CreatedAt)
}

// Local is an instant on the clock of an offset in seconds east of UTC; UTC
// when there is none.
func Local(at time.Time, offset *int) time.Time {
	if offset == nil {
		return at.UTC()
	}
	return at.In(time.FixedZone("", *offset))
}
