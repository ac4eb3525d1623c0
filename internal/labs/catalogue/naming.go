package catalogue

import (
	"slices"
	"strings"

	"hale/internal/labs/loinc"
)

// Naming holds the names of a reported value: the lab's codes of the test and of
// the result, the LOINC code, and the name.
type Naming struct{ Test, Code, LOINC, Name string }

// NewNaming returns the names of a reported value. A LOINC code with a wrong
// check digit is a typing error and is dropped.
func NewNaming(test, code, loincCode, name string) Naming {
	if !loinc.IsCode(loincCode) {
		loincCode = ""
	}
	return Naming{test, code, loincCode, name}
}

// FindResult finds the result that is reported, among the results of markers.
//
// The lab's code counts first, and of several results with that code the one
// with the reported LOINC code or in the reported test. A lab may change its
// code, so a value with an unknown code is found by LOINC, then by name. Both
// must mean one result, and a name with another LOINC code means none.
func (n Naming) FindResult(markers []*Marker) (Result, bool) {
	inTest := func(m *Marker) bool { return m.ProviderID == n.Test }
	if n.Code != "" {
		if n.LOINC != "" {
			if r, ok := findResult(markers, inTest, func(m *Marker, r Result) bool { return n.hasCode(m, r) && r.LOINC == n.LOINC }); ok {
				return r, true
			}
		}
		if r, ok := findResult(markers, inTest, n.hasCode); ok {
			return r, true
		}
	}
	if n.LOINC != "" {
		if r, ok := findOne(markers, inTest, func(r Result) bool { return r.LOINC == n.LOINC }); ok {
			return r, true
		}
	}
	if n.Name == "" {
		return Result{}, false
	}
	return findOne(markers, inTest, func(r Result) bool {
		return strings.EqualFold(r.Name, n.Name) && (n.LOINC == "" || r.LOINC == "" || r.LOINC == n.LOINC)
	})
}

// hasCode reports whether a value has the code of a result of a marker. The only
// result of a marker may have no code of its own, but that of the marker.
func (n Naming) hasCode(m *Marker, r Result) bool {
	return r.ProviderID == n.Code || r.ProviderID == "" && len(m.Results) == 1 && m.ProviderID == n.Code
}

// findResult returns the first matching result of the preferred markers, or otherwise of
// any marker.
func findResult(markers []*Marker, prefer func(m *Marker) bool, match func(m *Marker, r Result) bool) (Result, bool) {
	var found Result
	known := false
	for _, m := range markers {
		at := slices.IndexFunc(m.Results, func(r Result) bool { return match(m, r) })
		switch {
		case at >= 0 && prefer(m):
			return m.Results[at], true
		case at >= 0 && !known:
			found, known = m.Results[at], true
		}
	}
	return found, known
}

// findOne finds a result like findResult, but only if it is the only one. It searches the
// preferred markers, and without a match there all markers. If two different results
// match, it returns none.
func findOne(markers []*Marker, prefer func(m *Marker) bool, match func(r Result) bool) (Result, bool) {
	var some, preferred []Result
	for _, m := range markers {
		for _, r := range m.Results {
			if !match(r) {
				continue
			}
			some = append(some, r)
			if prefer(m) {
				preferred = append(preferred, r)
			}
		}
	}
	if len(preferred) > 0 {
		some = preferred
	}
	if len(some) == 0 || slices.ContainsFunc(some, func(r Result) bool { return !r.IsSame(some[0]) }) {
		return Result{}, false
	}
	return some[0], true
}

// IsSame reports whether two rows of the catalogue are the same observation of
// a lab.
func (r Result) IsSame(other Result) bool {
	if r.ProviderID != "" || other.ProviderID != "" {
		return r.ProviderID == other.ProviderID
	}
	if r.LOINC != "" || other.LOINC != "" {
		return r.LOINC == other.LOINC
	}
	return r.Slug == other.Slug
}

// CodesConflict reports whether the code of a value and its LOINC code are those
// of different results of a lab. A value may also have the code of its test. An
// unknown code is that of its test (OBR-4) if the results of the test have only
// LOINC codes.
func (c *Catalogue) CodesConflict(lab LabID, n Naming) bool {
	if n.Code == "" || n.LOINC == "" {
		return false
	}
	code, loinc, known, test := false, false, false, false
	for _, m := range c.markers {
		if m.Lab != lab || !m.Active {
			continue
		}
		if m.ProviderID == n.Code && m.LOINC == n.LOINC {
			return false
		}
		known = known || m.ProviderID == n.Code
		if m.ProviderID == n.Test && m.hasOnlyLOINC() {
			if m.LOINC == n.LOINC || slices.ContainsFunc(m.Results, func(r Result) bool { return r.LOINC == n.LOINC }) {
				return false
			}
			test = true
		}
		for _, r := range m.Results {
			sameCode := r.ProviderID == n.Code || m.ProviderID == n.Code
			if sameCode && r.LOINC == n.LOINC {
				return false
			}
			code, loinc = code || sameCode, loinc || r.LOINC == n.LOINC
			known = known || r.ProviderID == n.Code
		}
	}
	return loinc && (code || test && !known)
}

// hasOnlyLOINC reports whether the results of a marker have LOINC codes and no
// codes of the lab.
func (m *Marker) hasOnlyLOINC() bool {
	return len(m.Results) > 0 && !slices.ContainsFunc(m.Results, func(r Result) bool { return r.ProviderID != "" || r.LOINC == "" })
}

// CodeProblem is a reason why the codes of a report need a person.
type CodeProblem string

// These are the problems.
const (
	// CodeConflict means that a code and its LOINC code are those of different results,
	// of which the order has one.
	CodeConflict CodeProblem = "code_conflict"
	// UnknownCode means that an ordered test has values, and none of them is a
	// result that the catalogue has for the test.
	UnknownCode CodeProblem = "unknown_code"
)

// CheckCodes returns the reason why values of a lab cannot be assigned to the results of
// ordered markers with certainty. It returns "" if there is none.
func (c *Catalogue) CheckCodes(lab LabID, ordered []*Marker, values []Naming) CodeProblem {
	known, named := map[string]bool{}, map[string]bool{} // by test
	for _, n := range values {
		_, found := n.FindResult(ordered)
		concerned := found || slices.ContainsFunc(ordered, func(m *Marker) bool { return m.ProviderID == n.Code })
		if concerned && c.CodesConflict(lab, n) {
			return CodeConflict
		}
		known[n.Test], named[n.Test] = known[n.Test] || found || n.Code == n.Test, true // a lab may have one code for both
	}
	for _, m := range ordered {
		if named[m.ProviderID] && !known[m.ProviderID] && slices.ContainsFunc(m.Results, func(r Result) bool { return r.Required }) {
			return UnknownCode
		}
	}
	return ""
}
