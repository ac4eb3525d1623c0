package fhir

// What US Core says of a person beyond R4 itself: race and ethnicity, each
// with the category of the Office of Management and Budget, where there is
// one, and in words.
//
// https://hl7.org/fhir/us/core/STU3.1.1/StructureDefinition-us-core-race.html
// and …-us-core-ethnicity.html.
const (
	usCoreRace      = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"
	usCoreEthnicity = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity"
	cdcRace         = "urn:oid:2.16.840.1.113883.6.238"
)

// category is a word of the service as the extension has it; no code where no
// category means the same.
type category struct{ code, words string }

var races = map[string]category{
	"african_american_or_black": {"2054-5", "Black or African American"},
	"asian":                     {"2028-9", "Asian"},
	"indigenous_native_american_alaska_native": {"1002-5", "American Indian or Alaska Native"},
	"pacific_islander_or_hawaiian":             {"2076-8", "Native Hawaiian or Other Pacific Islander"},
	"white_caucasian":                          {"2106-3", "White"},
	"other":                                    {"", "Other"},
}

var ethnicities = map[string]category{
	"hispanic":         {"2135-2", "Hispanic or Latino"},
	"non_hispanic":     {"2186-5", "Not Hispanic or Latino"},
	"ashkenazi_jewish": {"", "Ashkenazi Jewish"},
	"other":            {"", "Other"},
}

// background is a patient's race and ethnicity, as far as they were given.
func background(p Patient) []Extension {
	var all []Extension
	if race, known := races[p.Race]; known {
		all = append(all, race.extension(usCoreRace))
	}
	if ethnicity, known := ethnicities[p.Ethnicity]; known {
		all = append(all, ethnicity.extension(usCoreEthnicity))
	}
	return all
}

// extension has the category, if there is one, and always the text.
func (c category) extension(url string) Extension {
	e := Extension{URL: url}
	if c.code != "" {
		e.Extension = append(e.Extension, Extension{URL: "ombCategory", ValueCoding: &Coding{cdcRace, c.code, c.words}})
	}
	e.Extension = append(e.Extension, Extension{URL: "text", ValueString: c.words})
	return e
}
