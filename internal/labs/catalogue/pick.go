package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/fault"
)

// addOn finds the single markers of a set.
func (c *Catalogue) addOn(lab *Lab, set OrderSet) ([]*Marker, error) {
	if !set.single() {
		return nil, nil
	}
	added, err := c.pick(lab, set.MarkerIDs, set.ProviderIDs)
	if err != nil {
		return nil, err
	}
	for _, m := range added {
		if !m.ALaCarte {
			return nil, refuse("not_a_la_carte", fmt.Sprintf("Marker %s cannot be ordered by itself", m.Name), "order_set", "add_on")
		}
	}
	return added, nil
}

// gather puts the markers of tests and add-on together, each once.
func (c *Catalogue) gather(tests []Test, added []*Marker) Panel {
	var p Panel
	for _, t := range tests {
		p.Fasting = p.Fasting || t.Fasting
		p.add(c.MarkersOf(t))
	}
	p.add(added)
	for _, m := range added {
		p.Fasting = p.Fasting || m.Fasting
	}
	return p
}

// panel is what tests and add-on amount to, for a method that all of them
// allow.
func (c *Catalogue) panel(tests []Test, added []*Marker, method Method) (Panel, error) {
	p := c.gather(tests, added)
	p.Method = method
	if len(p.Markers) == 0 {
		return Panel{}, refuse("no_markers", "The tests have no markers that are still offered", "order_set")
	}
	for _, m := range p.Markers {
		if m.Lab != p.Markers[0].Lab {
			return Panel{}, severalLabs()
		}
		if !m.Active {
			return Panel{}, refuse("marker_inactive", fmt.Sprintf("Marker %s is not active", m.Name), "order_set")
		}
	}
	p.Lab, _ = c.Lab(p.Markers[0].Lab) // a marker's lab is there
	p.Sample = mainSample(p.Markers)
	p.CommonTAT, p.WorstTAT = TAT(p.Markers)
	return p, offered(p.Lab, p.Markers, method, "collection_method")
}

func (p *Panel) add(markers []*Marker) {
	for _, m := range markers {
		if !slices.Contains(p.Markers, m) {
			p.Markers = append(p.Markers, m)
		}
	}
}

// pick finds markers by our ids or by the lab's codes; all must be of one lab
// and orderable. Without a lab, codes must be those of one lab only.
func (c *Catalogue) pick(lab *Lab, markerIDs []MarkerID, providerIDs []string) ([]*Marker, error) {
	var p Panel // for adding each once
	for _, id := range markerIDs {
		m, ok := c.Marker(id)
		if !ok || lab != nil && m.Lab != lab.ID {
			return nil, refuse("unknown_marker", "Marker does not exist", "marker_ids")
		}
		p.add([]*Marker{m})
	}
	for _, code := range providerIDs {
		m, err := c.coded(lab, strings.TrimSpace(code))
		if err != nil {
			return nil, err
		}
		p.add([]*Marker{m})
	}
	for _, m := range p.Markers {
		switch {
		case m.Lab != p.Markers[0].Lab:
			return nil, severalLabs()
		case !m.Active:
			return nil, refuse("marker_inactive", fmt.Sprintf("Marker %s is not active", m.Name), "marker_ids")
		case !m.Orderable || m.Reflex:
			return nil, refuse("marker_not_orderable", fmt.Sprintf("Marker %s cannot be ordered", m.Name), "marker_ids")
		}
	}
	return p.Markers, nil
}

// coded finds a marker by a lab's code, in all labs when none is given.
func (c *Catalogue) coded(lab *Lab, code string) (*Marker, error) {
	var found []*Marker
	for _, l := range c.labs {
		if m, ok := c.MarkerCoded(l.ID, code); ok && (lab == nil || lab.ID == l.ID) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, refuse("unknown_marker", "Marker does not exist", "provider_ids")
	case 1:
		return found[0], nil
	}
	return nil, refuse("ambiguous_provider_id", "Several labs have this provider id: name the lab by a lab test, lab_slug or lab_account_id", "provider_ids")
}

// nameOf names a generated lab test after its markers.
func nameOf(markers []*Marker) string {
	const named = 3
	var names []string
	for _, m := range markers[:min(named, len(markers))] {
		names = append(names, m.Name)
	}
	name := strings.Join(names, ", ")
	if more := len(markers) - named; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	return name
}

// offered refuses a method in which the lab or a marker cannot be collected.
func offered(l Lab, markers []*Marker, method Method, field string) error {
	possible := l.Offers(method)
	for _, m := range markers {
		possible = possible && m.CollectedBy(method)
	}
	if possible {
		return nil
	}
	return refuse("method_not_offered", "Cannot set collection_method to "+strings.ToUpper(string(method)), field)
}

// refuse is a 400 with a code for programs and the field it is about.
func refuse(code, msg string, loc ...string) error {
	return fault.New(fault.Refused, msg).At(append([]string{"body"}, loc...)...).WithType(code)
}

func severalLabs() error {
	return refuse("several_labs", "All tests and markers of an order must be of one lab", "order_set")
}

func accountOfOtherLab() error {
	return refuse("lab_account_other_lab", "The lab account is not with the lab of the order", "lab_account_id")
}
