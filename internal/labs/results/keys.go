package results

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// setKeys sets the keys by which reports are merged, and marks critical values
// that others may outrank. A lab may change its code
// of a test, or begin to number a single value, between two reports. The values
// are still versions of one result of the catalogue.
//
// Two codes are never merged that one report has side by side: they are two
// values. So are values of two specimens.
func (e *expectations) setKeys(reports []Report) {
	rows := rowCodes{rows: map[string]string{}, apart: map[string]bool{}}
	for i := range reports {
		e.collectRows(&reports[i], rows)
	}
	lowest := rankFinal
	if slices.ContainsFunc(reports, func(r Report) bool { return r.Set.Corrected }) {
		lowest = rankCorrected
	}
	specimens := groupSpecimens(reports)
	numbered := map[string]bool{} // codes with a sub-id that separates values
	for i := range reports {
		r := &reports[i]
		r.keys, r.missingCodes = make([]observationKey, len(r.Set.Results)), make([]string, len(r.Set.Missing))
		r.critical = make([]bool, len(r.Set.Results))
		subs := map[string]string{}
		for j := range r.Set.Results {
			key := keyOf(&r.Set.Results[j])
			key.code = specimens.separate(rows.merged(key.code), r, r.Set.Results[j].Specimen)
			r.keys[j] = key
			r.critical[j] = rank(r.Set.Results[j].Status, r) < lowest &&
				e.normalise(sampledResult{Result: r.Set.Results[j]}, "", -1).Interpretation == orders.Critical
			before, known := subs[key.code]
			if key.sub != "" && key.sub != "1" || known && before != key.sub {
				numbered[key.code] = true
			}
			subs[key.code] = key.sub
		}
		for j := range r.Set.Missing {
			r.missingCodes[j] = specimens.separate(rows.merged(missingCodeOf(&r.Set.Missing[j])), r, r.Set.Missing[j].Specimen)
		}
	}
	for i := range reports {
		for j, key := range reports[i].keys {
			if key.sub == "1" && !numbered[key.code] {
				reports[i].keys[j].sub = ""
			}
		}
	}
}

// rowCodes maps the codes of reports to the results of the catalogue that they
// mean. A code that means several is mapped to itself. apart holds the results
// of which a report has two codes.
type rowCodes struct {
	rows  map[string]string
	apart map[string]bool
}

// merged returns the code by which the values of a code are merged.
func (c rowCodes) merged(code string) string {
	if row := c.rows[code]; row != "" && !c.apart[row] {
		return row
	}
	return code
}

// collectRows adds the codes of a report.
func (e *expectations) collectRows(r *Report, to rowCodes) {
	here := map[string]string{} // by row, the code in this report
	add := func(code string, n catalogue.Naming) {
		row := e.rowOf(n)
		switch before, known := to.rows[code]; {
		case row == "":
		case known && before != row:
			to.rows[code] = code
		default:
			to.rows[code] = row
		}
		row = cmp.Or(row, code)
		if other, known := here[row]; known && other != code {
			to.apart[row] = true
		}
		here[row] = code
	}
	for i := range r.Set.Results {
		one := &r.Set.Results[i]
		add(keyOf(one).code, catalogue.NewNaming(one.TestProviderID, one.ProviderID, one.LOINC, one.Name))
	}
	for i := range r.Set.Missing {
		no := &r.Set.Missing[i]
		n := catalogue.NewNaming(no.TestProviderID, no.ProviderID, no.LOINC, no.Name)
		if n.Code != "" { // perhaps that of a test, which has the name of its result
			n.Name = ""
		}
		add(missingCodeOf(no), n)
	}
}

// rowOf returns the code of the ordered result that a report names; empty if it
// names none.
func (e *expectations) rowOf(n catalogue.Naming) string {
	r, known := e.findOrdered(n)
	if !known {
		return ""
	}
	return strings.ToLower(cmp.Or(r.ProviderID, r.LOINC, r.Slug))
}
