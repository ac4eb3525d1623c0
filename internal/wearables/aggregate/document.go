package aggregate

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// summary is one stored summary, opened.
type summary struct {
	*storage.StoredSummary
	fields map[string]any
	wall   *wallClock
	offset int32
	night  *stages // of a sleep, where known
}

func parseSummary(s *storage.StoredSummary, w *wallClock) (*summary, error) {
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

// word returns a text of the document or of the store. NewEmptyTable means that it has
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

// time returns a moment or a date as floating time. The index of a session is on its
// calendar date, as in summaries. The source may state that date, and it belongs to the
// place at that time.
func (s *summary) time(c *query.Column) (us int64, ok bool) {
	switch c.From {
	case query.FromCreated:
		return s.wall.floatingTime(s.CreatedAt.UnixMicro(), wearables.NoOffset), true
	case query.FromUpdated:
		return s.wall.floatingTime(s.UpdatedAt.UnixMicro(), wearables.NoOffset), true
	case query.FromMeasured:
		return s.measured()
	}
	if c.Kind == query.Date {
		text, _ := s.at(c.From).(string)
		return parseDate(text)
	}
	from, onDay := strings.CutPrefix(c.From, query.FromOnDay)
	t, ok := s.moment(from)
	if !ok {
		return 0, false
	}
	us = s.wall.floatingTime(t.UnixMicro(), s.offsetAt(t))
	if day, known := parseDate(s.Day); onDay && known {
		us = day + (us%dayUS+dayUS)%dayUS
	}
	return us, true
}

// offsetAt returns the offset at an instant. A sleep has that of its end. Its start may
// state another one: the clock changed at night.
func (s *summary) offsetAt(t time.Time) int32 {
	if _, stated := t.Zone(); stated != 0 && s.Resource == "sleep" {
		return int32(stated)
	}
	return s.offset
}

// moment returns a time in the document. It returns false if the field is missing or not
// an RFC 3339 time.
func (s *summary) moment(from string) (time.Time, bool) {
	text, _ := s.at(from).(string)
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// measured returns when a body was measured: the instant that the provider stated,
// otherwise the midnight of the day, which the store writes as UTC.
func (s *summary) measured() (us int64, ok bool) {
	text, _ := s.fields["date"].(string)
	t, err := time.Parse(time.RFC3339, text)
	if day, known := s.fields["calendar_date"].(string); known && (err != nil || t.UTC().Format("2006-01-02T15:04:05") == day+"T00:00:00") {
		return parseDate(day)
	}
	return s.wall.floatingTime(t.UnixMicro(), s.offset), err == nil
}

func parseDate(text string) (us int64, ok bool) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, false
	}
	return d.In(time.UTC).UnixMicro(), true
}

// appendScalar appends a JSON value as a number, a flag, a text or a date. A value that
// does not fit the column is null: it has another type, or is a text and no date.
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

// appendList appends the result of a subquery over the elements of one list. A missing
// list counts as an empty one.
func appendList(dst *Vector, list []any, in query.Input) {
	fields := make([]Vector, len(in.Column.Fields))
	for i := range fields {
		c := &in.Column.Fields[i]
		fields[i].Kind = c.Kind
		for _, element := range list {
			v := element
			if c.Name != query.ElementField {
				object, _ := element.(map[string]any)
				v = object[c.Name]
			}
			appendScalar(&fields[i], v, c)
		}
	}
	rows := appendMatching(make([]int32, 0, len(list)), in.List.Where, fields, 0, len(list))
	if in.List.Field < 0 {
		dst.appendNumber(float64(len(rows)))
		return
	}
	reduce(in.List.Func, &fields[in.List.Field], rows, dst)
}

// appendMacro appends a value that is computed from a sleep.
//
// Reference 7.12, macros. The formula of sleep_score is ours to name, since
// the reference keeps its own; see docs/aggregation.md.
func (s *summary) appendMacro(dst *Vector, name string) {
	start, okStart := s.time(&bedtimeStart)
	end, okEnd := s.time(&bedtimeStop)
	switch name {
	case "sleep_score":
		if score, ok := sleepScore(s); ok {
			dst.appendNumber(float64(score))
			return
		}
	case "chronotype":
		if okStart && okEnd {
			dst.appendText(chronotype(start + (end-start)/2))
			return
		}
	case "asleep_at":
		if latency, ok := number(s.fields["latency"]); ok && okStart {
			dst.appendTime(start + int64(latency)*1e6)
			return
		}
	case "awake_at":
		if s.night != nil && s.night.lastAsleep != nil {
			dst.appendTime(s.wall.floatingTime(*s.night.lastAsleep, s.offset))
			return
		}
	case "awakenings":
		if s.night != nil {
			dst.appendNumber(float64(s.night.awakenings))
			return
		}
	}
	dst.appendNull()
}

var (
	bedtimeStart = query.Column{Kind: query.Moment, From: "bedtime_start"}
	bedtimeStop  = query.Column{Kind: query.Moment, From: "bedtime_stop"}
)

// chronotype classifies by the middle of the sleep, on the wall clock.
//
// Reference 7.12: lark from 17:00 to 03:30, third to 06:00, owl otherwise.
func chronotype(middle int64) string {
	day := int64(24 * time.Hour / time.Microsecond)
	at := ((middle % day) + day) % day
	clock := func(h, m int64) int64 { return (h*60 + m) * 60 * 1e6 }
	switch {
	case at >= clock(17, 0) || at <= clock(3, 30):
		return "lark"
	case at <= clock(6, 0):
		return "third"
	}
	return "owl"
}

// sleepScore rates a sleep from 0 to 100. It uses the three components of the
// Pittsburgh Sleep Quality Index that a device can measure: duration,
// efficiency and latency. Each costs 0 to 3 points. Without a latency the other
// two count alone.
//
// Buysse et al. 1989, components 2 (its first part), 3 and 4.
func sleepScore(s *summary) (score int, ok bool) {
	asleep, okAsleep := number(s.fields["total"])
	efficiency, okEfficiency := number(s.fields["efficiency"])
	if !okAsleep || !okEfficiency {
		return 0, false
	}
	points := penaltyPoints(asleep/3600, 7, 6, 5) + penaltyPoints(efficiency, 85, 75, 65)
	most := 6
	if latency, ok := number(s.fields["latency"]); ok {
		points += penaltyPoints(-latency/60, -15, -30, -60) // the shorter the better
		most = 9
	}
	return (100*(most-points) + most/2) / most, true
}

// penaltyPoints counts the bounds that a value does not reach.
func penaltyPoints(v float64, bounds ...float64) (n int) {
	for _, bound := range bounds {
		if v < bound {
			n++
		}
	}
	return n
}

// stages holds the values that follow from the stages of a night.
type stages struct {
	lastAsleep *int64 // end of the last stage that is not awake, UTC microseconds
	awakenings int
}

// stageAwake is the code of the stage awake in a sleep cycle.
//
// Reference 7.5, sleep_cycle.
const stageAwake = 4

// parseStages reads a sleep cycle. It returns no stages if the lists differ in
// length, or if an end of a stage is not a whole number of seconds.
func parseStages(body []byte) (sleep uuid.UUID, s *stages) {
	var doc struct {
		Sleep uuid.UUID `json:"sleep_id"`
		Start time.Time `json:"session_start"`
		To    []int64   `json:"stage_end_offset_second"`
		Stage []float64 `json:"stage_type"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.To) != len(doc.Stage) {
		return sleep, nil
	}
	s = &stages{}
	for i, stage := range doc.Stage {
		if stage == stageAwake {
			if i > 0 && doc.Stage[i-1] != stageAwake {
				s.awakenings++
			}
			continue
		}
		if end := doc.Start.UnixMicro() + doc.To[i]*1e6; s.lastAsleep == nil || end > *s.lastAsleep {
			s.lastAsleep = &end
		}
	}
	return doc.Sleep, s
}
