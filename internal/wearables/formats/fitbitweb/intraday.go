package fitbitweb

import (
	"bytes"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// intradaySeries is a series of values within a day, in the dataset of
// activities-<name>-intraday.
type intradaySeries struct {
	name, resource string // an empty resource: none
	times          float64
	amount         bool // of the interval that begins with the time
}

// intradayPages are those series. Energy is all of it, basal and active together;
// heights climbed are floors already.
var intradayPages = []intradaySeries{
	{"heart", "heartrate", 1, false},
	{"steps", "steps", 1, true},
	{"distance", "distance", metresPerKilometre, true},
	{"floors", "floors_climbed", 1, false},
	{name: "calories"},
	{name: "elevation"},
	{name: "swimming-strokes"},
}

func intradayNames() []string {
	names := make([]string, len(intradayPages))
	for i, s := range intradayPages {
		names[i] = "activities-" + s.name + "-intraday"
	}
	return names
}

// point reads one value of an intraday series.
func (r *reader) point(d replies.Document, s intradaySeries) replies.Verdict {
	list := d.Outer()
	day, ok := r.dayWithin(list, d.Text("time"))
	if !ok {
		return replies.BadDate
	}
	wall, ok := clockOn(day, d.Text("time"))
	if !ok {
		return replies.BadDate
	}
	v, ok := d.Loose("value")
	if !ok || v < 0 || v > 1e9 || s.resource == "heartrate" && v == 0 {
		return replies.BadValue
	}
	key := sheet.Key{Resource: s.resource, Source: watch}
	at, offset := r.clock.Instant(wall)
	if !s.amount {
		r.Gather.At(key, at, offset, v*s.times)
		return replies.Mapped
	}
	length := intervalOf(list)
	if length == 0 {
		return replies.BadValue
	}
	r.Gather.Span(key, at, at+length.Microseconds(), offset, v*s.times)
	return replies.Mapped
}

// intervalOf returns the length of each value of a dataset; 0 if unknown.
func intervalOf(list replies.Document) time.Duration {
	n, ok := list.Integer("datasetInterval")
	unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}[list.Text("datasetType")]
	if length := time.Duration(n) * unit; ok && n > 0 && n <= 24*3600 && length <= 24*time.Hour {
		return length
	}
	return 0
}

// dayWithin returns the date of a time of a dataset, which the daily series of the same
// reply has. A reply across midnight has two days, and its times restart.
func (r *reader) dayWithin(list replies.Document, clock string) (civil.Date, bool) {
	raw := list.Outer().Raw(strings.TrimSuffix(list.Under, "-intraday"))
	at := &r.dates
	if at.of != list.Under || !bytes.Equal(at.raw, raw) {
		at.of, at.raw, at.now, at.last, at.days = list.Under, raw, 0, "", nil
		for _, one := range list.Outer().Documents(strings.TrimSuffix(list.Under, "-intraday")) {
			if day, ok := one.Day("dateTime"); ok {
				at.days = append(at.days, day)
			}
		}
	}
	if len(at.days) > 1 && clock < at.last {
		at.now++
	}
	at.last = clock
	if at.now >= len(at.days) {
		return civil.Date{}, false
	}
	return at.days[at.now], true
}
