package withings

import (
	"strings"

	"hale/internal/wearables/formats/replies"
)

// open lists the resources in the order in which a document is compared with them.
//
// Some have no resource. A goal is no measurement, even in the form of one. A
// subscription is not about health. The verdict of an electrocardiogram comes without
// its curve. A measure that may belong to another user of the scale is ignored until
// its owner claims it.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r}
	return replies.Reading{End: m.nights, Resources: []replies.Resource{
		{Name: "measuregrps goal", Keys: []string{"grpid", "measures"}, Is: states("category", 2)},
		{Name: "measuregrps ambiguous", Keys: []string{"grpid", "measures"}, Is: states("attrib", 1)},
		{Name: "measuregrps", Keys: []string{"grpid", "measures"}, Take: m.group},
		{Name: "workout", Keys: []string{"category", "startdate", "enddate", "data"}, Take: m.workout},
		{Name: "sleep summary", Keys: []string{"startdate", "enddate", "date", "data"}, Take: m.night},
		{Name: "sleep", Keys: []string{"startdate", "enddate", "state"}, Is: isNumber("state"), Take: m.stretch},
		{Name: "activity", Keys: []string{"date", "steps", "soft", "moderate", "intense"}, Take: m.day},
		{Name: "intraday activity", Is: isMinute, Take: m.minute},
		{Name: "device", Keys: []string{"type", "model", "battery", "deviceid"}, Take: m.device},
		{Name: "heart", Keys: []string{"timestamp", "ecg"}},
		{Name: "goals", Keys: []string{"goals"}, Is: inBody},
		{Name: "notification", Keys: []string{"appli", "callbackurl"}},
		{
			Name: "token", Keys: []string{"access_token", "refresh_token"},
			Refuse: "the file has the keys to an account and no data; withdraw these keys, since others may have seen them",
		},
		{Name: "empty", Is: isEmpty},
	}}
}

func states(name string, value int64) func(replies.Document) bool {
	return func(d replies.Document) bool { n, ok := d.Integer(name); return ok && n == value }
}

func isNumber(name string) func(replies.Document) bool {
	return func(d replies.Document) bool { _, ok := d.Number(name); return ok }
}

func inBody(d replies.Document) bool { return d.Under == "body" }

// isEmpty reports whether a body is that of an empty reply.
func isEmpty(d replies.Document) bool {
	return inBody(d) && d.EmptyList("measuregrps", "series", "activities", "devices")
}

// isMinute reports whether a document is an interval of a day, under the instant of its
// start.
func isMinute(d replies.Document) bool {
	if len(d.Under) != 10 || strings.Trim(d.Under, "0123456789") != "" {
		return false
	}
	return hasOfMinute(d)
}

var hasOfMinute = replies.HasOne(
	"duration", "steps", "distance", "calories", "elevation", "heart_rate", "spo2_auto", "core_body_temperature", "stroke", "pool_lap",
)
