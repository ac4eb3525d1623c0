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

// Query finds payors by name, by a clearing house's code, or by both together.
//
// Reference 1.18.
type Query struct {
	Name     string
	Provider string // clearing house
	Code     string // its code of the payor
	// Body is set for a query in a request body. The names of its fields differ from
	// those of URL parameters.
	Body bool
}

// location returns the place of a parameter in the request.
func (q Query) location(parameter string) []string {
	switch {
	case !q.Body:
		return []string{"query", parameter}
	case parameter == "provider_payor_id":
		return []string{"body", "provider_id"}
	}
	return []string{"body", parameter}
}

// maxFound bounds the result of a search.
const maxFound = 50

// indexedPayor is a payor with folded names, for search.
type indexedPayor struct {
	Payor
	folded []foldedName
}

// foldedName is a name without case, accents and punctuation.
type foldedName struct {
	text     string
	words    []string
	trigrams map[string]bool
}

func indexPayor(p Payor) indexedPayor {
	n := indexedPayor{Payor: p}
	for _, text := range append([]string{p.Name}, p.Aliases...) {
		n.folded = append(n.folded, fold(text))
	}
	return n
}

// fold folds a name and splits it into words and trigrams.
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

// Scores of matches.
const (
	sameNameScore   = 100.0
	prefixScore     = 90.0
	wordPrefixScore = 80.0 // each word of the query begins a word of the name
	trigramScore    = 70.0 // times the share of common trigrams
	minTrigramShare = 0.5
)

// minExactScore is the lowest score of a match by words. If there is such a match,
// Search drops those that only have common trigrams.
const minExactScore = wordPrefixScore * 0.9

// score compares a query with the names of a payor. It returns 0 for no match.
func (n indexedPayor) score(query foldedName) float64 {
	best := 0.0
	for i, name := range n.folded {
		s := name.score(query)
		if i > 0 {
			s *= 0.99 // a name comes before an alias with the same score
		}
		best = max(best, s)
	}
	return best
}

func (f foldedName) score(query foldedName) float64 {
	switch {
	case f.text == query.text || strings.ReplaceAll(f.text, " ", "") == strings.ReplaceAll(query.text, " ", ""):
		return sameNameScore
	case strings.HasPrefix(f.text, query.text):
		return prefixScore
	case everyWordBegins(query.words, f.words):
		return wordPrefixScore
	}
	common := 0
	for t := range query.trigrams {
		if f.trigrams[t] {
			common++
		}
	}
	share := 2 * float64(common) / float64(len(query.trigrams)+len(f.trigrams))
	if share < minTrigramShare {
		return 0
	}
	return trigramScore * share
}

func everyWordBegins(query, words []string) bool {
	for _, q := range query {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, q) }) {
			return false
		}
	}
	return true
}

// check trims a query, and refuses an empty or incomplete one.
func (q *Query) check() error {
	q.Name, q.Provider, q.Code = strings.TrimSpace(q.Name), strings.TrimSpace(q.Provider), strings.TrimSpace(q.Code)
	switch {
	case q.Provider != "" && !slices.Contains(ClearingHouses(), q.Provider):
		return fault.NotInEnum(ClearingHouses()).At(q.location("provider")...)
	case q.Provider != "" && q.Code == "":
		return fault.New(fault.Invalid, "Value error, a provider needs its code of the payor").At(q.location("provider_payor_id")...)
	case q.Provider == "" && q.Code != "":
		return fault.New(fault.Invalid, "Value error, a code needs its provider").At(q.location("provider")...)
	case q.Provider == "" && fold(q.Name).text == "":
		return fault.New(fault.Invalid, "Value error, give a name, or a provider and its code of the payor").At(q.location("insurance_name")...)
	}
	return nil
}

// Search finds payors of the team and of all teams, best match first.
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
	hits := append(q.match(own), q.match(dir.searchable)...)
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	if len(hits) > 0 && hits[0].score >= minExactScore {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.score < minExactScore })
	}
	found := make([]Payor, 0, min(len(hits), maxFound))
	for _, h := range hits[:min(len(hits), maxFound)] {
		found = append(found, h.Payor)
	}
	return found, nil
}

type hit struct {
	Payor
	score float64
}

// match returns the payors that match the query.
func (q Query) match(all []indexedPayor) []hit {
	var hits []hit
	query := fold(q.Name)
	for _, n := range all {
		if q.Provider != "" && !n.hasExternal(q.Provider, q.Code) {
			continue
		}
		score := sameNameScore
		if query.text != "" {
			score = n.score(query)
		}
		if score > 0 {
			hits = append(hits, hit{n.Payor, score})
		}
	}
	return hits
}
