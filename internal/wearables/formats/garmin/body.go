package garmin

import (
	"math"
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// weight holds the values of one weighing in Garmin's units.
type weight struct {
	grams, fat, bmi, water *float64 // g, %, kg/m², %
	muscle, bone           *float64 // g
	visceral               *float64
}

// weigh stores the values of a weighing.
func (r *reader) weigh(at moment, source wearables.Source, w weight) replies.Verdict {
	before := r.Gather.N
	for _, f := range []struct {
		resource string
		v        *float64
		divisor  float64
	}{{"body_weight", w.grams, 1000}, {"body_fat", w.fat, 1}, {"body_mass_index", w.bmi, 1}} {
		if f.v != nil {
			value := *f.v / f.divisor
			if f.resource == "body_mass_index" {
				value = math.Round(value*100) / 100 // its digits are those of a narrow type
			}
			r.Gather.At(sheet.Key{Resource: f.resource, Source: source}, at.micros(), at.offset, value)
		}
	}
	body := replies.Body{Water: w.water, Muscle: share(w.muscle, w.grams), Bone: share(w.bone, w.grams), Visceral: w.visceral}
	if r.Gather.N == before && body == (replies.Body{}) {
		return replies.BadValue
	}
	r.Body(source, at.at, at.offset, body)
	return replies.Mapped
}

// share returns a mass as a percentage of the weight. It returns nil if one of them is
// missing, or if the mass is greater than the weight.
func share(grams, all *float64) *float64 {
	if grams == nil || all == nil || *all < *grams {
		return nil
	}
	percent := math.Round(10000**grams / *all) / 100
	return &percent
}

// pushedWeight reads a body composition. A document with only a weight was typed in,
// because Garmin's scales measure more.
func (r *reader) pushedWeight(d replies.Document) replies.Verdict {
	at, ok := r.measured(d)
	if !ok {
		return replies.BadDate
	}
	w := weight{
		grams: d.Positive("weightInGrams"), fat: d.Positive("bodyFatInPercent"), bmi: d.Positive("bodyMassIndex"),
		water: d.Positive("bodyWaterInPercent"), muscle: d.Positive("muscleMassInGrams"), bone: d.Positive("boneMassInGrams"),
	}
	source := scale
	if w.fat == nil && w.water == nil && w.muscle == nil && w.bone == nil {
		source = app
	}
	return r.weigh(at, source, w)
}

// mostWeighings bounds the weighings of a file: ten a day for 70 years.
const mostWeighings = 1 << 18

// weighing reads one of Connect's weights. Connect repeats the last weight of a day
// beside the list of all weights.
func (r *reader) weighing(d replies.Document) replies.Verdict {
	id := files.Text(d.Word("samplePk"))
	switch {
	case r.weighed[id]:
		return replies.Copy
	case len(r.weighed) == mostWeighings:
		return replies.TooMany
	}
	at, ok := r.both(d, "timestampGMT", "date")
	if !ok {
		return replies.BadDate
	}
	if r.weighed == nil {
		r.weighed = map[string]bool{}
	}
	r.weighed[id] = true
	source := app
	if d.Text("sourceType") == "INDEX_SCALE" {
		source = scale
	}
	return r.weigh(at, source, weight{
		grams: d.Positive("weight"), fat: d.Positive("bodyFat"), bmi: d.Positive("bmi"), water: d.Positive("bodyWater"),
		muscle: d.Positive("muscleMass"), bone: d.Positive("boneMass"), visceral: d.Positive("visceralFat"),
	})
}

func (r *reader) pushedPressure(d replies.Document) replies.Verdict {
	at, ok := r.measured(d)
	return r.pressure(d, at, ok)
}

func (r *reader) pressurePage(d replies.Document) replies.Verdict {
	at, ok := r.both(d, "measurementTimestampGMT", "measurementTimestampLocal")
	return r.pressure(d, at, ok)
}

// pressure reads a measurement of blood pressure, mmHg, and the pulse that came
// with it.
func (r *reader) pressure(d replies.Document, at moment, timed bool) replies.Verdict {
	high, low := d.Positive("systolic"), d.Positive("diastolic")
	switch {
	case !timed:
		return replies.BadDate
	case high == nil || low == nil:
		return replies.BadValue
	}
	source := cuff
	if d.Text("sourceType") == "MANUAL" {
		source = app
	}
	r.Gather.Pair(sheet.Key{Resource: "blood_pressure", Source: source}, at.micros(), at.offset, *high, *low)
	if pulse := d.Positive("pulse"); pulse != nil {
		r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at.micros(), at.offset, *pulse)
	}
	return replies.Mapped
}

// water reads the amount that was drunk in a day, in ml. It has no time, so its
// time is the start of the day.
func (r *reader) water(d replies.Document) replies.Verdict {
	day, ok := d.Day("calendarDate")
	drunk := d.Amount("valueInML")
	switch {
	case !ok:
		return replies.BadDate
	case drunk == nil:
		return replies.BadValue
	}
	at := r.midnight(day)
	r.Gather.At(sheet.Key{Resource: "water", Source: app}, at.micros(), at.offset, *drunk)
	return replies.Mapped
}

// settings reads facts about the owner of the account. The weight in it has no day, and
// names are not read.
func (r *reader) settings(d replies.Document) replies.Verdict {
	data, p := d.Inner("userData"), &derive.Person{}
	if sex := strings.ToLower(data.Text("gender")); sex == "female" || sex == "male" {
		p.Sex = sex
	}
	if height, ok := data.Number("height"); ok && height > 30 && height < 300 { // cm
		p.Height = &height
	}
	if born, ok := data.Birth("birthDate"); ok {
		p.Birth = born
	}
	if p.Sex == "" && p.Height == nil && p.Birth.IsZero() {
		return replies.BadValue
	}
	r.Sink.Person(p)
	return replies.Mapped
}
