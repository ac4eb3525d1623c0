package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A body is parsed twice: for the schema and into the handler's type. If an object has
// a member twice, in any case, the two parsers may use different ones or mix objects.
// So such a body is refused.

// duplicateError names the duplicate member of an object.
type duplicateError struct{ place string }

// Error returns the text in the form of huma's validator messages.
func (e *duplicateError) Error() string {
	return "value_error" + separator + "Value error, duplicate field" + separator + e.place
}

// openValue is an object or list of the body that is being read.
type openValue struct {
	names map[string]bool // lower-case names so far; nil for a list
	name  string          // of the current member
	value bool            // the next token is its value
	index int             // of the next item of the list
}

// checkMembers looks for duplicate members. The body must be valid JSON.
func checkMembers(body []byte) error {
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
			top.advance()
		default:
			top.name, top.value = name, true
			if folded := strings.ToLower(strings.ToUpper(name)); !top.names[folded] {
				top.names[folded] = true
				continue
			}
			return &duplicateError{pathOf(open)}
		}
	}
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
