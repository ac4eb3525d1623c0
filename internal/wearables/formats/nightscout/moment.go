package nightscout

import (
	"strings"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// moment returns the time of a record in UTC microseconds, and the offset of the place in
// seconds, or wearables.NoOffset. It returns false if the record has no time.
//
// Servers write times in UTC and the uploader's offset beside it, in minutes. An offset
// of 0 may mean that the uploader sent UTC, or that the person lives there. So the reader
// ignores it, and the user's fallback zone applies. A time with an offset of its own has
// the person's place.
func (r *record) moment(zone *time.Location) (at int64, offset int32, ok bool) {
	stated := wearables.NoOffset
	for _, s := range []text{r.DateString, r.CreatedAt, r.Timestamp} {
		moment, own, good := parse(string(s))
		if !good {
			continue
		}
		if !ok {
			at, ok = moment.UnixMicro(), true
		}
		if own != 0 && stated == wearables.NoOffset {
			stated = own
		}
	}
	if ms, good := r.Date.integer(); good && ms > 0 {
		at, ok = ms*1000, true // has precedence over the text: some uploaders write local time with a Z
	} else if ms, good := r.Timestamp.integer(); good && !ok && ms > 1e11 {
		at, ok = ms*1000, true
	}
	if minutes, good := r.UTCOffset.integer(); good && minutes != 0 && minutes >= -14*60 && minutes <= 14*60 {
		stated = int32(minutes * 60)
	}
	if stated == wearables.NoOffset {
		stated = sheet.OffsetAt(zone, at)
	}
	return at, stated, ok
}

// parse reads an ISO time with a zone: Z, +02:00 or +0200. A time without a zone is no
// instant.
func parse(s string) (at time.Time, offset int32, ok bool) {
	if len(s) < len("2006-01-02T15:04Z") || len(s) > 40 {
		return at, 0, false
	}
	s = strings.Replace(s, " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			_, seconds := at.Zone()
			return at, int32(seconds), true
		}
	}
	return at, 0, false
}
