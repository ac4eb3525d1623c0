package ultrahuman

import (
	"time"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// steps takes the day's total.
func (r *reader) steps(item, body replies.Document) replies.Verdict {
	total := body.Whole("total")
	if total == nil {
		return replies.Skipped
	}
	day, ok := r.dayOf(item, body)
	if !ok {
		return replies.BadDate
	}
	if len(body.List("values")) > 0 {
		r.Part("steps.values", replies.Skipped)
	}
	return r.Activity(ring, day, replies.Activity{Steps: total})
}

// recovery, variability and resting take values about the night of a day.
func (r *reader) recovery(item, body replies.Document) replies.Verdict {
	return r.nightly(item, body, "recovery_index", replies.Sleep{Readiness: replies.Whole(body.Positive("value"))})
}

func (r *reader) variability(item, body replies.Document) replies.Verdict {
	return r.nightly(item, body, "avg_sleep_hrv", replies.Sleep{AverageHRV: body.Positive("value")})
}

// resting takes the resting heart rate of the night, which two metrics have.
func (r *reader) resting(item, body replies.Document) replies.Verdict {
	if item.Text("type") == "night_rhr" {
		return r.nightly(item, body, "night_rhr", replies.Sleep{HRResting: replies.Whole(body.Positive("avg"))})
	}
	return r.nightly(item, body, "sleep_rhr", replies.Sleep{HRResting: replies.Whole(body.Positive("value"))})
}

func (r *reader) nightly(item, body replies.Document, name string, said replies.Sleep) replies.Verdict {
	day, ok := r.dayOf(item, body)
	switch {
	case said == replies.Sleep{}:
		return replies.BadValue
	case !ok:
		return replies.BadDate
	}
	return r.Nightly(replies.Nightly{Day: day, Source: ring, Sleep: said, Name: name})
}

// vo2Max takes the value of a day, from its start to its end.
func (r *reader) vo2Max(item, body replies.Document) replies.Verdict {
	v := body.Positive("value")
	if v == nil {
		return replies.BadValue
	}
	from, ok := body.Unix("day_start_timestamp")
	if !ok {
		return replies.BadDate
	}
	key := sheet.Key{Resource: "vo2_max", Source: ring}
	r.Gather.Span(key, from.UnixMicro(), from.Add(24*time.Hour).UnixMicro(), r.offset(item, from), *v)
	return replies.Mapped
}
