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
	facts   map[string]*specimenFacts
}

// specimenFacts holds the facts that reports state about one specimen.
type specimenFacts struct {
	number    string
	types     map[string]bool
	collected []time.Time
	// beside holds the specimens that one report has beside this one.
	beside map[string]bool
}

// groupSpecimens groups the specimens of reports. Two specimens are different if
// one report has both, or if they have two numbers and another material or another time of
// collection. Other numbers may be new names of a known specimen, such as another
// number in a correction. A specimen without a number may be any of several. It is the
// one that was collected at its time, otherwise none of them. The outcome is the same
// for any order of the reports.
func groupSpecimens(reports []Report) specimenGroups {
	known := map[string]*specimenFacts{}
	g := specimenGroups{groups: map[string]string{}, facts: known}
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
	}
	for _, id := range inOrder(known) {
		g.groups[id] = g.groupOf(id)
	}
	var first *Report
	for i := range reports {
		r := &reports[i]
		if g.knows(r.Set.Specimen.Key()) && (first == nil || compareReports(first, r) < 0) {
			first = r
		}
	}
	if first != nil {
		g.primary = g.groups[first.Set.Specimen.Key()]
	}
	return g
}

// inOrder returns the specimens with a number first, then those that have others beside
// them. The groups of the rest depend on these.
func inOrder(known map[string]*specimenFacts) []string {
	place := func(id string) int {
		switch f := known[id]; {
		case f.number != "":
			return 0
		case len(f.beside) > 0:
			return 1
		}
		return 2
	}
	return slices.SortedFunc(maps.Keys(known), func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
}

// groupOf returns the group of a specimen, given those of the specimens before it.
func (g *specimenGroups) groupOf(id string) string {
	f := g.facts[id]
	var all, fitting []string
	for _, group := range slices.Sorted(maps.Values(g.groups)) {
		if group == unknownSpecimen || slices.Contains(all, group) {
			continue
		}
		if all = append(all, group); !g.hasDifferent(group, id) {
			fitting = append(fitting, group)
		}
	}
	several := f.number == "" && len(all) > 1 && len(fitting) > 0
	if several {
		fitting = slices.DeleteFunc(fitting, func(group string) bool { return !g.maySay(group, f) })
	}
	switch {
	case len(fitting) == 1:
		return fitting[0]
	case several:
		return unknownSpecimen
	}
	return id
}

// maySay reports whether facts without a number may be about one of several groups. The
// material must not be another one, and the time of collection must be the same.
func (g *specimenGroups) maySay(group string, f *specimenFacts) bool {
	sameType, sameTime, typed := len(f.types) == 0, len(f.collected) == 0, false
	for id, of := range g.groups {
		if of != group {
			continue
		}
		for one := range g.facts[id].types {
			typed = true
			sameType = sameType || f.types[one]
		}
		for _, at := range f.collected {
			sameTime = sameTime || g.facts[id].wasCollected(at)
		}
	}
	return (sameType || !typed) && sameTime
}

// collectedAt returns the only group that was collected at a time, and the number of
// its specimen. It reports false for none and for several.
func (g *specimenGroups) collectedAt(at time.Time) (group, number string, only bool) {
	if at.IsZero() {
		return "", "", false
	}
	found := map[string]bool{}
	for id, of := range g.groups {
		if of != unknownSpecimen && g.facts[id].wasCollected(at) {
			found[of] = true
			group, number = of, g.facts[of].number
		}
	}
	if group == g.primary {
		group = ""
	}
	return group, number, len(found) == 1
}

// numberOf returns the number of a specimen that a report names without one. For other
// specimens it returns the name that the report has.
func (g *specimenGroups) numberOf(id, name string) string {
	if f := g.facts[id]; f == nil || f.number != "" {
		return name
	}
	if group := g.facts[g.groups[id]]; group != nil {
		return cmp.Or(group.number, name)
	}
	return name
}

// haveSeveral reports whether the order has several specimens.
func (g *specimenGroups) haveSeveral() bool {
	found := map[string]bool{}
	for _, group := range g.groups {
		found[group] = found[group] || group != unknownSpecimen
	}
	delete(found, unknownSpecimen)
	return len(found) > 1
}

// knows reports whether the group of a specimen is known.
func (g *specimenGroups) knows(id string) bool {
	return id != "" && g.groups[id] != unknownSpecimen
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

// hasDifferent reports whether a group contains a specimen that cannot be the same as the
// given one.
func (g *specimenGroups) hasDifferent(group, id string) bool {
	for other, of := range g.groups {
		if of == group && g.facts[id].isDifferent(g.facts[other], other) {
			return true
		}
	}
	return false
}

func (f *specimenFacts) isDifferent(other *specimenFacts, id string) bool {
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
		sameTime = sameTime || other.wasCollected(a)
	}
	return len(f.types) > 0 && len(other.types) > 0 && !sameType || len(f.collected) > 0 && len(other.collected) > 0 && !sameTime
}

func (f *specimenFacts) wasCollected(at time.Time) bool {
	return slices.ContainsFunc(f.collected, func(known time.Time) bool { return known.Sub(at).Abs() < time.Minute })
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
			if first := mentioned[g.groups[id]]; g.knows(id) && (first == nil || compareTimes(r, first) < 0) {
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
		reports[i].severalSpecimens = known > 1
	}
}
