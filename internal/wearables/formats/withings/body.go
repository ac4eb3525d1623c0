package withings

import (
	"math"

	"hale/internal/wearables/formats/replies"
)

// body takes a part of a weighing that belongs to the body of its day. Withings states
// kilograms, the API of Hale percent of the weight at the same time.
func (g *group) body(kind int64, value float64) replies.Verdict {
	kilograms, known := g.values[weight]
	switch {
	case value <= 0:
		return replies.BadValue
	case kind != visceral && (!known || kilograms <= 0):
		return replies.Unpaired
	case kind != visceral && value >= kilograms:
		return replies.BadValue
	}
	if kind != visceral {
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
	case visceral:
		b.Visceral = &rounded
	}
	g.Body(source(g.kind), g.at, g.offset, b)
	return replies.Mapped
}
