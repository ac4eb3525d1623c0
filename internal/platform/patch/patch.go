// Package patch distinguishes the three states of a JSON field: absent keeps the value,
// null clears it, a value sets it.
package patch

import (
	"bytes"
	"encoding/json"
)

// Field is one field of a PATCH body. The zero value is an absent field.
type Field[T any] struct {
	Set   bool // the field is in the body, null or not
	Null  bool // the field is null
	Value T    // the value, if Set and not Null
}

// Set returns a field that sets v.
func Set[T any](v T) Field[T] { return Field[T]{Set: true, Value: v} }

// Null returns a field that clears the value.
func Null[T any]() Field[T] { return Field[T]{Set: true, Null: true} }

// UnmarshalJSON decodes a value or null. encoding/json calls it only for a field that is
// in the body, so an absent field stays unset.
func (f *Field[T]) UnmarshalJSON(data []byte) error {
	*f = Field[T]{Set: true}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		f.Null = true
		return nil
	}
	return json.Unmarshal(data, &f.Value)
}

// MarshalJSON returns the value, or null for an absent or cleared field. Tag the field
// omitzero to omit it when it is absent.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if !f.Set || f.Null {
		return []byte("null"), nil
	}
	return json.Marshal(f.Value)
}

// IsZero reports whether the field is absent.
func (f Field[T]) IsZero() bool { return !f.Set }

// Apply changes dst as the field requires.
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
