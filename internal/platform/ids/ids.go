// Package ids gives each kind of record an identifier type of its own, so that
// a team's id cannot slip into a user's place.
//
//	type ID = ids.ID[User]
package ids

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// ID identifies a T. It is a UUID: text on the wire, 16 bytes in the database.
type ID[T any] uuid.UUID

// ErrBad is returned for text that is no UUID.
var ErrBad = errors.New("ids: not a UUID")

// FromUUID makes an identifier of a UUID.
func FromUUID[T any](u uuid.UUID) ID[T] { return ID[T](u) }

// Parse reads the canonical text form, 36 characters with hyphens.
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

// MustParse is Parse for constants in tests; it panics on bad text.
func MustParse[T any](s string) ID[T] {
	id, err := Parse[T](s)
	if err != nil {
		panic(err)
	}
	return id
}

// UUID is the plain value.
func (id ID[T]) UUID() uuid.UUID { return uuid.UUID(id) }

// IsZero reports whether the identifier was never set.
func (id ID[T]) IsZero() bool { return id == ID[T]{} }

func (id ID[T]) String() string { return uuid.UUID(id).String() }

// MarshalText writes the canonical form.
func (id ID[T]) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText reads the canonical form.
func (id *ID[T]) UnmarshalText(text []byte) error {
	parsed, err := Parse[T](string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Value binds the 16 bytes, which both engines take.
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
