package push

import (
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/wearables"
)

// MostSamples is how many samples one body may have.
const MostSamples = 100_000

// Head is what a pushed body says about the batch as a whole.
type Head struct {
	Stage      wearables.Stage
	Start, End time.Time // the range that the batch covers; zero when not stated
	TimeZone   string    // IANA name of the device; empty when not stated
	Provider   string
	Final      bool // the last chunk of this resource
}

// Range is the stretch of time that the batch says it covers.
func (h *Head) Range() wearables.Range { return wearables.Range{Start: h.Start, End: h.End} }

// Body is a pushed batch of samples.
type Body struct {
	Head
	Groups []Group
	Count  int // samples in all
}

// Parse reads a pushed body of samples. Faults name the field.
func Parse(data []byte) (*Body, error) {
	p := parser{scanner: scanner{b: data, index: -1}}
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "the body is not UTF-8").At("body").WithType("json_invalid")
	}
	if err := p.object(p.member); err != nil {
		return nil, err
	}
	if p.peek() != 0 || p.pos < len(data) {
		return nil, p.bad()
	}
	return p.finish()
}

type parser struct {
	scanner
	body    Body
	seen    bool // data was there
	sample  sample
	moments moments
	groups  groups
}

// member reads one field of the body.
func (p *parser) member(key []byte) error {
	if string(key) != "data" {
		known, err := p.headMember(&p.body.Head, key)
		if err == nil && !known {
			err = p.skip(0)
		}
		return err
	}
	p.seen, p.field = true, "data"
	p.groups, p.body.Count = groups{}, 0
	err := p.list(func(i int) error {
		if i == MostSamples {
			return fault.Newf(fault.TooLarge, "a batch has at most %d samples", MostSamples).At("body", "data")
		}
		p.index, p.field = i, ""
		p.body.Count++
		return p.one(i)
	})
	p.index, p.field = -1, ""
	return err
}

// headMember reads a field of the body other than data; known is false when
// it is none of ours.
func (s *scanner) headMember(h *Head, key []byte) (known bool, err error) {
	s.field = string(key)
	defer func() {
		if err == nil {
			s.field = ""
		}
	}()
	switch string(key) {
	case "is_final_chunk", "isFinalChunk":
		return true, s.flag(&h.Final)
	case "stage":
		err = s.optional(func(b []byte) error {
			if h.Stage = wearables.Stage(b); h.Stage != wearables.Historical && h.Stage != wearables.Daily {
				return s.wrong("enum", "Input should be 'historical' or 'daily'")
			}
			return nil
		})
	case "provider":
		err = s.optional(func(b []byte) error { h.Provider = string(b); return nil })
	case "time_zone", "timeZone":
		err = s.optional(func(b []byte) error {
			h.TimeZone = string(b)
			if _, err := civil.Zone(h.TimeZone); err != nil {
				return s.wrong("value_error", "Value error, must be an IANA time zone")
			}
			return nil
		})
	case "start_date", "startDate":
		err = s.optional(func(b []byte) error { return s.bound(b, &h.Start, 0) })
	case "end_date", "endDate":
		err = s.optional(func(b []byte) error { return s.bound(b, &h.End, dayUS-secondUS) })
	default:
		return false, nil
	}
	return true, err
}

// optional reads a string or null.
func (s *scanner) optional(use func(b []byte) error) error {
	if null, err := s.null(); null || err != nil {
		return err
	}
	b, err := s.text()
	if err != nil {
		return err
	}
	return use(b)
}

func (s *scanner) flag(to *bool) error {
	switch s.peek() {
	case 't':
		*to = true
		return s.literal("true")
	case 'f':
		*to = false
		return s.literal("false")
	case 'n':
		*to = false
		return s.literal("null")
	}
	return s.mismatch("bool_type", "Input should be a valid boolean")
}

// bound reads a date, which begins with its first or ends with its last
// second, or an instant.
func (s *scanner) bound(b []byte, to *time.Time, ofDay int64) error {
	if day, err := civil.ParseDate(string(b)); err == nil {
		*to = day.In(time.UTC).Add(time.Duration(ofDay) * time.Microsecond)
		return nil
	}
	var m moments
	us, _, ok := m.parse(b)
	if !ok {
		return s.wrong("datetime_parsing", "Input should be a valid date or datetime")
	}
	*to = time.UnixMicro(us).UTC()
	return nil
}

// one reads a sample.
func (p *parser) one(index int) error {
	p.sample = sample{offset: wearables.NoOffset}
	if err := p.object(p.sampleMember); err != nil {
		return err
	}
	p.field = ""
	s := &p.sample
	if !s.hasTime {
		p.field = "timestamp"
		return p.wrong("missing", "Field required")
	}
	if !s.hasValue {
		p.field = "value"
		return p.wrong("missing", "Field required")
	}
	p.groups.find(&s.label).add(s, index)
	return nil
}

// sampleMember reads one field of a sample, in the SDKs' spelling or in ours.
func (p *parser) sampleMember(key []byte) (err error) {
	s := &p.sample
	switch string(key) {
	case "timestamp", "start", "startDate", "start_date":
		p.field = "timestamp"
		s.hasTime, err = p.moment(&s.time, true)
	case "end", "endDate", "end_date":
		p.field = "end"
		s.hasEnd, err = p.moment(&s.end, false)
	case "value":
		p.field = "value"
		s.hasValue, err = p.value(&s.value, 0)
	case "systolic":
		p.field = "systolic"
		s.hasValue, err = p.value(&s.value, 0)
	case "diastolic":
		p.field = "diastolic"
		s.hasValue2, err = p.value(&s.value2, 0)
	case "timezone_offset", "timezoneOffset":
		p.field = "timezone_offset"
		err = p.offset()
	case "type":
		err = p.word("type", &s.kind)
	case "unit":
		err = p.word("unit", &s.unit)
	case "source_type", "sourceType":
		err = p.word("source_type", &s.sourceType)
	case "productType", "product_type":
		err = p.word("product_type", &s.product)
	case "sourceBundle", "source_bundle", "source_app_id", "app_id", "appId":
		err = p.word("source_app_id", &s.app)
	case "source_sport", "sport":
		err = p.word("source_sport", &s.sport)
	case "source_device_id", "device_id":
		err = p.id("source_device_id", &s.device)
	case "source_workout_id", "workout_id":
		err = p.id("source_workout_id", &s.workout)
	case "source":
		err = p.source()
	default:
		return p.skip(0)
	}
	if err == nil {
		p.field = ""
	}
	return err
}

// moment reads an instant or null. An offset other than zero that is part of
// a start tells where the person was.
func (p *parser) moment(to *int64, start bool) (ok bool, err error) {
	if null, err := p.null(); null || err != nil {
		return false, err
	}
	b, err := p.text()
	if err != nil {
		return false, err
	}
	us, offset, ok := p.moments.parse(b)
	if !ok {
		return false, p.wrong("datetime_parsing", "Input should be a valid datetime with an offset")
	}
	*to = us
	if s := &p.sample; start && !s.hasOffset && offset != wearables.NoOffset {
		s.offset, s.hasOffset = offset, true
	}
	return true, nil
}

// value reads a number, null, or an SDK's sample of its own in this place, as
// the two pressures are sent.
func (p *parser) value(to *float64, depth int) (ok bool, err error) {
	switch p.peek() {
	case 'n':
		return false, p.literal("null")
	case '{':
		if depth == 0 {
			return p.nested(to)
		}
	}
	f, err := p.number()
	*to = f + 0 // a negative zero is a zero
	return err == nil, err
}

func (p *parser) nested(to *float64) (ok bool, err error) {
	outer := p.field
	err = p.object(func(key []byte) (err error) {
		p.field = outer
		switch string(key) {
		case "value":
			ok, err = p.value(to, 1)
			return err
		case "startDate", "start_date", "endDate", "end_date", "sourceBundle", "productType", "unit", "type":
			return p.sampleMember(key)
		}
		return p.skip(0)
	})
	return ok, err
}

func (p *parser) offset() error {
	if null, err := p.null(); null || err != nil {
		return err
	}
	f, err := p.number()
	if err != nil {
		return err
	}
	if f != float64(int32(f)) || f < -26*3600 || f > 26*3600 {
		return p.wrong("int_type", "Input should be a whole number of seconds within 26 hours")
	}
	p.sample.offset, p.sample.hasOffset = int32(f), true
	return nil
}

// longestWord bounds the texts that tell sources and types apart.
const longestWord = 256

// word reads a short string or null. The bytes must outlive the next string,
// so an unescaped one is copied.
func (p *parser) word(field string, to *[]byte) error {
	p.field = field
	*to = nil
	return p.optional(func(b []byte) error {
		if len(b) > longestWord {
			return p.wrong("string_too_long", "String should have at most 256 characters")
		}
		if len(b) > 0 && len(p.buf) > 0 && &b[0] == &p.buf[0] {
			b = append([]byte(nil), b...)
		}
		for _, c := range b {
			if c == 0 {
				return p.wrong("value_error", "Value error, must not contain NUL")
			}
		}
		*to = b
		return nil
	})
}

func (p *parser) id(field string, to *uuid.UUID) error {
	p.field = field
	*to = uuid.Nil
	return p.optional(func(b []byte) (err error) {
		if *to, err = uuid.ParseBytes(b); err != nil || len(b) != 36 {
			return p.wrong("uuid_parsing", "Input should be a valid UUID")
		}
		return nil
	})
}

// source reads the wire form's source object.
func (p *parser) source() error {
	p.field = "source"
	if null, err := p.null(); null || err != nil {
		return err
	}
	s := &p.sample
	return p.object(func(key []byte) error {
		p.field = "source"
		switch string(key) {
		case "type":
			return p.word("source", &s.sourceType)
		case "app_id":
			return p.word("source", &s.app)
		case "sport":
			return p.word("source", &s.sport)
		case "device_id":
			return p.id("source", &s.device)
		case "workout_id":
			return p.id("source", &s.workout)
		}
		return p.skip(0)
	})
}

// finish checks the head and resolves what depends on it.
func (p *parser) finish() (*Body, error) {
	if err := p.body.Head.check(p.seen); err != nil {
		return nil, err
	}
	if p.body.TimeZone != "" {
		loc, err := civil.Zone(p.body.TimeZone)
		if err != nil {
			return nil, err
		}
		z := zone{loc: loc}
		for _, g := range p.groups.all {
			g.place(&z)
		}
	}
	for _, g := range p.groups.all {
		p.body.Groups = append(p.body.Groups, g.Group)
	}
	return &p.body, nil
}

// check wants the fields without which a batch cannot be stored.
func (h *Head) check(data bool) error {
	missing := func(present bool, name string) *fault.Error {
		if present {
			return nil
		}
		return fault.New(fault.Invalid, "Field required").At("body", name).WithType("missing")
	}
	return fault.Join(
		missing(h.Stage != "", "stage"), missing(h.Provider != "", "provider"), missing(data, "data"),
	)
}

// place gives the samples that state no offset the one of the device's zone.
func (g *groupOf) place(z *zone) {
	if g.Offset == nil {
		g.Offset = make([]int32, len(g.Time))
		for i := range g.Offset {
			g.Offset[i] = wearables.NoOffset
		}
	}
	for i, offset := range g.Offset {
		if offset == wearables.NoOffset {
			g.Offset[i] = z.at(g.Time[i])
		}
	}
}
