package withings

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"hale/internal/civil"
	"hale/internal/providers/replies"
	"hale/internal/wearables"
)

// bodyBody has the wire fields of a body that no series of ours has. Withings
// tells kilograms, the interface percent of the weight of the same moment.
//
// Reference 7.5.
type bodyBody struct {
	Water    *float64 `json:"water_percentage,omitempty"`
	Muscle   *float64 `json:"muscle_mass_percentage,omitempty"`
	Bone     *float64 `json:"bone_mass_percentage,omitempty"`
	Visceral *float64 `json:"visceral_fat_index,omitempty"`
}

// weighed is the last weighing of a day that said such a thing.
type weighed struct {
	at   time.Time
	body bodyBody
}

// body takes a part of a weighing that is told with the body of its day.
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
	b := g.weighed()
	if b == nil { // a later one of the day is known
		return replies.Mapped
	}
	if kind != visceral {
		value = 100 * value / kilograms
	}
	rounded := math.Round(value*1e4) / 1e4
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
	return replies.Mapped
}

// weighed is where the group's part of the body of its day goes; nil when a
// later weighing is known.
func (g *group) weighed() *bodyBody {
	day := bodyDay{replies.LocalDay(g.at, g.offset), g.kind}
	known := g.bodies[day]
	if known != nil && known.at.After(g.at) {
		return nil
	}
	if known == nil || known.at.Before(g.at) {
		known = &weighed{at: g.at}
		if g.bodies == nil {
			g.bodies = map[bodyDay]*weighed{}
		}
		g.bodies[day] = known
	}
	return &known.body
}

// keepBodies stores the last of each day. The key is that of the body that is
// derived from the series of the same source.
func (r *reader) keepBodies() {
	days := slices.SortedFunc(maps.Keys(r.bodies), func(a, b bodyDay) int {
		return cmp.Or(a.day.Compare(b.day), cmp.Compare(a.source, b.source))
	})
	for _, day := range days {
		w := r.bodies[day]
		r.Summary(wearables.Summary{
			Resource: "body", Key: keyOfBody(day.day, day.source), Source: source(day.source), Date: day.day,
			Body: replies.Encode(w.body),
		})
	}
	r.bodies = nil
}

func keyOfBody(day civil.Date, kind string) string { return day.String() + "|" + kind + "|" }
