package results

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// setKeys sets the keys by which reports are merged, and marks critical values. A lab may change its code
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
	specimens := groupSpecimens(reports)
	specimens.setApart(reports)
	parents := map[string]parentKey{} // by code, the first parent result
	several := map[string]bool{}      // codes with values of several parents
	for i := range reports {
		r := &reports[i]
		r.keys, r.missingKeys = make([]observationKey, len(r.Set.Results)), make([]observationKey, len(r.Set.Missing))
		r.critical = make([]bool, len(r.Set.Results))
		for j := range r.Set.Results {
			one := &r.Set.Results[j]
			key := keyOf(one)
			key.group = specimens.of(r, one.Specimen)
			key.code = rows.merged(key.code)
			r.keys[j] = key
			r.critical[j] = e.normalise(sampledResult{Result: *one}, "", -1).Interpretation == orders.Critical
			if parent := parentKeyOf(one.Parent); parent != (parentKey{}) {
				before, known := parents[key.code]
				several[key.code] = several[key.code] || known && before != parent
				parents[key.code] = parent
			}
		}
		for j := range r.Set.Missing {
			no := &r.Set.Missing[j]
			r.missingKeys[j] = observationKey{code: rows.merged(missingCodeOf(no)), group: specimens.of(r, no.Specimen), sub: no.SubID}
		}
	}
	numbered := map[observationKey]bool{} // codes with a sub-id that separates values
	for i := range reports {
		r := &reports[i]
		for j, key := range r.keys {
			if several[key.code] {
				r.keys[j].parent = parentKeyOf(r.Set.Results[j].Parent)
			}
		}
		for j, key := range r.missingKeys {
			if several[key.code] {
				r.missingKeys[j].parent = parentKeyOf(r.Set.Missing[j].Parent)
			}
		}
		subs := map[observationKey]string{}
		for _, key := range r.keys {
			code := key
			code.sub = ""
			before, known := subs[code]
			if key.sub != "" && key.sub != "1" || known && before != key.sub {
				numbered[code] = true
			}
			subs[code] = key.sub
		}
	}
	for i := range reports {
		for _, keys := range [][]observationKey{reports[i].keys, reports[i].missingKeys} {
			for j, key := range keys {
				code := key
				if code.sub = ""; key.sub == "1" && !numbered[code] {
					keys[j] = code
				}
			}
		}
	}
	separateReadings(reports)
}

// parentKeyOf returns the key of a parent result; zero for none.
func parentKeyOf(p networks.Parent) parentKey {
	return parentKey{strings.ToLower(p.Code), p.SubID}
}

// separateReadings adds the time of the observation to the keys of an
// observation that has several readings: a report has two times of it, or a report
// returns to a time after another one had another time. Otherwise a new time is
// only another statement about one value.
func separateReadings(reports []Report) {
	type history struct {
		seen    map[string]bool
		last    string
		several bool
	}
	all := map[observationKey]*history{}
	sorted := make([]*Report, len(reports))
	for i := range reports {
		sorted[i] = &reports[i]
	}
	slices.SortFunc(sorted, compareTimes)
	for _, r := range sorted {
		here := map[observationKey]map[string]bool{}
		add := func(key observationKey, at networks.Moment) {
			if here[key] == nil {
				here[key] = map[string]bool{}
			}
			here[key][readingOf(at)] = true
		}
		for j, key := range r.keys {
			add(key, r.Set.Results[j].At)
		}
		for j, key := range r.missingKeys {
			if at := r.Set.Missing[j].At; here[key] != nil && !at.Time.IsZero() && !r.Set.Missing[j].Confirms {
				add(key, at)
			}
		}
		for key, times := range here {
			h := all[key]
			if h == nil {
				h = &history{seen: map[string]bool{}}
				all[key] = h
			}
			h.several = h.several || len(times) > 1
			for at := range times {
				if at == "" {
					continue
				}
				h.several = h.several || h.seen[at] && h.last != at
				h.seen[at], h.last = true, at
			}
		}
	}
	for i := range reports {
		r := &reports[i]
		for j, key := range r.keys {
			if h := all[key]; h != nil && h.several {
				r.keys[j].reading = readingOf(r.Set.Results[j].At)
			}
		}
		for j, key := range r.missingKeys {
			if h := all[key]; h != nil && h.several {
				r.missingKeys[j].reading = readingOf(r.Set.Missing[j].At)
			}
		}
	}
}

// readingOf returns the key of a time of observation; empty if it is unknown.
func readingOf(at networks.Moment) string {
	if at.Time.IsZero() {
		return ""
	}
	return at.Time.UTC().Format(time.RFC3339Nano)
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
