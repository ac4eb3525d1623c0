package fitbitexport

import (
	"time"

	"hale/internal/platform/civil"
)

// dateOf reads a date: 4/13/2016, 04-12-16 or 2016-4-12.
func dateOf(cell string) (civil.Date, bool) {
	for _, layout := range []string{"1/2/2006", "01-02-06", "2006-1-2"} {
		if at, err := time.Parse(layout, cell); err == nil {
			return civil.DateOf(at), true
		}
	}
	return civil.Date{}, false
}

// wallOf reads a time on the wall: 5/2/2016 11:59:59 PM.
func wallOf(cell string) (time.Time, bool) {
	for _, layout := range []string{"1/2/2006 3:04:05 PM", "2006-1-2 15:04", "1/2/2006"} {
		if at, err := time.Parse(layout, cell); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
