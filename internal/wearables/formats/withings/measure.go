package withings

import (
	"math"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// group reads the measurements of one moment.
func (r *reader) group(d replies.Document) replies.Verdict {
	at, ok := d.Unix("date")
	if !ok {
		return replies.BadDate
	}
	g := &group{reader: r, at: at, offset: r.OffsetIn(d.Around("timezone").Text("timezone"), at), values: map[int64]float64{}}
	for _, m := range d.Documents("measures") {
		g.add(m)
	}
	g.kind = groupKind(d, g.values)
	if !g.store() {
		return replies.Skipped
	}
	return replies.Mapped
}

// group holds the measurements of one moment: values by their type.
type group struct {
	*reader
	at     time.Time
	offset int32
	kind   string
	values map[int64]float64
	order  []int64 // the types, in the order of the document
}

// wholeBody is the position code of a value of the whole body.
const wholeBody = 7

// add reads one value. A scale's second value for the same moment is counted as a copy;
// a segmental value has no resource.
func (g *group) add(m replies.Document) {
	kind, ok := m.Integer("type")
	value, read := decimal(m)
	name := measureName(kind)
	position, partial := m.Integer("position")
	_, twice := g.values[kind]
	switch {
	case !ok || !read:
		g.Part(name, replies.BadValue)
	case partial && position != wholeBody && storedMeasures[kind]:
		g.Part(name, replies.Skipped)
	case twice && storedMeasures[kind]:
		g.Part(name, replies.Copy)
	case !storedMeasures[kind]:
		g.Part(name, replies.Skipped)
	default:
		g.values[kind] = value
		g.order = append(g.order, kind)
	}
}

// maxMeasure bounds the measures, in any unit of Withings.
const maxMeasure = 1e9

// decimal returns value × 10^unit. It returns false if a field is missing or out of
// range.
func decimal(m replies.Document) (float64, bool) {
	v, ok := m.Number("value")
	unit, scaled := m.Integer("unit")
	if !ok || !scaled || unit < -12 || unit > 12 {
		return 0, false
	}
	if unit < 0 { // dividing by a power of ten is exact; multiplying by a fraction is not
		v /= math.Pow10(int(-unit))
	} else {
		v *= math.Pow10(int(unit))
	}
	return v, math.Abs(v) <= maxMeasure
}

// groupKind returns the source type of a group: the app for typed values, otherwise the
// type of the model. Without a known model, pressures come from a cuff and weights from a
// scale.
func groupKind(d replies.Document, values map[int64]float64) string {
	attrib, _ := d.Integer("attrib")
	_, weighed := values[weight]
	_, pressed := values[systolic]
	switch kind := kindOf(d); {
	case attrib == 2 || attrib == 4:
		return app
	case kind != "":
		return kind
	case pressed:
		return cuff
	case weighed:
		return scale
	}
	return unknownDevice
}

// storedMeasures are the types with a resource.
var storedMeasures = map[int64]bool{
	weight: true, height: true, leanMass: true, fatRatio: true, diastolic: true, systolic: true, pulse: true, oxygen: true,
	bodyTemp: true, muscle: true, water: true, bone: true, visceralFat: true, vo2Max: true,
}

// resources maps types to series.
var resources = map[int64]string{
	weight: "body_weight", leanMass: "lean_body_mass", fatRatio: "body_fat", pulse: "heartrate", oxygen: "blood_oxygen",
	bodyTemp: "body_temperature", vo2Max: "vo2_max",
}

// intervals are the types whose series have samples with an end.
var intervals = map[int64]bool{leanMass: true, bodyTemp: true, vo2Max: true}

// store stores the values and reports whether at least one was stored.
func (g *group) store() bool {
	stored := false
	for _, kind := range g.order {
		became := g.keep(kind, g.values[kind])
		g.Part(measureName(kind), became)
		stored = stored || became == replies.Mapped
	}
	return stored
}

func (g *group) keep(kind int64, value float64) replies.Verdict {
	at := g.at.UnixMicro()
	switch kind {
	case systolic, diastolic:
		high, pressed := g.values[systolic]
		low, relaxed := g.values[diastolic]
		if !pressed || !relaxed {
			return replies.Unpaired
		}
		if kind == systolic {
			g.Gather.Pair(sheet.Key{Resource: "blood_pressure", Source: source(g.kind)}, at, g.offset, high, low)
		}
		return replies.Mapped
	case height:
		return g.height(value)
	case muscle, water, bone, visceralFat:
		return g.body(kind, value)
	}
	if value <= 0 {
		return replies.BadValue
	}
	key := sheet.Key{Resource: resources[kind], Source: source(g.kind)}
	if intervals[kind] {
		g.Gather.Span(key, at, at, g.offset, value)
	} else {
		g.Gather.At(key, at, g.offset, value)
	}
	return replies.Mapped
}

// height adds the height to the profile. The latest height counts.
func (g *group) height(metres float64) replies.Verdict {
	if metres < 0.3 || metres > 3 {
		return replies.BadValue
	}
	if at := g.at.UnixMicro(); at >= g.heightAt {
		g.heightAt = at
		centimetres := 100 * metres
		g.Sink.Person(&derive.Person{Height: &centimetres, HeightAt: at})
	}
	return replies.Mapped
}

// These are the measure types that the code uses.
const (
	weight      = 1
	height      = 4
	leanMass    = 5
	fatRatio    = 6
	diastolic   = 9
	systolic    = 10
	pulse       = 11
	oxygen      = 54
	bodyTemp    = 71
	muscle      = 76
	water       = 77
	bone        = 88
	visceralFat = 170
	vo2Max      = 123
)

// measureNames maps types of measures to their names in reports. The type temperature,
// without a prefix, is the temperature of the room, which some scales measure.
//
// Withings' reference, Measure - Getmeas.
var measureNames = map[int64]string{
	weight: "weight", height: "height", leanMass: "fat_free_mass", fatRatio: "fat_ratio", 8: "fat_mass",
	diastolic: "diastolic", systolic: "systolic", pulse: "heart_pulse", 12: "temperature", 18: "unknown_18", 35: "co2",
	oxygen: "spo2", bodyTemp: "body_temperature", 73: "skin_temperature", muscle: "muscle_mass", water: "hydration",
	bone: "bone_mass", 91: "pulse_wave_velocity", vo2Max: "vo2_max", 130: "afib_ecg", 135: "qrs_interval",
	136: "pr_interval", 137: "qt_interval", 138: "corrected_qt_interval", 139: "afib_ppg", 155: "vascular_age",
	158: "nerve_health_left", 159: "nerve_health_right", 167: "nerve_health", 168: "extracellular_water",
	169: "intracellular_water", visceralFat: "visceral_fat", 173: "fat_free_mass_segment", 174: "fat_mass_segment",
	175: "muscle_mass_segment", 196: "electrodermal_activity", 197: "electrodermal_activity_left",
	198: "electrodermal_activity_right", 226: "basal_metabolic_rate", 227: "metabolic_age",
	229: "skin_conductance",
}

// measureName returns the name of a type in reports.
func measureName(kind int64) string {
	if name, ok := measureNames[kind]; ok {
		return "measure." + name
	}
	return "measure.other"
}

// body reads a part of a weighing that belongs to the body of its day. Withings states
// kilograms, the API of Hale percent of the weight at the same time.
func (g *group) body(kind int64, value float64) replies.Verdict {
	kilograms, known := g.values[weight]
	switch {
	case value <= 0:
		return replies.BadValue
	case kind != visceralFat && (!known || kilograms <= 0):
		return replies.Unpaired
	case kind != visceralFat && value >= kilograms:
		return replies.BadValue
	}
	if kind != visceralFat {
		value = 100 * value / kilograms
	}
	rounded := math.Round(value*1e4) / 1e4
	var b replies.Body
	switch kind {
	case water:
		b.Water = &rounded
	case muscle:
		b.Muscle = &rounded
	case bone:
		b.Bone = &rounded
	case visceralFat:
		b.Visceral = &rounded
	}
	g.Body(source(g.kind), g.at, g.offset, b)
	return replies.Mapped
}
