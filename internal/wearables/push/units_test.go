package push

import (
	"testing"

	"hale/internal/wearables"
)

// A value in another unit is converted to the nearest number in the resource's unit. A
// division is computed as a division, so that 2300 mg are 2.3 g and not
// 2.3000000000000003.
func TestConvert(t *testing.T) {
	for _, c := range []struct {
		resource, kind, unit string
		given, want          float64
	}{
		{"calories_active", "", "kJ", 4184, 1000},
		{"calories_active", "", "J", 4184, 1},
		{"calories_active", "", "Cal", 250, 250},
		{"calories_active", "", "cal", 500, 0.5}, // HealthKit's small calorie
		{"caffeine", "", "mg", 2300, 2.3},
		{"body_weight", "", "lbs", 100, 45.359237},
		{"body_weight", "", "pounds", 100, 45.359237},
		{"body_temperature", "", "F", 98.6, 37},
		{"body_temperature", "", "C", 37, 37},
		{"distance", "", "miles", 2, 3218.688},
		{"glucose", "", "mmol", 5.5, 5.5},
		{"glucose", "", "mmol<180.1558800000541>/L", 5.5, 5.5},
		{"waist_circumference", "", "inches", 10, 25.4},
		{"water", "", "L", 0.35, 350},
		{"water", "", "fl oz", 10, 295.735295625},
		{"water", "", "fl_oz_us", 10, 295.735295625},
		{"body_weight", "", "g", 71_300, 71.3},
		{"body_weight", "", "lb", 100, 45.359237},
		{"distance", "", "mi", 26.2, 26.2 * 1609.344},
		{"body_temperature", "", "degF", 98.6, 37},
		{"body_temperature_delta", "", "°F", 0.9, 0.5},
		{"glucose", "", "mg/dL", 90.091, 5},
		{"cholesterol", "cholesterol/ldl", "mg/dL", 116.01, 3},
		{"cholesterol", "cholesterol/triglycerides", "mg/dL", 177.14, 2},
		{"cholesterol", "triglycerides", "mg/dL", 177.14, 2},
		{"cholesterol", "ldl", "mg/dL", 116.01, 3},
		{"caffeine", "", "\u00b5g", 80_000, 0.08}, // micro sign
		{"caffeine", "", "\u03bcg", 80_000, 0.08}, // Greek mu
	} {
		r, known := wearables.ResourceNamed(c.resource)
		if !known {
			t.Fatalf("no resource %s", c.resource)
		}
		g := Group{Unit: c.unit}
		g.Type, g.Value = c.kind, []float64{c.given}
		if !g.convert(r) {
			t.Errorf("%s in %s is not taken", c.resource, c.unit)
		} else if g.Value[0] != c.want {
			t.Errorf("%s of %v %s is %v %s, want %v", c.resource, c.given, c.unit, g.Value[0], r.Unit, c.want)
		}
	}
}
