package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"hale/internal/platform/fault"
)

// Error is an answer that refuses, or no answer at all (Status 0).
type Error struct {
	Status    int
	Code      string // the server's word for programs; empty if it sent none
	RequestID string // for the server's log
	// Problems are the bad fields that the answer names, if it does.
	Problems []Problem
	kind     fault.Kind
	text     string
	cause    error
}

// Problem is one bad field of a request.
type Problem struct {
	Loc []string // where, without the first word; empty for the whole body
	Msg string   // the server's sentence
}

func (e *Error) Error() string { return e.text }

// Kind derives the kind of the server's error from its status.
func (e *Error) Kind() fault.Kind { return e.kind }

func (e *Error) Unwrap() error { return e.cause }

// kindOf returns the kind of an answer. A proxy sends statuses that no fault has.
func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusMethodNotAllowed:
		return fault.Invalid
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return fault.Unavailable
	default:
		return fault.KindOfStatus(status)
	}
}

// Refusal returns the error that an answer means; nil for a 2xx.
func Refusal(answer *http.Response, body []byte) error {
	if answer.StatusCode >= 200 && answer.StatusCode <= 299 {
		return nil
	}
	return refusal(answer, body)
}

// refusal reads the error of an answer. `detail` is a sentence, an object with
// error_message, or a list of bad fields.
func refusal(answer *http.Response, body []byte) *Error {
	e := &Error{
		Status: answer.StatusCode, RequestID: answer.Header.Get("X-Request-Id"),
		kind: kindOf(answer.StatusCode),
	}
	var shape struct {
		Code   string          `json:"code"`
		Detail json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(body, &shape)
	e.Code = shape.Code
	e.text = e.sentence(shape.Detail)
	if e.text == "" {
		e.text = strings.ToLower(http.StatusText(e.Status))
		if e.text == "" {
			e.text = fmt.Sprintf("status %d", e.Status)
		}
	}
	return e
}

func (e *Error) sentence(detail json.RawMessage) string {
	var text string
	if json.Unmarshal(detail, &text) == nil {
		return text
	}
	var object struct {
		Message   string `json:"error_message"`
		UserID    string `json:"user_id"`
		CreatedOn string `json:"created_on"`
	}
	if json.Unmarshal(detail, &object) == nil {
		if e.Status == http.StatusBadRequest && object.UserID != "" && object.CreatedOn != "" {
			// Spec: Users, POST /v2/user/: a taken client_user_id is 400 on the wire.
			e.kind = fault.Conflict
			return fmt.Sprintf("%s (user %s)", strings.TrimSuffix(object.Message, "."), object.UserID)
		}
		return object.Message
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(detail, &list) == nil && len(list) > 0 {
		e.kind = fault.Invalid
		parts := make([]string, len(list))
		for i, p := range list {
			parts[i] = place(p.Loc) + p.Msg
			e.Problems = append(e.Problems, Problem{names(p.Loc), p.Msg})
		}
		return strings.Join(parts, "; ")
	}
	return ""
}

// names returns the parts of a field's place after the first, which is body, query or
// path.
func names(loc []any) (all []string) {
	for _, p := range loc[min(1, len(loc)):] {
		all = append(all, fmt.Sprint(p))
	}
	return all
}

// place names a bad field, without the first word if names follow it:
// `fallback_time_zone: `.
func place(loc []any) string {
	if len(loc) > 1 {
		loc = loc[1:]
	}
	parts := make([]string, len(loc))
	for i, p := range loc {
		parts[i] = fmt.Sprint(p)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ".") + ": "
}
