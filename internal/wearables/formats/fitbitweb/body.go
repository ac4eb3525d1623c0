package fitbitweb

import (
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// weight takes a weight, in kilograms, and the values beside it.
func (r *reader) weight(d replies.Document) replies.Verdict {
	return r.weighed(d, [][2]string{{"weight", "body_weight"}, {"bmi", "body_mass_index"}, {"fat", "body_fat"}})
}

// fat takes a share of fat, in percent, without a weight.
func (r *reader) fat(d replies.Document) replies.Verdict {
	return r.weighed(d, [][2]string{{"fat", "body_fat"}})
}

func (r *reader) weighed(d replies.Document, fields [][2]string) replies.Verdict {
	if _, archived := dayOfArchive(d.Text("date")); archived {
		return replies.BadUnit // in the unit of the account, which is unknown
	}
	wall, ok := wallOf(d, "date", "time")
	if !ok {
		return replies.BadDate
	}
	if d.Positive(fields[0][0]) == nil {
		return replies.BadValue
	}
	at, offset := r.instant(wall)
	source := scaleOf(d.Text("source"))
	for _, f := range fields {
		if v := d.Positive(f[0]); v != nil {
			r.Gather.At(sheet.Key{Resource: f[1], Source: source}, at, offset, *v)
		}
	}
	return replies.Mapped
}

// scaleOf returns the source of a weight: a Fitbit scale, the app with typed values, or
// a client of the API. An old reply does not name it.
func scaleOf(name string) wearables.Source {
	switch {
	case strings.HasPrefix(name, "Aria"):
		return scale
	case name == "":
		return otherSource
	}
	return app
}

// core takes a temperature of the body that was typed in, in °C.
func (r *reader) core(d replies.Document) replies.Verdict {
	wall, ok := d.Wall("dateTime")
	if !ok {
		return replies.BadDate
	}
	v := d.Positive("value")
	if v == nil {
		return replies.BadValue
	}
	at, offset := r.instant(wall)
	r.Gather.At(sheet.Key{Resource: "body_temperature", Source: app}, at, offset, *v)
	return replies.Mapped
}

// cardioScore takes the VO₂max of a day. Without recorded runs Fitbit states a range,
// in which the value is unknown.
func (r *reader) cardioScore(d replies.Document) replies.Verdict {
	day, ok := d.Day("dateTime")
	if !ok {
		return replies.BadDate
	}
	v, ok := d.Inner("value").Loose("vo2Max")
	if !ok || v <= 0 {
		return replies.BadValue
	}
	from, to, offset := r.day(day)
	r.Gather.Span(sheet.Key{Resource: "vo2_max", Source: watch}, from, to, offset, v)
	return replies.Mapped
}

// day returns the start and the end of a local day, from midnight to midnight. The offset
// is that of the start.
func (r *reader) day(date civil.Date) (from, to int64, offset int32) {
	from, offset = r.instant(date.In(time.UTC))
	to, _ = r.instant(date.AddDays(1).In(time.UTC))
	return from, to, offset
}

// user takes the birth date of a profile. It does not read height and weight, because
// they may be in either system of units, and neither name nor picture.
func (r *reader) user(d replies.Document) replies.Verdict {
	birth, ok := d.Birth("dateOfBirth")
	if !ok {
		return replies.BadValue
	}
	r.Sink.Person(&derive.Person{Birth: birth})
	return replies.Mapped
}

// device takes one of the wearer's trackers or scales.
func (r *reader) device(d replies.Document) replies.Verdict {
	one := files.Device{
		Provider: Provider, SourceType: watch.Type, Manufacturer: "Fitbit", Model: files.Text(d.Text("deviceVersion")), ExternalID: files.Text(d.Word("id")),
	}
	if d.Text("type") == "SCALE" {
		one.SourceType = scale.Type
	}
	if !r.Own(one) {
		return replies.BadValue
	}
	return replies.Mapped
}
