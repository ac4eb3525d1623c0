package results

import (
	"cmp"
	"context"
	"slices"

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

// markReflex marks the reports with reflex tests and without an ordered test. The lab
// has not reported the tests that led to them yet, so such a report completes no order.
func (e *expectations) markReflex(reports []Report) {
	reflex := e.all[len(e.ordered):]
	for i := range reports {
		r := &reports[i]
		hasReflex, hasOrdered := false, false
		add := func(n catalogue.Naming) {
			isTest := func(m *catalogue.Marker) bool { return n.Code != "" && m.ProviderID == n.Code }
			has := func(markers []*catalogue.Marker) bool {
				_, known := n.FindResult(markers)
				return known || slices.ContainsFunc(markers, isTest)
			}
			switch {
			case has(e.ordered):
				hasOrdered = true
			case has(reflex):
				hasReflex = true
			default:
				hasOrdered = hasOrdered || e.markersOfTest(n.Test) != nil
			}
		}
		for j := range r.Set.Results {
			one := &r.Set.Results[j]
			add(catalogue.NewNaming(one.TestProviderID, one.ProviderID, one.LOINC, one.Name))
		}
		for j := range r.Set.Missing {
			no := &r.Set.Missing[j]
			add(catalogue.NewNaming(no.TestProviderID, no.ProviderID, no.LOINC, no.Name))
		}
		r.reflexOnly = hasReflex && !hasOrdered
	}
}

// expectedResult is a result of the catalogue with the ordered markers that
// require it.
type expectedResult struct {
	catalogue.Result
	markers []Marker
}

// find looks up a reported value among the ordered tests and their reflex tests.
// A value that was not ordered is looked up among the lab's other tests, by code
// and LOINC: its critical limits count as well. A value whose codes contradict
// each other is none of them.
func (e *expectations) find(n catalogue.Naming) (expectedResult, bool) {
	r, known := e.findOrdered(n)
	switch {
	case known:
		return expectedResult{r, e.markersFor(r)}, true
	case e.offered != nil && !e.offered.CodesConflict(e.lab.ID, n):
		if r, known := e.offered.FindResult(e.lab.ID, n.Test, n.Code, n.LOINC); known {
			return expectedResult{Result: r, markers: e.markersOfTest(n.Test)}, true
		}
	}
	return expectedResult{}, false
}

// findOrdered looks up a reported value among the ordered tests and their reflex
// tests.
func (e *expectations) findOrdered(n catalogue.Naming) (catalogue.Result, bool) {
	r, known := n.FindResult(e.all)
	if known && e.offered != nil && e.offered.CodesConflict(e.lab.ID, n) {
		return catalogue.Result{}, false
	}
	return r, known
}

// markersFor returns the ordered markers that require a result.
func (e *expectations) markersFor(r catalogue.Result) []Marker {
	var all []Marker
	for _, m := range e.ordered {
		if slices.ContainsFunc(m.Results, func(other catalogue.Result) bool { return other.IsSame(r) }) {
			all = append(all, markerOf(m))
		}
	}
	return all
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
	row                                resultNames // of the catalogue; zero if it does not know the result
}

// identify names a reported value as the catalogue does, or as the report does
// where the catalogue does not know it.
func (e *expectations) identify(code, test, loincCode, name string) codeNames {
	n := catalogue.NewNaming(test, code, loincCode, name)
	loincCode = n.LOINC
	id := codeNames{name: cmp.Or(name, code, "Result"), code: code, loinc: loincCode}
	if r, known := e.find(n); known {
		id.name, id.slug, id.code = r.Name, r.Slug, cmp.Or(code, r.ProviderID)
		id.loinc = cmp.Or(loincCode, r.LOINC)
		id.unit, id.assay, id.assayLOINC, id.markers = r.Assay.Unit, &r.Assay, cmp.Or(r.LOINC, loincCode), r.markers
		id.row = resultNames{r.ProviderID, r.LOINC, r.Slug}
	} else {
		id.slug, id.markers = loinc.Slug(id.name), e.markersOfTest(test)
	}
	if id.loinc != "" {
		id.loincSlug = (catalogue.Result{Name: id.name, LOINC: id.loinc}).Code().Slug()
	}
	return id
}
