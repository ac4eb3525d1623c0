package healthconnect

import (
	"slices"
	"time"

	"hale/internal/wearables/formats/replies"
)

// HC Webhook sends {"timestamp", "app_version", "steps": […], "heart_rate": […], …}. Each
// sample of a series is a separate object. Values are numbers whose names contain the
// unit. There is no offset.
//
// With a setting, it replaces amounts by sums of a day or of some minutes, without the
// writing app. It replaces measurements by means, with avg, min and max. Neither is a
// record: together with the records they would count twice.

// isWebhook reports whether an object in a payload of HC Webhook is a record.
func isWebhook(d replies.Document, at objectPlace) bool {
	return at.webhook && at.form != nil && (d.States("time") || d.States("start_time") && d.States("end_time") || d.States("session_end_time"))
}

// isComputed reports whether HC Webhook computed the object from records.
func isComputed(d replies.Document, f *form) bool {
	if d.States("avg") || d.States("avg_delta_celsius") {
		return true
	}
	return f.span && f.many == nil && len(f.fields) > 0 && d.Inner("metadata").Text("data_origin") == ""
}

// webhookMethods lists HC Webhook's words for the recording method, in the platform's
// order.
var webhookMethods = []string{"unknown", "actively_recorded", "automatically_recorded", "manual_entry"}

func webhook(d replies.Document, f *form) writtenRecord {
	w := writtenRecord{device: noDevice}
	meta := d.Inner("metadata")
	w.app = meta.Text("data_origin")
	w.method = int64(max(slices.Index(webhookMethods, meta.Text("recording_method")), 0))
	if device := meta.Inner("device"); !device.Empty() {
		w.device, _ = device.Integer("type")
	}
	switch {
	case d.States("session_end_time"): // sleep, without its start
		seconds, ok := d.Integer("duration_seconds")
		w.end = millis(d.Text("session_end_time"))
		if end, is := w.end.(int64); is && ok && seconds >= 0 && seconds < int64(100*24*time.Hour/time.Second) {
			w.start = end - seconds*1000
		}
	case f.span && f.many == nil:
		w.start, w.end = millis(d.Text("start_time")), millis(d.Text("end_time"))
	default:
		w.start = millis(d.Text("time"))
	}
	return w
}

// flatValues returns the values of a record of HC Webhook, in the order of the form's
// fields.
func (f *form) flatValues(d replies.Document) []any {
	all := make([]any, len(f.fields))
	for i := range f.fields {
		all[i] = f.fields[i].readFlat(d)
	}
	return all
}

func (f *field) readFlat(d replies.Document) any {
	if f.flat == "" {
		return nil
	}
	if v, ok := d.Number(f.flat); ok {
		return v * f.times
	}
	if f.may && !d.States(f.flat) {
		return nil
	}
	return ""
}
