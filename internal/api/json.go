package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A body is parsed twice: for the schema and into the handler's type. If an object has
// a member twice, in any case, the two parsers may use different ones or mix objects.
// So checkMembers refuses such a body.

// fieldError is a message about a field, in the form of huma's validator messages.
type fieldError struct{ code, message, place string }

// Error returns the code, the message and the place.
func (e *fieldError) Error() string { return e.code + separator + e.message + separator + e.place }

// openValue is an object or list of the body that is being read.
type openValue struct {
	names map[string]bool // lower-case names so far; nil for a list
	name  string          // of the current member
	value bool            // the next token is its value
	index int             // of the next item of the list
}

// checkMembers looks for duplicate members. The body must be valid JSON.
func checkMembers(body []byte) error {
	return walkJSON(body, func(open []openValue, isName bool, _ int64) error {
		top := &open[len(open)-1]
		if folded := strings.ToLower(strings.ToUpper(top.name)); isName && !top.names[folded] {
			top.names[folded] = true
		} else if isName {
			return &fieldError{"value_error", "Value error, duplicate field", pathOf(open)}
		}
		return nil
	})
}

// walkJSON calls visit for each name of a member and each scalar value, with the position
// in the body that follows it. It ends at the first error of visit or of the syntax, and
// returns only that of visit.
func walkJSON(body []byte, visit func(open []openValue, isName bool, end int64) error) error {
	in := json.NewDecoder(bytes.NewReader(body))
	open := []openValue{{}}
	for {
		token, err := in.Token()
		if err != nil { // io.EOF
			return nil
		}
		top := &open[len(open)-1]
		switch name, _ := token.(string); {
		case token == json.Delim('{'):
			open = append(open, openValue{names: map[string]bool{}})
		case token == json.Delim('['):
			open = append(open, openValue{})
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:len(open)-1]
			open[len(open)-1].advance()
		case top.names == nil || top.value:
			if err := visit(open, false, in.InputOffset()); err != nil {
				return err
			}
			top.advance()
		default:
			top.name, top.value = name, true
			if err := visit(open, true, in.InputOffset()); err != nil {
				return err
			}
		}
	}
}

// withPlace names the field of a text that cannot be stored, which has a bad escape at a
// position. It returns err if the text is the name of a field, or the body is not JSON.
func withPlace(body []byte, at int, err error) error {
	if !json.Valid(body) {
		return err
	}
	placed := walkJSON(body, func(open []openValue, isName bool, end int64) error {
		place := pathOf(open)
		switch {
		case end <= int64(at):
			return nil
		case isName || place == "":
			return err
		}
		return &fieldError{"value_error", "Value error, must not contain U+0000 or half of a surrogate pair", place}
	})
	return cmp.Or(placed, err)
}

var errBadText = errors.New("api: text with NUL or broken UTF-8")

// checkJSON refuses text that encoding/json accepts but the database does not. It also
// refuses single halves of surrogate pairs, which encoding/json would all replace by
// the same character.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errBadText
	}
	for at := bytes.IndexByte(body, '\\'); at >= 0 && at+1 < len(body); {
		next := at + 2
		if first, ok := parseEscapedUnit(body[at:]); ok {
			second, paired := parseEscapedUnit(body[at+6:])
			switch pair := utf16.DecodeRune(first, second); {
			case first == 0:
				return withPlace(body, at, errBadText)
			case !utf16.IsSurrogate(first):
				next = at + 6
			case paired && pair != utf8.RuneError:
				next = at + 12
			default:
				return withPlace(body, at, errBadText)
			}
		}
		more := bytes.IndexByte(body[next:], '\\')
		if more < 0 {
			break
		}
		at = next + more
	}
	return nil
}

// parseEscapedUnit returns the code unit of a \uXXXX escape at the start of a text.
func parseEscapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// decode parses a body into the type of a handler. The schema has accepted the body. It
// allows 3.0 as an integer, and encoding/json does not.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) && strings.HasPrefix(kind.Value, "number") {
		if whole, changed := withWholeNumbers(body); changed {
			err = json.Unmarshal(whole, v)
		}
	}
	kind := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &kind) || kind.Field == "" {
		return err
	}
	switch {
	case kind.Value == "string" && kind.Type.Kind() == reflect.Array:
		return &fieldError{"uuid_parsing", "Input should be a valid UUID", kind.Field}
	case strings.HasPrefix(kind.Value, "number"):
		return &fieldError{"int_type", "Input should be a valid integer", kind.Field}
	}
	return &fieldError{"value_error", "Value error, has the wrong type", kind.Field}
}

// withWholeNumbers writes the whole numbers of a body as integers, such as 3 for 3.0.
// changed is false if there are none.
func withWholeNumbers(body []byte) (whole []byte, changed bool) {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	var value any
	if in.Decode(&value) != nil {
		return nil, false
	}
	value = eachNumber(value, func(n json.Number) json.Number {
		f, err := n.Float64()
		if err != nil || !strings.ContainsAny(n.String(), ".eE") || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return n
		}
		changed = true
		return json.Number(strconv.FormatInt(int64(f), 10))
	})
	whole, err := json.Marshal(value)
	return whole, changed && err == nil
}

// eachNumber replaces the numbers of a value.
func eachNumber(value any, replace func(json.Number) json.Number) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = eachNumber(value[name], replace)
		}
	case []any:
		for i := range value {
			value[i] = eachNumber(value[i], replace)
		}
	case json.Number:
		return replace(value)
	}
	return value
}

// advance moves to the next element of a list, or the next member of an object.
// checkMembers calls it after each value.
func (l *openValue) advance() {
	l.value = false
	l.index++
}

// pathOf returns the place in the body, such as data[3].value, or "" if it is too long.
func pathOf(open []openValue) string {
	var path strings.Builder
	for _, l := range open[1:] {
		switch {
		case l.names == nil:
			fmt.Fprintf(&path, "[%d]", l.index)
		case path.Len() > 0:
			path.WriteString("." + l.name)
		default:
			path.WriteString(l.name)
		}
	}
	if path.Len() > maxInput {
		return ""
	}
	return path.String()
}
