package api

import (
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
)

// dayText is a date in the body of a request, as it was sent. The reference
// takes midnight of a day for the day, and blanks around it do not matter.
//
// Reference, General conventions, Dates in.
type dayText string

// Schema says date. huma looks for formats in another place and checks none
// here, so that day can take more.
func (dayText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"format": "date"}}
}

// day reads the text; at is the field's place in the body, for the fault.
func (d dayText) day(at ...string) (civil.Date, *fault.Error) {
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

// optionalDay reads a date that may be null or absent.
func optionalDay(text *dayText, at ...string) (*civil.Date, *fault.Error) {
	if text == nil {
		return nil, nil
	}
	day, bad := text.day(at...)
	return &day, bad
}

// patchedDay reads a date of a PATCH.
func patchedDay(f patch.Field[dayText], at ...string) (day patch.Field[civil.Date], bad *fault.Error) {
	day.Set, day.Null = f.Set, f.Null
	if f.Set && !f.Null {
		day.Value, bad = f.Value.day(at...)
	}
	return day, bad
}
