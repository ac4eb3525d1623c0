package withings

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

func source(kind string) wearables.Source { return wearables.Source{Provider: Provider, Type: kind} }

// These are the types of sources. There is no type for a mat under the mattress or for a
// thermometer.
const (
	scale   = "scale"
	cuff    = "cuff"
	watch   = "watch"
	phone   = "phone"
	app     = "app"
	unknown = "unknown"
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
		return unknown
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
	return unknown
}

// device takes one of the wearer's devices.
func (r *reader) device(d replies.Document) replies.Verdict {
	kind := kindOf(d)
	if kind == "" {
		kind = unknown
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
