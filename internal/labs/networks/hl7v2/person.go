package hl7v2

import (
	"cmp"
	"strconv"
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
)

func itoa(n int) string { return strconv.Itoa(n) }

// addPatient adds PID.
func addPatient(m *hl7.Message, lab Lab, order networks.Order) {
	p := order.Patient
	m.Add("PID", hl7.Fields{
		1: hl7.Of("1"), 3: hl7.Of(p.ID.String(), "", "", lab.Application, "PI"),
		5: name(p), 7: hl7.Of(date(p.DOB)), 8: hl7.Of(sex(p.Gender)), 10: coded(races[p.Race], "HL70005"),
		11: place(p.Address, "H"), 13: contacts(lab, p), 22: coded(ethnicities[p.Ethnicity], "HL70189"),
	})
}

func name(p networks.Patient) hl7.Content {
	return hl7.Of(p.LastName, p.FirstName, "", "", "", "", "L")
}

func date(d civil.Date) string {
	if d.IsZero() {
		return ""
	}
	return strings.ReplaceAll(d.String(), "-", "")
}

// sex is a word of HL7 table 0001.
func sex(gender string) string {
	switch strings.ToLower(gender) {
	case "female":
		return "F"
	case "male":
		return "M"
	case "other":
		return "O"
	}
	return "U"
}

// gender reads table 0001.
func gender(sex string) string {
	switch strings.ToUpper(sex) {
	case "":
		return ""
	case "F":
		return "female"
	case "M":
		return "male"
	case "O", "A": // A: ambiguous
		return "other"
	}
	return "unknown"
}

// code is a code and its official words.
type code struct{ id, words string }

// races are the codes of HL7 table 0005, which are those of the CDC.
var races = map[string]code{
	"african_american_or_black": {"2054-5", "Black or African American"},
	"asian":                     {"2028-9", "Asian"},
	"indigenous_native_american_alaska_native": {"1002-5", "American Indian or Alaska Native"},
	"other":                        {"2131-1", "Other Race"},
	"pacific_islander_or_hawaiian": {"2076-8", "Native Hawaiian or Other Pacific Islander"},
	"white_caucasian":              {"2106-3", "White"},
}

// ethnicities are those words that HL7 table 0189 has.
var ethnicities = map[string]code{
	"hispanic":     {"H", "Hispanic or Latino"},
	"non_hispanic": {"N", "Not Hispanic or Latino"},
}

func coded(c code, system string) hl7.Content {
	if c.id == "" {
		return nil
	}
	return hl7.Of(c.id, c.words, system)
}

// place is an address of a kind: H home, B business.
func place(a networks.Address, kind string) hl7.Content {
	if a.FirstLine == "" && a.City == "" && a.Zip == "" {
		return nil
	}
	return hl7.Of(a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, cmp.Or(a.Country, "US"), kind)
}

// contacts are the phone and the mail address.
func contacts(lab Lab, p networks.Patient) hl7.Content {
	content := phone(lab, p.Phone)
	if p.Email != "" {
		content = content.And("", "NET", "Internet", p.Email)
	}
	return content
}

// phone splits an American number into area and local number, as XTN has it
// since version 2.3. Another number goes where it may have any form.
func phone(lab Lab, number string) hl7.Content {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	digits = strings.TrimPrefix(digits, "1")
	switch {
	case number == "":
		return nil
	case len(digits) != 10 && lab.version() >= "2.5":
		return hl7.Of("", "PRN", "PH", "", "", "", "", "", "", "", "", number)
	case len(digits) != 10:
		return hl7.Of(number)
	case lab.version() < "2.3":
		return hl7.Of("(" + digits[:3] + ")" + digits[3:6] + "-" + digits[6:])
	}
	return hl7.Of("", "PRN", "PH", "", "1", digits[:3], digits[3:])
}
