package api

import (
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
)

// endOfTime is later than every sample, UTC microseconds.
const endOfTime = int64(253_402_300_800) * 1e6

// Span is the time that a date parameter covers, [from, to) in UTC microseconds: a
// whole day, or one instant.
type Span struct {
	From, To int64
	Day      string // the calendar date
	Instant  bool
}

// ParseSpan parses a date parameter.
//
// Reference 7.2: date-only means 00:00:00 as a start and 23:59:59 as an end.
func ParseSpan(name, text string) (Span, *fault.Error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.Year() >= 1 {
		return Span{From: day.UnixMicro(), To: day.AddDate(0, 0, 1).UnixMicro(), Day: text}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1 && at.Year() <= 9999 {
			return Span{at.UnixMicro(), at.UnixMicro() + 1, at.Format(time.DateOnly), true}, nil
		}
	}
	return Span{}, fault.New(fault.Invalid, "Input should be a valid date or datetime").At("query", name).WithType("datetime_parsing")
}

// ParseRange parses the two date parameters of a read. Without an end date the range is
// open.
func ParseRange(startDate, endDate string) (start, end Span, err error) {
	return orderedSpans(startDate, endDate, func(start, end Span) bool { return end.To > start.From })
}

// ParseDays parses the two date parameters of a read by calendar date. For an instant,
// the day is the local day at its offset.
func ParseDays(startDate, endDate string) (first, last string, err error) {
	start, end, err := orderedSpans(startDate, endDate, func(start, end Span) bool {
		reversed := start.Instant && end.Instant && end.From < start.From
		return end.Day >= start.Day && !reversed
	})
	return start.Day, end.Day, err
}

func orderedSpans(startDate, endDate string, follows func(start, end Span) bool) (start, end Span, err error) {
	start, badStart := ParseSpan("start_date", startDate)
	end = Span{To: endOfTime, Day: "9999-12-31"}
	var badEnd *fault.Error
	if endDate != "" {
		if end, badEnd = ParseSpan("end_date", endDate); badEnd == nil && badStart == nil && !follows(start, end) {
			badEnd = fault.New(fault.Invalid, "Value error, must not be before start_date").At("query", "end_date")
		}
	}
	return start, end, fault.Join(badStart, badEnd)
}

// DateText is a date in the body of a request, as it was sent. Midnight of a day means
// the day, as in the reference, and spaces around it are ignored.
//
// Reference, General conventions, Dates in.
type DateText string

// Schema declares a date. huma reads formats from another field and checks none here,
// so that Date can accept more forms.
func (DateText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"format": "date"}}
}

// Date parses the text. at is the place of the field in the body, for the fault.
func (d DateText) Date(at ...string) (civil.Date, *fault.Error) {
	text := strings.TrimSpace(string(d))
	if day, err := civil.ParseDate(text); err == nil {
		return day, nil
	}
	code, sentence := "date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD"
	for _, layout := range []string{"2006-01-02T15:04:05", time.RFC3339Nano} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if day := civil.DateOf(t); day.Valid() && t.Equal(day.In(t.Location())) {
			return day, nil
		}
		code, sentence = "date_from_datetime_inexact", "Datetimes provided to dates should have zero time - e.g. be exact dates"
	}
	return civil.Date{}, fault.New(fault.Invalid, sentence).At(append([]string{"body"}, at...)...).WithType(code)
}

// OptionalDate parses a date that may be null or absent.
func OptionalDate(text *DateText, at ...string) (*civil.Date, *fault.Error) {
	if text == nil {
		return nil, nil
	}
	day, bad := text.Date(at...)
	return &day, bad
}

// PatchedDate parses a date of a PATCH.
func PatchedDate(f patch.Field[DateText], at ...string) (day patch.Field[civil.Date], bad *fault.Error) {
	day.Set, day.Null = f.Set, f.Null
	if f.Set && !f.Null {
		day.Value, bad = f.Value.Date(at...)
	}
	return day, bad
}
