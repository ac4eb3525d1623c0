package catalogue

import "slices"

// Source is a code that another lab's equivalent is looked for.
type Source struct {
	ProviderID string
	Markers    []*Marker // what labs have under the code; none for an unknown one
}

// Sources finds what codes mean, each once, in any lab.
func Sources(c *Catalogue, providerIDs []string) []Source {
	var sources []Source
	for i, code := range providerIDs {
		if !slices.Contains(providerIDs[:i], code) {
			sources = append(sources, Source{code, c.Coded(code)})
		}
	}
	return sources
}

// SourcesOf are the codes of a lab test.
func SourcesOf(c *Catalogue, t Test) []Source {
	var sources []Source
	for _, m := range c.MarkersOf(t) {
		sources = append(sources, Source{m.ProviderID, []*Marker{m}})
	}
	return sources
}

// OneLab is the lab that all codes belong to, if it is one.
func OneLab(sources []Source) (lab LabID, ok bool) {
	for _, s := range sources {
		for _, m := range s.Markers {
			if ok && m.Lab != lab {
				return 0, false
			}
			lab, ok = m.Lab, true
		}
	}
	return lab, ok
}

// At finds what a lab has for the code, the best first. Of a code that several
// labs have, the target lab's own meaning counts, else the first lab's.
func (s Source) At(c *Catalogue, target Lab, limit int) []Candidate {
	if len(s.Markers) == 0 {
		return nil
	}
	meant := s.Markers[0]
	if i := slices.IndexFunc(s.Markers, func(m *Marker) bool { return m.Lab == target.ID }); i >= 0 {
		meant = s.Markers[i]
	}
	return c.Crosswalk(CodesOf(meant), meant.Name, target, limit)
}

// Covering is the best candidate that reports all of what is looked for.
func Covering(candidates []Candidate) (Candidate, bool) {
	i := slices.IndexFunc(candidates, func(x Candidate) bool { return x.Relation == Exact || x.Relation == Superset })
	if i < 0 {
		return Candidate{}, false
	}
	return candidates[i], true
}
