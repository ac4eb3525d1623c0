// Package person checks names, addresses, telephone numbers and guarantors.
//
// A Form checks and normalizes the fields of one request. It collects every fault,
// so that a caller sees all of them at once. Faults name the field and never its
// value.
//
// Reference 1.9 (names, zip codes, states, telephone numbers), 5.7 and 5.8.
package person

import (
	"log/slog"
	"strings"

	"hale/internal/platform/secrets"
)

// Address is a postal address. Outside the United States, State and Zip have the
// country's own form.
type Address struct {
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line,omitempty"`
	City        string `json:"city"`
	State       string `json:"state"`   // US: two letters
	Zip         string `json:"zip"`     // US: 12345 or 12345-6789
	Country     string `json:"country"` // ISO 3166-1, two letters
	AccessNotes string `json:"access_notes,omitempty"`
}

// Guarantor is a person who is liable for a bill, or who speaks for a patient (medical
// proxy).
//
// Spec: Insurance record, GuarantorDetails.
type Guarantor struct {
	FirstName       string  `json:"first_name"`
	LastName        string  `json:"last_name"`
	PhoneNumber     string  `json:"phone_number"`
	Email           string  `json:"email,omitempty"`
	Address         Address `json:"address"`
	HouseholdIncome *int64  `json:"household_income,omitempty"` // US dollars a year
	HouseholdSize   *int64  `json:"household_size,omitempty"`   // people
}

// LogValue keeps personal data out of logs.
func (Address) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// LogValue keeps personal data out of logs.
func (Guarantor) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

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
	a.FirstLine = in.Text("first_line", a.FirstLine, MaxLine)
	a.SecondLine = in.Optional("second_line", a.SecondLine, MaxLine)
	a.City = in.Text("city", a.City, MaxLine)
	a.AccessNotes = in.Optional("access_notes", a.AccessNotes, MaxNotes)
	a.Country = in.country(a.Country)
	a.State = in.Text("state", a.State, MaxLine)
	a.Zip = in.Text("zip", a.Zip, MaxZip)
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
