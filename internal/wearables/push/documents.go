package push

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/wearables"
)

// MostSummaries is how many summaries one body may have.
const MostSummaries = 10_000

// Documents is a pushed batch of summaries of one kind.
type Documents struct {
	Head
	Summaries []wearables.Summary
}

// ParseSummaries reads a pushed body of summaries. A summary has the fields of
// the resource as reads give them, in snake_case or camelCase; unknown ones are
// skipped, and what the service itself adds is ignored.
func ParseSummaries(data []byte, d *wearables.Document) (*Documents, error) {
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "the body is not UTF-8").At("body").WithType("json_invalid")
	}
	s := scanner{b: data, index: -1}
	var body Documents
	seen := false
	err := s.object(func(key []byte) error {
		if string(key) != "data" {
			known, err := s.headMember(&body.Head, key)
			if err == nil && !known {
				err = s.skip(0)
			}
			return err
		}
		seen, s.field, body.Summaries = true, "data", nil
		err := s.list(func(i int) error {
			if i == MostSummaries {
				return fault.Newf(fault.TooLarge, "a batch has at most %d summaries", MostSummaries).At("body", "data")
			}
			s.index, s.field = i, ""
			summary, err := s.document(d)
			body.Summaries = append(body.Summaries, summary)
			return err
		})
		s.index, s.field = -1, ""
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.peek() != 0 || s.pos < len(data) {
		return nil, s.bad()
	}
	if err := body.Head.check(seen); err != nil {
		return nil, err
	}
	return &body, nil
}

// document reads one summary.
func (s *scanner) document(d *wearables.Document) (wearables.Summary, error) {
	out := wearables.Summary{Resource: d.Name}
	fields := map[string]json.RawMessage{}
	err := s.object(func(key []byte) error {
		name := snake(key)
		s.field = name
		s.space()
		start := s.pos
		if err := s.skip(0); err != nil {
			return err
		}
		if f, ok := d.Settable(name); ok {
			raw := s.b[start:s.pos]
			if !f.Kind.Fits(raw) {
				return s.wrong("value_error", "Value error, should be "+string(f.Kind)+" or null")
			}
			fields[name] = json.RawMessage(raw)
		}
		return s.sourceField(name, s.b[start:s.pos], &out.Source)
	})
	if err != nil {
		return out, err
	}
	s.field = ""
	if out.Source.Type == "" {
		out.Source.Type = "unknown"
	}
	if err := s.identify(&out, d, fields); err != nil {
		return out, err
	}
	out.Body, err = json.Marshal(fields)
	return out, err
}

// sourceField takes the source from its object or from the flat fields.
func (s *scanner) sourceField(name string, raw []byte, to *wearables.Source) error {
	var err error
	switch name {
	case "source":
		var source struct {
			Type     string     `json:"type"`
			AppID    string     `json:"app_id"`
			DeviceID *uuid.UUID `json:"device_id"`
		}
		err = json.Unmarshal(raw, &source)
		to.Type, to.AppID, to.DeviceID = source.Type, source.AppID, source.DeviceID
	case "source_type":
		err = json.Unmarshal(raw, &to.Type)
	case "source_app_id", "source_bundle", "app_id":
		err = json.Unmarshal(raw, &to.AppID)
	case "product_type":
		var product string
		err = json.Unmarshal(raw, &product)
		to.Type = sourceType(to.Type, product)
	case "source_device_id", "device_id":
		err = json.Unmarshal(raw, &to.DeviceID)
	}
	if err != nil {
		return s.wrong("value_error", "Value error, not a source")
	}
	return nil
}

// identify fills in what tells the summary apart from others: a day with its
// source, or a session's start with its source.
func (s *scanner) identify(out *wearables.Summary, d *wearables.Document, fields map[string]json.RawMessage) error {
	moment := func(name string) (t time.Time, err error) {
		var text string
		if raw := fields[name]; name != "" && raw != nil {
			if err := json.Unmarshal(raw, &text); err == nil && text != "" {
				t, err = time.Parse(time.RFC3339, text)
				if err != nil {
					s.field = name
					return t, s.wrong("datetime_parsing", "Input should be a valid datetime with an offset")
				}
			}
		}
		return t, nil
	}
	var err error
	if out.Start, err = moment(d.Start); err != nil {
		return err
	}
	if out.End, err = moment(d.End); err != nil {
		return err
	}
	var day string
	_ = json.Unmarshal(fields["calendar_date"], &day)
	if d.Name == "menstrual_cycle" {
		_ = json.Unmarshal(fields["period_start"], &day)
	}
	if day != "" {
		if out.Date, err = civil.ParseDate(day); err != nil {
			s.field = "calendar_date"
			return s.wrong("date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD")
		}
	}
	if out.Date.IsZero() && !out.Start.IsZero() {
		out.Date = dayOf(out, d, fields)
	}
	source := "|" + out.Source.Type + "|" + out.Source.AppID
	switch {
	case !d.Dated:
		out.Key = "profile"
	case d.Start != "":
		if out.Start.IsZero() {
			s.field = d.Start
			return s.wrong("missing", "Field required")
		}
		out.Key = out.Start.UTC().Format(time.RFC3339Nano) + source
	default:
		if out.Date.IsZero() {
			s.field = "calendar_date"
			return s.wrong("missing", "Field required")
		}
		out.Key = out.Date.String() + source
	}
	return nil
}

// dayOf is the local day of a session: that of waking up for a sleep, that of
// the start for others.
func dayOf(out *wearables.Summary, d *wearables.Document, fields map[string]json.RawMessage) civil.Date {
	at := out.Start
	if (d.Name == "sleep" || d.Name == "sleep_cycle") && !out.End.IsZero() {
		at = out.End
	}
	if seconds, err := strconv.Atoi(string(fields["timezone_offset"])); err == nil {
		at = at.UTC().Add(time.Duration(seconds) * time.Second)
	}
	return civil.DateOf(at)
}

// snake is a key in snake_case.
func snake(key []byte) string {
	out := make([]byte, 0, len(key)+4)
	for i, c := range key {
		if c < utf8.RuneSelf && unicode.IsUpper(rune(c)) {
			if i > 0 && key[i-1] != '_' {
				out = append(out, '_')
			}
			c = byte(unicode.ToLower(rune(c)))
		}
		out = append(out, c)
	}
	return string(out)
}
