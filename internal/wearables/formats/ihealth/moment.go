package ihealth

import (
	"strconv"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// offsetOf returns the offset of a record's clock from UTC, in seconds east: "-0800",
// "+05:30", "-8", or a number of hours.
func offsetOf(d replies.Document) (int32, bool) {
	var seconds float64
	if hours, ok := d.Number("TimeZone"); ok {
		seconds = 3600 * hours
	} else if seconds, ok = parseNumber(d.Text("TimeZone")); !ok {
		return wearables.NoOffset, false
	}
	if !replies.IsOffset(int64(seconds)) {
		return wearables.NoOffset, false
	}
	return int32(seconds), true
}

// parseNumber reads an offset that is a text.
func parseNumber(text string) (float64, bool) {
	for _, layout := range []string{"-0700", "-07:00", "Z0700", "-07"} {
		if at, err := time.Parse(layout, text); err == nil {
			_, seconds := at.Zone()
			return float64(seconds), true
		}
	}
	hours, err := strconv.Atoi(text)
	return 3600 * float64(hours), err == nil
}

// moment returns the instant of a field with a local clock time, and the offset
// of the clock. If the record does not state its zone, the user's fallback zone
// applies.
func (r *reader) moment(d replies.Document, field string) (at int64, offset int32, ok bool) {
	wall, ok := d.Unix(field)
	if !ok {
		return 0, wearables.NoOffset, false
	}
	if offset, known := offsetOf(d); known {
		return wall.Add(-time.Duration(offset) * time.Second).UnixMicro(), offset, true
	}
	clock := sheet.Wall{Zone: r.Zone}
	at, offset = clock.Instant(wall)
	return at, offset, true
}
