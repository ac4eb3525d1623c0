package catalogue

import (
	"cmp"
	"slices"
	"strings"
)

// Catalogue is the labs and markers that a team sees. It never changes; an
// import makes a new one.
type Catalogue struct {
	labs    []Lab
	byID    map[LabID]Lab
	bySlug  map[string]Lab
	markers map[MarkerID]*Marker
	byCode  map[labCode]*Marker
	// listed are the markers that may be ordered, by lab and name.
	listed    []*Marker
	accounts  []Account // the platform's for the sandbox
	physician *Physician
	sets      setIndex
}

type labCode struct {
	lab        LabID
	providerID string
}

// newCatalogue indexes labs and markers. Of two markers with the same code of
// the same lab the later one counts, unless it is retired and the other is not;
// both are found by id.
func newCatalogue(labs []Lab, markers []*Marker, accounts []Account, physician *Physician) *Catalogue {
	c := &Catalogue{
		byID: map[LabID]Lab{}, bySlug: map[string]Lab{}, markers: make(map[MarkerID]*Marker, len(markers)),
		byCode: make(map[labCode]*Marker, len(markers)), accounts: accounts, physician: physician,
	}
	for _, l := range labs {
		c.byID[l.ID], c.bySlug[l.Slug] = l, l
	}
	for _, m := range markers {
		c.markers[m.ID] = m
		if at := (labCode{m.Lab, m.ProviderID}); m.Active || c.byCode[at] == nil || !c.byCode[at].Active {
			c.byCode[at] = m
		}
	}
	for _, l := range c.byID {
		c.labs = append(c.labs, l)
	}
	slices.SortFunc(c.labs, func(a, b Lab) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range c.byCode {
		if m.Active && m.Orderable && !m.Reflex {
			c.listed = append(c.listed, m)
		}
	}
	slices.SortFunc(c.listed, func(a, b *Marker) int {
		return cmp.Or(cmp.Compare(a.Lab, b.Lab), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	c.sets = newSetIndex(c)
	return c
}

// Labs lists the labs by id.
func (c *Catalogue) Labs() []Lab { return c.labs }

// Lab finds a lab.
func (c *Catalogue) Lab(id LabID) (Lab, bool) {
	l, ok := c.byID[id]
	return l, ok
}

// LabNamed finds a lab by its slug.
func (c *Catalogue) LabNamed(slug string) (Lab, bool) {
	l, ok := c.bySlug[slug]
	return l, ok
}

// Marker finds a marker, active or not.
func (c *Catalogue) Marker(id MarkerID) (*Marker, bool) {
	m, ok := c.markers[id]
	return m, ok
}

// MarkerCoded finds a marker by a lab's own code.
func (c *Catalogue) MarkerCoded(lab LabID, providerID string) (*Marker, bool) {
	m, ok := c.byCode[labCode{lab, providerID}]
	return m, ok
}

// MarkersOf finds the markers of a lab test, in its order.
func (c *Catalogue) MarkersOf(t Test) []*Marker {
	markers := make([]*Marker, 0, len(t.MarkerIDs))
	for _, id := range t.MarkerIDs {
		if m, ok := c.markers[id]; ok {
			markers = append(markers, m)
		}
	}
	return markers
}

// WithReflex adds to markers those that may follow from their results.
func (c *Catalogue) WithReflex(markers []*Marker) []*Marker {
	all := slices.Clone(markers)
	for _, m := range c.byCode {
		if m.Reflex && m.Active && slices.ContainsFunc(markers, func(of *Marker) bool {
			return of.Lab == m.Lab && of.ProviderID == m.ReflexOf
		}) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all[len(markers):], func(a, b *Marker) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// MarkerFilter narrows the list of markers; the zero value is all of them.
type MarkerFilter struct {
	Labs     []LabID // nil for all labs
	Name     string  // part of the name or start of the lab's code, any case
	ALaCarte *bool
}

// Markers lists the markers that may be ordered, by lab and name. Reflex
// markers are not among them.
//
// Reference 1.16, GET /v3/lab_tests/markers.
func (c *Catalogue) Markers(f MarkerFilter) []*Marker {
	name := strings.ToLower(strings.TrimSpace(f.Name))
	var found []*Marker
	for _, m := range c.listed {
		if f.Labs != nil && !slices.Contains(f.Labs, m.Lab) || f.ALaCarte != nil && m.ALaCarte != *f.ALaCarte {
			continue
		}
		if name == "" || strings.Contains(strings.ToLower(m.Name), name) || strings.HasPrefix(strings.ToLower(m.ProviderID), name) {
			found = append(found, m)
		}
	}
	return found
}

// PlatformPhysician is who orders for teams that have no physician of their
// own. Only the sandbox has one.
func (c *Catalogue) PlatformPhysician() (Physician, bool) {
	if c.physician == nil {
		return Physician{}, false
	}
	return *c.physician, true
}
