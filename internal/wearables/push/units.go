package push

import (
	"maps"
	"slices"
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/units"
)

// aliases lists other spellings of the canonical units, in lower case.
var aliases = map[string][]string{
	"bpm":       {"count/min", "beats/min", "breaths/min", "count/minute"},
	"rmssd":     {"ms", "millisecond", "milliseconds"},
	"sdnn":      {"ms", "millisecond", "milliseconds"},
	"count":     {"steps", "floors", "times"},
	"kcal":      {"largecalorie", "kilocalorie", "kilocalories"},
	"°c":        {"degc", "celsius", "c"},
	"kg":        {"kgs", "kilogram", "kilograms"},
	"g":         {"gram", "grams"},
	"ml/kg/min": {"ml/min·kg", "ml/(kg*min)"},
	"min":       {"mins", "minute", "minutes"},
	"mmhg":      {"millimeter of mercury"},
	"ml":        {"milliliter", "milliliters"},
	"l":         {"liter", "liters"},
	"m":         {"meter", "meters", "metre", "metres"},
	"cm":        {"centimeter", "centimeters"},
	"unit":      {"iu", "units"},
	"index":     {"count", "kg/m2", "kg/m²"},
	"mv":        {"millivolt", "millivolts"},
	"%":         {"percent"},
	"mmol/l":    {"mmol", "mmol<180.1558800000541>/l"}, // HealthKit writes the molar mass of glucose
}

// ownUnits lists spellings that only one resource has: its unit says what was counted.
var ownUnits = map[string]string{"breaths/min": "respiratory_rate", "kg/m2": "body_mass_index", "kg/m²": "body_mass_index"}

// aliasesOf lists other spellings of the unit of a resource, in lower case.
func aliasesOf(r *wearables.Resource) []string {
	return slices.DeleteFunc(slices.Clone(aliases[strings.ToLower(r.Unit)]), func(unit string) bool {
		owner, owned := ownUnits[unit]
		return owned && owner != r.Name
	})
}

// conversions lists the units that convert to a canonical one, in lower case. The scales
// of cholesterol depend on its type.
var conversions = map[string]map[string]units.Scale{
	"kcal": unitNames(scales{
		"kj kilojoule kilojoules": units.Kilojoule, "j joule joules": units.Joule,
		"cal smallcalorie": units.Divide(1000), // HealthKit writes Cal for the large calorie: see convert
	}),
	"m": unitNames(scales{
		"km kilometer kilometers kilometre kilometres": units.Multiply(1000), "mi mile miles": units.Mile,
		"yd yard yards": units.Yard, "ft foot feet": units.Foot, "cm": units.Divide(100), "in inch inches": units.Inch,
	}),
	"kg": unitNames(scales{
		"g gram grams": units.Divide(1000), "lb lbs pound pounds": units.Pound, "st stone stones": units.Stone, "oz ounce ounces": units.Ounce,
	}),
	"°c": unitNames(scales{"degf °f f fahrenheit": units.Fahrenheit, "k kelvin": units.Kelvin}),
	"cm": unitNames(scales{
		"m meter meters": units.Multiply(100), "mm": units.Divide(10), "in inch inches": units.Multiply(2.54), "ft foot feet": units.Multiply(30.48),
	}),
	"min": unitNames(scales{
		"ms": units.Divide(60_000), "s sec secs second seconds": units.Divide(60), "h hr hrs hour hours": units.Multiply(60),
	}),
	"ml": unitNames(scales{
		"l liter liters": units.Multiply(1000), "fl_oz_us fl_oz floz": units.FluidOunceUS, "cup_us cup cups": units.CupUS,
	}),
	"g":      unitNames(scales{"mg milligram milligrams": units.Divide(1000), "mcg µg": units.Divide(1e6), "kg": units.Multiply(1000)}),
	"l":      unitNames(scales{"ml milliliter milliliters": units.Divide(1000)}),
	"rmssd":  unitNames(scales{"s sec second seconds": units.Multiply(1000)}),
	"mv":     unitNames(scales{"mcv µv": units.Divide(1000), "v": units.Multiply(1000)}),
	"mmol/l": unitNames(scales{"mg/dl mgdl": units.Glucose}),
	"mmhg":   unitNames(scales{"kpa": units.Kilopascal}),
}

// scales maps the spellings of a unit, with spaces between them, to its scale.
type scales map[string]units.Scale

// unitNames maps each spelling to its scale. People write fl_oz with a space, too.
func unitNames(all scales) map[string]units.Scale {
	each := map[string]units.Scale{}
	for spellings, scale := range all {
		for word := range strings.FieldsSeq(spellings) {
			each[word], each[strings.ReplaceAll(word, "_", " ")] = scale, scale
		}
	}
	return each
}

// largeCalorie is HealthKit's name of the kilocalorie; cal is the small calorie.
const largeCalorie = "Cal"

// Units returns the other units in which samples of a resource are accepted, in lower
// case and sorted. Case matters for the large calorie only.
func Units(r *wearables.Resource) []string {
	canonical := strings.ToLower(r.Unit)
	all := slices.AppendSeq(aliasesOf(r), maps.Keys(conversions[canonical]))
	slices.Sort(all)
	return slices.Compact(all)
}

// convert converts the values of a group to the resource's unit. ok is false for an
// unknown unit.
func (g *Group) convert(r *wearables.Resource) (ok bool) {
	unit, canonical := strings.ToLower(strings.ReplaceAll(g.Unit, "μ", "µ")), strings.ToLower(r.Unit) // the Greek letter is the micro sign
	if unit == "" || g.Unit == largeCalorie && canonical == "kcal" || unit == canonical || slices.Contains(aliasesOf(r), unit) {
		return true
	}
	scale, ok := conversions[canonical][unit]
	kind, _ := r.TypeNamed(g.Type)
	switch {
	case !ok:
		return false
	case r.Name == "body_temperature_delta":
		scale = scale.Difference()
	case r.Name == "cholesterol" && kind == "cholesterol/triglycerides":
		scale = units.Triglycerides
	case r.Name == "cholesterol":
		scale = units.Cholesterol
	}
	for i, v := range g.Value {
		g.Value[i] = scale.Convert(v)
	}
	for i, v := range g.Value2 {
		g.Value2[i] = scale.Convert(v)
	}
	return true
}
