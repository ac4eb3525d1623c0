package applehealth

import (
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/xmlscan"
)

// keepNewest keeps the last value of a day; the phone revises some facts while
// the day lasts.
func keepNewest(facts derive.Facts, at map[civil.Date]int64, p *pending, set func(*derive.DayFacts, *float64)) {
	day := localDate(p.start, p.offset)
	if seen, ok := at[day]; ok && p.start < seen {
		return
	}
	at[day] = p.start
	value := p.value
	f := facts[day]
	set(&f, &value)
	facts[day] = f
}

// localDate returns the calendar day of an instant, in UTC microseconds, at an offset, in
// seconds east of UTC.
func localDate(micros int64, offset int32) civil.Date {
	return civil.DateOf(time.UnixMicro(micros + int64(offset)*1e6).UTC())
}

// zoneMemo remembers time zones by name.
type zoneMemo map[string]*time.Location

// offset resolves a time zone at an instant. The zone of the measurement has precedence
// over the zone of the phone when it wrote the export.
func (z zoneMemo) offset(raw []byte, micros int64, otherwise int32) int32 {
	zone, known := z[string(raw)]
	if !known {
		if len(z) > 1000 {
			clear(z)
		}
		zone, _ = civil.Zone(strings.TrimSpace(xmlscan.Unescape(raw)))
		z[string(raw)] = zone
	}
	if zone == nil {
		return otherwise
	}
	_, offset := time.UnixMicro(micros).In(zone).Zone()
	return int32(offset)
}
