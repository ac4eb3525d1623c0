package extract

import (
	"regexp"
	"strings"
)

// Tables below results explain how a range is divided: "Deficient <20", "G2 60-89". Their
// lines look like results, with a bound in place of a value.

var (
	// bandWord is a word of the names of bands. It describes a state, no analyte.
	bandWord = regexp.MustCompile(`(?i)\b(?:(?:non-? ?|pre-?)?diabet\w*|risk|optimal|desirable|borderline|in?sufficien\w+|sufficien\w+|deficien\w+|intoxication|toxic\w*|trimester|category|stage|normal|abnormal|elevated|acceptable|therapeutic|healthy|obes\w+)\b|` +
		`^(?:very |extremely |mildly |moderately |severely |above |near |slightly )*(?:high|low|increased|decreased|mild|moderate|severe|negative|positive|equivocal|weak|strong)\b|^(?:class|grade|level) \d`)
	// stageName is a stage of a disease of the kidneys: G3a, A2.
	stageName = regexp.MustCompile(`^(?:ckd )?[GA][1-5][ab]?$`)
	// boundForm is a cell with one or two bounds and nothing more.
	boundForm = regexp.MustCompile(`^(?:(?:<=|>=|<|>) ?\d[\d.,]*|\d[\d.,]* ?(?:-|to) ?\d[\d.,]*|\d[\d.,]* (?:or|and) (?:above|more|below|less))$`)
)

// bandOf returns the name of a line that has only a name and bounds.
func (r *reader) bandOf(e *entry) (name string, ok bool) {
	cells := e.line.cells
	if e.used || e.line.used || len(cells) < 2 || len(cells) > 4 {
		return "", false
	}
	name = strings.TrimRight(cells[0].text(), " :")
	bounds := 0
	for _, c := range cells[1:] {
		switch text := plainSpaces(c.text()); {
		case boundForm.MatchString(text):
			bounds++
		case text != "-":
			return "", false
		}
	}
	return name, bounds > 0 && looksNamed(name) && r.knows(name) < 0.9
}

// dropBands removes lines that explain the bands of a range: two or more together, with
// names of bands. Among them, a line with another name needs review if it stays a row.
func (r *reader) dropBands(entries []*entry, em float64) {
	for i := 0; i < len(entries); {
		var names []string
		for i+len(names) < len(entries) {
			name, ok := r.bandOf(entries[i+len(names)])
			if !ok || len(names) > 0 && entries[i+len(names)].line.y-entries[i+len(names)-1].line.y > 3*em {
				break
			}
			names = append(names, name)
		}
		run := entries[i : i+len(names)]
		if len(run) >= 2 && !r.continuesRow(entries, i, em) && markBands(run, names) && i > 0 {
			if header := entries[i-1]; !header.anchor && len(header.line.cells) > 1 {
				header.used, header.line.used = true, true
			}
		}
		i += max(1, len(names))
	}
}

// markBands takes the bands of a run of lines out of the table. It reports whether there are
// any.
func markBands(run []*entry, names []string) bool {
	isBand := func(name string) bool { return bandWord.MatchString(name) || stageName.MatchString(name) }
	bands := 0
	for _, name := range names {
		if isBand(name) {
			bands++
		}
	}
	if bands < 2 {
		return false
	}
	for i, e := range run {
		if isBand(names[i]) {
			e.anchor, e.used, e.line.used = false, true, true
		} else {
			e.doubt(NameUncertain)
		}
	}
	return true
}

// continuesRow reports whether bands in the column of ranges belong to the row directly
// above them, which has no other range.
func (r *reader) continuesRow(entries []*entry, i int, em float64) bool {
	if i == 0 || !entries[i-1].anchor || entries[i].line.y-entries[i-1].line.y > 1.9*em {
		return false
	}
	return len(entries[i].parts[rangeColumn]) > 0 && len(entries[i].parts[valueColumn]) == 0 && len(entries[i-1].parts[rangeColumn]) == 0
}
