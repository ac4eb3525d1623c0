package applehealth

import "strings"

const (
	quantity = "HKQuantityTypeIdentifier"
	category = "HKCategoryTypeIdentifier"
)

// shape says how the reader converts a record.
type shape uint8

const (
	point      shape = iota // one measurement at its start
	span                    // a sum or state over start to end
	portion                 // an amount that adds up with others of the same moment
	occurrence              // a category record that counts as 1
	minutes                 // a category record whose value is its length in minutes
	standHour               // 1 with the type stood or idle
	sleepStage              // a stage, or the time in bed
	systolic                // half of a blood pressure
	diastolic               // the other half
	restingHR               // a fact of the day
	walkingHR               // a fact of the day
	height                  // a fact of the person
	cycleNote               // an entry of a cycle's diary
	onTheWay                // a reading of a sensor during a workout; kind says which
)

// rule maps a HealthKit type to a series.
type rule struct {
	name     string // as in the record's type attribute
	shape    shape
	resource string    // our series
	kind     string    // its `type` word
	sport    string    // the source's sport
	units    spellings // nil for categories
	words    words     // of a cycleNote; nil when it has no value
	nutrient string    // its place in a meal, such as macros.protein; empty for none
}

// rules are all families together, by type.
var rules = func() map[string]*rule {
	all := map[string]*rule{}
	for _, family := range [][]rule{vitals, movement, body, nutrition, mind, fertility, courses} {
		for i := range family {
			all[family[i].name] = &family[i]
		}
	}
	return all
}()

// shortName returns a type without its prefix, such as StepCount, for reports. It returns
// "other" for types that do not look like HealthKit's, so that a report contains only
// identifiers.
func shortName(raw []byte) string {
	name := string(raw)
	for _, prefix := range []string{quantity, category, "HKDataType", "HKCorrelationTypeIdentifier", "HKClinicalTypeIdentifier"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && len(rest) <= 80 && identifier(rest) {
			return rest
		}
	}
	return "other"
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
