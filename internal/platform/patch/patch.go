// Package patch keeps the three states of a JSON field apart: absent leaves
// the value as it is, null clears it, a value sets it.
package patch

import (
	"bytes"
	"encoding/json"
)

// Field is one field of a PATCH body. The zero value is an absent field.
type Field[T any] struct {
	Set   bool // the field was in the body, null or not
	Null  bool // it was null
	Value T    // its value when Set and not Null
}

// Set is a field that sets v.
func Set[T any](v T) Field[T] { return Field[T]{Set: true, Value: v} }

// Null is a field that clears.
func Null[T any]() Field[T] { return Field[T]{Set: true, Null: true} }

// UnmarshalJSON is called only for a field that is present.
func (f *Field[T]) UnmarshalJSON(data []byte) error {
	*f = Field[T]{Set: true}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		f.Null = true
		return nil
	}
	return json.Unmarshal(data, &f.Value)
}

// MarshalJSON writes the value, or null for an absent or cleared one; mark
// the field omitzero to leave it out when absent.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if !f.Set || f.Null {
		return []byte("null"), nil
	}
	return json.Marshal(f.Value)
}

// IsZero reports whether the field was absent.
func (f Field[T]) IsZero() bool { return !f.Set }

// Apply changes dst as the field says.
func (f Field[T]) Apply(dst **T) {
	switch {
	case !f.Set:
	case f.Null:
		*dst = nil
	default:
		v := f.Value
		*dst = &v
	}
}
