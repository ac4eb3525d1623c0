package hl7

import "strings"

// Message is one HL7 v2 message. Its first segment is always MSH.
type Message struct {
	Delimiters Delimiters
	// Charset is the character set of the message's bytes.
	Charset  Charset
	Segments []Segment
}

// Delimiters are the five or six characters that separate a message. A zero
// character is not in use.
type Delimiters struct {
	Field, Component, Repetition, Escape, Subcomponent, Truncation byte
}

// Standard holds the delimiters that nearly every message uses.
var Standard = Delimiters{Field: '|', Component: '^', Repetition: '~', Escape: '\\', Subcomponent: '&'}

// encoding returns MSH-2.
func (d Delimiters) encoding() string {
	var b [5]byte
	text := b[:0]
	for _, c := range []byte{d.Component, d.Repetition, d.Escape, d.Subcomponent, d.Truncation} {
		if c != 0 {
			text = append(text, c)
		}
	}
	return string(text)
}

// First returns the first segment of that name. Without one it returns a
// Segment whose fields are empty.
func (m *Message) First(name string) Segment {
	for _, s := range m.Segments {
		if s.Name() == name {
			return s
		}
	}
	return Segment{d: m.Delimiters}
}

// Segment is one line of a message: a name and numbered fields.
type Segment struct {
	// fields[0] is the name, so fields[n] is field n. In a header (MSH, BHS,
	// FHS) field 1 is the field separator itself and field 2 has the other
	// delimiters.
	fields []string
	d      Delimiters
}

// Name returns the three letters of the segment; empty for an absent segment.
func (s Segment) Name() string { return s.Raw(0) }

// Len returns the number of the last field.
func (s Segment) Len() int { return max(len(s.fields)-1, 0) }

// Raw returns field n as in the message, with its escapes.
func (s Segment) Raw(n int) string {
	if n < 0 || n >= len(s.fields) {
		return ""
	}
	return s.fields[n]
}

// Field returns field n with all its repetitions.
func (s Segment) Field(n int) Field { return Field{raw: s.Raw(n), d: s.d} }

// Get returns the value at field n, optionally at a component and a
// subcomponent, both counted from 1 and 1 by default. It reads the first
// repetition, resolves escapes, and trims spaces, with which some labs pad.
func (s Segment) Get(n int, place ...int) string {
	return s.Field(n).First().Get(place...)
}

// Text returns the whole of field n as text for a person. A text field has no
// components, so an unescaped hat stays a hat. Repetitions become lines.
func (s Segment) Text(n int) string { return s.Field(n).Text() }

// Field is a field with its repetitions.
type Field struct {
	raw string
	d   Delimiters
}

// First returns the first repetition.
func (f Field) First() Value {
	raw := f.raw
	if i := indexByte(raw, f.d.Repetition); i >= 0 {
		raw = raw[:i]
	}
	return Value{raw, f.d}
}

// Repeats returns the repetitions; none for an empty field.
func (f Field) Repeats() []Value {
	if f.raw == "" {
		return nil
	}
	parts := []string{f.raw}
	if f.d.Repetition != 0 {
		parts = strings.Split(f.raw, string(f.d.Repetition))
	}
	values := make([]Value, len(parts))
	for i, part := range parts {
		values[i] = Value{part, f.d}
	}
	return values
}

// Text joins the repetitions as lines.
func (f Field) Text() string {
	var lines []string
	for _, v := range f.Repeats() {
		lines = append(lines, v.Text())
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Value is one repetition of a field.
type Value struct {
	raw string
	d   Delimiters
}

// Raw returns the repetition as in the message.
func (v Value) Raw() string { return v.raw }

// Null reports whether the sender wrote "", which asks to delete the stored
// value.
func (v Value) Null() bool { return v.raw == null }

const null = `""`

// Get returns the value at a component and subcomponent, both 1 by default.
func (v Value) Get(place ...int) string {
	component, sub := 1, 1
	if len(place) > 0 {
		component = place[0]
	}
	if len(place) > 1 {
		sub = place[1]
	}
	text := piece(piece(v.raw, v.d.Component, component), v.d.Subcomponent, sub)
	if text == null {
		return ""
	}
	return strings.TrimSpace(v.d.Unescape(text))
}

// Text returns the whole repetition with its escapes resolved.
func (v Value) Text() string {
	if v.Null() {
		return ""
	}
	return strings.TrimRight(v.d.Unescape(v.raw), " ")
}

// piece returns the nth part of text, counted from 1.
func piece(text string, separator byte, n int) string {
	for ; n > 1; n-- {
		i := indexByte(text, separator)
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	if i := indexByte(text, separator); i >= 0 {
		return text[:i]
	}
	return text
}

// indexByte finds a delimiter; -1 for one that is not in use.
func indexByte(text string, c byte) int {
	if c == 0 {
		return -1
	}
	return strings.IndexByte(text, c)
}
