package results

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// expectations holds the results that an order's markers require, and the
// order's patient.
type expectations struct {
	order *orders.Order
	lab   catalogue.Lab
	// ordered are the order's markers; all adds those that may follow from
	// their results (reflex tests).
	ordered, all []*catalogue.Marker
	// offered has the lab's other tests, which a report may have as well.
	offered *catalogue.Catalogue
	account string
}

// readExpectations reads the markers and the account of an order.
func readExpectations(ctx context.Context, tx *store.Tx, o *orders.Order) (expectations, error) {
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return expectations{}, err
	}
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return expectations{}, err
	}
	account, err := catalogue.AccountOf(ctx, tx, o.Team, o.Account)
	if err != nil {
		return expectations{}, err
	}
	f := facts[0]
	return expectations{o, f.Lab, f.Markers, offered.AddReflex(f.Markers), offered, account.Number}, nil
}

// expectedResult is a result of the catalogue with the ordered markers that
// require it.
type expectedResult struct {
	catalogue.Result
	markers []Marker
}

// find looks up a reported value: by the lab's code within its test, by the
// code in any test, by LOINC, by name. A code may mean different things in
// different tests, so the test comes first. A value that was not ordered is
// looked up among the lab's other tests, by code and LOINC: its critical limits
// count as well.
func (e *expectations) find(code, test, loincCode, name string) (expectedResult, bool) {
	matches := []func(m *catalogue.Marker, r catalogue.Result) bool{
		func(m *catalogue.Marker, r catalogue.Result) bool {
			return code != "" && m.ProviderID == test && r.ProviderID == code
		},
		func(_ *catalogue.Marker, r catalogue.Result) bool { return code != "" && r.ProviderID == code },
		func(m *catalogue.Marker, r catalogue.Result) bool {
			return loincCode != "" && m.ProviderID == test && r.LOINC == loincCode
		},
		func(_ *catalogue.Marker, r catalogue.Result) bool { return loincCode != "" && r.LOINC == loincCode },
		func(_ *catalogue.Marker, r catalogue.Result) bool {
			return name != "" && strings.EqualFold(r.Name, name)
		},
	}
	for _, match := range matches {
		for _, m := range e.all {
			for _, r := range m.Results {
				if match(m, r) {
					return expectedResult{r, e.markersFor(r)}, true
				}
			}
		}
	}
	if e.offered != nil {
		if r, known := e.offered.FindResult(e.lab.ID, test, code, loincCode); known {
			return expectedResult{Result: r, markers: e.markersOfTest(test)}, true
		}
	}
	return expectedResult{}, false
}

// markersFor returns the ordered markers that require a result.
func (e *expectations) markersFor(r catalogue.Result) []Marker {
	var all []Marker
	for _, m := range e.ordered {
		if slices.ContainsFunc(m.Results, func(other catalogue.Result) bool { return isSameResult(r, other) }) {
			all = append(all, markerOf(m))
		}
	}
	return all
}

// isSameResult reports whether two rows of the catalogue are the same
// observation of a lab.
func isSameResult(a, b catalogue.Result) bool {
	if a.ProviderID != "" || b.ProviderID != "" {
		return a.ProviderID == b.ProviderID
	}
	if a.LOINC != "" || b.LOINC != "" {
		return a.LOINC == b.LOINC
	}
	return a.Slug == b.Slug
}

// markersOfTest returns the ordered marker of a lab's test code.
func (e *expectations) markersOfTest(test string) []Marker {
	for _, m := range e.ordered {
		if test != "" && m.ProviderID == test {
			return []Marker{markerOf(m)}
		}
	}
	return nil
}

func markerOf(m *catalogue.Marker) Marker { return Marker{m.ID, m.Name, m.Slug, m.ProviderID} }

// codeNames holds the names and codes of a result.
type codeNames struct {
	name, slug, code, loinc, loincSlug string
	unit                               string // as printed, from the catalogue
	assay                              *catalogue.Assay
	assayLOINC                         string // the catalogue's code of the assay
	markers                            []Marker
}

// identify names a reported value as the catalogue does, or as the report does
// where the catalogue does not know it. A LOINC code with a wrong check digit
// is a typing error and is dropped.
func (e *expectations) identify(code, test, loincCode, name string) codeNames {
	if !loinc.Valid(loincCode) {
		loincCode = ""
	}
	id := codeNames{name: cmp.Or(name, code, "Result"), code: code, loinc: loincCode}
	if r, known := e.find(code, test, loincCode, name); known {
		id.name, id.slug, id.code = r.Name, r.Slug, cmp.Or(code, r.ProviderID)
		id.loinc = cmp.Or(loincCode, r.LOINC)
		id.unit, id.assay, id.assayLOINC, id.markers = r.Assay.Unit, &r.Assay, cmp.Or(r.LOINC, loincCode), r.markers
	} else {
		id.slug, id.markers = loinc.Slug(id.name), e.markersOfTest(test)
	}
	if id.loinc != "" {
		id.loincSlug = (catalogue.Result{Name: id.name, LOINC: id.loinc}).Code().Slug()
	}
	return id
}
