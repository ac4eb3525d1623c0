package push

import (
	"maps"
	"slices"
	"strings"

	"hale/internal/wearables"
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

// conversion turns a value into the canonical unit: v*factor + add.
type conversion struct{ factor, add float64 }

const perKcal = 4.184 // kJ in a kcal

// conversions lists what other units a canonical one is made of; both in lower
// case. Cholesterol has factors of its own, which depend on its type.
var conversions = map[string]map[string]conversion{
	"kcal":   {"kj": {1 / perKcal, 0}, "j": {1 / perKcal / 1000, 0}},
	"m":      {"km": {1000, 0}, "mi": {1609.344, 0}, "yd": {0.9144, 0}, "ft": {0.3048, 0}},
	"kg":     {"g": {0.001, 0}, "lb": {0.45359237, 0}, "st": {6.35029318, 0}, "oz": {0.028349523125, 0}},
	"°c":     {"degf": {1 / 1.8, -32 / 1.8}, "°f": {1 / 1.8, -32 / 1.8}, "fahrenheit": {1 / 1.8, -32 / 1.8}},
	"cm":     {"m": {100, 0}, "in": {2.54, 0}, "ft": {30.48, 0}},
	"min":    {"s": {1.0 / 60, 0}, "sec": {1.0 / 60, 0}, "hr": {60, 0}, "h": {60, 0}},
	"ml":     {"l": {1000, 0}, "fl_oz_us": {29.5735296875, 0}, "cup_us": {236.5882365, 0}},
	"g":      {"mg": {0.001, 0}, "kg": {1000, 0}},
	"l":      {"ml": {0.001, 0}},
	"rmssd":  {"s": {1000, 0}},
	"mv":     {"mcv": {0.001, 0}, "µv": {0.001, 0}, "v": {1000, 0}},
	"mmol/l": {"mg/dl": {1 / 18.0182, 0}}, // of glucose
}

const (
	mgOfCholesterol   = 38.67
	mgOfTriglycerides = 88.57
)

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
	c, ok := conversions[canonical][unit]
	switch {
	case !ok:
		return false
	case r.Name == "body_temperature_delta":
		c.add = 0
	case r.Name == "cholesterol" && g.Type == "cholesterol/triglycerides":
		c.factor = 1 / mgOfTriglycerides
	case r.Name == "cholesterol":
		c.factor = 1 / mgOfCholesterol
	}
	for i, v := range g.Value {
		g.Value[i] = v*c.factor + c.add
	}
	for i, v := range g.Value2 {
		g.Value2[i] = v*c.factor + c.add
	}
	return true
}
