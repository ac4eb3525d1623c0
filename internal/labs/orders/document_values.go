package orders

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Null is an object that may be null.
type Null[T any] struct{ Value *T }

// MarshalJSON writes the object or null.
func (n Null[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads the object or null.
func (n *Null[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &n.Value) }

// NullID is an identifier that may be null.
type NullID struct{ Value *uuid.UUID }

// NullIDOf is an order's identifier, or null.
func NullIDOf(id *ID) NullID {
	if id == nil {
		return NullID{}
	}
	plain := id.UUID()
	return NullID{&plain}
}

// MarshalJSON writes the identifier or null.
func (n NullID) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads the identifier or null.
func (n *NullID) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &n.Value) }

// Instant is a moment in whole seconds: 2026-01-02T03:04:05+00:00.
type Instant time.Time

// MarshalText writes it.
func (i Instant) MarshalText() ([]byte, error) {
	return time.Time(i).UTC().AppendFormat(nil, "2006-01-02T15:04:05-07:00"), nil
}

// UnmarshalText reads RFC 3339.
func (i *Instant) UnmarshalText(text []byte) error {
	return (*time.Time)(i).UnmarshalText(text)
}

// Precise is a moment in microseconds: 2026-01-02T03:04:05.000006Z. Members of
// transactions have these.
type Precise time.Time

// MarshalText writes it.
func (p Precise) MarshalText() ([]byte, error) {
	return time.Time(p).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000Z"), nil
}

// UnmarshalText reads RFC 3339.
func (p *Precise) UnmarshalText(text []byte) error {
	return (*time.Time)(p).UnmarshalText(text)
}
