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
	rows := rowCodes{rows: map[string]string{}, severalCodes: map[string]bool{}}
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
	specimens.separateUnknown(reports)
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

// unknownSpecimen is the group of values without a known specimen, if several specimens
// have their code.
const unknownSpecimen = "?"

// separateUnknown sets the group of values and missing results without a known
// specimen. Of several specimens it is the one that was collected at the time of the
// observation. If no time says it and one group has their code, they are of that group.
// If several have it, they replace no value.
func (g *specimenGroups) separateUnknown(reports []Report) {
	groups := map[string][]string{} // by code
	isKnown := func(r *Report, further string) bool { return g.knows(cmp.Or(further, r.Set.Specimen.Key())) }
	for i := range reports {
		r := &reports[i]
		for j, key := range r.keys {
			if isKnown(r, r.Set.Results[j].Specimen) && !slices.Contains(groups[key.code], key.group) {
				groups[key.code] = append(groups[key.code], key.group)
			}
		}
	}
	several := g.haveSeveral()
	place := func(key *observationKey, specimen *string, at time.Time) {
		if group, number, only := g.collectedAt(at); only && several {
			key.group, *specimen = group, cmp.Or(number, *specimen)
			return
		}
		switch of := groups[key.code]; len(of) {
		case 0:
		case 1:
			key.group = of[0]
		default:
			key.group = unknownSpecimen
		}
	}
	for i := range reports {
		r := &reports[i]
		for j := range r.keys {
			one := &r.Set.Results[j]
			if !isKnown(r, one.Specimen) {
				place(&r.keys[j], &one.Specimen, one.At.Time)
			} else if several {
				one.Specimen = g.numberOf(cmp.Or(one.Specimen, r.Set.Specimen.Key()), one.Specimen)
			}
		}
		for j := range r.missingKeys {
			if no := &r.Set.Missing[j]; !isKnown(r, no.Specimen) {
				place(&r.missingKeys[j], &no.Specimen, no.At.Time)
			}
		}
	}
}

// parentKeyOf returns the key of a parent result; zero for none.
func parentKeyOf(p networks.Parent) parentKey {
	return parentKey{strings.ToLower(p.Code), p.SubID}
}

// separateReadings adds the time of the observation to the keys of an observation that
// has several readings. It has several if one report has two times of it. It also has
// several if a report returns to an earlier time after another report had another
// time. Otherwise a new time is only another statement about one value.
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
			here[key][readingOf(at)] = !r.isTooLate(at, clockAhead)
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
			for at, canBeRight := range times {
				if at == "" || !canBeRight {
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

// rowCodes maps the codes of reports to catalogue results. A code of several catalogue
// results maps to itself. severalCodes holds the catalogue results that one report has
// under two codes: their values are not merged.
type rowCodes struct {
	rows         map[string]string
	severalCodes map[string]bool
}

// merged returns the code by which the values of a code are merged.
func (c rowCodes) merged(code string) string {
	if row := c.rows[code]; row != "" && !c.severalCodes[row] {
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
			to.severalCodes[row] = true
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
