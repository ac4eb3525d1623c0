package ihealth

import (
	"time"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// Kilograms.
const (
	perPound = 0.45359237
	perStone = 6.35029318
)

// weight takes a weighing. Zero means not measured. The share of fat and of water is in
// percent; that of bone and muscle has no unit and no resource.
func (r *reader) weight(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "WeightUnit", 1, perPound, perStone)
	value := d.Positive("WeightValue")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case value == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "scale")
	r.Gather.At(sheet.Key{Resource: "body_weight", Source: source}, at, offset, *value*factor)
	if fat := d.Positive("FatValue"); fat != nil {
		r.Gather.At(sheet.Key{Resource: "body_fat", Source: source}, at, offset, *fat)
	}
	if index := d.Positive("BMI"); index != nil {
		r.Gather.Span(sheet.Key{Resource: "body_mass_index", Source: source}, at, at, offset, *index)
	}
	r.Body(source, time.UnixMicro(at).UTC(), offset, replies.Body{Water: d.Positive("WaterValue")})
	for _, part := range []string{"BoneValue", "MuscaleValue", "DCI"} {
		if d.Positive(part) != nil {
			r.Part("weight."+part, replies.Skipped)
		}
	}
	return replies.Mapped
}
