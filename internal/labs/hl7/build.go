package hl7

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// New begins a message: an MSH with delimiters and character set, and no other
// field yet. ASCII is left unsaid in MSH-18, as it is what a reader expects.
func New(charset Charset, header Fields) *Message {
	m := &Message{Delimiters: Standard, Charset: charset}
	if charset != ASCII {
		header[18] = Of(charset.String())
	}
	m.Add("MSH", header)
	return m
}

// Fields are what a segment is built of, by number.
type Fields map[int]Content

// Content is the content of one field: repetitions of components.
type Content [][]string

// Of is a field of one repetition. Every component is text, which is escaped
// when the segment is made.
func Of(components ...string) Content { return Content{components} }

// And adds a repetition.
func (c Content) And(components ...string) Content { return append(c, components) }

// Add appends a segment. Empty components, repetitions and fields at an end
// are left out, as the standard asks.
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
