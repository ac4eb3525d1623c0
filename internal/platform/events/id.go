package events

import (
	"database/sql/driver"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
)

// ID identifies an event. Its text form is msg_ and 26 letters and digits. They sort by
// time and contain no dot, as the signature scheme requires.
type ID uuid.UUID

const idPrefix = "msg_"

// crockford is the alphabet without I, L, O and U.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// EncodeID writes a prefix and a UUID as 26 letters and digits.
func EncodeID(prefix string, id uuid.UUID) string {
	var text [26]byte
	crockford.Encode(text[:], id[:])
	return prefix + string(text[:])
}

// ParseID reads what EncodeID wrote. Each UUID has exactly one text.
func ParseID(prefix, text string) (uuid.UUID, bool) {
	var id uuid.UUID
	digits, ok := strings.CutPrefix(text, prefix)
	if !ok || len(digits) != 26 {
		return id, false
	}
	if _, err := crockford.Decode(id[:], []byte(digits)); err != nil {
		return uuid.UUID{}, false
	}
	return id, EncodeID(prefix, id) == text
}

// ErrUnknown means that the team has no such event.
var ErrUnknown = fault.New(fault.NotFound, "Event not found")

// Parse reads the text form of an event id.
func Parse(text string) (ID, error) {
	id, ok := ParseID(idPrefix, text)
	if !ok {
		return ID{}, ErrUnknown
	}
	return ID(id), nil
}

func (id ID) String() string { return EncodeID(idPrefix, uuid.UUID(id)) }

// MarshalText writes the text form.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the text form.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = Parse(string(text))
	return err
}

// Value stores the 16 bytes.
func (id ID) Value() (driver.Value, error) { return id[:], nil }

// Scan reads a UUID column of either engine.
func (id *ID) Scan(src any) error {
	if err := (*uuid.UUID)(id).Scan(src); err != nil {
		return fmt.Errorf("events: scanning an id: %w", err)
	}
	return nil
}
