package diagnoses

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hale/internal/platform/fault"
	"hale/internal/platform/lists"
	"hale/internal/platform/store"
)

// Kind of an Excludes note. With Excludes1, two codes are never used together. With
// Excludes2, one code does not include the other, but a patient may have both.
//
// ICD-10-CM Official Guidelines, I.A.12.
type Kind string

// The kinds, as on the wire.
const (
	Excludes1 Kind = "excludes1"
	Excludes2 Kind = "excludes2"
)

// span is a range of codes as the tabular list writes it. E11.- means all codes
// below E11. E08-E13 means all codes from E08 to E13. Both ends are without dot and
// include all codes below them.
type span struct{ from, to string }

func (s span) contains(plain string) bool {
	return prefixOf(plain, len(s.from)) >= s.from && prefixOf(plain, len(s.to)) <= s.to
}

func prefixOf(s string, n int) string { return s[:min(n, len(s))] }

// note records that two spans of codes exclude each other.
type note struct {
	where, what span
	kind        Kind
}

// notes are grouped by the first letter of the codes.
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

// conflictOf returns the kind of the note about two codes. Excludes1 takes
// precedence.
func (n notes) conflictOf(a, b string) (kind Kind, found bool) {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		for _, one := range n[pair[0][0]] {
			if one.where.contains(pair[0]) && one.what.contains(pair[1]) && !one.what.contains(pair[0]) {
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

// excludes are the current notes.
var excludes = lists.New(lists.Definition[notes]{
	Name: "icd10_excludes",
	Shipped: sync.OnceValue(func() notes {
		all, err := parseNotes(shippedCSV(excludesFile, "excludes.csv"))
		if err != nil {
			panic(fmt.Sprintf("diagnoses: excludes.csv: %v", err)) // the file is embedded and tested
		}
		return newNotes(all)
	}),
	Parse: unpackNotes,
})

// parseNotes reads records of three fields: the codes of the note, its kind,
// and the codes that it excludes. Codes are written as in the tabular list.
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

// spansIn finds the codes in a text.
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

func (s span) String() string { return withDot(s.from) + "-" + withDot(s.to) }

// NoteFile holds the Excludes notes of a tabular list.
type NoteFile struct{ notes []note }

// Len returns the number of pairs of spans that exclude each other.
func (f NoteFile) Len() int { return len(f.notes) }

// brackets matches text in parentheses, where notes name codes.
var brackets = regexp.MustCompile(`\(([^()]*)\)`)

// mostNotes limits a tabular list; the official one has about 20,000 notes.
const mostNotes = 200_000

// ParseTabular reads the Excludes notes of the tabular list that CMS publishes
// each year as XML (icd10cm-tabular-2026.xml). A note applies to the chapter,
// section or code that contains it, and to everything below that. Notes that
// name no code are for people; they are skipped.
func ParseTabular(file io.Reader) (NoteFile, error) {
	in := xml.NewDecoder(file)
	p := tabular{}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return NoteFile{}, fault.New(fault.Invalid, "is not well-formed XML").At(fmt.Sprintf("line %d", lineOf(in)))
		}
		switch t := token.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.EndElement:
			p.end(t.Name.Local)
		case xml.CharData:
			p.text.Write(t)
		}
		if len(p.notes) > mostNotes {
			return NoteFile{}, fault.Newf(fault.TooLarge, "a tabular list may hold at most %d notes", mostNotes)
		}
	}
	if len(p.notes) == 0 {
		return NoteFile{}, fault.New(fault.Invalid, "the file holds no Excludes note: it is not the tabular list of ICD-10-CM")
	}
	return NoteFile{p.notes}, nil
}

func lineOf(in *xml.Decoder) int { line, _ := in.InputPos(); return line }

// tabular is the state of the parser.
type tabular struct {
	text      strings.Builder // of the innermost element
	enclosing []level         // chapter, section and codes that enclose the position
	kind      Kind            // of the notes being read
	notes     []note
}

// level is an element that encloses a note, with its codes once they are known.
type level struct {
	element string
	codes   []span
}

func (p *tabular) start(t xml.StartElement) {
	p.text.Reset()
	switch t.Name.Local {
	case "chapter", "section", "diag":
		at := level{element: t.Name.Local}
		for _, a := range t.Attr {
			if a.Name.Local == "id" {
				at.codes = spansIn(a.Value)
			}
		}
		p.enclosing = append(p.enclosing, at)
	case string(Excludes1), string(Excludes2):
		p.kind = Kind(t.Name.Local)
	}
}

func (p *tabular) end(element string) {
	if len(p.enclosing) == 0 {
		return
	}
	at := &p.enclosing[len(p.enclosing)-1]
	switch element {
	case "chapter", "section", "diag":
		p.enclosing = p.enclosing[:len(p.enclosing)-1]
	case string(Excludes1), string(Excludes2):
		p.kind = ""
	case "name":
		if at.element == "diag" && len(at.codes) == 0 {
			at.codes = spansIn(p.text.String())
		}
	case "desc": // the title of a chapter ends with its codes: (A00-B99)
		if m := brackets.FindAllStringSubmatch(p.text.String(), -1); at.element == "chapter" && len(at.codes) == 0 && len(m) > 0 {
			at.codes = spansIn(m[len(m)-1][1])
		}
	case "note":
		p.note(*at)
	}
}

func (p *tabular) note(at level) {
	if p.kind == "" || len(at.codes) != 1 {
		return
	}
	for _, m := range brackets.FindAllStringSubmatch(p.text.String(), -1) {
		for _, what := range spansIn(m[1]) {
			p.notes = append(p.notes, note{at.codes[0], what, p.kind})
		}
	}
}

// ImportNotes makes the notes of a file the current notes of all teams.
func ImportNotes(ctx context.Context, tx *store.Tx, edition string, f NoteFile) error {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	for _, n := range f.notes {
		if err := out.Write([]string{n.where.String(), string(n.kind), n.what.String()}); err != nil {
			return fmt.Errorf("diagnoses: writing notes: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("diagnoses: writing notes: %w", err)
	}
	return excludes.Put(ctx, tx, edition, f.Len(), b.Bytes())
}

func unpackNotes(text []byte) (notes, error) {
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("diagnoses: stored notes: %w", err)
	}
	all, err := parseNotes(records)
	if err != nil {
		return nil, fmt.Errorf("diagnoses: stored notes: %w", err)
	}
	return newNotes(all), nil
}
