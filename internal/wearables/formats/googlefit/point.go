package googlefit

import (
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// value is one field of a point. The type of the point defines the fields and their
// order.
type value struct {
	Float *float64 `json:"fpVal"`
	Int   *float64 `json:"intVal"`
}

func (v value) number() (float64, bool) {
	switch {
	case v.Float != nil:
		return *v.Float, true
	case v.Int != nil:
		return *v.Int, true
	}
	return 0, false
}

// number returns the i-th field of a point. The API lists values. The archive lists
// objects with one value each.
func number(d replies.Document, i int) (float64, bool) {
	var plain []value
	if d.Into("value", &plain) && i < len(plain) {
		return plain[i].number()
	}
	var wrapped []struct {
		Value value `json:"value"`
	}
	if d.Into("fitValue", &wrapped) && i < len(wrapped) {
		return wrapped[i].Value.number()
	}
	return 0, false
}

// span returns the start and end of a point. A measurement has one time, so its start may
// be missing. span returns false if the end is missing or before the start.
func span(d replies.Document) (start, end time.Time, ok bool) {
	end, ok = d.UnixNano("endTimeNanos")
	if !ok {
		return start, end, false
	}
	if start, ok = d.UnixNano("startTimeNanos"); !ok {
		if d.States("startTimeNanos") {
			return start, end, false
		}
		start = end
	}
	return start, end, !end.Before(start)
}

// origin returns the stream of a point: the one that it names, otherwise its container.
func origin(d replies.Document) (source wearables.Source, stream string) {
	if id := d.Text("originDataSourceId"); id != "" {
		return sourceOf(id)
	}
	return container(d)
}

// container returns the stream that contains a point.
func container(d replies.Document) (source wearables.Source, stream string) {
	if id := d.Around("Data Source").Text("Data Source"); id != "" {
		return sourceOf(id)
	}
	return sourceOf(d.Around("dataSourceId").Text("dataSourceId"))
}

const (
	services  = "com.google.android.gms" // values that the platform computed
	userInput = "user_input"             // the stream of typed values
)

// sourceOf reads the id of a stream, raw or derived:
//
//	derived:com.google.step_count.delta:com.example.app:maker:model:serial:name
//
// The app, or the three words about the device, may be missing. The id does not state the
// type of device, so the type is unknown. sourceOf ignores the name of the device.
func sourceOf(id string) (source wearables.Source, stream string) {
	source = wearables.Source{Provider: Provider, Type: "unknown"}
	parts := strings.Split(id, ":")
	if len(parts) < 3 || len(id) > 1000 {
		return source, ""
	}
	if app := parts[2]; isPackage(app) {
		source.AppID = app
	}
	if len(parts) > 3 {
		stream = parts[len(parts)-1]
	}
	if stream == userInput {
		source.Type = "app"
	}
	return source, stream
}

// isPackage reports whether a word is a name such as com.example.app.
func isPackage(s string) bool {
	if len(s) > 200 || !strings.Contains(s, ".") || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
