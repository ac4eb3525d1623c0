package insurance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Query asks for payors by name, by what a clearing house calls them, or by
// both, which must agree then.
//
// Reference 1.18.
type Query struct {
	Name     string
	Provider string // clearing house
	Code     string // what it calls the payor
	// Body tells that the query came in a body, whose fields have other names
	// than the parameters of a URL.
	Body bool
}

// place is where the caller wrote a part of the query.
func (q Query) place(parameter string) []string {
	switch {
	case !q.Body:
		return []string{"query", parameter}
	case parameter == "provider_payor_id":
		return []string{"body", "provider_id"}
	}
	return []string{"body", parameter}
}

// mostFound bounds an answer.
const mostFound = 50

// named is a payor with its names, folded for comparing.
type named struct {
	Payor
	folded []foldedName
}

// foldedName is a name without case, accents and punctuation.
type foldedName struct {
	text     string
	words    []string
	trigrams map[string]bool
}

func nameOf(p Payor) named {
	n := named{Payor: p}
	for _, text := range append([]string{p.Name}, p.Aliases...) {
		n.folded = append(n.folded, fold(text))
	}
	return n
}

// fold takes a name apart.
func fold(text string) foldedName {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(text))
	f := foldedName{words: strings.Fields(plain), trigrams: map[string]bool{}}
	f.text = strings.Join(f.words, " ")
	for _, word := range f.words {
		padded := []rune("  " + word + " ")
		for i := range len(padded) - 2 {
			f.trigrams[string(padded[i:i+3])] = true
		}
	}
	return f
}

// How good a match is, from best to worst.
const (
	sameName     = 100.0
	beginsWith   = 90.0
	wordsBegin   = 80.0 // each word of the query begins a word of the name
	alike        = 70.0 // times the share of trigrams in common
	alikeAtLeast = 0.5
)

// spelledRight is what every match has that is more than alike: beside one of
// these, names that are merely alike are noise.
const spelledRight = wordsBegin * 0.9

// score compares a query with the names of a payor; 0 is no match.
func (n named) score(query foldedName) float64 {
	best := 0.0
	for i, name := range n.folded {
		s := name.score(query)
		if i > 0 {
			s *= 0.99 // an alias yields to a name that fits as well
		}
		best = max(best, s)
	}
	return best
}

func (f foldedName) score(query foldedName) float64 {
	switch {
	case f.text == query.text || strings.ReplaceAll(f.text, " ", "") == strings.ReplaceAll(query.text, " ", ""):
		return sameName
	case strings.HasPrefix(f.text, query.text):
		return beginsWith
	case everyWordBegins(query.words, f.words):
		return wordsBegin
	}
	common := 0
	for t := range query.trigrams {
		if f.trigrams[t] {
			common++
		}
	}
	share := 2 * float64(common) / float64(len(query.trigrams)+len(f.trigrams))
	if share < alikeAtLeast {
		return 0
	}
	return alike * share
}

func everyWordBegins(query, words []string) bool {
	for _, q := range query {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, q) }) {
			return false
		}
	}
	return true
}

// check brings a query into its form and refuses one that asks for nothing.
func (q *Query) check() error {
	q.Name, q.Provider, q.Code = strings.TrimSpace(q.Name), strings.TrimSpace(q.Provider), strings.TrimSpace(q.Code)
	switch {
	case q.Provider != "" && !slices.Contains(ClearingHouses(), q.Provider):
		return fault.NotInEnum(ClearingHouses()).At(q.place("provider")...)
	case q.Provider != "" && q.Code == "":
		return fault.New(fault.Invalid, "Value error, a provider needs its code of the payor").At(q.place("provider_payor_id")...)
	case q.Provider == "" && q.Code != "":
		return fault.New(fault.Invalid, "Value error, a code needs its provider").At(q.place("provider")...)
	case q.Provider == "" && fold(q.Name).text == "":
		return fault.New(fault.Invalid, "Value error, give a name, or a provider and its code of the payor").At(q.place("insurance_name")...)
	}
	return nil
}

// Search finds payors, best first: those of the team and those of all.
//
// Reference 1.18, GET /v3/insurance/search/payor.
func Search(ctx context.Context, tx *store.Tx, team teams.ID, q Query) ([]Payor, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	dir, err := currentDirectory(ctx, tx)
	if err != nil {
		return nil, err
	}
	own, err := teamPayors(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	hits := append(q.among(own), q.among(dir.names)...)
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	if len(hits) > 0 && hits[0].score >= spelledRight {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.score < spelledRight })
	}
	found := make([]Payor, 0, min(len(hits), mostFound))
	for _, h := range hits[:min(len(hits), mostFound)] {
		found = append(found, h.Payor)
	}
	return found, nil
}

type hit struct {
	Payor
	score float64
}

// among finds what matches.
func (q Query) among(all []named) []hit {
	var hits []hit
	query := fold(q.Name)
	for _, n := range all {
		if q.Provider != "" && !n.isCalled(q.Provider, q.Code) {
			continue
		}
		score := sameName
		if query.text != "" {
			score = n.score(query)
		}
		if score > 0 {
			hits = append(hits, hit{n.Payor, score})
		}
	}
	return hits
}
