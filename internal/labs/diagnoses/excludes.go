package diagnoses

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hale/internal/platform/lists"
)

// Kind of an Excludes note. Excludes1: never coded at the same time. Excludes2:
// not part of it, though a patient may have both.
//
// ICD-10-CM Official Guidelines, I.A.12.
type Kind string

// The kinds, as they stand on the wire.
const (
	Excludes1 Kind = "excludes1"
	Excludes2 Kind = "excludes2"
)

// span is codes as the tabular list writes them: E11.- is everything below
// E11, E08-E13 everything from the one to the other. Both ends are without dot
// and stand for all below them.
type span struct{ from, to string }

func (s span) holds(plain string) bool {
	return cut(plain, len(s.from)) >= s.from && cut(plain, len(s.to)) <= s.to
}

func cut(s string, n int) string { return s[:min(n, len(s))] }

// note says that two spans of codes exclude each other.
type note struct {
	where, what span
	kind        Kind
}

// notes are grouped by the letter that the codes begin with.
type notes map[byte][]note

func newNotes(all []note) notes {
	n := notes{}
	for _, one := range all {
		for letter := one.where.from[0]; letter <= one.where.to[0]; letter++ {
			n[letter] = append(n[letter], one)
		}
	}
	return n
}

// between finds what the notes say of two codes. Excludes1 outweighs.
func (n notes) between(a, b string) (kind Kind, found bool) {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		for _, one := range n[pair[0][0]] {
			if one.where.holds(pair[0]) && one.what.holds(pair[1]) && !one.what.holds(pair[0]) {
				if one.kind == Excludes1 {
					return Excludes1, true
				}
				kind, found = Excludes2, true
			}
		}
	}
	return kind, found
}

//go:embed excludes.csv
var excludesFile []byte

// excludes are the notes in force.
var excludes = lists.New(lists.Definition[notes]{
	Name: "icd10_excludes",
	Shipped: sync.OnceValue(func() notes {
		all, err := parseNotes(shippedCSV(excludesFile, "excludes.csv"))
		if err != nil {
			panic(fmt.Sprintf("diagnoses: excludes.csv: %v", err)) // the file is part of the binary and tested
		}
		return newNotes(all)
	}),
	Parse: unpackNotes,
})

// parseNotes reads lines of where, kind and what, each where and what as the
// tabular list writes them.
func parseNotes(records [][]string) ([]note, error) {
	var all []note
	for _, r := range records {
		where, kind := spansIn(r[0]), Kind(r[1])
		if len(where) != 1 || !slices.Contains([]Kind{Excludes1, Excludes2}, kind) {
			return nil, fmt.Errorf("a note about %q of the kind %q", r[0], r[1])
		}
		what := spansIn(r[2])
		if len(what) != len(strings.Fields(r[2])) {
			return nil, fmt.Errorf("a note about %q names codes that cannot be read", r[0])
		}
		for _, w := range what {
			all = append(all, note{where[0], w, kind})
		}
	}
	return all, nil
}

const codeForm = `([A-Z][0-9][0-9A-Z](?:\.[0-9A-Z]{1,4})?)`

var spanForm = regexp.MustCompile(codeForm + `(?:\.?-` + codeForm + `)?`)

// spansIn finds the codes that a text names.
func spansIn(text string) []span {
	var all []span
	for _, m := range spanForm.FindAllStringSubmatch(text, -1) {
		s := span{from: strings.Replace(m[1], ".", "", 1)}
		if s.to = strings.Replace(m[2], ".", "", 1); s.to == "" {
			s.to = s.from
		}
		if s.from[0] <= s.to[0] {
			all = append(all, s)
		}
	}
	return all
}

func (s span) String() string { return dotted(s.from) + "-" + dotted(s.to) }
