package oura

import "hale/internal/wearables/formats/replies"

// score takes a daily_sleep.
func (r *reader) score(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	value := d.Whole("score")
	switch {
	case !ok:
		return replies.BadDate
	case value == nil:
		return replies.BadValue
	}
	return r.Nightly(replies.Nightly{Name: "daily_sleep", Day: day, Source: ring, Sleep: replies.Sleep{Score: value}})
}

// readiness takes a daily_readiness.
func (r *reader) readiness(d replies.Document) replies.Verdict {
	day, ok := d.Day("day")
	said := replies.Sleep{Readiness: d.Whole("score"), Temperature: d.Deviation("temperature_deviation")}
	switch {
	case !ok:
		return replies.BadDate
	case said == replies.Sleep{}:
		return replies.BadValue
	}
	return r.Nightly(replies.Nightly{Name: "daily_readiness", Day: day, Source: ring, Sleep: said})
}
