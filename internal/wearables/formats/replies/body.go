package replies

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// Body has the wire fields of a body that no series has. They are percent of
// the weight, except for the index. nil means that the maker does not state the
// value.
//
// Reference 7.5.
type Body struct {
	Water    *float64 `json:"water_percentage,omitempty"`
	Muscle   *float64 `json:"muscle_mass_percentage,omitempty"`
	Bone     *float64 `json:"bone_mass_percentage,omitempty"`
	Visceral *float64 `json:"visceral_fat_index,omitempty"`
}

// add adds further values of the same weighing.
func (b *Body) add(more Body) {
	b.Water, b.Muscle = cmp.Or(more.Water, b.Water), cmp.Or(more.Muscle, b.Muscle)
	b.Bone, b.Visceral = cmp.Or(more.Bone, b.Bone), cmp.Or(more.Visceral, b.Visceral)
}

// bodyKey identifies the body of a day and a source.
type bodyKey struct {
	day       civil.Date
	kind, app string
}

// String returns the key of the body. The body that is derived from the series of the
// source has the same key, so both are stored as one.
func (k bodyKey) String() string { return k.day.String() + "|" + k.kind + "|" + k.app }

// weighing holds the last values of a day.
type weighing struct {
	at     time.Time
	source wearables.Source
	body   Body
}

// Body keeps the values of a weighing until the end of the file, because the last
// weighing of a day counts.
func (r *Reader) Body(source wearables.Source, at time.Time, offset int32, b Body) {
	if b == (Body{}) {
		return
	}
	key := bodyKey{LocalDay(at, offset), source.Type, source.AppID}
	known := r.bodies[key]
	switch {
	case known == nil || at.After(known.at):
		if r.bodies == nil {
			r.bodies = map[bodyKey]*weighing{}
		}
		r.bodies[key] = &weighing{at, source, b}
	case at.Equal(known.at):
		known.body.add(b)
	}
}

// endBodies stores the bodies of days, in order.
func (r *Reader) endBodies() {
	inOrder := func(a, b bodyKey) int { return cmp.Compare(a.String(), b.String()) }
	for _, key := range slices.SortedFunc(maps.Keys(r.bodies), inOrder) {
		w := r.bodies[key]
		r.Summary(wearables.Summary{Resource: "body", Key: key.String(), Source: w.source, Date: key.day, Body: Encode(w.body)})
	}
	r.bodies = nil
}
