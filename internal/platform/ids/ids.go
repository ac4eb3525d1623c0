// Package ids gives each kind of record its own identifier type, so that a team's id
// cannot be passed as a user's id.
//
//	type ID = ids.ID[User]
package ids

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/uuid"
)

// ID identifies a T. It is a UUID: text in JSON, 16 bytes in the database.
type ID[T any] uuid.UUID

// ErrBad is the error for text that is not a UUID.
var ErrBad = errors.New("ids: not a UUID")

// FromUUID converts a UUID to an identifier.
func FromUUID[T any](u uuid.UUID) ID[T] { return ID[T](u) }

// Parse parses the canonical form, 36 characters with hyphens.
func Parse[T any](s string) (ID[T], error) {
	if len(s) != 36 {
		return ID[T]{}, ErrBad
	}
	u, err := uuid.Parse(s)
	if err != nil {
		return ID[T]{}, ErrBad
	}
	return ID[T](u), nil
}

// MustParse parses a constant of a test like Parse. It panics on invalid text.
func MustParse[T any](s string) ID[T] {
	id, err := Parse[T](s)
	if err != nil {
		panic(err)
	}
	return id
}

// UUID returns the identifier as a uuid.UUID.
func (id ID[T]) UUID() uuid.UUID { return uuid.UUID(id) }

// IsZero reports whether the identifier is not set.
func (id ID[T]) IsZero() bool { return id == ID[T]{} }

func (id ID[T]) String() string { return uuid.UUID(id).String() }

// MarshalText returns the canonical form.
func (id ID[T]) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText parses the canonical form.
func (id *ID[T]) UnmarshalText(text []byte) error {
	parsed, err := Parse[T](string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// UnmarshalJSON parses the canonical form, or null. encoding/json adds the field to this
// type of error only.
func (id *ID[T]) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil || text == nil {
		return err
	}
	if id.UnmarshalText([]byte(*text)) != nil {
		return &json.UnmarshalTypeError{Value: "string", Type: reflect.TypeFor[ID[T]]()}
	}
	return nil
}

// Value returns the 16 bytes, which both engines accept.
func (id ID[T]) Value() (driver.Value, error) { return id[:], nil }

// Scan reads a UUID column of either engine.
func (id *ID[T]) Scan(src any) error {
	var u uuid.UUID
	switch v := src.(type) {
	case nil:
		*id = ID[T]{}
		return nil
	case []byte:
		if len(v) == 16 {
			copy(u[:], v)
			*id = ID[T](u)
			return nil
		}
	case [16]byte:
		*id = ID[T](v)
		return nil
	}
	if err := u.Scan(src); err != nil {
		return fmt.Errorf("ids: scanning %T: %w", src, err)
	}
	*id = ID[T](u)
	return nil
}
