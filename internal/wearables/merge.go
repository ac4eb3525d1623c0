package wearables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
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

// overlay puts the fields of newer onto older, objects field by field. A null
// in newer leaves what is there.
func overlay(older, newer map[string]any) {
	for name, v := range newer {
		if v == nil {
			if _, known := older[name]; known {
				continue
			}
		}
		if inner, ok := v.(map[string]any); ok {
			if was, ok := older[name].(map[string]any); ok {
				overlay(was, inner)
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
		if f, err := v.Float64(); err == nil && isShort(v) {
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
