package push

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"hale/internal/platform/fault"
)

// maxDepth bounds the nesting of objects and lists.
const maxDepth = 64

// scanner reads JSON text that is valid UTF-8. Every method stops after what it read. The
// caller skips leading white space.
type scanner struct {
	b   []byte
	pos int
	// Location of the current value, for faults: data, 17, value.
	within []string // the list that is being read; nil outside
	index  int      // of the sample in it; -1 outside
	field  string
	buf    []byte // an unescaped string
}

// bad returns a fault about the JSON text.
func (s *scanner) bad() error {
	return fault.Newf(fault.Invalid, "JSON decode error near byte %d", s.pos).At("body").WithType(invalidJSON)
}

// invalidJSON is the type of faults about the text as a whole.
const invalidJSON = "json_invalid"

// wrong returns a fault about the current field.
func (s *scanner) wrong(code, sentence string) error {
	loc := append([]string{"body"}, s.within...)
	if s.index >= 0 {
		loc = append(loc, strconv.Itoa(s.index))
	}
	if s.field != "" {
		loc = append(loc, s.field)
	}
	return fault.New(fault.Invalid, sentence).At(loc...).WithType(code)
}

// mismatch returns wrong if a value of another type is next, or bad.
func (s *scanner) mismatch(code, sentence string) error {
	switch c := s.peek(); {
	case c == '"', c == '{', c == '[', c == 't', c == 'f', c == 'n', c == '-', c >= '0' && c <= '9':
		return s.wrong(code, sentence)
	}
	return s.bad()
}

func (s *scanner) space() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte after white space; 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.b) && s.b[s.pos] > ' ' {
		return s.b[s.pos]
	}
	s.space()
	if s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

// take reads the byte if it is next.
func (s *scanner) take(c byte) bool {
	if s.peek() == c && s.pos < len(s.b) {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) literal(word string) error {
	if len(s.b)-s.pos < len(word) || string(s.b[s.pos:s.pos+len(word)]) != word {
		return s.bad()
	}
	s.pos += len(word)
	return nil
}

// null reads a null if it is next.
func (s *scanner) null() (bool, error) {
	if s.peek() != 'n' {
		return false, nil
	}
	return true, s.literal("null")
}

// text reads a string. The bytes are valid until the next call.
func (s *scanner) text() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.mismatch("string_type", "Input should be a valid string")
	}
	s.pos++
	start := s.pos
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.pos = i + 1
			return s.b[start:i], nil
		case c == '\\':
			s.buf = append(s.buf[:0], s.b[start:i]...)
			s.pos = i
			return s.readEscaped()
		case c < ' ':
			s.pos = i
			return nil, s.bad()
		}
	}
	s.pos = len(s.b)
	return nil, s.bad()
}

// readEscaped reads the rest of a string from its first backslash.
func (s *scanner) readEscaped() ([]byte, error) {
	for s.pos < len(s.b) {
		c := s.b[s.pos]
		s.pos++
		switch {
		case c == '"':
			return s.buf, nil
		case c < ' ':
			return nil, s.bad()
		case c != '\\':
			s.buf = append(s.buf, c)
			continue
		}
		if s.pos == len(s.b) {
			break
		}
		c = s.b[s.pos]
		s.pos++
		switch c {
		case '"', '\\', '/':
			s.buf = append(s.buf, c)
		case 'b':
			s.buf = append(s.buf, '\b')
		case 'f':
			s.buf = append(s.buf, '\f')
		case 'n':
			s.buf = append(s.buf, '\n')
		case 'r':
			s.buf = append(s.buf, '\r')
		case 't':
			s.buf = append(s.buf, '\t')
		case 'u':
			r, ok := s.hex()
			if !ok {
				return nil, s.bad()
			}
			if r, ok = s.surrogate(r); !ok {
				return nil, s.wrong(halfPair, "Half of a surrogate pair is no text")
			}
			s.buf = utf8.AppendRune(s.buf, r)
		default:
			return nil, s.bad()
		}
	}
	return nil, s.bad()
}

func (s *scanner) hex() (r rune, ok bool) {
	if len(s.b)-s.pos < 4 {
		return 0, false
	}
	for _, c := range s.b[s.pos : s.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.pos += 4
	return r, true
}

// surrogate joins a pair of escapes. A single half is not a character.
func (s *scanner) surrogate(r rune) (pair rune, ok bool) {
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	if len(s.b)-s.pos < 6 || s.b[s.pos] != '\\' || s.b[s.pos+1] != 'u' {
		return 0, false
	}
	s.pos += 2
	low, ok := s.hex()
	pair = utf16.DecodeRune(r, low)
	return pair, ok && pair != utf8.RuneError
}

// skip skips any value.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return s.wrong("value_error", "Value error, nested too deeply")
	}
	switch c := s.peek(); c {
	case '{':
		return s.object(func([]byte) error { return s.skip(depth + 1) })
	case '[':
		return s.list(func(int) error { return s.skip(depth + 1) })
	case '"':
		return s.skipText()
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		_, err := s.number()
		if isAbout(err, notFinite) {
			return nil
		}
		return err
	}
}

// skipText skips a string, also one with half of a surrogate pair.
func (s *scanner) skipText() error {
	_, err := s.text()
	if !isAbout(err, halfPair) {
		return err
	}
	for ; s.pos < len(s.b) && s.b[s.pos] >= ' '; s.pos++ {
		switch s.b[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return nil
		}
	}
	return s.bad()
}

// Types of faults about values that are JSON.
const (
	notFinite = "finite_number"
	halfPair  = "string_unicode"
)

// isAbout reports whether an error is a fault of a type.
func isAbout(err error, code string) bool {
	var one *fault.Error
	return errors.As(err, &one) && one.Code() == code
}

// object reads an object and calls value with each key, which must read the
// value. The key is valid until value reads a string.
func (s *scanner) object(value func(key []byte) error) error {
	if !s.take('{') {
		return s.mismatch("model_attributes_type", "Input should be a valid dictionary or object")
	}
	if s.take('}') {
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.bad()
		}
		key, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.bad()
		}
		if err := value(key); err != nil {
			return err
		}
		if s.take(',') {
			continue
		}
		if s.take('}') {
			return nil
		}
		return s.bad()
	}
}

// list reads a list and calls item for each element, which must read it.
func (s *scanner) list(item func(i int) error) error {
	if !s.take('[') {
		return s.mismatch("list_type", "Input should be a valid list")
	}
	if s.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		if s.take(',') {
			continue
		}
		if s.take(']') {
			return nil
		}
		return s.bad()
	}
}
