package ihealth

import (
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// mmHgPerKilopascal turns a pressure in kPa into mmHg.
const mmHgPerKilopascal = 7.50061683

// unit returns the factor of a page's unit. The unit is a number, and factors
// are in iHealth's order. ok is false for any other number, and for a page
// without a unit, such as a truncated page. Otherwise pounds could pass for
// kilograms.
func unit(d replies.Document, field string, factors ...float64) (factor float64, ok bool) {
	n, whole := d.Around(field).Integer(field)
	if !whole || n < 0 || n >= int64(len(factors)) {
		return 0, false
	}
	return factors[n], true
}

// pressure takes a blood pressure with its pulse.
func (r *reader) pressure(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "BPUnit", 1, mmHgPerKilopascal)
	high, low := d.Positive("HP"), d.Positive("LP")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case high == nil || low == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "cuff")
	r.Gather.Pair(sheet.Key{Resource: "blood_pressure", Source: source}, at, offset, *high*factor, *low*factor)
	if pulse := d.Positive("HR"); pulse != nil {
		r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at, offset, *pulse)
	}
	if irregular := d.Positive("IsArr"); irregular != nil {
		r.Part("blood pressure.IsArr", replies.Skipped)
	}
	return replies.Mapped
}

// glucose takes a meter's value of a drop of blood.
func (r *reader) glucose(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	factor, known := unit(d, "BGUnit", 1/sheet.MilligramsPerMillimole, 1)
	value := d.Positive("BG")
	switch {
	case !ok:
		return replies.BadDate
	case !known:
		return replies.BadUnit
	case value == nil:
		return replies.BadValue
	}
	r.Gather.At(sheet.Key{Resource: "glucose", Source: sourceOf(d, "fingerprick")}, at, offset, *value*factor)
	r.Homeless("glucose", d, "Carbs")
	return replies.Mapped
}

// oxygen takes a saturation with its pulse. There is no word for an oximeter.
func (r *reader) oxygen(d replies.Document) replies.Verdict {
	at, offset, ok := r.moment(d, "MDate")
	value := d.Positive("BO")
	switch {
	case !ok:
		return replies.BadDate
	case value == nil:
		return replies.BadValue
	}
	source := sourceOf(d, "unknown")
	r.Gather.At(sheet.Key{Resource: "blood_oxygen", Source: source}, at, offset, *value)
	if pulse := d.Positive("HR"); pulse != nil {
		r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at, offset, *pulse)
	}
	return replies.Mapped
}
