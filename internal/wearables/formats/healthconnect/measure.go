package healthconnect

import (
	"encoding/json"
	"strings"

	"hale/internal/wearables/formats/replies"
)

// measure maps the client library's names of units to the platform's units. The
// platform's own unit is first: it is used if a value has several, so that no digit is
// lost.
type measure []unit

type unit struct {
	name        string // singular, as capacitor-health-connect has it
	times, over float64
}

// Eighteen milligrams are a millimole here as in the library, so that its converted
// value is converted back exactly.
//
// Source: androidx.health.connect.client.units.
var (
	plain      = measure{{"", 1, 1}}
	metre      = measure{{"meter", 1, 1}, {"kilometer", 1000, 1}, {"mile", 1609.344, 1}, {"inch", 0.0254, 1}, {"feet", 0.3048, 1}}
	calorie    = measure{{"calorie", 1, 1}, {"kilocalorie", 1000, 1}, {"joule", 1000, 4184}, {"kilojoule", 1e6, 4184}}
	gram       = measure{{"gram", 1, 1}, {"kilogram", 1000, 1}, {"milligram", 1, 1000}, {"microgram", 1, 1e6}, {"ounce", 28.34952, 1}, {"pound", 453.59237, 1}}
	litre      = measure{{"liter", 1, 1}, {"milliliter", 1, 1000}, {"fluidOunceUs", 0.02957353, 1}}
	celsius    = measure{{"celsius", 1, 1}}
	millimolar = measure{{"millimolesPerLiter", 1, 1}, {"milligramsPerDeciliter", 1, 18}}
	mercury    = measure{{"millimetersOfMercury", 1, 1}}
	specimens  = measure{} // a number or a word
)

// read returns a value in the platform's unit. react-native-health-connect
// writes {"inKilograms": 71.2, "inGrams": 71200}. capacitor-health-connect
// writes {"unit": "gram", "value": 71200}. A value without a unit is a number.
func (m measure) read(raw json.RawMessage) (float64, bool) {
	if v, ok := replies.NumberOf(raw); ok {
		return v, m[0].name == ""
	}
	d, ok := replies.Parse(raw)
	if !ok {
		return 0, false
	}
	if v, ok := d.Number("value"); ok {
		of := d.Text("unit")
		for _, u := range m {
			if u.is(of) {
				return v * u.times / u.over, true
			}
		}
		return 0, false
	}
	for _, u := range m {
		if u.name == "" {
			continue
		}
		for _, end := range []string{"s", ""} {
			if v, ok := d.Number("in" + strings.ToUpper(u.name[:1]) + u.name[1:] + end); ok {
				return v * u.times / u.over, true
			}
		}
	}
	return 0, false
}

// is reports whether a word names the unit, in the singular or the plural.
func (u unit) is(word string) bool { return word == u.name || u.name != "" && word == u.name+"s" }

// specimenWords are the client library's words for the specimens of blood glucose. The
// index of a word is the platform's code.
//
// Source: android.health.connect.datatypes.BloodGlucoseRecord.SpecimenSource.
var specimenWords = []string{"unknown", "interstitial_fluid", "capillary_blood", "plasma", "serum", "tears", "whole_blood"}
