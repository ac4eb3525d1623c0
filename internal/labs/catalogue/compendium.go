package catalogue

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"hale/internal/labs/loinc"
)

// Relation says how what one test reports stands to what another does.
//
// Reference 1.16, compendium.
type Relation string

// The relations of a candidate to what is looked for, by LOINC sets: a subset
// reports less of it and nothing else, a superset all of it and more. A
// suggestion shares no code, only words of its name.
const (
	Exact     Relation = "exact"
	Subset    Relation = "subset"
	Superset  Relation = "superset"
	Overlap   Relation = "overlap"
	Suggested Relation = "suggested"
)

// reasons are the codes that explain a relation.
var reasons = map[Relation]string{
	Exact: "EXACT_LOINC_SET", Subset: "SUBSET", Superset: "SUPERSET", Overlap: "OVERLAP", Suggested: "NAME_MATCH",
}

// CodeSet is a set of LOINC codes: sorted, each once.
type CodeSet []string

// NewCodeSet sorts codes and drops empty and repeated ones.
func NewCodeSet(codes []string) CodeSet {
	set := slices.DeleteFunc(slices.Clone(codes), func(c string) bool { return c == "" })
	slices.Sort(set)
	return slices.Compact(set)
}

// Hash names the set: the same for the same codes in any order.
func (s CodeSet) Hash() string {
	sum := sha256.Sum256([]byte(strings.Join(s, ",")))
	return hex.EncodeToString(sum[:16])
}

// RelationTo is how s stands to wanted, or empty when they share nothing. The
// share is the part that both have of all that either has: 1 for exact.
func (s CodeSet) RelationTo(wanted CodeSet) (r Relation, share float64) {
	common := 0
	for i, j := 0, 0; i < len(s) && j < len(wanted); {
		switch c := strings.Compare(s[i], wanted[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	if common == 0 {
		return "", 0
	}
	share = float64(common) / float64(len(s)+len(wanted)-common)
	switch {
	case common == len(s) && common == len(wanted):
		return Exact, share
	case common == len(s):
		return Subset, share
	case common == len(wanted):
		return Superset, share
	}
	return Overlap, share
}

// CodesOf is what a marker reports, as a set.
func CodesOf(m *Marker) CodeSet {
	codes := make([]string, len(m.Results))
	for i, r := range m.Results {
		codes[i] = r.LOINC
	}
	return NewCodeSet(codes)
}

// Canonical is a set of codes that some lab reports, with everything the
// catalogue calls it.
type Canonical struct {
	Hash        string
	Name        string // the most common of its markers' names
	Aliases     []string
	Codes       CodeSet
	ProviderIDs []string
	CPT         []string
	Popularity  float64 // 0 to 1
	markers     []*Marker
}

// Components are the substances or properties that codes measure.
func (s CodeSet) Components() []string {
	return s.words(func(c *loinc.Code) []string { return []string{c.Component} })
}

// Groups are the groups that codes belong to, such as CMP.
func (s CodeSet) Groups() []string {
	return s.words(func(c *loinc.Code) []string { return c.Panels })
}

func (s CodeSet) words(of func(c *loinc.Code) []string) []string {
	all := []string{}
	for _, code := range s {
		if c, ok := loinc.Find(code); ok {
			all = append(all, of(c)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Popularity is how commonly the codes are ordered, 0 to 1: the mean of their
// places among the 2,000 most common.
func (s CodeSet) Popularity() float64 {
	const ranked = 2200
	sum := 0.0
	for _, code := range s {
		if c, ok := loinc.Find(code); ok && c.Rank > 0 && c.Rank < ranked {
			sum += 1 - float64(c.Rank)/ranked
		}
	}
	return rounded(sum / float64(max(len(s), 1)))
}

func rounded(v float64) float64 { return float64(int(v*1000+0.5)) / 1000 }

// setIndex are the canonical sets of the central labs.
type setIndex struct {
	all    []*Canonical // the most popular first
	byHash map[string]*Canonical
}

func newSetIndex(c *Catalogue) setIndex {
	x := setIndex{byHash: map[string]*Canonical{}}
	for _, m := range c.listed {
		set := CodesOf(m)
		if len(set) == 0 || !known(c.byID[m.Lab].Slug, CentralSlugs) {
			continue
		}
		found, ok := x.byHash[set.Hash()]
		if !ok {
			found = &Canonical{Hash: set.Hash(), Codes: set, Popularity: set.Popularity()}
			x.byHash[found.Hash] = found
			x.all = append(x.all, found)
		}
		found.markers = append(found.markers, m)
	}
	for _, s := range x.all {
		s.describe()
	}
	slices.SortFunc(x.all, func(a, b *Canonical) int {
		return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash))
	})
	return x
}

// describe gathers what the markers of the set are called.
func (s *Canonical) describe() {
	count := map[string]int{}
	for _, m := range s.markers {
		count[m.Name]++
		s.ProviderIDs = append(s.ProviderIDs, m.ProviderID)
		s.CPT = append(s.CPT, m.CPT...)
	}
	for name, n := range count {
		if s.Name == "" || n > count[s.Name] || n == count[s.Name] && name < s.Name {
			s.Name = name
		}
	}
	for name := range count {
		s.Aliases = append(s.Aliases, name)
	}
	if len(s.Codes) == 1 {
		if c, ok := loinc.Find(s.Codes[0]); ok {
			s.Aliases = append(append(s.Aliases, c.Aliases...), c.Display, c.Name)
		}
	}
	for _, list := range []*[]string{&s.Aliases, &s.ProviderIDs, &s.CPT} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	s.Aliases = slices.DeleteFunc(s.Aliases, func(name string) bool { return name == s.Name })
}

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
