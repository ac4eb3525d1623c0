package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A body is read twice: once to hold it against the form, once into the
// handler's type. Of a member that an object has twice, in whatever case, the two
// readings may see different ones, and would mix objects. Such a body is refused.

// twiceError says which member an object has twice.
type twiceError struct{ at string }

// Error has the form of the sentences that huma's validator is given.
func (e *twiceError) Error() string {
	return "value_error" + separator + "Value error, the field stands there twice" + separator + e.at
}

// level is an object or a list that is open while a body is read.
type level struct {
	names map[string]bool // folded; nil for a list
	name  string          // of the member that is read
	value bool            // its value comes next
	index int             // of the list's item that comes next
}

// checkMembers looks for members that an object has twice. The body is sound
// JSON.
func checkMembers(body []byte) error {
	in := json.NewDecoder(bytes.NewReader(body))
	open := []level{{}}
	for {
		token, err := in.Token()
		if err != nil { // io.EOF
			return nil
		}
		top := &open[len(open)-1]
		switch name, _ := token.(string); {
		case token == json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case token == json.Delim('['):
			open = append(open, level{})
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:len(open)-1]
			open[len(open)-1].next()
		case top.names == nil || top.value:
			top.next()
		default:
			top.name, top.value = name, true
			if folded := strings.ToLower(strings.ToUpper(name)); !top.names[folded] {
				top.names[folded] = true
				continue
			}
			return &twiceError{pathOf(open)}
		}
	}
}

// next is called when a value has been read.
func (l *level) next() {
	l.value = false
	l.index++
}

// pathOf is where a body is read, such as data[3].value; empty where that is too
// long to be told.
func pathOf(open []level) string {
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
	if path.Len() > longestInput {
		return ""
	}
	return path.String()
}
