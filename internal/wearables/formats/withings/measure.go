package withings

import (
	"math"
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// group takes what was measured at one moment.
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
	order  []int64 // the types as they came
}

// whole is the position of a value of the whole body among those of its parts.
const whole = 7

// add takes one value. A scale's second value for the same moment is counted as a copy;
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
	case partial && position != whole && storedMeasures[kind]:
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

// most is more than any measure in any unit of Withings'.
const most = 1e9

// decimal is value × 10^unit.
func decimal(m replies.Document) (float64, bool) {
	v, ok := m.Number("value")
	unit, scaled := m.Integer("unit")
	if !ok || !scaled || unit < -12 || unit > 12 {
		return 0, false
	}
	if unit < 0 { // dividing by a power of ten is exact to the last digit, multiplying by a fraction is not
		v /= math.Pow10(int(-unit))
	} else {
		v *= math.Pow10(int(unit))
	}
	return v, math.Abs(v) <= most
}

// groupKind is the kind of source of a group: typed in, by its model, or else
// by what only such a device measures.
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
	return unknown
}

// storedMeasures are the types with a resource.
var storedMeasures = map[int64]bool{
	weight: true, height: true, lean: true, fatRatio: true, diastolic: true, systolic: true, pulse: true, oxygen: true,
	bodyTemp: true, muscle: true, water: true, bone: true, visceral: true, vo2Max: true,
}

// resources are the series that types become.
var resources = map[int64]string{
	weight: "body_weight", lean: "lean_body_mass", fatRatio: "body_fat", pulse: "heartrate", oxygen: "blood_oxygen",
	bodyTemp: "body_temperature", vo2Max: "vo2_max",
}

// intervals are the series whose samples have an end.
var intervals = map[int64]bool{lean: true, bodyTemp: true, vo2Max: true}

// store keeps the values and says whether there was any that has a home.
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
	case muscle, water, bone, visceral:
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

// height is part of the profile; the latest counts.
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
