package matching

import (
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
)

// Overlap compares what was measured with what was ordered.
type Overlap struct {
	Ordered  int `json:"ordered"`  // markers of the order
	Reported int `json:"reported"` // tests on the report
	Shared   int `json:"shared"`   // ordered markers that were reported
}

// reason is the overlap in one word; empty when the report names no tests.
func (o Overlap) reason() Reason {
	switch {
	case o.Reported == 0 || o.Ordered == 0:
		return ""
	case o.Shared == 0:
		return MarkersNone
	case o.Shared == o.Ordered && o.Reported <= o.Shared:
		return MarkersExact
	}
	return MarkersPartial
}

// reported are the tests on a report, each once: by the lab's code of the test
// that was ordered where it says one, else by that of the result.
func reported(set *networks.ResultSet) []Marker {
	if set == nil {
		return nil
	}
	var all []Marker
	listed := map[string]bool{"": true}
	add := func(test, result, name string) {
		m := Marker{ProviderID: test, Name: name}
		if test == "" {
			m.ProviderID = result
		}
		if key := m.key(); !listed[key] {
			listed[key] = true
			all = append(all, m)
		}
	}
	for _, r := range set.Results {
		add(r.TestProviderID, r.ProviderID, r.Name)
	}
	for _, m := range set.Missing {
		add(m.TestProviderID, m.ProviderID, m.Name)
	}
	return all
}

func (m Marker) key() string {
	if m.ProviderID != "" {
		return m.ProviderID
	}
	return strings.ToLower(m.Name)
}

// overlapOf counts which ordered markers a report has: under the marker's own
// code, or by a result that the marker owes.
func overlapOf(report []Marker, ordered []*catalogue.Marker) Overlap {
	o := Overlap{Ordered: len(ordered), Reported: len(report)}
	found := make([]bool, len(report))
	for _, m := range ordered {
		shared := false
		for i, r := range report {
			if answers(r, m) {
				shared, found[i] = true, true
			}
		}
		if shared {
			o.Shared++
		}
	}
	// Several results of one marker are one test.
	strangers := 0
	for _, f := range found {
		if !f {
			strangers++
		}
	}
	o.Reported = o.Shared + strangers
	return o
}

// answers reports whether a reported test is a marker, or a result of it.
func answers(r Marker, m *catalogue.Marker) bool {
	if r.ProviderID != "" {
		return r.ProviderID == m.ProviderID || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return e.ProviderID == r.ProviderID })
	}
	return strings.EqualFold(r.Name, m.Name) || slices.ContainsFunc(m.Results, func(e catalogue.Result) bool { return strings.EqualFold(e.Name, r.Name) })
}
