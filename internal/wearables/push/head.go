package push

import (
	"cmp"
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// headMember reads a field of the body other than data. known is false for an unknown
// field.
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
				return s.wrong("enum", fault.EnumMessage([]wearables.Stage{wearables.Historical, wearables.Daily}))
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
	case "deleted":
		err = s.deleted(h)
	case "start_date", "startDate":
		err = s.optional(func(b []byte) error { return s.bound(b, &h.Start, 0) })
	case "end_date", "endDate":
		err = s.optional(func(b []byte) error { return s.bound(b, &h.End, dayUS-secondUS) })
	default:
		return false, nil
	}
	return true, err
}

// MostDeleted bounds the deleted records of one body.
const MostDeleted = 10_000

// deleted reads the list of deleted records: ids, or objects with one.
func (s *scanner) deleted(h *Head) error {
	h.Deleted = nil
	if null, err := s.null(); null || err != nil {
		return err
	}
	s.within, s.field = []string{"deleted"}, ""
	err := s.list(func(i int) error {
		if i == MostDeleted {
			return fault.Newf(fault.TooLarge, "a batch has at most %d deleted records", MostDeleted).At("body", "deleted")
		}
		s.index, s.field = i, ""
		raw, err := s.raw()
		if err != nil {
			return err
		}
		id, err := s.deletedID(raw)
		h.Deleted = append(h.Deleted, id)
		return err
	})
	s.within, s.index = nil, -1
	return err
}

// ParseDeleted parses a list of deleted records, the member deleted of a body. It may be
// null.
func ParseDeleted(list []byte) ([]string, error) {
	s := scanner{b: list, index: -1, field: "deleted"}
	var h Head
	err := s.deleted(&h)
	return h.Deleted, err
}

// deletedID reads the id of a deleted record.
func (s *scanner) deletedID(raw []byte) (string, error) {
	var id string
	var record map[string]json.RawMessage
	if json.Unmarshal(raw, &id) != nil && json.Unmarshal(raw, &record) == nil {
		var records [5]string
		for i, name := range recordFields {
			if err := s.recordID(record[name], &records[i]); err != nil {
				return "", err
			}
		}
		id = cmp.Or(records[:]...)
	}
	if id == "" {
		return "", s.wrong("value_error", "Value error, should be the id of a record, or an object with it")
	}
	return id, fitsWord(s, id)
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

// bound reads an instant, or a date, which means its first or its last second.
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

// check refuses a body without a required field: those of the head, and the data.
func (h *Head) check(data string, seen bool) error {
	missing := func(present bool, name string) *fault.Error {
		if present {
			return nil
		}
		return fault.New(fault.Invalid, "Field required").At("body", name).WithType("missing")
	}
	return fault.Join(
		missing(h.Stage != "", "stage"), missing(h.Provider != "", "provider"), missing(seen || len(h.Deleted) > 0, data),
	)
}
