package catalogue

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Candidate is a marker of a lab that may stand for what is looked for.
type Candidate struct {
	Marker     *Marker
	Lab        Lab
	Codes      CodeSet
	Relation   Relation
	Confidence float64 // 0 to 1
	Reasons    []string
}

// Match is a canonical set that a query finds, or that is related to one.
type Match struct {
	*Canonical
	Relation   Relation // of a related set
	Confidence float64  // 0 to 1
	Reasons    []string
}

// Canonicals finds canonical sets by name, alias or LOINC code, the best
// first. CPT codes, when given, must be among the set's.
//
// Reference 1.16, POST /v3/compendium/search.
func (c *Catalogue) Canonicals(query string, cpt []string, limit int) []Match {
	var found []Match
	for _, s := range c.sets.all {
		if len(cpt) > 0 && !slices.ContainsFunc(s.CPT, func(code string) bool { return slices.Contains(cpt, code) }) {
			continue
		}
		byName, byAlias := likeness(query, s.Name), 0.0
		for _, alias := range s.Aliases {
			byAlias = max(byAlias, 0.95*likeness(query, alias))
		}
		if slices.Contains(s.Codes, strings.TrimSpace(query)) {
			byAlias = max(byAlias, 0.95/float64(len(s.Codes)))
		}
		switch {
		case byName == 0 && byAlias == 0:
		case byName >= byAlias:
			found = append(found, Match{Canonical: s, Confidence: rounded(byName), Reasons: []string{"NAME_MATCH"}})
		default:
			found = append(found, Match{Canonical: s, Confidence: rounded(byAlias), Reasons: []string{"SYNONYM_MATCH"}})
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found[:min(limit, len(found))]
}

// CanonicalHashed finds a canonical set by the hash of its codes.
func (c *Catalogue) CanonicalHashed(hash string) (*Canonical, bool) {
	s, ok := c.sets.byHash[hash]
	return s, ok
}

// Related are the canonical sets that share codes with one, the closest first.
func (c *Catalogue) Related(to *Canonical, limit int) []Match {
	var found []Match
	for _, s := range c.sets.all {
		if relation, share := s.Codes.RelationTo(to.Codes); relation != "" && s != to {
			found = append(found, Match{s, relation, rounded(share), []string{reasons[relation]}})
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found[:min(limit, len(found))]
}

// Crosswalk finds a lab's orderable markers that report what a set of codes
// says, the best first; markers that share only words of the name come last.
func (c *Catalogue) Crosswalk(wanted CodeSet, name string, lab Lab, limit int) []Candidate {
	var found []Candidate
	for _, m := range c.listed {
		if m.Lab != lab.ID {
			continue
		}
		codes := CodesOf(m)
		relation, share := codes.RelationTo(wanted)
		like := likeness(name, m.Name)
		if relation == "" && like < 0.5 {
			continue
		}
		x := Candidate{Marker: m, Lab: lab, Codes: codes, Relation: relation, Confidence: rounded(share), Reasons: []string{reasons[relation]}}
		switch {
		case relation == "":
			x.Relation, x.Confidence, x.Reasons = Suggested, rounded(like/4), []string{reasons[Suggested]}
		case like == 1:
			x.Reasons = append(x.Reasons, reasons[Suggested])
		}
		found = append(found, x)
	}
	order := []Relation{Exact, Superset, Subset, Overlap, Suggested}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		return cmp.Or(
			cmp.Compare(b.Confidence, a.Confidence),
			cmp.Compare(slices.Index(order, a.Relation), slices.Index(order, b.Relation)),
			cmp.Compare(len(b.Reasons), len(a.Reasons)),
		)
	})
	return found[:min(limit, len(found))]
}

// Coded finds the markers with a code in any lab, by lab.
func (c *Catalogue) Coded(providerID string) []*Marker {
	var found []*Marker
	for _, l := range c.labs {
		if m, ok := c.MarkerCoded(l.ID, providerID); ok {
			found = append(found, m)
		}
	}
	return found
}

// likeness compares names by words: 1 for the same words, 0 for none in
// common. A query's word also meets a word that it begins, for half.
func likeness(query, name string) float64 {
	asked, has := nameWords(query), nameWords(name)
	if len(asked) == 0 || len(has) == 0 {
		return 0
	}
	met := 0.0
	for _, a := range asked {
		best := 0.0
		for _, h := range has {
			switch {
			case a == h:
				best = 1
			case len(a) >= 3 && strings.HasPrefix(h, a):
				best = max(best, 0.5)
			}
		}
		met += best
	}
	return 2 * met / float64(len(asked)+len(has)) * completeness(met, len(asked))
}

// completeness counts names down that miss a word of the query.
func completeness(met float64, asked int) float64 { return met / float64(asked) }

// fillers are words that tell no tests apart.
var fillers = []string{"and", "with", "of", "the", "in", "or", "by"}

func nameWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(fillers, w) })
	slices.Sort(words)
	return slices.Compact(words)
}
