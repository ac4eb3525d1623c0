package replies

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Document is an object by its fields. A field that is missing, null or of another type
// than requested has no value.
type Document struct {
	// Under is the name of the field or list that contains the document; empty at the
	// top of a file.
	Under string

	fields map[string]json.RawMessage
	outer  *Document
}

// Parse reads an object that is in memory.
func Parse(raw []byte) (d Document, ok bool) {
	return d, json.Unmarshal(raw, &d.fields) == nil && d.fields != nil
}

// Has reports whether a field is present, null or not.
func (d Document) Has(name string) bool { _, ok := d.fields[name]; return ok }

// States reports whether a field is present and not null.
func (d Document) States(name string) bool {
	raw := d.fields[name]
	return len(raw) > 0 && string(raw) != "null"
}

// Empty reports whether there are no fields at all.
func (d Document) Empty() bool { return len(d.fields) == 0 }

// Raw returns a field as received.
func (d Document) Raw(name string) json.RawMessage { return d.fields[name] }

// Into decodes a field; false leaves *to in an unknown state.
func (d Document) Into(name string, to any) bool {
	return d.States(name) && json.Unmarshal(d.fields[name], to) == nil
}

// Outer returns the object that contains the document, or an empty one at the
// top.
func (d Document) Outer() Document {
	if d.outer == nil {
		return Document{}
	}
	return *d.outer
}

// Around returns the nearest object around the document, itself included, that
// states a field. It returns an empty one if no object does. If a list is read
// one element at a time, Around sees fields after the list only if Maker.Late
// names them.
func (d Document) Around(name string) Document {
	for at := &d; at != nil; at = at.outer {
		if at.States(name) {
			return *at
		}
	}
	return Document{}
}

// Text returns a field that is a text.
func (d Document) Text(name string) string {
	raw := d.fields[name]
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Flag reports whether a field is true.
func (d Document) Flag(name string) bool { return string(d.fields[name]) == "true" }

// Word returns a field that is a text or a number as a text, such as an id.
func (d Document) Word(name string) string {
	if s := d.Text(name); s != "" {
		return s
	}
	if _, ok := d.Number(name); ok {
		return string(d.fields[name])
	}
	return ""
}

// Number returns a field that is a number.
func (d Document) Number(name string) (float64, bool) { return NumberOf(d.fields[name]) }

// Loose returns a field that is a number, or a text that contains one.
func (d Document) Loose(name string) (float64, bool) {
	if v, ok := NumberOf(d.fields[name]); ok {
		return v, true
	}
	s := strings.TrimSpace(d.Text(name))
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	return NumberOf(json.RawMessage(s))
}

// maxNumber is more than any number of a maker, including ids of thirty digits. Results
// computed from a number stay finite, as JSON requires.
const maxNumber = 1e30

// NumberOf reads a number that is in memory.
func NumberOf(raw json.RawMessage) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64) // JSON has no NaN, and an infinity is an error
	return v, err == nil && math.Abs(v) <= maxNumber
}

// Integer returns a field that is a whole number, or a text that contains one,
// without loss up to 63 bits.
func (d Document) Integer(name string) (int64, bool) {
	s := string(d.fields[name])
	if strings.HasPrefix(s, `"`) {
		s = d.Text(name)
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	v, ok := d.Number(name) // 1.5e9, 12.0
	if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, false
	}
	return int64(v), true
}

// Amount returns a number that is not below zero, or nil.
func (d Document) Amount(name string) *float64 {
	v, ok := d.Number(name)
	if !ok || v < 0 || v > 1e9 {
		return nil
	}
	return &v
}

// Signed returns a number that may be below zero, such as a height, or nil.
func (d Document) Signed(name string) *float64 {
	v, ok := d.Number(name)
	if !ok || v < -1e9 || v > 1e9 {
		return nil
	}
	return &v
}

// Deviation returns the difference of a skin temperature from the usual one, in °C; nil
// if absent, or impossible for skin.
func (d Document) Deviation(name string) *float64 {
	v, ok := d.Number(name)
	if !ok || math.Abs(v) > 20 {
		return nil
	}
	return &v
}

// Positive returns an amount above zero, or nil. It is for amounts of which
// zero means that no value exists.
func (d Document) Positive(name string) *float64 {
	v := d.Amount(name)
	if v == nil || *v == 0 {
		return nil
	}
	return v
}

// RoundNumber returns an amount as an integer.
func (d Document) Whole(name string) *int64 { return RoundNumber(d.Amount(name)) }

// RoundNumber rounds an amount.
func RoundNumber(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(math.Round(*v))
	return &n
}

// Times returns an amount times a factor, rounded to two decimals, such as
// seconds to minutes or kilometres to metres.
func Times(v *float64, factor float64) *float64 {
	if v == nil {
		return nil
	}
	product := math.Round(*v*factor*100) / 100
	return &product
}

// Minutes returns an amount of seconds in minutes.
func (d Document) Minutes(name string) *float64 { return Times(d.Amount(name), 1.0/60) }

// Sum adds up the stated values; nil if there are none.
func Sum(all ...*int64) (sum *int64) {
	for _, v := range all {
		if v == nil {
			continue
		}
		if sum == nil {
			sum = new(int64)
		}
		*sum += *v
	}
	return sum
}

// Inner returns a field that is an object, or an empty document.
func (d Document) Inner(name string) Document {
	in, ok := Parse(d.fields[name])
	if !ok {
		return Document{}
	}
	in.Under, in.outer = name, &d
	return in
}

// List returns the elements of a field that is a list.
func (d Document) List(name string) []json.RawMessage {
	var all []json.RawMessage
	if !d.Into(name, &all) {
		return nil
	}
	return all
}

// EmptyList reports whether one of some fields is an empty list.
func (d Document) EmptyList(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return d.Has(name) && len(d.List(name)) == 0 })
}

// Documents returns the objects of a field that is a list.
func (d Document) Documents(name string) []Document {
	var all []Document
	for _, raw := range d.List(name) {
		if one, ok := Parse(raw); ok {
			one.Under, one.outer = name, &d
			all = append(all, one)
		}
	}
	return all
}
