package ihealth

import (
	"time"

	"hale/internal/civil"
	"hale/internal/providers/replies"
	"hale/internal/providers/sheet"
	"hale/internal/wearables"
)

// Kilograms.
const (
	perPound = 0.45359237
	perStone = 6.35029318
)

// weight takes a weighing. Zero says that something was not measured. The
// share of fat and of water is in percent; that of bone and muscle has no unit
// beside it and no home.
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
	if share := d.Positive("WaterValue"); share != nil {
		r.water(at, offset, source.Type, *share)
	}
	for _, part := range []string{"BoneValue", "MuscaleValue", "DCI"} {
		if d.Positive(part) != nil {
			r.Part("weight."+part, replies.Skipped)
		}
	}
	return replies.Mapped
}

// weighing is a day's body by one kind of source.
type weighing struct {
	day    civil.Date
	source string
}

// water is the last share of water of a day.
type water struct {
	at    int64
	share float64
}

func (r *reader) water(at int64, offset int32, source string, share float64) {
	day := weighing{replies.LocalDay(time.UnixMicro(at), offset), source}
	if known, ok := r.waters[day]; ok && known.at > at {
		return
	}
	if r.waters == nil {
		r.waters = map[weighing]water{}
	}
	r.waters[day] = water{at, share}
}

// keepWater tells the body of a day its water, which no series has. The key is
// that of the body that is derived from the series of the same source.
func (r *reader) keepWater(day weighing, w water) {
	r.Summary(wearables.Summary{
		Resource: "body", Key: day.day.String() + "|" + day.source + "|",
		Source: wearables.Source{Provider: Provider, Type: day.source}, Date: day.day,
		Body: replies.Encode(struct {
			Water float64 `json:"water_percentage"`
		}{w.share}),
	})
}
