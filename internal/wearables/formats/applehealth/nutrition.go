package applehealth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/xmlscan"
)

// nutritionRules has the rules of nutrients. Water, caffeine and carbohydrates have series of
// their own. Water and caffeine alone are no meal and belong to none.
//
// Reference 7.5, meal: the place of each nutrient, and its unit.
var nutritionRules = append([]rule{
	{name: quantity + "DietaryWater", shape: portion, resource: "water", units: millilitreUnits},
	{name: quantity + "DietaryCaffeine", shape: portion, resource: "caffeine", units: gramUnits},
	{name: quantity + "DietaryCarbohydrates", shape: portion, resource: "carbohydrates", units: gramUnits, nutrient: "macros.carbs"},
	{name: quantity + "DietaryEnergyConsumed", shape: portion, units: kilocalorieUnits, nutrient: "energy.value"},
}, slices.Concat(
	nutrients(gramUnits, "macros.", map[string]string{
		"Protein": "protein", "Fiber": "fibre", "Sugar": "sugar", "Cholesterol": "cholesterol", "FatTotal": "fats.total",
		"FatSaturated": "fats.saturated", "FatMonounsaturated": "fats.monounsaturated", "FatPolyunsaturated": "fats.polyunsaturated",
	}),
	nutrients(milligramUnits, "micros.minerals.", map[string]string{
		"Sodium": "sodium", "Potassium": "potassium", "Calcium": "calcium", "Phosphorus": "phosphorus",
		"Magnesium": "magnesium", "Iron": "iron", "Zinc": "zinc", "Chloride": "chloride",
	}),
	nutrients(milligramUnits, "micros.trace_elements.", map[string]string{"Copper": "copper", "Manganese": "manganese"}),
	nutrients(microgramUnits, "micros.trace_elements.", map[string]string{
		"Chromium": "chromium", "Iodine": "iodine", "Molybdenum": "molybdenum", "Selenium": "selenium",
	}),
	nutrients(milligramUnits, "micros.vitamins.", map[string]string{
		"Thiamin": "vitamin_b1", "Riboflavin": "riboflavin", "Niacin": "niacin", "PantothenicAcid": "pantothenic_acid",
		"VitaminB6": "vitamin_b6", "VitaminC": "vitamin_c", "VitaminE": "vitamin_e",
	}),
	nutrients(microgramUnits, "micros.vitamins.", map[string]string{
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
func (r *Reader) eat(p *pendingRecord) {
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
		p := pendingRecord{rule: key.rule, start: key.start, end: e.end, offset: e.offset, source: key.source}
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

// A meal is the food of one source at one moment: its dietary records, which the file
// lists by type, far from each other. A diary that puts its foods into correlations
// names them there; their records are repeated outside, so only the names are used.

// mealKey identifies a meal.
type mealKey struct {
	source int
	start  int64
}

// meals are those of a file.
type meals struct {
	of    map[mealKey]*mealOf
	names map[mealKey][]string // of foods
	food  mealKey              // of the correlation that is being read
	open  bool
	typed bool // the correlation was entered by the person
}

// mealOf builds one meal: amounts by their place in its body.
type mealOf struct {
	offset  int32
	amounts map[string]float64
}

func newMeals() meals { return meals{of: map[mealKey]*mealOf{}, names: map[mealKey][]string{}} }

// add puts all that was eaten of one nutrient at a moment into its meal.
func (m *meals) add(p *pendingRecord) {
	if p.rule.nutrient == "" {
		return
	}
	key := mealKey{p.source, p.start}
	meal := m.of[key]
	if meal == nil {
		meal = &mealOf{offset: p.offset, amounts: map[string]float64{}}
		m.of[key] = meal
	}
	meal.amounts[p.rule.nutrient] = math.Round(p.value*1e6) / 1e6
}

// onCorrelation notes which food the names inside are about.
func (r *Reader) onCorrelation(tag *xmlscan.Tag) {
	r.nest(&r.inside, tag)
	m := &r.meals
	m.open, m.typed = false, false
	if tag.Kind != xmlscan.Opening {
		return
	}
	a := attributes(tag)
	start, _, ok := parseMoment(a["startDate"])
	if ok && bytes.HasSuffix(a["type"], []byte("CorrelationTypeIdentifierFood")) {
		m.food, m.open = mealKey{r.sources.of(a["sourceName"], a["device"]), start}, true
	}
}

// maxFoods bounds the names of one meal.
const maxFoods = 50

// foodMetadata reads an entry of a food, or of a record inside it.
func (r *Reader) foodMetadata(key, value []byte) {
	m := &r.meals
	if !m.open {
		return
	}
	switch string(key) {
	case "HKWasUserEntered":
		if !m.typed && string(bytes.TrimSpace(value)) == "1" {
			m.food.source, m.typed = r.sources.manual(m.food.source), true
		}
	case "HKFoodType":
		name := clip(xmlscan.Unescape(value))
		if all := m.names[m.food]; name != "" && len(all) < maxFoods && !slices.Contains(all, name) {
			m.names[m.food] = append(all, name)
		}
	}
}

// summaries writes the meals, by time.
//
// Reference 7.5, meal.
func (m *meals) summaries(sources []wearables.Source) ([]wearables.Summary, error) {
	keys := make([]mealKey, 0, len(m.of))
	for key := range m.of {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b mealKey) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.source, b.source))
	})
	all := make([]wearables.Summary, 0, len(keys))
	for _, key := range keys {
		meal, source := m.of[key], sources[key.source]
		at := time.UnixMicro(key.start).UTC()
		body := map[string]any{"timestamp": at.Format(time.RFC3339Nano), "name": strings.Join(m.names[key], ", "), "data": map[string]any{}}
		for place, amount := range meal.amounts {
			setPath(body, place, amount)
		}
		if energy, ok := body["energy"].(map[string]any); ok {
			energy["unit"] = "kcal"
		}
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		offset := meal.offset
		if offset == wearables.NoOffset {
			offset = 0
		}
		all = append(all, wearables.Summary{
			Resource: "meal", Key: at.Format(time.RFC3339Nano) + "|" + source.Type + "|" + source.AppID, Source: source,
			Date: civil.DateOf(at.Add(time.Duration(offset) * time.Second)), Start: at, Body: raw,
		})
	}
	return all, nil
}

// setPath sets a value in nested objects, by a dotted path.
func setPath(into map[string]any, path string, value float64) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		into[name] = value
		return
	}
	inner, ok := into[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		into[name] = inner
	}
	setPath(inner, rest, value)
}
