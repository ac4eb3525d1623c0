package fitbitweb

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// instant returns the instant of a local clock time.
func (r *reader) instant(wall time.Time) (at int64, offset int32) {
	one := sheet.Wall{Zone: r.Zone}
	return one.Instant(wall)
}

// wallOf combines the date of one field with the time of another, such as 11:55 or
// 11:55:30.
func wallOf(d replies.Document, day, clock string) (time.Time, bool) {
	date, ok := d.Day(day)
	if !ok {
		return time.Time{}, false
	}
	return clockOn(date, d.Text(clock))
}

func clockOn(date civil.Date, clock string) (time.Time, bool) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, clock); err == nil {
			return date.In(time.UTC).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second), true
		}
	}
	return time.Time{}, false
}
