package catalogue

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

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
