package results

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/networks"
)

// specimenGroups finds the specimens of an order whose values must not replace each
// other. It maps the identity of a specimen to its group.
type specimenGroups struct {
	groups  map[string]string
	primary string // the group of a specimen without an identity
}

// specimenFacts holds what reports say about one specimen.
type specimenFacts struct {
	number    string
	types     map[string]bool
	collected []time.Time
	// beside holds the specimens that one report has beside this one.
	beside map[string]bool
}

// groupSpecimens groups the specimens of reports. Two specimens are apart if one
// report has both, or if they have two numbers and another material or another time of
// collection. Other numbers may be new names of a known specimen, such as another
// number in a correction. The outcome is the same for any order of the reports.
func groupSpecimens(reports []Report) specimenGroups {
	known := map[string]*specimenFacts{}
	g := specimenGroups{groups: map[string]string{}}
	var first *Report
	for i := range reports {
		r := &reports[i]
		all := append([]networks.Specimen{r.Set.Specimen}, r.Set.Specimens...)
		var ids []string
		for j := range all {
			if id := all[j].Key(); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
				factsOf(known, id).add(&all[j])
			}
		}
		for _, id := range ids {
			for _, other := range ids {
				if other != id {
					known[id].beside[other] = true
				}
			}
		}
		if r.Set.Specimen.Key() != "" && (first == nil || compareReports(first, r) < 0) {
			first = r
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		var fitting []string
		for _, group := range slices.Sorted(maps.Values(g.groups)) {
			if !slices.Contains(fitting, group) && !g.hasApart(group, known, id) {
				fitting = append(fitting, group)
			}
		}
		if g.groups[id] = id; len(fitting) == 1 {
			g.groups[id] = fitting[0]
		}
	}
	if first != nil {
		g.primary = g.groups[first.Set.Specimen.Key()]
	}
	return g
}

func factsOf(known map[string]*specimenFacts, id string) *specimenFacts {
	if known[id] == nil {
		known[id] = &specimenFacts{types: map[string]bool{}, beside: map[string]bool{}}
	}
	return known[id]
}

func (f *specimenFacts) add(s *networks.Specimen) {
	f.number = cmp.Or(f.number, s.Number)
	if s.Type != "" {
		f.types[strings.ToLower(s.Type)] = true
	}
	if !s.Collected.Time.IsZero() {
		f.collected = append(f.collected, s.Collected.Time)
	}
}

// hasApart reports whether a group has a specimen that is apart from another one.
func (g *specimenGroups) hasApart(group string, known map[string]*specimenFacts, id string) bool {
	for other, of := range g.groups {
		if of == group && known[id].isApart(known[other], other) {
			return true
		}
	}
	return false
}

func (f *specimenFacts) isApart(other *specimenFacts, id string) bool {
	if f.beside[id] {
		return true
	}
	if f.number == "" || other.number == "" {
		return false
	}
	sameType, sameTime := false, false
	for one := range f.types {
		sameType = sameType || other.types[one]
	}
	for _, a := range f.collected {
		for _, b := range other.collected {
			sameTime = sameTime || a.Sub(b).Abs() < time.Minute
		}
	}
	return len(f.types) > 0 && len(other.types) > 0 && !sameType || len(f.collected) > 0 && len(other.collected) > 0 && !sameTime
}

// of returns the group of a specimen, empty for the primary one. further is the key
// of a further specimen of the report, empty for its first.
func (g *specimenGroups) of(r *Report, further string) string {
	group := g.primary
	if id := cmp.Or(further, r.Set.Specimen.Key()); id != "" {
		group = g.groups[id]
	}
	if group == g.primary {
		return ""
	}
	return group
}

// setApart marks the reports of an order that was known to have several specimens
// when they were made. A missing result of such a report is missing for its
// specimen. An earlier report may be about a sample that another one replaced.
func (g *specimenGroups) setApart(reports []Report) {
	mentioned := map[string]*Report{} // the first report of each group
	for i := range reports {
		r := &reports[i]
		for _, s := range append([]networks.Specimen{r.Set.Specimen}, r.Set.Specimens...) {
			id := s.Key()
			if first := mentioned[g.groups[id]]; id != "" && (first == nil || compareTimes(r, first) < 0) {
				mentioned[g.groups[id]] = r
			}
		}
	}
	for i := range reports {
		known := 0
		for _, first := range mentioned {
			if compareTimes(first, &reports[i]) <= 0 {
				known++
			}
		}
		reports[i].apart = known > 1
	}
}
