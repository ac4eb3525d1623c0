package query

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"hale/internal/platform/fault"
)

// node is a value of a JSON document and the path that leads to it.
type node struct {
	at []string
	v  any
}

// parse reads one JSON document. Mistakes in it are about the body as a whole.
func parse(data []byte) (node, error) {
	n := node{at: []string{"body"}}
	if !utf8.Valid(data) {
		return n, n.fail("json_invalid", "the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&n.v); err != nil {
		if err == io.EOF {
			return n, n.fail("missing", "Field required")
		}
		return n, n.fail("json_invalid", "JSON decode error")
	}
	if _, err := d.Token(); err != io.EOF {
		return n, n.fail("json_invalid", "JSON decode error")
	}
	return n, nil
}

// fail is a fault at this place. It never repeats what stands there.
func (n node) fail(code, sentence string) *fault.Error { return failAt(n.at, code, sentence) }

func failAt(at []string, code, sentence string) *fault.Error {
	return fault.New(fault.Invalid, sentence).At(at...).WithType(code)
}

// wrong is the fault of something well formed that makes no sense here.
func wrong(at []string, sentence string) *fault.Error {
	return failAt(at, "value_error", "Value error, "+sentence)
}

func (n node) child(name string, v any) node { return node{append(slices.Clone(n.at), name), v} }

// object is the node as an object.
func (n node) object() (object, error) {
	m, ok := n.v.(map[string]any)
	if !ok {
		return object{}, n.fail("model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
	}
	return object{n, m}, nil
}

// object is a node whose fields can be asked for.
type object struct {
	node
	fields map[string]any
}

func (o object) has(name string) bool { _, ok := o.fields[name]; return ok }

// need is a field that must be there.
func (o object) need(name string) (node, error) {
	v, ok := o.fields[name]
	n := o.child(name, v)
	if !ok {
		return n, n.fail("missing", "Field required")
	}
	return n, nil
}

// take is a field that may be absent; null counts as absent.
func (o object) take(name string) (node, bool) {
	v := o.fields[name]
	return o.child(name, v), v != nil
}

// only refuses fields beside the given ones, where one that is passed over would
// give another answer than the one that was asked for.
func (o object) only(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if !slices.Contains(names, name) {
			return o.child(name, nil).fail("extra_forbidden", "Extra inputs are not permitted")
		}
	}
	return nil
}

// items are the elements of a list, at most most.
func (n node) items(least, most int) ([]node, error) {
	list, ok := n.v.([]any)
	switch {
	case !ok:
		return nil, n.fail("list_type", "Input should be a valid list")
	case len(list) < least:
		return nil, n.fail("too_short", "List should have at least "+strconv.Itoa(least)+" items")
	case len(list) > most:
		return nil, n.fail("too_long", "List should have at most "+strconv.Itoa(most)+" items")
	}
	all := make([]node, len(list))
	for i, v := range list {
		all[i] = n.child(strconv.Itoa(i), v)
	}
	return all, nil
}

// text is a string of at most most bytes.
func (n node) text(most int) (string, error) {
	s, ok := n.v.(string)
	if !ok {
		return "", n.fail("string_type", "Input should be a valid string")
	}
	if len(s) > most {
		return "", n.fail("string_too_long", "String should have at most "+strconv.Itoa(most)+" characters")
	}
	return s, nil
}

// word is one of a few strings.
func (n node) word(allowed []string) (string, error) {
	s, ok := n.v.(string)
	if !ok || !slices.Contains(allowed, s) {
		return "", n.fail("enum", fault.EnumMessage(allowed))
	}
	return s, nil
}

// integer is a whole number between two bounds.
func (n node) integer(least, most int) (int, error) {
	number, ok := n.v.(json.Number)
	if !ok {
		return 0, n.fail("int_type", "Input should be a valid integer")
	}
	i, err := strconv.Atoi(number.String())
	switch {
	case err != nil:
		return 0, n.fail("int_type", "Input should be a valid integer")
	case i < least:
		return 0, n.fail("greater_than_equal", "Input should be greater than or equal to "+strconv.Itoa(least))
	case i > most:
		return 0, n.fail("less_than_equal", "Input should be less than or equal to "+strconv.Itoa(most))
	}
	return i, nil
}
