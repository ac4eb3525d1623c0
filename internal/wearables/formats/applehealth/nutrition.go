package applehealth

import (
	"cmp"
	"slices"
)

// nutrition has the rules of nutrients. Water, caffeine and carbohydrates have series of
// their own. Water and caffeine alone are no meal and belong to none.
//
// Reference 7.5, meal: the place of each nutrient, and its unit.
var nutrition = append([]rule{
	{name: quantity + "DietaryWater", shape: portion, resource: "water", units: inMillilitres},
	{name: quantity + "DietaryCaffeine", shape: portion, resource: "caffeine", units: inGrams},
	{name: quantity + "DietaryCarbohydrates", shape: portion, resource: "carbohydrates", units: inGrams, nutrient: "macros.carbs"},
	{name: quantity + "DietaryEnergyConsumed", shape: portion, units: inKilocalories, nutrient: "energy.value"},
}, slices.Concat(
	nutrients(inGrams, "macros.", map[string]string{
		"Protein": "protein", "Fiber": "fibre", "Sugar": "sugar", "Cholesterol": "cholesterol", "FatTotal": "fats.total",
		"FatSaturated": "fats.saturated", "FatMonounsaturated": "fats.monounsaturated", "FatPolyunsaturated": "fats.polyunsaturated",
	}),
	nutrients(inMilligrams, "micros.minerals.", map[string]string{
		"Sodium": "sodium", "Potassium": "potassium", "Calcium": "calcium", "Phosphorus": "phosphorus",
		"Magnesium": "magnesium", "Iron": "iron", "Zinc": "zinc", "Chloride": "chloride",
	}),
	nutrients(inMilligrams, "micros.trace_elements.", map[string]string{"Copper": "copper", "Manganese": "manganese"}),
	nutrients(inMicrograms, "micros.trace_elements.", map[string]string{
		"Chromium": "chromium", "Iodine": "iodine", "Molybdenum": "molybdenum", "Selenium": "selenium",
	}),
	nutrients(inMilligrams, "micros.vitamins.", map[string]string{
		"Thiamin": "vitamin_b1", "Riboflavin": "riboflavin", "Niacin": "niacin", "PantothenicAcid": "pantothenic_acid",
		"VitaminB6": "vitamin_b6", "VitaminC": "vitamin_c", "VitaminE": "vitamin_e",
	}),
	nutrients(inMicrograms, "micros.vitamins.", map[string]string{
		"VitaminA": "vitamin_a", "VitaminB12": "vitamin_b12", "VitaminD": "vitamin_d", "VitaminK": "vitamin_k",
		"Biotin": "biotin", "Folate": "folic_acid",
	}),
)...)

// nutrients returns rules of types that have no series and count only in meals. names
// maps HealthKit's names to field names below the path under.
func nutrients(in spellings, under string, names map[string]string) (all []rule) {
	for name, field := range names {
		all = append(all, rule{name: quantity + "Dietary" + name, shape: portion, units: in, nutrient: under + field})
	}
	return all
}

// maxPortions bounds the portions that wait for others of the same moment: four meals a
// day of twenty nutrients for eighteen years. Further portions join no meal.
const maxPortions = 1 << 19

// portionKey identifies a meal of one source.
type portionKey struct {
	rule   *rule
	source int
	start  int64
}

// foodTotal holds the food of one source at one moment. Diaries put all foods of a meal, or
// of a day, at one time: they are added up. A repeated record counts once.
type foodTotal struct {
	end    int64
	offset int32
	values []float64
}

// eat keeps a portion until the end of the file, because more portions of the same moment
// may follow.
func (r *Reader) eat(p *pending) {
	key := portionKey{p.rule, p.source, p.start}
	e := r.portions[key]
	switch {
	case e == nil && len(r.portions) >= maxPortions:
		if p.rule.resource != "" {
			r.keep(p)
		}
	case e == nil:
		r.portions[key] = &foodTotal{p.end, p.offset, []float64{p.value}}
	case !slices.Contains(e.values, p.value) && len(e.values) < 1000:
		e.values = append(e.values, p.value)
		e.end = max(e.end, p.end)
	}
}

// eatenUp adds all portions to their meals. It stores those with a series of their own,
// in order.
func (r *Reader) eatenUp() error {
	keys := make([]portionKey, 0, len(r.portions))
	for key := range r.portions {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b portionKey) int {
		return cmp.Or(cmp.Compare(a.rule.resource, b.rule.resource), cmp.Compare(a.source, b.source), cmp.Compare(a.start, b.start))
	})
	for _, key := range keys {
		e := r.portions[key]
		p := pending{rule: key.rule, start: key.start, end: e.end, offset: e.offset, source: key.source}
		for _, v := range e.values {
			p.value += v
		}
		r.meals.add(&p)
		if p.rule.resource == "" {
			continue
		}
		r.keep(&p)
		if r.columns.n >= flushAt {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
