package diagnoses

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

const (
	mostFound    = 50
	longestQuery = 200 // bytes
	mostWords    = 12
)

// Search finds complete codes, best first: by the beginning of a code, by what
// people say, or by the beginnings of words of the title, all of which must be
// there.
//
// Reference 1.18, GET /v3/insurance/search/diagnosis.
func Search(ctx context.Context, tx *store.Tx, query string) ([]Diagnosis, error) {
	words := strings.Fields(fold(query))
	if len(words) == 0 {
		return nil, fault.New(fault.Invalid, "Value error, give a word or the beginning of a code").At("query", "diagnosis_query")
	}
	if len(query) > longestQuery || len(words) > mostWords {
		return nil, fault.Newf(fault.Invalid, "Value error, at most %d words", mostWords).At("query", "diagnosis_query")
	}
	l, err := icd10.Current(ctx, tx)
	if err != nil {
		return nil, err
	}
	return l.search(query, words), nil
}

// How good a match is. A code that is common comes before one that is not, and
// among equals the shorter title wins.
const (
	byCode      = 1 << 30
	bySynonym   = 1 << 28 // all that people say
	bySynonyms  = 1 << 26 // its beginning
	byBeginning = 1 << 24 // of the title
	byWords     = 1 << 22
	isCommon    = 1 << 20
)

type hit struct{ at, score int }

func compareHits(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) }

// best keeps the best hits of any number, in order.
type best []hit

func (b *best) add(h hit) {
	all := *b
	if len(all) == mostFound && compareHits(h, all[len(all)-1]) > 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(all, h, compareHits)
	all = slices.Insert(all, at, h)
	*b = all[:min(len(all), mostFound)]
}

func (l *list) search(query string, words []string) []Diagnosis {
	text := strings.Join(words, " ")
	special := l.special(query, text)
	hits := make(best, 0, mostFound+1)
	note := func(at, score int) {
		if l.entries[at].common {
			score += isCommon
		}
		hits.add(hit{at, score - len(l.entries[at].title)})
	}
	for at, score := range special {
		note(at, score)
	}
	for at := range l.withWords(words) {
		switch {
		case special[at] > 0:
		case strings.HasPrefix(l.entries[at].folded, text):
			note(at, byBeginning)
		default:
			note(at, byWords)
		}
	}
	found := make([]Diagnosis, len(hits))
	for i, h := range hits {
		found[i] = l.entries[h.at].diagnosis()
	}
	return found
}

// special are the entries that the query means by their code or by what people
// say, with how well.
func (l *list) special(query, text string) map[int]int {
	scores := map[int]int{}
	for _, at := range l.beginningWith(query) {
		scores[at] = byCode
	}
	from := sort.Search(len(l.synonyms), func(i int) bool { return l.synonyms[i].text >= text })
	for _, s := range l.synonyms[from:] {
		if !strings.HasPrefix(s.text, text) {
			break
		}
		score := bySynonyms
		if s.text == text {
			score = bySynonym
		}
		for i, at := range s.codes { // the first is meant most often
			scores[at] = max(scores[at], score-i*isCommon)
		}
	}
	return scores
}

func (e entry) diagnosis() Diagnosis {
	return Diagnosis{dotted(e.plain), e.title, isSecondary(e.plain, e.title)}
}

// beginningWith lists codes that begin with a text, which may have the dot;
// nothing when the text is shorter than a letter and a digit.
func (l *list) beginningWith(text string) []int {
	plain := strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(text), ".", ""))
	if len(plain) < 2 || !isLetter(plain[0]) || !isDigit(plain[1]) {
		return nil
	}
	from := sort.Search(len(l.entries), func(i int) bool { return l.entries[i].plain >= plain })
	var found []int
	for at := from; at < len(l.entries) && len(found) < mostFound && strings.HasPrefix(l.entries[at].plain, plain); at++ {
		found = append(found, at)
	}
	return found
}

// withWords yields the entries in whose titles every word begins one: a bit
// for each entry, and the words' bits together.
func (l *list) withWords(words []string) func(yield func(at int) bool) {
	together := make([]uint64, (len(l.entries)+63)/64)
	for i := range together {
		together[i] = ^uint64(0)
	}
	one := make([]uint64, len(together))
	for _, word := range words {
		clear(one)
		from := sort.SearchStrings(l.words, word)
		for i := from; i < len(l.words) && strings.HasPrefix(l.words[i], word); i++ {
			for _, at := range l.postings[i] {
				one[at/64] |= 1 << (at % 64)
			}
		}
		for i := range together {
			together[i] &= one[i]
		}
	}
	return func(yield func(at int) bool) {
		for i, set := range together {
			for ; set != 0; set &= set - 1 {
				if !yield(i*64 + bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}
