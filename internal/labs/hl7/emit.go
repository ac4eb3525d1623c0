package hl7

import "unicode/utf8"

// CharsetError says that a message holds a character that its character set
// lacks. It names the place and not the character.
type CharsetError struct {
	Segment int
	Name    string
	Field   int
	Charset string
}

func (e *CharsetError) Error() string {
	return "hl7: " + e.Name + "-" + itoa(e.Field) + " of segment " + itoa(e.Segment) + " holds a character that " + e.Charset + " lacks"
}

// Emit writes the message with CR after every segment, as the standard asks.
// A message that was parsed from well-formed bytes comes out byte for byte.
// The error, if any, is a *CharsetError.
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
			if plain(f) {
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

// ownsSeparator reports whether no separator stands before field n: in a
// header, field 1 is the separator and field 2 follows it at once.
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

// plain reports whether text is ASCII.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
