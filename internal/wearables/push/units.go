package push

import (
	"maps"
	"slices"
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/units"
)

// aliases are other spellings of the canonical units, in lower case.
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

// conversions lists what other units a canonical one is made of; both in lower
// case. Cholesterol has scales of its own, which depend on its type.
var conversions = map[string]map[string]units.Scale{
	"kcal":   {"kj": units.Kilojoule, "j": units.Joule},
	"m":      {"km": units.Times(1000), "mi": units.Mile, "yd": units.Yard, "ft": units.Foot},
	"kg":     {"g": units.Over(1000), "lb": units.Pound, "st": units.Stone, "oz": units.Ounce},
	"°c":     {"degf": units.Fahrenheit, "°f": units.Fahrenheit, "fahrenheit": units.Fahrenheit},
	"cm":     {"m": units.Times(100), "in": units.Times(2.54), "ft": units.Times(30.48)},
	"min":    {"s": units.Over(60), "sec": units.Over(60), "hr": units.Times(60), "h": units.Times(60)},
	"ml":     {"l": units.Times(1000), "fl_oz_us": units.FluidOunceUS, "cup_us": units.CupUS},
	"g":      {"mg": units.Over(1000), "kg": units.Times(1000)},
	"l":      {"ml": units.Over(1000)},
	"rmssd":  {"s": units.Times(1000)},
	"mv":     {"mcv": units.Over(1000), "µv": units.Over(1000), "v": units.Times(1000)},
	"mmol/l": {"mg/dl": units.Glucose},
}

// Units are the units that samples of a resource are taken in besides its own,
// in lower case and sorted; case does not matter.
func Units(r *wearables.Resource) []string {
	canonical := strings.ToLower(r.Unit)
	all := slices.AppendSeq(slices.Clone(aliases[canonical]), maps.Keys(conversions[canonical]))
	slices.Sort(all)
	return slices.Compact(all)
}

// convert brings the values of a group into the resource's unit. ok is false
// for a unit that it does not know.
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
		g.Value[i] = scale.Of(v)
	}
	for i, v := range g.Value2 {
		g.Value2[i] = scale.Of(v)
	}
	return true
}
