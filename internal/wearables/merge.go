package wearables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
)

var errDocument = errors.New("wearables: not a JSON object")

// parseDocument reads one JSON object, keeping numbers as they are written.
func parseDocument(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil || doc == nil {
		return nil, errDocument
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errDocument
	}
	return doc, nil
}

// overlay puts the fields of newer onto older. A null in newer leaves what is
// there. An object is joined member by member; a map, such as the foods of a
// meal, is one value: what a later version leaves out of it is gone.
//
// Spec: Events, summary events.
func (d *Document) overlay(older, newer map[string]any) {
	overlay(older, newer, func(name string) *Shape { return shapes[name] })
}

func overlay(older, newer map[string]any, shapeOf func(name string) *Shape) {
	for name, v := range newer {
		if v == nil {
			if _, known := older[name]; known {
				continue
			}
		}
		if s := shapeOf(name); s != nil && len(s.Members) > 0 {
			was, okWas := older[name].(map[string]any)
			now, okNow := v.(map[string]any)
			if okWas && okNow {
				overlay(was, now, func(name string) *Shape { return s.member(name).Shape })
				continue
			}
		}
		older[name] = v
	}
}

// appendCanonical writes a document so that equal content has equal bytes:
// keys sorted, numbers in their shortest form, nulls of an object left out.
func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendText(dst, v)
	case json.Number:
		f, err := v.Float64()
		switch {
		case err == nil && f == math.Trunc(f) && math.Abs(f) <= wholeNumbers:
			return strconv.AppendInt(dst, int64(f), 10) // which readers of integers understand
		case err == nil && isShort(v):
			return appendNumber(dst, f)
		}
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		first := true
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] == nil {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendText(dst, name), ':')
			dst = appendCanonical(dst, v[name])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// wholeNumbers is up to where a double tells whole numbers apart.
const wholeNumbers = 1 << 53

// isShort says whether a number is written with no more digits than a double
// holds for sure.
func isShort(n json.Number) bool {
	digits := 0
	for _, c := range []byte(n) {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits <= 15
}
