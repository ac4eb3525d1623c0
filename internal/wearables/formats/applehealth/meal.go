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
func (m *meals) add(p *pending) {
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
			put(body, place, amount)
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

// put sets a value in nested objects, by a dotted path.
func put(into map[string]any, path string, value float64) {
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
	put(inner, rest, value)
}
