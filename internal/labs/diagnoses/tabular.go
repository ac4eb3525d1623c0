package diagnoses

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// NoteFile is the Excludes notes of a tabular list.
type NoteFile struct{ notes []note }

// Len is how many pairs of code spans exclude each other.
func (f NoteFile) Len() int { return len(f.notes) }

// brackets find what a note says in parentheses, which is where codes stand.
var brackets = regexp.MustCompile(`\(([^()]*)\)`)

// mostNotes bounds a tabular list; the official one has some 20,000.
const mostNotes = 200_000

// ParseTabular reads the Excludes notes of the tabular list that CMS publishes
// each year as XML (icd10cm-tabular-2026.xml). A note counts for the chapter,
// section or code it stands under and for everything below that. Notes that
// name no code are for people and are passed over.
func ParseTabular(file io.Reader) (NoteFile, error) {
	in := xml.NewDecoder(file)
	p := tabular{}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return NoteFile{}, fault.New(fault.Invalid, "is no XML that can be read on").At(fmt.Sprintf("line %d", lineOf(in)))
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

// tabular is where the reader stands.
type tabular struct {
	text  strings.Builder // of the innermost element
	above []level         // chapter, section and codes
	kind  Kind            // of the notes being read
	notes []note
}

// level is one of what encloses a note, with the codes it stands for once they
// are known.
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
		p.above = append(p.above, at)
	case string(Excludes1), string(Excludes2):
		p.kind = Kind(t.Name.Local)
	}
}

func (p *tabular) end(element string) {
	if len(p.above) == 0 {
		return
	}
	at := &p.above[len(p.above)-1]
	switch element {
	case "chapter", "section", "diag":
		p.above = p.above[:len(p.above)-1]
	case string(Excludes1), string(Excludes2):
		p.kind = ""
	case "name":
		if at.element == "diag" && len(at.codes) == 0 {
			at.codes = spansIn(p.text.String())
		}
	case "desc": // a chapter's ends with its codes: (A00-B99)
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

// ImportNotes makes a file's notes the ones in force, for all teams.
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
