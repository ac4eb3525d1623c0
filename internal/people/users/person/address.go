package person

import (
	"strings"
)

// States are the postal codes of the United States: the fifty, the District of
// Columbia, the territories, and the three of the armed forces.
var States = map[string]string{
	"AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
	"CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia",
	"HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa",
	"KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
	"MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi", "MO": "Missouri",
	"MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire", "NJ": "New Jersey",
	"NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio",
	"OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina",
	"SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont",
	"VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
	"DC": "District of Columbia", "PR": "Puerto Rico", "GU": "Guam", "VI": "Virgin Islands",
	"AS": "American Samoa", "MP": "Northern Mariana Islands",
	"AA": "Armed Forces Americas", "AE": "Armed Forces Europe", "AP": "Armed Forces Pacific",
}

// US is the country of an address without one.
const US = "US"

// Address checks an address and sets a missing country to US.
//
// Reference 1.9: zip and state rules apply in the United States.
func (f Form) Address(field string, a Address) Address {
	in := f.In(field)
	a.FirstLine = in.Text("first_line", a.FirstLine, maxLine)
	a.SecondLine = in.Optional("second_line", a.SecondLine, maxLine)
	a.City = in.Text("city", a.City, maxLine)
	a.AccessNotes = in.Optional("access_notes", a.AccessNotes, maxNotes)
	a.Country = in.country(a.Country)
	a.State = in.Text("state", a.State, maxLine)
	a.Zip = in.Text("zip", a.Zip, 20)
	if a.Country != US {
		return a
	}
	if state := strings.ToUpper(a.State); States[state] != "" {
		a.State = state
	} else if a.State != "" {
		in.value("state", "Invalid state")
	}
	if a.Zip != "" && !isZip(a.Zip) {
		in.Fail("zip", "string_pattern_mismatch", `String should match pattern '^\d{5}(-\d{4})?$'`)
	}
	return a
}

func (f Form) country(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	switch text {
	case "", "USA", "UNITED STATES", "UNITED STATES OF AMERICA":
		return US
	}
	if len(text) != 2 || !isLetter(text[0]) || !isLetter(text[1]) {
		f.value("country", "a country is two letters, such as US")
	}
	return text
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' }

func isZip(s string) bool {
	if len(s) != 5 && (len(s) != 10 || s[5] != '-') {
		return false
	}
	for i := range len(s) {
		if i != 5 && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
