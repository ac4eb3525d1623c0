package catalogue

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Compendium is a lab's list of tests, as an operator imports it.
type Compendium struct {
	// Lab describes the lab; nil if the file does not.
	Lab     *Lab
	Markers []ListedMarker
}

// ListedMarker is one entry of a compendium.
type ListedMarker struct {
	Line        int            `json:"-"` // line of the file, or number of the entry, from 1
	ProviderID  string         `json:"provider_id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Type        MarkerType     `json:"type"` // if empty, by the number of results
	Unit        string         `json:"unit"`
	Price       string         `json:"price"`
	Sample      SampleType     `json:"sample_type"` // if empty, serum
	Methods     []Method       `json:"methods"`     // if empty, those that suit the sample
	Fasting     bool           `json:"fasting"`
	Specimen    Specimen       `json:"specimen"`
	LOINC       string         `json:"loinc"` // of the test itself
	NotALaCarte bool           `json:"not_a_la_carte"`
	Unorderable bool           `json:"unorderable"`
	ReflexOf    string         `json:"reflex_of"`
	CommonTAT   *int           `json:"common_tat_days"`
	WorstTAT    *int           `json:"worst_case_tat_days"`
	CPT         []string       `json:"cpt_codes"`
	Covered     []string       `json:"medicare_icd_codes"`
	Results     []ListedResult `json:"expected_results"`
	Questions   []Question     `json:"questions"`
}

// ListedResult is one row of the entry's report. Empty fields are taken from the
// LOINC table.
type ListedResult struct {
	Name         string   `json:"name"`
	ProviderID   string   `json:"provider_id"`
	Optional     bool     `json:"optional"`
	LOINC        string   `json:"loinc"`
	Unit         string   `json:"unit"`
	Decimals     int      `json:"decimals"`
	Ranges       string   `json:"ranges"` // in the form of ParseRanges
	CriticalLow  *float64 `json:"critical_low"`
	CriticalHigh *float64 `json:"critical_high"`
	Normal       []string `json:"normal"` // words, for scales without a quantity
	Abnormal     []string `json:"abnormal"`
}

// Problem describes a problem with one line of a compendium.
type Problem struct {
	Line  int    `json:"line"`
	Field string `json:"field"`
	Text  string `json:"problem"`
}

func (p Problem) String() string {
	if p.Line == 0 { // of the description of the lab
		return p.Field + ": " + p.Text
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, p.Field, p.Text)
}

// Problems lists all problems of a compendium, sorted by line. A compendium with
// problems is not imported.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 0 {
		return "no problems"
	}
	return fmt.Sprintf("%d problems, the first in %s", len(p), p[0])
}

func (p *Problems) add(line int, field, text string) { *p = append(*p, Problem{line, field, text}) }

// asError returns nil if there are none.
func (p Problems) asError() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// LargestCompendium limits a file, in bytes. Large labs list some thousands of
// entries of about a kilobyte.
const LargestCompendium = 64 << 20

// csvColumns are the columns of a CSV compendium, in any order. Words of a list
// are separated by spaces. Results are LOINC codes; ? after a code marks a
// result that a report may lack. Questions are codes of built-in questions.
var csvColumns = map[string]func(m *ListedMarker, text string) error{
	"provider_id": func(m *ListedMarker, text string) error { m.ProviderID = text; return nil },
	"name":        func(m *ListedMarker, text string) error { m.Name = text; return nil },
	"description": func(m *ListedMarker, text string) error { m.Description = text; return nil },
	"type":        func(m *ListedMarker, text string) error { m.Type = MarkerType(text); return nil },
	"unit":        func(m *ListedMarker, text string) error { m.Unit = text; return nil },
	"price":       func(m *ListedMarker, text string) error { m.Price = text; return nil },
	"sample_type": func(m *ListedMarker, text string) error { m.Sample = SampleType(text); return nil },
	"reflex_of":   func(m *ListedMarker, text string) error { m.ReflexOf = text; return nil },
	"specimen_type": func(m *ListedMarker, text string) error {
		m.Specimen.Type = SpecimenType(text)
		return nil
	},
	"loinc":            func(m *ListedMarker, text string) error { m.LOINC = text; return nil },
	"container":        func(m *ListedMarker, text string) error { m.Specimen.Container = text; return nil },
	"minimum_volume":   func(m *ListedMarker, text string) error { m.Specimen.MinVolume = text; return nil },
	"temperature":      func(m *ListedMarker, text string) error { m.Specimen.Temperature = text; return nil },
	"stability":        func(m *ListedMarker, text string) error { m.Specimen.Stability = text; return nil },
	"collection_notes": func(m *ListedMarker, text string) error { m.Specimen.Notes = text; return nil },
	"methods":          func(m *ListedMarker, text string) error { m.Methods = methodWords(text); return nil },
	"cpt_codes":        func(m *ListedMarker, text string) error { m.CPT = strings.Fields(text); return nil },
	"medicare_icd_codes": func(m *ListedMarker, text string) error {
		m.Covered = strings.Fields(text)
		return nil
	},
	"fasting": func(m *ListedMarker, text string) (err error) { m.Fasting, err = yesNo(text, false); return err },
	"a_la_carte": func(m *ListedMarker, text string) error {
		may, err := yesNo(text, true)
		m.NotALaCarte = !may
		return err
	},
	"orderable": func(m *ListedMarker, text string) error {
		may, err := yesNo(text, true)
		m.Unorderable = !may
		return err
	},
	"common_tat_days":     func(m *ListedMarker, text string) (err error) { m.CommonTAT, err = days(text); return err },
	"worst_case_tat_days": func(m *ListedMarker, text string) (err error) { m.WorstTAT, err = days(text); return err },
	"results":             resultWords,
	"questions":           questionWords,
}

// ReadCSV reads a compendium: a line of column names, then one entry per line.
func ReadCSV(text []byte) (*Compendium, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	names, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCompendium, err)
	}
	var problems Problems
	for i, name := range names {
		switch {
		case csvColumns[name] == nil:
			problems.add(1, name, "no such column")
		case slices.Contains(names[:i], name):
			problems.add(1, name, "is there twice")
		}
	}
	for _, name := range []string{"provider_id", "name", "results"} {
		if !slices.Contains(names, name) {
			problems.add(1, name, "this column is missing")
		}
	}
	c := &Compendium{}
	for len(problems) == 0 || problems[0].Line > 1 { // without valid columns no line is valid
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return nil, fmt.Errorf("%w: %w", errCompendium, err)
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			problems.add(line, "columns", fmt.Sprintf("%d fields, not %d", len(row), len(names)))
			continue
		}
		m := ListedMarker{Line: line}
		for i, name := range names {
			if err := csvColumns[name](&m, strings.TrimSpace(row[i])); err != nil {
				problems.add(line, name, err.Error())
			}
		}
		c.Markers = append(c.Markers, m)
	}
	return c, problems.asError()
}

func methodWords(text string) (methods []Method) {
	for _, word := range strings.Fields(text) {
		methods = append(methods, Method(word))
	}
	return methods
}

func yesNo(text string, otherwise bool) (bool, error) {
	switch strings.ToLower(text) {
	case "":
		return otherwise, nil
	case "yes", "true", "y", "1":
		return true, nil
	case "no", "false", "n", "0":
		return false, nil
	}
	return false, errors.New("must be yes or no")
}

func days(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, errors.New("must be a number of days")
	}
	return &n, nil
}

func resultWords(m *ListedMarker, text string) error {
	for _, word := range strings.Fields(text) {
		code, optional := strings.CutSuffix(word, "?")
		m.Results = append(m.Results, ListedResult{LOINC: code, Optional: optional})
	}
	return nil
}

func questionWords(m *ListedMarker, text string) error {
	for _, word := range strings.Fields(text) {
		q, ok := builtinQuestion(word)
		if !ok {
			return fmt.Errorf("no built-in question has the code %q", word)
		}
		m.Questions = append(m.Questions, q)
	}
	return nil
}

var errCompendium = errors.New("catalogue: not a compendium")

// jsonFile is a compendium in JSON.
type jsonFile struct {
	Lab     *Lab              `json:"lab"`
	Markers []json.RawMessage `json:"markers"`
}

// ReadJSON reads a compendium: an object with markers and, optionally, lab. An
// unknown field is a problem, because it is probably a typing error.
func ReadJSON(text []byte) (*Compendium, error) {
	var file jsonFile
	if err := decodeStrictly(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &file); err != nil {
		return nil, fmt.Errorf("%w: %w", errCompendium, err)
	}
	c := &Compendium{Lab: file.Lab}
	var problems Problems
	for i, entry := range file.Markers {
		m := ListedMarker{}
		if err := decodeStrictly(entry, &m); err != nil {
			problems.add(i+1, "marker", err.Error())
			continue
		}
		m.Line = i + 1
		c.Markers = append(c.Markers, m)
	}
	return c, problems.asError()
}

// ReadLab reads the description of a lab, a JSON object.
func ReadLab(text []byte) (*Lab, error) {
	l := &Lab{}
	if err := decodeStrictly(text, l); err != nil {
		return nil, fmt.Errorf("catalogue: not the description of a lab: %w", err)
	}
	return l, nil
}

func decodeStrictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more follows after the end")
	}
	return nil
}
