package applehealth

import (
	"strings"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/xmlscan"
)

// onMe reads the person's characteristics. Unset ones are empty or NotSet.
func (r *Reader) onMe(tag *xmlscan.Tag) {
	for _, a := range tag.Attrs {
		value := string(a.Value)
		switch strings.TrimPrefix(string(a.Name), "HKCharacteristicTypeIdentifier") {
		case "DateOfBirth":
			if birth, err := civil.ParseDate(value); err == nil && birth.Year >= 1890 {
				r.person.Birth = birth
			}
		case "BiologicalSex":
			r.person.Sex = map[string]string{
				"HKBiologicalSexFemale": "female", "HKBiologicalSexMale": "male", "HKBiologicalSexOther": "other",
			}[value]
		case "WheelchairUse":
			r.person.Wheelchair = value == "HKWheelchairUseYes"
		}
	}
}

// onRings reads an ActivitySummary: a day's sums, which the phone merged over all
// sources. A day without a watch has zeros, which mean no data.
func (r *Reader) onRings(tag *xmlscan.Tag) {
	if tag.Kind == xmlscan.Closing {
		return
	}
	r.rings++
	a := attributes(tag)
	day, err := civil.ParseDate(string(a["dateComponents"]))
	kcal := positive(amount(a["activeEnergyBurned"], a["activeEnergyBurnedUnit"], unitOne, inKilocalories))
	if err != nil || kcal == nil || day.Year < 1970 || day.Year > 2099 {
		return
	}
	f := r.facts[day]
	f.ActiveKcal = kcal
	r.facts[day] = f
}
