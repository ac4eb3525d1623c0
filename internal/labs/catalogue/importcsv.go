package catalogue

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// csvColumns are what a compendium in CSV may have, in any order. Lists have
// spaces between their words; results are LOINC codes, with ? behind one that
// a report may lack, and questions are codes of the built-in questions.
var csvColumns = map[string]func(m *ListedMarker, text string) error{
	"provider_id": func(m *ListedMarker, text string) error { m.ProviderID = text; return nil },
	"name":        func(m *ListedMarker, text string) error { m.Name = text; return nil },
	"description": func(m *ListedMarker, text string) error { m.Description = text; return nil },
	"type":        func(m *ListedMarker, text string) error { m.Type = MarkerType(text); return nil },
	"unit":        func(m *ListedMarker, text string) error { m.Unit = text; return nil },
	"price":       func(m *ListedMarker, text string) error { m.Price = text; return nil },
	"sample_type": func(m *ListedMarker, text string) error { m.Sample = SampleType(text); return nil },
	"reflex_of":   func(m *ListedMarker, text string) error { m.ReflexOf = text; return nil },
	"methods":     func(m *ListedMarker, text string) error { m.Methods = methodWords(text); return nil },
	"cpt_codes":   func(m *ListedMarker, text string) error { m.CPT = strings.Fields(text); return nil },
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

// ReadCSV reads a compendium: a line of column names, then one entry a line.
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
			problems.add(1, name, "stands twice")
		}
	}
	for _, name := range []string{"provider_id", "name", "results"} {
		if !slices.Contains(names, name) {
			problems.add(1, name, "this column is missing")
		}
	}
	c := &Compendium{}
	for len(problems) == 0 || problems[0].Line > 1 { // without good columns there are no good lines
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
	return c, problems.err()
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
