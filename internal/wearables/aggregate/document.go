package aggregate

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// summary is one stored summary, opened.
type summary struct {
	*storage.StoredSummary
	fields map[string]any
	wall   *wall
	offset int32
	night  *stages // of a sleep, where known
}

func parseSummary(s *storage.StoredSummary, w *wall) (*summary, error) {
	d := json.NewDecoder(bytes.NewReader(s.Body))
	d.UseNumber()
	out := &summary{StoredSummary: s, wall: w, offset: wearables.NoOffset}
	if err := d.Decode(&out.fields); err != nil {
		return nil, err
	}
	if s.Resource == "sleep" {
		maps.Copy(out.fields, wearables.SleepFollows(s.Body)) // as reads have it
	}
	if seconds, ok := number(out.fields["timezone_offset"]); ok {
		out.offset = int32(seconds)
	}
	return out, nil
}

// appendTo appends the summary's value of an input.
func (s *summary) appendTo(dst *Vector, in query.Input) {
	if in.List != nil {
		list, _ := s.at(in.Column.From).([]any)
		appendList(dst, list, in)
		return
	}
	c := in.Column
	if name, ok := strings.CutPrefix(c.From, query.FromMacro); ok {
		s.appendMacro(dst, name)
		return
	}
	switch c.Kind {
	case query.Moment, query.Date:
		if us, ok := s.time(c); ok {
			dst.appendTime(us)
			return
		}
		dst.appendNull()
	case query.Text:
		dst.appendText(s.word(c.From))
	default:
		appendScalar(dst, s.at(c.From), c)
	}
}

// at follows a path such as heart_rate.avg_bpm or hr_zones.0 through the
// document.
func (s *summary) at(path string) any {
	if path == "" {
		return nil
	}
	var v any = s.fields
	for name := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

// word is a text of the document or of the store; empty means that there is
// none.
func (s *summary) word(from string) string {
	switch from {
	case query.FromID:
		return s.ID.String()
	case query.FromProvider:
		return s.Source.Provider
	case query.FromType:
		return s.Source.Type
	case query.FromApp:
		return s.Source.AppID
	case query.FromDevice:
		if s.Source.DeviceID == nil {
			return ""
		}
		return s.Source.DeviceID.String()
	}
	text, _ := s.at(from).(string)
	return text
}

// time is a moment or a date, floating.
func (s *summary) time(c *query.Column) (us int64, ok bool) {
	switch c.From {
	case query.FromCreated:
		return s.wall.at(s.CreatedAt.UnixMicro(), wearables.NoOffset), true
	case query.FromUpdated:
		return s.wall.at(s.UpdatedAt.UnixMicro(), wearables.NoOffset), true
	case query.FromMeasured:
		return s.measured()
	}
	if c.Kind == query.Date {
		text, _ := s.at(c.From).(string)
		return parseDate(text)
	}
	t, ok := s.moment(c.From)
	if !ok {
		return 0, false
	}
	return s.wall.at(t.UnixMicro(), s.offset), true
}

// moment is an instant of the document.
func (s *summary) moment(from string) (time.Time, bool) {
	text, _ := s.at(from).(string)
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// measured is when a body was measured: the instant that the provider stated,
// or else the day, whose midnight the store writes as one of UTC.
func (s *summary) measured() (us int64, ok bool) {
	text, _ := s.fields["date"].(string)
	t, err := time.Parse(time.RFC3339, text)
	if day, known := s.fields["calendar_date"].(string); known && (err != nil || t.UTC().Format("2006-01-02T15:04:05") == day+"T00:00:00") {
		return parseDate(day)
	}
	return s.wall.at(t.UnixMicro(), s.offset), err == nil
}

func parseDate(text string) (us int64, ok bool) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, false
	}
	return d.In(time.UTC).UnixMicro(), true
}

// appendScalar appends a JSON value as a number, a flag, a text or a date;
// what does not fit is null.
func appendScalar(dst *Vector, v any, c *query.Column) {
	switch c.Kind {
	case query.Text:
		text, _ := v.(string)
		dst.appendText(text)
		return
	case query.Date:
		text, _ := v.(string)
		if us, ok := parseDate(text); ok {
			dst.appendTime(us)
			return
		}
	case query.Flag:
		if yes, ok := v.(bool); ok {
			f := 0.0
			if yes {
				f = 1
			}
			dst.appendNumber(f)
			return
		}
	default:
		if f, ok := number(v); ok {
			if c.Scale != 0 {
				f *= c.Scale
			}
			dst.appendNumber(f)
			return
		}
	}
	dst.appendNull()
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
