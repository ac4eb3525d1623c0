package person

// Genders are the words of laboratories and insurers.
//
// Reference 1.9 and 5.8.
var Genders = []string{"female", "male", "other", "unknown"}

// Code is a code of an HL7 table with its text.
type Code struct{ ID, Text string }

// Category is a race or an ethnicity.
type Category struct {
	Word string // in requests
	Text string
	// OMB is the code of the category of the Office of Management and Budget. It is empty
	// if no category has the same meaning.
	OMB string
	// HL7 is the code of HL7 table 0005 for a race, and of table 0189 for an ethnicity. It
	// is empty if the table has no code.
	HL7 Code
}

// ombRace returns a race that is a category of the Office of Management and Budget. HL7
// table 0005 has the same code and text.
func ombRace(word, code, text string) Category {
	return Category{Word: word, Text: text, OMB: code, HL7: Code{code, text}}
}

// Races has one row per race.
//
// Spec: Latest user info, table of nullable enums.
var Races = []Category{
	ombRace("african_american_or_black", "2054-5", "Black or African American"),
	ombRace("asian", "2028-9", "Asian"),
	ombRace("indigenous_native_american_alaska_native", "1002-5", "American Indian or Alaska Native"),
	{Word: "other", Text: "Other", HL7: Code{"2131-1", "Other Race"}},
	ombRace("pacific_islander_or_hawaiian", "2076-8", "Native Hawaiian or Other Pacific Islander"),
	ombRace("white_caucasian", "2106-3", "White"),
}

// Ethnicities has one row per ethnicity.
//
// Spec: Latest user info, table of nullable enums.
var Ethnicities = []Category{
	{Word: "hispanic", Text: "Hispanic or Latino", OMB: "2135-2", HL7: Code{"H", "Hispanic or Latino"}},
	{Word: "non_hispanic", Text: "Not Hispanic or Latino", OMB: "2186-5", HL7: Code{"N", "Not Hispanic or Latino"}},
	{Word: "ashkenazi_jewish", Text: "Ashkenazi Jewish"},
	{Word: "other", Text: "Other"},
}

// Words returns the words of a table.
func Words(table []Category) []string {
	words := make([]string, len(table))
	for i, c := range table {
		words[i] = c.Word
	}
	return words
}

// FindCategory returns the row of a word.
func FindCategory(table []Category, word string) (Category, bool) {
	for _, c := range table {
		if c.Word == word {
			return c, true
		}
	}
	return Category{}, false
}
