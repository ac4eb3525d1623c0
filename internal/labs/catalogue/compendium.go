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

// Relation compares the codes that two tests report.
//
// Reference 1.16, compendium.
type Relation string

// The relations of a candidate to the wanted test, by sets of LOINC codes. A
// subset reports only codes that are wanted, but not all. A superset reports all
// of them and more. A suggestion shares no code, only words of the name.
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

// CodeSet is a sorted set of LOINC codes.
type CodeSet []string

// NewCodeSet sorts codes and removes duplicates and empty ones.
func NewCodeSet(codes []string) CodeSet {
	set := slices.DeleteFunc(slices.Clone(codes), func(c string) bool { return c == "" })
	slices.Sort(set)
	return slices.Compact(set)
}

// Hash returns an identifier of the set, the same for any order of the codes.
func (s CodeSet) Hash() string {
	sum := sha256.Sum256([]byte(strings.Join(s, ",")))
	return hex.EncodeToString(sum[:16])
}

// RelationTo returns the relation of s to wanted, empty if they share no code.
// The share is the size of the intersection divided by the size of the union: 1
// for exact.
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

// CodesOf returns the codes that a marker reports.
func CodesOf(m *Marker) CodeSet {
	codes := make([]string, len(m.Results))
	for i, r := range m.Results {
		codes[i] = r.LOINC
	}
	return NewCodeSet(codes)
}

// Canonical is a set of codes that some lab reports, with all its names in the
// catalogue.
type Canonical struct {
	Hash        string
	Name        string // the most common name of its markers
	Aliases     []string
	Codes       CodeSet
	ProviderIDs []string
	CPT         []string
	Popularity  float64 // 0 to 1
	markers     []*Marker
}

// Components returns the substances or properties that the codes measure.
func (s CodeSet) Components() []string {
	return s.collectWords(func(c *loinc.Code) []string { return []string{c.Component} })
}

// Groups returns the groups of the codes, such as CMP.
func (s CodeSet) Groups() []string {
	return s.collectWords(func(c *loinc.Code) []string { return c.Panels })
}

func (s CodeSet) collectWords(of func(c *loinc.Code) []string) []string {
	all := []string{}
	for _, code := range s {
		if c, ok := loinc.Find(code); ok {
			all = append(all, of(c)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Popularity returns how common the codes are, 0 to 1: the mean of their ranks
// among the 2,000 most common ones.
func (s CodeSet) Popularity() float64 {
	const ranked = 2200
	sum := 0.0
	for _, code := range s {
		if c, ok := loinc.Find(code); ok && c.Rank > 0 && c.Rank < ranked {
			sum += 1 - float64(c.Rank)/ranked
		}
	}
	return roundToThousandths(sum / float64(max(len(s), 1)))
}

func roundToThousandths(v float64) float64 { return float64(int(v*1000+0.5)) / 1000 }

// setIndex holds the canonical sets of the central labs.
type setIndex struct {
	all    []*Canonical // the most popular first
	byHash map[string]*Canonical
}

func newSetIndex(c *Catalogue) setIndex {
	x := setIndex{byHash: map[string]*Canonical{}}
	for _, m := range c.listed {
		set := CodesOf(m)
		if len(set) == 0 || !containsWord(c.byID[m.Lab].Slug, CentralSlugs) {
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

// describe collects the names of the markers of the set.
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

// Candidate is a marker of a lab that may replace the wanted test.
type Candidate struct {
	Marker     *Marker
	Lab        Lab
	Codes      CodeSet
	Relation   Relation
	Confidence float64 // 0 to 1
	Reasons    []string
}

// Match is a canonical set that a query finds, or one that is related to
// another.
type Match struct {
	*Canonical
	Relation   Relation // for related sets
	Confidence float64  // 0 to 1
	Reasons    []string
}

// Canonicals finds canonical sets by name, alias or LOINC code, best first. If
// CPT codes are given, the set must have them.
//
// Reference 1.16, POST /v3/compendium/search.
func (c *Catalogue) Canonicals(query string, cpt []string, limit int) []Match {
	var found []Match
	for _, s := range c.sets.all {
		if len(cpt) > 0 && !slices.ContainsFunc(s.CPT, func(code string) bool { return slices.Contains(cpt, code) }) {
			continue
		}
		byName, byAlias := nameSimilarity(query, s.Name), 0.0
		for _, alias := range s.Aliases {
			byAlias = max(byAlias, 0.95*nameSimilarity(query, alias))
		}
		if slices.Contains(s.Codes, strings.TrimSpace(query)) {
			byAlias = max(byAlias, 0.95/float64(len(s.Codes)))
		}
		switch {
		case byName == 0 && byAlias == 0:
		case byName >= byAlias:
			found = append(found, Match{Canonical: s, Confidence: roundToThousandths(byName), Reasons: []string{"NAME_MATCH"}})
		default:
			found = append(found, Match{Canonical: s, Confidence: roundToThousandths(byAlias), Reasons: []string{"SYNONYM_MATCH"}})
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found[:min(limit, len(found))]
}

// CanonicalByHash returns a canonical set by the hash of its codes.
func (c *Catalogue) CanonicalByHash(hash string) (*Canonical, bool) {
	s, ok := c.sets.byHash[hash]
	return s, ok
}

// RelatedSets returns the canonical sets that share codes with a set, closest
// first.
func (c *Catalogue) RelatedSets(to *Canonical, limit int) []Match {
	var found []Match
	for _, s := range c.sets.all {
		if relation, share := s.Codes.RelationTo(to.Codes); relation != "" && s != to {
			found = append(found, Match{s, relation, roundToThousandths(share), []string{reasons[relation]}})
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found[:min(limit, len(found))]
}

// Crosswalk returns the orderable markers of a lab that report codes of a set,
// best first. Markers that share only words of the name come last.
func (c *Catalogue) Crosswalk(wanted CodeSet, name string, lab Lab, limit int) []Candidate {
	var found []Candidate
	for _, m := range c.listed {
		if m.Lab != lab.ID {
			continue
		}
		codes := CodesOf(m)
		relation, share := codes.RelationTo(wanted)
		like := nameSimilarity(name, m.Name)
		if relation == "" && like < 0.5 {
			continue
		}
		x := Candidate{Marker: m, Lab: lab, Codes: codes, Relation: relation, Confidence: roundToThousandths(share), Reasons: []string{reasons[relation]}}
		switch {
		case relation == "":
			x.Relation, x.Confidence, x.Reasons = Suggested, roundToThousandths(like/4), []string{reasons[Suggested]}
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

// MarkersByCode returns the markers of all labs with a code, sorted by lab.
func (c *Catalogue) MarkersByCode(providerID string) []*Marker {
	var found []*Marker
	for _, l := range c.labs {
		if m, ok := c.MarkerByCode(l.ID, providerID); ok {
			found = append(found, m)
		}
	}
	return found
}

// nameSimilarity compares names by words: 1 for the same words, 0 for none in
// common. A word of the query that is only the beginning of a word counts half.
func nameSimilarity(query, name string) float64 {
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

// completeness lowers the score of names that lack words of the query.
func completeness(met float64, asked int) float64 { return met / float64(asked) }

// fillers are words that do not distinguish tests.
var fillers = []string{"and", "with", "of", "the", "in", "or", "by"}

func nameWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(fillers, w) })
	slices.Sort(words)
	return slices.Compact(words)
}

// Source is a code of a test whose equivalent at another lab is wanted.
type Source struct {
	ProviderID string
	Markers    []*Marker // the markers with this code; none for an unknown code
}

// Sources returns the meaning of codes in any lab, without duplicates.
func Sources(c *Catalogue, providerIDs []string) []Source {
	var sources []Source
	for i, code := range providerIDs {
		if !slices.Contains(providerIDs[:i], code) {
			sources = append(sources, Source{code, c.MarkersByCode(code)})
		}
	}
	return sources
}

// SourcesOf returns the codes of a lab test.
func SourcesOf(c *Catalogue, t Test) []Source {
	var sources []Source
	for _, m := range c.MarkersOf(t) {
		sources = append(sources, Source{m.ProviderID, []*Marker{m}})
	}
	return sources
}

// CommonLab returns the lab of all codes, if it is the same.
func CommonLab(sources []Source) (lab LabID, ok bool) {
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

// CandidatesAt returns the equivalents at a lab, best first. If several labs
// use the code, the meaning of the target lab counts, else that of the first
// lab.
func (s Source) CandidatesAt(c *Catalogue, target Lab, limit int) []Candidate {
	if len(s.Markers) == 0 {
		return nil
	}
	meant := s.Markers[0]
	if i := slices.IndexFunc(s.Markers, func(m *Marker) bool { return m.Lab == target.ID }); i >= 0 {
		meant = s.Markers[i]
	}
	return c.Crosswalk(CodesOf(meant), meant.Name, target, limit)
}

// FindCovering returns the best candidate that reports all wanted codes.
func FindCovering(candidates []Candidate) (Candidate, bool) {
	i := slices.IndexFunc(candidates, func(x Candidate) bool { return x.Relation == Exact || x.Relation == Superset })
	if i < 0 {
		return Candidate{}, false
	}
	return candidates[i], true
}
