package polar

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// hyphenDocument reads a document whose names may have hyphens in place of underscores.
type hyphenDocument struct{ replies.Document }

func spelled(d replies.Document) hyphenDocument { return hyphenDocument{d} }

func (e hyphenDocument) name(name string) string {
	if e.Has(name) {
		return name
	}
	return strings.ReplaceAll(name, "_", "-")
}

func (e hyphenDocument) Text(name string) string       { return e.Document.Text(e.name(name)) }
func (e hyphenDocument) Word(name string) string       { return e.Document.Word(e.name(name)) }
func (e hyphenDocument) Positive(name string) *float64 { return e.Document.Positive(e.name(name)) }
func (e hyphenDocument) Amount(name string) *float64   { return e.Document.Amount(e.name(name)) }
func (e hyphenDocument) Whole(name string) *int64      { return e.Document.Whole(e.name(name)) }
func (e hyphenDocument) Inner(name string) hyphenDocument {
	return hyphenDocument{e.Document.Inner(e.name(name))}
}

// Integer reads a whole number under either name.
func (e hyphenDocument) Integer(name string) (int64, bool) { return e.Document.Integer(e.name(name)) }

// Loose reads a number, or a text that holds one, under either name.
func (e hyphenDocument) Loose(name string) (float64, bool) { return e.Document.Loose(e.name(name)) }

// wall reads a local time of the watch. It ignores a Z at the end, because Polar's own
// examples have it after local times.
func wall(text string) (time.Time, bool) {
	text = strings.TrimSuffix(text, "Z")
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, replies.IsBelievableYear(at.Year())
		}
	}
	return time.Time{}, false
}

// instant reads a time. A time without an offset is local time of the watch. at is in UTC
// microseconds, and offset in seconds east of UTC.
func instant(clock *sheet.Wall, text string) (at int64, offset int32, ok bool) {
	if shown, ok := wall(text); ok {
		at, offset = clock.Instant(shown)
		return at, offset, true
	}
	exact, err := time.Parse(time.RFC3339, text)
	if err != nil || !replies.IsBelievableYear(exact.Year()) {
		return 0, 0, false
	}
	_, seconds := exact.Zone()
	return exact.UnixMicro(), int32(seconds), replies.IsOffset(int64(seconds))
}

// isoDuration is a duration such as PT2H44M45.5S.
var isoDuration = regexp.MustCompile(`^P(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`)

// lasts reads a duration.
func lasts(text string) (time.Duration, bool) {
	parts := isoDuration.FindStringSubmatch(text)
	if parts == nil || strings.Join(parts[1:], "") == "" {
		return 0, false
	}
	seconds := 0.0
	for i, unit := range []float64{86400, 3600, 60, 1} {
		v, _ := strconv.ParseFloat("0"+parts[i+1], 64) // digits, or nothing
		seconds += v * unit
	}
	if seconds > 1e8 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// nightMargin bounds the distance of a sample from its night.
const nightMargin = time.Hour

// minuteOf returns the minute of the day of a time such as 23:45, or -1 for any other
// text.
func minuteOf(text string) int {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return -1
	}
	return at.Hour()*60 + at.Minute()
}

// inNight returns the instant of a night at which clocks showed a minute of the day. It
// looks from an hour before the start of the night until an hour after its end.
func inNight(minute int, start, end time.Time, offset int32) (time.Time, bool) {
	if minute < 0 {
		return time.Time{}, false
	}
	local := start.Add(time.Duration(offset) * time.Second)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for day := -1; day <= 1; day++ {
		candidate := midnight.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
		exact := candidate.Add(-time.Duration(offset) * time.Second)
		if !exact.Before(start.Add(-nightMargin)) && !exact.After(end.Add(nightMargin)) {
			return exact, true
		}
	}
	return time.Time{}, false
}
