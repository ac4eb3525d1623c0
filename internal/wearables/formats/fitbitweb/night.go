package fitbitweb

import (
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// nightly keeps the values of a reply about the main sleep of its date.
func (r *reader) nightly(d replies.Document, name string, said replies.Sleep) replies.Verdict {
	day, ok := d.Day("dateTime")
	switch {
	case !ok:
		return replies.BadDate
	case said == replies.Sleep{}:
		return replies.BadValue
	}
	return r.Nightly(replies.Nightly{Day: day, Source: watch, Sleep: said, Name: name})
}

// hrv takes the mean variability of a night (RMSSD, ms); that of deep sleep alone has
// no resource.
func (r *reader) hrv(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	verdict := r.nightly(d, "hrv", replies.Sleep{AverageHRV: v.Positive("dailyRmssd")})
	r.Homeless("hrv", v, "deepRmssd")
	return verdict
}

// hrvIntraday takes the variability every five minutes of a night.
func (r *reader) hrvIntraday(d replies.Document) replies.Verdict {
	key := sheet.Key{Resource: "hrv", Type: "rmssd", Source: watch}
	return r.perMinute(d, key, func(one replies.Document) *float64 { return one.Inner("value").Positive("rmssd") })
}

// oxygen takes the saturation every minute of a night, in percent.
func (r *reader) oxygen(d replies.Document) replies.Verdict {
	key := sheet.Key{Resource: "blood_oxygen", Source: watch}
	return r.perMinute(d, key, func(one replies.Document) *float64 { return one.Positive("value") })
}

// perMinute takes the values of a night, each with its own time.
func (r *reader) perMinute(d replies.Document, key sheet.Key, value func(replies.Document) *float64) replies.Verdict {
	if _, ok := d.Day("dateTime"); !ok {
		return replies.BadDate
	}
	clock := sheet.Wall{Zone: r.Zone}
	kept := false
	for _, one := range d.Documents("minutes") {
		wall, ok := one.Wall("minute")
		v := value(one)
		if !ok || v == nil {
			continue
		}
		at, offset := clock.Instant(wall)
		r.Gather.At(key, at, offset, *v)
		kept = true
	}
	return replies.VerdictOf(kept)
}

// breaths takes the breaths per minute of a whole night, in the summary or among those
// of its stages, which have no resource.
func (r *reader) breaths(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	rate := v.Positive("breathingRate")
	if rate == nil {
		rate = v.Inner("fullSleepSummary").Positive("breathingRate")
	}
	verdict := r.nightly(d, "br", replies.Sleep{Respiratory: rate})
	r.Homeless("br", v, "deepSleepSummary", "lightSleepSummary", "remSleepSummary")
	return verdict
}

// skin takes how much warmer or colder than usual the skin was in a night.
func (r *reader) skin(d replies.Document) replies.Verdict {
	return r.nightly(d, "tempSkin", replies.Sleep{Temperature: d.Inner("value").Deviation("nightlyRelative")})
}
