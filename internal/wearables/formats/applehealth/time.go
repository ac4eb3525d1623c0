package applehealth

import (
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/xmlscan"
)

// A moment of the export looks like "2017-03-30 09:29:59 +0200": local time
// and the offset that the exporting phone's time zone had at that instant.
const momentLayout = "2006-01-02 15:04:05 -0700"

// parseMoment returns the instant in UTC microseconds and the offset in
// seconds east of UTC.
func parseMoment(b []byte) (micros int64, offset int32, ok bool) {
	if len(b) != len(momentLayout) || b[4] != '-' || b[7] != '-' || b[10] != ' ' ||
		b[13] != ':' || b[16] != ':' || b[19] != ' ' {
		return 0, 0, false
	}
	century, year := twoDigits(b, 0), twoDigits(b, 2)
	month, day := twoDigits(b, 5), twoDigits(b, 8)
	hour, minute, second := twoDigits(b, 11), twoDigits(b, 14), twoDigits(b, 17)
	offHour, offMinute := twoDigits(b, 21), twoDigits(b, 23)
	if century|year|month|day|hour|minute|second|offHour|offMinute < 0 {
		return 0, 0, false
	}
	y := century*100 + year
	if month < 1 || month > 12 || day < 1 || day > daysIn(y, month) ||
		hour > 23 || minute > 59 || second > 59 || offHour > 15 || offMinute > 59 {
		return 0, 0, false
	}
	off := offHour*3600 + offMinute*60
	switch b[20] {
	case '+':
	case '-':
		off = -off
	default:
		return 0, 0, false
	}
	local := int64(daysFromCivil(y, month, day))*86400 + int64(hour*3600+minute*60+second)
	return (local - int64(off)) * 1e6, int32(off), true
}

// twoDigits reads two digits at b[i], or returns a negative number.
func twoDigits(b []byte, i int) int {
	tens, ones := b[i]-'0', b[i+1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month]
}

// daysFromCivil returns the days from 1970-01-01 to a date of the Gregorian
// calendar. It counts years from March, so that the leap day comes last, in
// eras of 400 years, which all have the same number of days.
func daysFromCivil(y, m, d int) int {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// keepNewest keeps the last value of a day; the phone revises some facts while
// the day lasts.
func keepNewest(facts derive.Facts, at map[civil.Date]int64, p *pendingRecord, set func(*derive.DayFacts, *float64)) {
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
