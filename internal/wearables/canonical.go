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

// ParseDocument reads one JSON object. Numbers keep their text.
func ParseDocument(data []byte) (map[string]any, error) {
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

// AppendCanonical appends a document so that equal content has equal bytes: sorted
// keys, shortest numbers, no nulls in objects.
func AppendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return AppendText(dst, v)
	case json.Number:
		f, err := v.Float64()
		switch {
		case err == nil && f == math.Trunc(f) && math.Abs(f) <= maxWhole:
			return strconv.AppendInt(dst, int64(f), 10) // readers of integers understand this
		case err == nil && isShortNumber(v):
			return AppendNumber(dst, f)
		}
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, item)
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
			dst = append(AppendText(dst, name), ':')
			dst = AppendCanonical(dst, v[name])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// maxWhole is the largest range in which doubles are exact whole numbers.
const maxWhole = 1 << 53

// isShortNumber reports whether a number has no more digits than a double always keeps.
func isShortNumber(n json.Number) bool {
	digits := 0
	for _, c := range []byte(n) {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits <= 15
}
