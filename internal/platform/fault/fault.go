// Package fault holds the errors that are meant for a caller.
//
// A fault has a kind, which a door turns into a status; a sentence, which
// names the field and never its value; and, for bad input, the place it was
// found. Every other error is ours: its text stays in the log.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what sort of refusal a fault is.
type Kind int

const (
	// Internal is every error that is not a fault: 500, text withheld.
	Internal Kind = iota
	// Invalid is input that breaks a rule of the schema: 422 with a list.
	Invalid
	// Refused is input that is well formed but not allowed now: 400.
	Refused
	// Unauthenticated means that no valid key came along: 401.
	Unauthenticated
	// Forbidden means that the key is good but not for this: 403.
	Forbidden
	// NotFound is an unknown id, and just the same another team's id: 404.
	NotFound
	// Conflict means that something else holds the place: 409.
	Conflict
	// Unprocessable is a request that the present state rules out: 422 with a text.
	Unprocessable
	// TooLarge is a body or batch over its limit: 413.
	TooLarge
	// TooMany is a caller over its rate: 429.
	TooMany
	// Unavailable asks the caller to come again later: 503.
	Unavailable
)

// Error is one refusal.
type Error struct {
	kind   Kind
	msg    string
	code   string
	loc    []string
	input  any
	detail map[string]any
}

// New makes a fault of a kind with a sentence for the caller.
func New(kind Kind, msg string) *Error { return &Error{kind: kind, msg: msg} }

// Newf is New with a format. Format names and numbers, never a person's data.
func Newf(kind Kind, format string, args ...any) *Error {
	return New(kind, fmt.Sprintf(format, args...))
}

// At returns the fault with the place of the bad field, outermost first:
// "body", "ingestion_start". A single name means a field of the body.
func (e *Error) At(loc ...string) *Error {
	if len(loc) == 1 && loc[0] != "body" {
		loc = []string{"body", loc[0]}
	}
	e.loc = loc
	return e
}

// WithType returns the fault with a machine-readable code, such as
// value_error or missing.
func (e *Error) WithType(code string) *Error { e.code = code; return e }

// WithInput returns the fault with the offending input, to be shown to the
// caller that sent it. Leave it out for anything personal.
func (e *Error) WithInput(v any) *Error { e.input = v; return e }

// WithDetail returns the fault with an object for its body instead of a text.
func (e *Error) WithDetail(detail map[string]any) *Error { e.detail = detail; return e }

func (e *Error) Error() string {
	if len(e.loc) == 0 {
		return e.msg
	}
	return strings.Join(e.loc, ".") + ": " + e.msg
}

// Kind is the sort of refusal.
func (e *Error) Kind() Kind { return e.kind }

// Message is the sentence for the caller.
func (e *Error) Message() string { return e.msg }

// Code is the machine-readable code; value_error when none was given.
func (e *Error) Code() string {
	if e.code == "" {
		return "value_error"
	}
	return e.code
}

// Loc is the place of the bad field; nil when the fault is not about one.
func (e *Error) Loc() []string { return e.loc }

// Input is what the caller sent there, or nil.
func (e *Error) Input() any { return e.input }

// Detail is the object for the body, or nil.
func (e *Error) Detail() map[string]any { return e.detail }

// List is several bad fields of one request.
type List []*Error

func (l List) Error() string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "; ")
}

// Kind of a list is Invalid.
func (l List) Kind() Kind { return Invalid }

// Join collects the faults that are not nil: nil for none, else a List.
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

// KindOf finds the kind of err: of a fault, of a List, or of any error with a
// Kind method; Internal for all others.
func KindOf(err error) Kind {
	var k interface{ Kind() Kind }
	if errors.As(err, &k) {
		return k.Kind()
	}
	return Internal
}

// Is reports whether err is a fault of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
