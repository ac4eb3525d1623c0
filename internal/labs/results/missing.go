package results

import (
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
)

// missing lists what the lab says that it will not report, and, once results
// are final, whatever else the ordered markers owe and is not there.
func (e *expectations) missing(v *Version, m merged) []Missing {
	list := absent{e: e, results: v.Results}
	for _, said := range m.missing {
		list.said(said, m.comments)
	}
	if m.status != Final {
		return list.all
	}
	for _, marker := range e.ordered {
		for _, r := range marker.Results {
			if r.Required {
				list.add(e.lacking(r, marker.ProviderID), infer(strings.Join(m.comments, "\n")))
			}
		}
	}
	return list.all
}

// absent gathers what is missing, each once.
type absent struct {
	e       *expectations
	results []Result
	all     []Missing
	known   register // what is there or listed
}

// said adds what the lab speaks of. Of a whole test, or of its panel, that is
// everything in it that is not there.
func (a *absent) said(gone networks.Missing, comments []string) {
	failure := Failure(gone.Reason)
	if !slices.Contains(Failures, failure) {
		failure = infer(gone.Note)
	}
	switch {
	case failure != UnknownFailure:
	case gone.Refused:
		failure = OrderEntry
	case gone.Note == "":
		failure = infer(strings.Join(comments, "\n"))
	}
	for _, marker := range a.e.ordered {
		if marker.ProviderID != gone.ProviderID || gone.ProviderID == "" {
			continue
		}
		for _, r := range marker.Results {
			if !r.Required && len(marker.Results) > 1 {
				continue
			}
			m := a.e.lacking(r, marker.ProviderID)
			m.Note, m.Said = strings.TrimSpace(gone.Note), true
			a.add(m, failure)
		}
		return
	}
	id := a.e.identify(gone.ProviderID, gone.TestProviderID, gone.LOINC, gone.Name)
	a.add(Missing{
		Name: id.name, Slug: id.slug, ProviderID: id.code, TestID: gone.TestProviderID, LOINC: id.loinc, LOINCSlug: id.loincSlug,
		Note: strings.TrimSpace(gone.Note), Markers: id.markers, Said: true,
	}, failure)
}

// add adds one that is neither there nor listed.
func (a *absent) add(m Missing, why Failure) {
	m.Failure = why
	if a.known == nil {
		a.known = register{}
		for i := range a.results {
			a.known.add(a.results[i].naming())
		}
	}
	if !a.known.has(m.naming()) {
		a.known.add(m.naming())
		a.all = append(a.all, m)
	}
}

// lacking is a row of the catalogue that is not there.
func (e *expectations) lacking(r catalogue.Result, test string) Missing {
	m := Missing{Name: r.Name, Slug: r.Slug, ProviderID: r.ProviderID, TestID: test, LOINC: r.LOINC, Markers: e.owing(r)}
	if c := r.Code(); c != nil {
		m.LOINCSlug = c.Slug()
	}
	return m
}

// again are the markers for which a new sample would bring what is missing:
// those that the lab says it could not measure, for a reason of its own, of the
// sample's way, or for none. A result that nobody speaks of may still come.
func (v *Version) again() []catalogue.MarkerID {
	var all []catalogue.MarkerID
	for _, m := range v.Missing {
		if !m.Said || !m.Failure.Redrawable() && m.Failure != UnknownFailure {
			continue
		}
		for _, marker := range m.Markers {
			if !slices.Contains(all, marker.ID) {
				all = append(all, marker.ID)
			}
		}
	}
	return all
}
