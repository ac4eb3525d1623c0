package hl7

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// New begins a message: an MSH with delimiters and character set, and no other
// field. MSH-18 is empty for ASCII, which readers expect.
func New(charset Charset, header Fields) *Message {
	m := &Message{Delimiters: Standard, Charset: charset}
	if charset != ASCII {
		header[18] = Text(charset.String())
	}
	m.Add("MSH", header)
	return m
}

// Fields holds the fields of a segment by number.
type Fields map[int]Content

// Content holds one field: repetitions of components.
type Content [][]string

// Text returns a field of one repetition. Every component is text; it is
// escaped when the segment is added.
func Text(components ...string) Content { return Content{components} }

// Repeat adds a repetition.
func (c Content) Repeat(components ...string) Content { return append(c, components) }

// Add appends a segment. Empty trailing components, repetitions and fields are
// left out, as the standard asks.
func (m *Message) Add(name string, fields Fields) {
	d := m.Delimiters
	last := 0
	for n, content := range fields {
		if n > last && d.join(content) != "" {
			last = n
		}
	}
	s := Segment{d: d, fields: make([]string, last+1)}
	s.fields[0] = name
	for n, content := range fields {
		if n > 0 && n <= last {
			s.fields[n] = d.join(content)
		}
	}
	if isHeader(name + "|") {
		if last < 2 {
			s.fields = append(s.fields, make([]string, 2-last)...)
		}
		s.fields[1], s.fields[2] = string(d.Field), d.encoding()
	}
	m.Segments = append(m.Segments, s)
}

func (d Delimiters) join(content Content) string {
	repeats := make([]string, 0, len(content))
	for _, components := range content {
		parts := make([]string, len(components))
		for i, text := range components {
			parts[i] = d.Quote(text)
		}
		joined := strings.TrimRight(strings.Join(parts, string(d.Component)), string(d.Component))
		if joined != "" {
			repeats = append(repeats, joined)
		}
	}
	return strings.Join(repeats, string(d.Repetition))
}

// CharsetError reports a character that the message's character set lacks. It
// names the place and not the character.
type CharsetError struct {
	Segment int
	Name    string
	Field   int
	Charset string
}

func (e *CharsetError) Error() string {
	return "hl7: " + e.Name + "-" + itoa(e.Field) + " of segment " + itoa(e.Segment) + " holds a character that " + e.Charset + " lacks"
}

// Emit writes the message with CR after every segment, as the standard asks. A
// parsed well-formed message is written byte for byte. The only error is a
// *CharsetError.
func (m *Message) Emit() ([]byte, error) {
	size := 0
	for _, s := range m.Segments {
		for _, f := range s.fields {
			size += len(f) + 1
		}
	}
	out := make([]byte, 0, size)
	for number, s := range m.Segments {
		for n, f := range s.fields {
			if n > 0 && !s.ownsSeparator(n) {
				out = append(out, m.Delimiters.Field)
			}
			if isASCII(f) {
				out = append(out, f...)
				continue
			}
			data, ok := m.Charset.encode(f)
			if !ok {
				return nil, &CharsetError{number + 1, s.Name(), n, m.Charset.String()}
			}
			out = append(out, data...)
		}
		out = append(out, '\r')
	}
	return out, nil
}

// ownsSeparator reports whether field n has no separator before it: in a
// header, field 1 is the separator and field 2 follows it directly.
func (s Segment) ownsSeparator(n int) bool {
	if n > 2 {
		return false
	}
	switch s.Name() {
	case "MSH", "BHS", "FHS":
		return len(s.fields) > 2
	}
	return false
}

// isASCII reports whether text is ASCII.
func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
