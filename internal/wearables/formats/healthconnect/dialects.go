package healthconnect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/wearables/formats/replies"
)

// writtenRecord holds the fields of a record besides its values. Times are milliseconds of
// Unix time, offsets seconds, as on the platform; nil if absent or unreadable.
type writtenRecord struct {
	id       any // the bytes of a UUID, another id as text, or nil
	modified int64
	app      string
	device   int64 // its type; noDevice when there is none
	method   int64

	start, end             any // start alone for a moment
	startOffset, endOffset any
}

const noDevice = -1

// client reads the JSON of react-native-health-connect and capacitor-health-connect. Both
// use the client library's names.
func client(d replies.Document, f *form) writtenRecord {
	w := writtenRecord{device: noDevice}
	meta := d.Inner("metadata")
	w.app = meta.Text("dataOrigin")
	w.identify(meta.Text("id"), meta.Text("lastModifiedTime"))
	w.method, _ = meta.Integer("recordingMethod")
	if n, ok := meta.Integer("device"); ok && n > 0 { // early versions have only its type
		w.device = n
	}
	if device := meta.Inner("device"); !device.Empty() {
		w.device, _ = device.Integer("type")
	}
	if f.span {
		w.start, w.end = millis(d.Text("startTime")), millis(d.Text("endTime"))
		w.startOffset, w.endOffset = zoneOffset(d, "startZoneOffset"), zoneOffset(d, "endZoneOffset")
		return w
	}
	w.start, w.startOffset = millis(d.Text("time")), zoneOffset(d, "zoneOffset")
	return w
}

// gateway reads a reply of HCGateway. The field data has the record without its
// metadata and times. The id, the app and the times are beside data.
func gateway(d replies.Document, f *form) writtenRecord {
	w := writtenRecord{device: noDevice, app: d.Text("app"), start: millis(d.Text("start"))}
	w.identify(d.Text("id"), "")
	in := d.Inner("data")
	if f.span {
		w.end = millis(d.Text("end"))
		w.startOffset, w.endOffset = zoneOffset(in, "startZoneOffset"), zoneOffset(in, "endZoneOffset")
		return w
	}
	w.startOffset = zoneOffset(in, "zoneOffset")
	return w
}

// longestID bounds an id, in bytes.
const longestID = 200

func (w *writtenRecord) identify(id, modified string) {
	switch parsed, err := uuid.Parse(id); {
	case err == nil && parsed.String() == strings.ToLower(id):
		w.id = parsed[:]
	case id != "" && len(id) <= longestID:
		w.id = id
	}
	if at, err := time.Parse(time.RFC3339Nano, modified); err == nil {
		w.modified = at.UnixMilli()
	}
}

// millis returns an instant in milliseconds of Unix time, truncated as on the platform,
// or nil if the text is not an instant.
func millis(s string) any {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil
	}
	return at.UnixMilli()
}

// zoneOffset returns an offset in seconds east of UTC, or nil. The field is {"id":
// "+08:00", "totalSeconds": 28800} or the id alone.
func zoneOffset(d replies.Document, name string) any {
	if seconds, ok := d.Inner(name).Integer("totalSeconds"); ok {
		return seconds
	}
	id := d.Text(name)
	if id == "Z" {
		return int64(0)
	}
	for _, layout := range []string{"-07:00", "-07:00:00", "-07"} {
		if at, err := time.Parse(layout, id); err == nil {
			_, seconds := at.Zone()
			return int64(seconds)
		}
	}
	return nil
}

// values returns the values of a record in the order of its form's fields. A missing
// required value is an empty text, which is no number; a missing optional one is nil.
func (f *form) values(d replies.Document) []any {
	all := make([]any, len(f.fields))
	for i := range f.fields {
		all[i] = f.fields[i].read(d)
	}
	return all
}

func (f *field) read(d replies.Document) any {
	raw := d.Raw(f.name)
	if len(f.in) == 0 {
		return specimenCode(raw)
	}
	if v, ok := f.in.read(raw); ok {
		return v
	}
	if f.may && !d.States(f.name) {
		return nil
	}
	return ""
}

func specimenCode(raw json.RawMessage) any {
	if v, ok := replies.NumberOf(raw); ok {
		return int64(v)
	}
	word, err := strconv.Unquote(string(raw))
	if err != nil {
		return nil
	}
	if i := slices.Index(specimenWords, strings.ToLower(word)); i > 0 {
		return int64(i)
	}
	return nil
}

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
