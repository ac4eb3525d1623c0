package replies

import (
	"bytes"
	"encoding/json"
	"slices"
)

// mostOpen bounds the lists and objects that may be open at the end of a text. Deeper
// ones are left out.
const mostOpen = 1000

// openValue is a list or an object that has not ended.
type openValue struct {
	list  bool
	named bool // the name of the next field was read
	whole int  // where the last whole element ends; 0 before there is one
}

// closed completes the part of a value with the missing brackets. It returns
// nil if no part of it is complete. If the text ends in an element of a list,
// the result has a part of that element only if partial is set. closed reads
// the text once, at any depth.
func closed(raw []byte, partial bool) json.RawMessage {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	open, end := unclosed(raw)
	if value := raw[:end]; end > 0 && json.Valid(value) {
		return bytes.Clone(value)
	}
	if list := slices.IndexFunc(open, func(o openValue) bool { return o.list }); list >= 0 && !partial {
		open = open[:list+1]
	}
	for len(open) > 0 && open[len(open)-1].whole == 0 {
		open = open[:len(open)-1]
	}
	if len(open) == 0 {
		return nil
	}
	value := bytes.Clone(raw[:open[len(open)-1].whole])
	for _, o := range slices.Backward(open) {
		if o.list {
			value = append(value, ']')
		} else {
			value = append(value, '}')
		}
	}
	if !json.Valid(value) {
		return nil
	}
	return value
}

// unclosed lists the open values at the end of a text, from the outside in. For a list
// or object with a complete value inside, it has the end of that value.
func unclosed(raw []byte) (open []openValue, end int) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		case '[', '{':
			if len(open) == mostOpen {
				return open, 0
			}
			open = append(open, openValue{list: c == '['})
			i++
			continue
		case ']', '}':
			i++
			if len(open) == 0 {
				return nil, 0
			}
			if n := len(open) - 1; n > 0 {
				open = open[:n]
			} else if open[0].whole > 0 {
				return nil, i
			} else {
				return nil, 0
			}
		default:
			n := scalar(raw[i:])
			if n == 0 {
				return open, 0
			}
			i += n
		}
		if len(open) == 0 {
			return nil, 0
		}
		in := &open[len(open)-1]
		if in.named = !in.list && !in.named; !in.named {
			in.whole = i
		}
	}
	return open, 0
}

// scalar returns the length of a text, number or word at the start, or 0 if it
// is incomplete. Digits at the end are incomplete, because more could follow.
func scalar(raw []byte) int {
	if raw[0] != '"' {
		n := bytes.IndexAny(raw, ",:]}[{\" \t\r\n")
		switch {
		case n >= 0:
			return n
		case unfinished(raw) || !json.Valid(raw):
			return 0
		}
		return len(raw)
	}
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
