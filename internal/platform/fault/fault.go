// Package fault defines errors for callers.
//
// A fault has a kind, which the API maps to a status. It has a message that names the
// field and never its value. A fault of bad input also has the place of the field. All
// other errors are internal: their text appears only in the log.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the kind of a fault. It decides the HTTP status: see kinds.
type Kind int

const (
	// Internal is the kind of all errors that are not faults. Their text is withheld.
	Internal Kind = iota
	// Invalid: the input violates a rule of the schema.
	Invalid
	// Refused: the input is well formed but not allowed now.
	Refused
	// Unauthenticated: the request has no valid key.
	Unauthenticated
	// Forbidden: the key is valid but does not permit this request.
	Forbidden
	// NotFound: the id is unknown, or belongs to another team.
	NotFound
	// Conflict: another record or request occupies this name, slot or key.
	Conflict
	// Changed: the record has another version than the request requires.
	Changed
	// Unprocessable: the current state does not allow the request.
	Unprocessable
	// TooLarge: a body or batch exceeds its limit.
	TooLarge
	// TooMany: the caller exceeds its rate limit.
	TooMany
	// Unavailable: the caller should retry later.
	Unavailable
)

// Error is one fault.
type Error struct {
	kind   Kind
	msg    string
	code   string
	loc    []string
	input  any
	detail map[string]any
}

// New returns a fault with a message for the caller.
func New(kind Kind, msg string) *Error { return &Error{kind: kind, msg: msg} }

// Newf returns a fault like New, with a formatted message. Pass names and numbers, never
// personal data.
func Newf(kind Kind, format string, args ...any) *Error {
	return New(kind, fmt.Sprintf(format, args...))
}

// At returns the fault with the place of the bad field, outermost name first: "body",
// "ingestion_start". A single name means a field of the body.
func (e *Error) At(loc ...string) *Error {
	if len(loc) == 1 && loc[0] != "body" {
		loc = []string{"body", loc[0]}
	}
	e.loc = loc
	return e
}

// WithType returns the fault with a code for programs, such as value_error or missing.
func (e *Error) WithType(code string) *Error { e.code = code; return e }

// WithInput returns the fault with the bad input, which the caller gets back. Omit it
// for personal data.
func (e *Error) WithInput(v any) *Error { e.input = v; return e }

// WithDetail returns the fault with an object as the body, instead of the message.
func (e *Error) WithDetail(detail map[string]any) *Error { e.detail = detail; return e }

func (e *Error) Error() string {
	if len(e.loc) == 0 {
		return e.msg
	}
	return strings.Join(e.loc, ".") + ": " + e.msg
}

// Kind returns the kind of the fault.
func (e *Error) Kind() Kind { return e.kind }

// Message returns the message for the caller.
func (e *Error) Message() string { return e.msg }

// Code returns the code for programs. The default is value_error.
func (e *Error) Code() string {
	if e.code == "" {
		return "value_error"
	}
	return e.code
}

// Loc returns the place of the bad field, or nil if the fault is not about a field.
func (e *Error) Loc() []string { return e.loc }

// Input returns the bad input, or nil.
func (e *Error) Input() any { return e.input }

// Detail returns the object for the body, or nil.
func (e *Error) Detail() map[string]any { return e.detail }

// List contains several bad fields of one request.
type List []*Error

func (l List) Error() string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "; ")
}

// Kind returns Invalid.
func (l List) Kind() Kind { return Invalid }

// Join returns the faults that are not nil as a List, or nil if all are nil.
func Join(faults ...*Error) error {
	var list List
	for _, e := range faults {
		if e != nil {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// KindOf returns the kind of a fault, a List, or any error with a Kind method. All
// other errors are Internal.
func KindOf(err error) Kind {
	var k interface{ Kind() Kind }
	if errors.As(err, &k) {
		return k.Kind()
	}
	return Internal
}

// Is reports whether err is a fault of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// NotInEnum makes the fault of a value outside a closed list of words. The
// caller adds the place.
func NotInEnum[T ~string](words []T) *Error {
	return New(Invalid, EnumMessage(words)).WithType("enum")
}

// EnumMessage lists the words that a field accepts: Input should be 'a', 'b' or
// 'c'. Every 422 of type enum has this form.
//
// Reference 5.1, enum.
func EnumMessage[T ~string](words []T) string {
	var b strings.Builder
	b.WriteString("Input should be ")
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("'" + string(word) + "'")
	}
	return b.String()
}
