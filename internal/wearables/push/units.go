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
	"rmssd":     {"ms"},
	"sdnn":      {"ms"},
	"count":     {"steps", "floors", "times"},
	"kcal":      {"cal", "largecalorie"}, // Apple writes Cal for kcal
	"°c":        {"degc", "celsius"},
	"kg":        {"kilogram"},
	"ml/kg/min": {"ml/min·kg", "ml/(kg*min)"},
	"min":       {"minute", "minutes"},
	"mmhg":      {"millimeter of mercury"},
	"ml":        {"milliliter"},
	"m":         {"meter", "meters"},
	"cm":        {"centimeter"},
	"unit":      {"iu"},
	"index":     {"count", "kg/m2", "kg/m²"},
	"mv":        {"millivolt"},
}

// conversions lists the units that convert to a canonical one, in lower case. The scales
// of cholesterol depend on its type.
var conversions = map[string]map[string]units.Scale{
	"kcal":   {"kj": units.Kilojoule, "j": units.Joule},
	"m":      {"km": units.Multiply(1000), "mi": units.Mile, "yd": units.Yard, "ft": units.Foot},
	"kg":     {"g": units.Divide(1000), "lb": units.Pound, "st": units.Stone, "oz": units.Ounce},
	"°c":     {"degf": units.Fahrenheit, "°f": units.Fahrenheit, "fahrenheit": units.Fahrenheit},
	"cm":     {"m": units.Multiply(100), "in": units.Multiply(2.54), "ft": units.Multiply(30.48)},
	"min":    {"s": units.Divide(60), "sec": units.Divide(60), "hr": units.Multiply(60), "h": units.Multiply(60)},
	"ml":     {"l": units.Multiply(1000), "fl_oz_us": units.FluidOunceUS, "cup_us": units.CupUS},
	"g":      {"mg": units.Divide(1000), "kg": units.Multiply(1000)},
	"l":      {"ml": units.Divide(1000)},
	"rmssd":  {"s": units.Multiply(1000)},
	"mv":     {"mcv": units.Divide(1000), "µv": units.Divide(1000), "v": units.Multiply(1000)},
	"mmol/l": {"mg/dl": units.Glucose},
}

// Units returns the other units in which samples of a resource are accepted, in lower
// case and sorted. Case does not matter.
func Units(r *wearables.Resource) []string {
	canonical := strings.ToLower(r.Unit)
	all := slices.AppendSeq(slices.Clone(aliases[canonical]), maps.Keys(conversions[canonical]))
	slices.Sort(all)
	return slices.Compact(all)
}

// convert converts the values of a group to the resource's unit. ok is false for an
// unknown unit.
func (g *Group) convert(r *wearables.Resource) (ok bool) {
	unit, canonical := strings.ToLower(g.Unit), strings.ToLower(r.Unit)
	if unit == "" || unit == canonical || slices.Contains(aliases[canonical], unit) {
		return true
	}
	scale, ok := conversions[canonical][unit]
	switch {
	case !ok:
		return false
	case r.Name == "body_temperature_delta":
		scale = scale.Difference()
	case r.Name == "cholesterol" && g.Type == "cholesterol/triglycerides":
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
