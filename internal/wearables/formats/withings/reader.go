package withings

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Withings.
const Provider = "withings"

var maker = replies.Maker{
	Kind: "withings", Title: "Withings JSON", Provider: Provider, HeartOfDays: true,
	Lists: []string{"body", "measuregrps", "series", "activities", "devices"},
	Late:  []string{"timezone", "model"}, Open: open,
}

// Kind is a file of Withings' replies.
var Kind = maker.Files()

// reader reads Withings' documents of one file.
type reader struct {
	*replies.Reader
	owned     map[files.Device]bool
	heightAt  int64 // of the latest height, UTC microseconds
	stretches []stretch
}

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
		{Name: "goals", Keys: []string{"goals"}, Is: isInBody},
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

func isInBody(d replies.Document) bool { return d.Under == "body" }

// isEmpty reports whether a body is that of an empty reply.
func isEmpty(d replies.Document) bool {
	return isInBody(d) && d.EmptyList("measuregrps", "series", "activities", "devices")
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

func source(kind string) wearables.Source { return wearables.Source{Provider: Provider, Type: kind} }

// These are the types of sources. There is no type for a mat under the mattress or for a
// thermometer.
const (
	scale         = "scale"
	cuff          = "cuff"
	watch         = "watch"
	phone         = "phone"
	app           = "app"
	unknownDevice = "unknown"
)

// modelKind returns the source type of a model's number, or "" for an unknown number.
func modelKind(id int64) string {
	switch {
	case id >= 1 && id <= 19:
		return scale
	case id >= 41 && id <= 49:
		return cuff
	case id >= 51 && id <= 59, id >= 90 && id <= 99, id == 1058: // an Apple Watch
		return watch
	case id == 1059: // other apps that wrote to HealthKit
		return app
	case id >= 1051 && id <= 1062:
		return phone
	case id >= 60 && id <= 89:
		return unknownDevice
	}
	return ""
}

// kindOf returns the source type of a document by its model, or "" if the document states
// no known model. Older replies have the number as `model`.
func kindOf(d replies.Document) string {
	for _, field := range []string{"modelid", "model_id", "model"} {
		if id, ok := d.Integer(field); ok {
			if kind := modelKind(id); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// sleepKind returns the source type of a document about sleep. A `model`, in the document
// or around it, is 16 for a tracker and 32 for a mat.
func sleepKind(d replies.Document) string {
	if id, ok := d.Integer("model_id"); ok {
		if kind := modelKind(id); kind != "" {
			return kind
		}
	}
	for at := d; !at.Empty(); at = at.Outer() {
		if id, ok := at.Integer("model"); ok && id == 16 {
			return watch
		}
	}
	return unknownDevice
}

// device reads one of the wearer's devices.
func (r *reader) device(d replies.Document) replies.Verdict {
	kind := kindOf(d)
	if kind == "" {
		kind = unknownDevice
		for _, known := range []struct{ word, kind string }{{"scale", scale}, {"pressure", cuff}, {"tracker", watch}} {
			if strings.Contains(strings.ToLower(d.Text("type")), known.word) {
				kind = known.kind
			}
		}
	}
	one := files.Device{
		Provider: Provider, SourceType: kind, Manufacturer: "Withings", Model: files.Text(d.Text("model")),
		ExternalID: files.Text(d.Text("deviceid")), Version: files.Text(d.Text("fw")),
	}
	if r.owned[one] {
		return replies.Copy
	}
	if !r.Own(one) {
		return replies.BadValue
	}
	if r.owned == nil {
		r.owned = map[files.Device]bool{}
	}
	r.owned[one] = true
	return replies.Mapped
}
