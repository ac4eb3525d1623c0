package catalogue

import (
	"cmp"
	"fmt"
	"slices"
)

// Compendium is a lab's list of what can be ordered from it, as an operator
// imports it.
type Compendium struct {
	// Lab describes the lab; nil when the file says nothing of it.
	Lab     *Lab
	Markers []ListedMarker
}

// ListedMarker is one entry of a compendium.
type ListedMarker struct {
	Line        int            `json:"-"` // of the file, or the entry's number, from 1
	ProviderID  string         `json:"provider_id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Type        MarkerType     `json:"type"` // by the number of results when empty
	Unit        string         `json:"unit"`
	Price       string         `json:"price"`
	Sample      SampleType     `json:"sample_type"` // serum when empty
	Methods     []Method       `json:"methods"`     // those that suit the sample when empty
	Fasting     bool           `json:"fasting"`
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

// ListedResult is one row that the entry's report will have. What it leaves
// empty comes from the LOINC table.
type ListedResult struct {
	Name         string   `json:"name"`
	ProviderID   string   `json:"provider_id"`
	Optional     bool     `json:"optional"`
	LOINC        string   `json:"loinc"`
	Unit         string   `json:"unit"`
	Decimals     int      `json:"decimals"`
	Ranges       string   `json:"ranges"` // as ParseRanges reads them
	CriticalLow  *float64 `json:"critical_low"`
	CriticalHigh *float64 `json:"critical_high"`
	Normal       []string `json:"normal"` // words, of a scale that is no quantity
	Abnormal     []string `json:"abnormal"`
}

// Problem is what is wrong with one line of a compendium.
type Problem struct {
	Line  int    `json:"line"`
	Field string `json:"field"`
	Text  string `json:"problem"`
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s: %s", p.Line, p.Field, p.Text) }

// Problems are all that is wrong with a compendium, by line. A compendium with
// problems is not imported.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 0 {
		return "no problems"
	}
	return fmt.Sprintf("%d problems, the first in %s", len(p), p[0])
}

func (p *Problems) add(line int, field, text string) { *p = append(*p, Problem{line, field, text}) }

// err is nil for none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// LargestCompendium bounds a file, in bytes: large labs list some thousands of
// entries of about a kilobyte.
const LargestCompendium = 64 << 20
