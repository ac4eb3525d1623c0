package push

import (
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/rows"
	"hale/internal/wearables"
)

// sampleMember reads one field of a sample, in the spelling of SDKs or ours.
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
	case "external_id", "externalId", "metadata", "uuid", "id", "provider_id", "providerId":
		p.form.odd = true
		err = p.record(snakeCase(key))
	default:
		i := slices.IndexFunc(p.extra, func(e wearables.Extra) bool { return string(key) == e.Name || string(key) == e.Camel })
		if i < 0 {
			return p.skip(0)
		}
		err = p.word(p.extra[i].Name, &p.words[i])
	}
	if err == nil {
		p.field = ""
	}
	return err
}

// moment reads an instant or null. A start with an offset other than zero states the
// place of the person.
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
	if start {
		p.addInstant(rows.Start, b)
	} else {
		p.addInstant(rows.End, b)
	}
	if s := &p.sample; start && !s.hasOffset && offset != wearables.NoOffset {
		s.offset, s.hasOffset = offset, true
	}
	return true, nil
}

// value reads a number or null. An SDK may send an object with the number, as it does for
// both blood pressures.
func (p *parser) value(to *float64, depth int) (ok bool, err error) {
	switch p.peek() {
	case 'n':
		return false, p.literal("null")
	case '{':
		if depth == 0 {
			return p.nested(to)
		}
	}
	p.peek()
	from := p.pos
	f, err := p.number()
	*to = f + 0 // no negative zero
	p.form.odd = p.form.odd || to != &p.sample.value
	p.form.addHole(rows.Value, from, p.pos)
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
	if f != float64(int32(f)) || f < -maxOffset || f > maxOffset {
		return p.wrong("int_type", "Input should be a whole number of seconds within 18 hours")
	}
	p.sample.offset, p.sample.hasOffset = int32(f), true
	return nil
}

// maxWord bounds the texts of sources and types.
const maxWord = 256

// word reads a short string or null. An unescaped one is copied, because it must outlive
// the next string.
func (p *parser) word(field string, to *[]byte) error {
	p.field = field
	*to = nil
	return p.optional(func(b []byte) error {
		if len(b) > 0 && len(p.buf) > 0 && &b[0] == &p.buf[0] {
			b = append([]byte(nil), b...)
		}
		*to = b
		return fitsWord(&p.scanner, b)
	})
}

// fitsWord refuses a text that a column of either database cannot hold.
func fitsWord[T string | []byte](s *scanner, word T) error {
	if len(word) > maxWord {
		return s.wrong("string_too_long", "String should have at most 256 characters")
	}
	for i := range len(word) {
		if word[i] == 0 {
			return s.wrong("value_error", "Value error, must not contain NUL")
		}
	}
	return nil
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

// record reads the provider's own id of a sample.
func (p *parser) record(name string) error {
	p.field = name
	raw, err := p.raw()
	if err != nil || raw == nil {
		return err
	}
	return p.recordID(raw, &p.sample.records[slices.Index(recordFields, name)])
}

// source reads a source object.
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
