package oura

import (
	"encoding/json"
	"strconv"
	"time"

	"hale/internal/civil"
	"hale/internal/wearables"
)

// document is one of Oura's by its fields. A field that is missing, null or of
// another type than expected says nothing.
type document map[string]json.RawMessage

func (d document) text(name string) string {
	var s string
	if json.Unmarshal(d[name], &s) != nil {
		return ""
	}
	return s
}

func (d document) number(name string) (float64, bool) { return numberOf(d[name]) }

// amount is a number that is not below zero; nil where there is none.
func (d document) amount(name string) *float64 {
	v, ok := d.number(name)
	if !ok || v < 0 || v > 1e9 {
		return nil
	}
	return &v
}

func numberOf(raw json.RawMessage) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64) // JSON has no NaN, and an infinity is an error
	return v, err == nil
}

func (d document) inner(name string) document {
	var in document
	if json.Unmarshal(d[name], &in) != nil {
		return nil
	}
	return in
}

// states is whether a field is there and not null.
func (d document) states(name string) bool {
	raw := d[name]
	return len(raw) > 0 && string(raw) != "null"
}

// day is the document's date.
func (d document) day() (civil.Date, bool) {
	date, err := civil.ParseDate(d.text("day"))
	return date, err == nil && believable(date.Year)
}

func believable(year int) bool { return year >= 2000 && year < 2100 }

// moment is an instant, and the offset from UTC that Oura wrote it with:
// seconds, those of the place where the ring was.
func (d document) moment(name string) (at time.Time, offset int32, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, d.text(name))
	if err != nil || !believable(at.UTC().Year()) {
		return at, wearables.NoOffset, false
	}
	_, seconds := at.Zone()
	if seconds < -14*3600 || seconds > 14*3600 {
		return at, wearables.NoOffset, false
	}
	return at.UTC(), int32(seconds), true
}

// track is a field {interval, items, timestamp}: a value every so many
// seconds, null where there is none.
type track struct {
	start    time.Time
	offset   int32
	interval time.Duration
	items    []json.RawMessage
}

func (d document) track(name string) (t track, ok bool) {
	in := d.inner(name)
	seconds, timed := in.number("interval")
	if json.Unmarshal(in["items"], &t.items) != nil || !timed || seconds <= 0 || seconds > 86400 {
		return t, false
	}
	t.interval = time.Duration(seconds * float64(time.Second))
	t.start, t.offset, ok = in.moment("timestamp")
	return t, ok
}
