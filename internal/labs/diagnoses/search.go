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

// Search finds complete codes, best first. It matches the beginning of a code, a
// synonym, or the beginnings of words of the title; all words must match.
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

// The scores of a match. Common codes come before other codes; among equals, the
// shorter title comes first.
const (
	byCode      = 1 << 30
	bySynonym   = 1 << 28 // the whole synonym
	bySynonyms  = 1 << 26 // the beginning of a synonym
	byBeginning = 1 << 24 // the beginning of the title
	byWords     = 1 << 22
	isCommon    = 1 << 20
)

type hit struct{ at, score int }

func compareHits(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) }

// topHits keeps the best hits, in order.
type topHits []hit

func (b *topHits) add(h hit) {
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
	special := l.codeAndSynonymHits(query, text)
	hits := make(topHits, 0, mostFound+1)
	note := func(at, score int) {
		if l.entries[at].common {
			score += isCommon
		}
		hits.add(hit{at, score - len(l.entries[at].title)})
	}
	for at, score := range special {
		note(at, score)
	}
	for at := range l.entriesWithWords(words) {
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

// codeAndSynonymHits returns the scores of entries that match by code or by
// synonym.
func (l *list) codeAndSynonymHits(query, text string) map[int]int {
	scores := map[int]int{}
	for _, at := range l.codesWithPrefix(query) {
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
		for i, at := range s.codes { // the first is the most likely one
			scores[at] = max(scores[at], score-i*isCommon)
		}
	}
	return scores
}

func (e entry) diagnosis() Diagnosis {
	return Diagnosis{withDot(e.plain), e.title, isSecondary(e.plain, e.title)}
}

// codesWithPrefix returns codes that begin with a text, with or without the dot. It
// returns none if the text is shorter than a letter and a digit.
func (l *list) codesWithPrefix(text string) []int {
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

// entriesWithWords yields the entries whose titles match all words, each as the
// beginning of a word. It intersects bit sets with one bit for each entry.
func (l *list) entriesWithWords(words []string) func(yield func(at int) bool) {
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
