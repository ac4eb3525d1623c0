package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"hale/internal/platform/fault"
)

// This file maps errors to a status and a body. The body is {"detail": …}: a text or an
// object for refusals, or a list of problems, each {type, loc, msg, input}, for bad
// input. code, beside it, is for programs and ours.
//
// Reference 5.1.

// problem is one bad field of a request.
type problem struct {
	Type  string `json:"type" doc:"Code of the rule that was broken, such as missing or enum."`
	Loc   []any  `json:"loc" doc:"Place of the problem: body, query, path or header, then names and indexes."`
	Msg   string `json:"msg" doc:"A message for people."`
	Input any    `json:"input" doc:"The value that was sent; null if it is personal or absent."`
}

// refusal is the error response to a request.
type refusal struct {
	status int
	code   string         // the code for programs; empty for that of the status
	detail any            // text, object or []problem
	fields map[string]any // other fields at the top level
	header http.Header
}

func (r *refusal) Error() string { return fmt.Sprintf("%d refusal", r.status) }

// GetStatus returns the HTTP status.
func (r *refusal) GetStatus() int { return r.status }

// GetHeaders returns the headers of the response, such as Retry-After.
func (r *refusal) GetHeaders() http.Header { return r.header }

// MarshalJSON returns {"code": …, "detail": …} with the other top-level fields.
func (r *refusal) MarshalJSON() ([]byte, error) {
	body := map[string]any{"detail": r.detail, "code": cmp.Or(r.code, codeOfStatus(r.status))}
	for name, v := range r.fields {
		body[name] = v
	}
	return json.Marshal(body)
}

// codeOfStatus returns the code of a response that comes from no fault.
func codeOfStatus(status int) string {
	switch status {
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusUnsupportedMediaType:
		return "unsupported_media_type"
	case http.StatusUnprocessableEntity:
		return fault.Invalid.Word()
	default:
		return fault.KindOfStatus(status).Word()
	}
}

// refusal returns the response to any error of a handler. Errors that are not faults
// are internal: they are logged here, once, and their text is withheld.
func (a *API) refusal(ctx context.Context, err error) *refusal {
	status := fault.KindOf(err).Status()
	if status == http.StatusInternalServerError {
		if errors.Is(err, context.Canceled) {
			return &refusal{status: 499, detail: "Client Closed Request"}
		}
		a.Log.ErrorContext(ctx, "a request failed", "request_id", requestID(ctx), "error", err)
		return &refusal{status: http.StatusInternalServerError, detail: "Internal Server Error"}
	}
	var down interface{ Reason() string }
	if errors.As(err, &down) { // the response does not reveal the cause
		a.Log.ErrorContext(ctx, "the database is not available", "request_id", requestID(ctx), "reason", down.Reason(), "error", err)
	}
	r := &refusal{status: status, code: fault.CodeOf(err), detail: messageOf(err)}
	var list fault.List
	var one *fault.Error
	var object interface{ Detail() map[string]any }
	switch {
	case errors.As(err, &list):
		problems := make([]problem, len(list))
		for i, e := range list {
			problems[i] = problemOf(e)
		}
		r.detail = problems
	case errors.As(err, &one) && one.Kind() == fault.Invalid:
		r.detail = []problem{problemOf(one)}
	case errors.As(err, &object) && object.Detail() != nil:
		r.detail = object.Detail()
	}
	var withFields interface{ BodyFields() map[string]any }
	if errors.As(err, &withFields) {
		r.fields = withFields.BodyFields()
	}
	var after interface{ RetryAfter() int }
	switch {
	case errors.As(err, &after):
		r.header = http.Header{"Retry-After": {strconv.Itoa(after.RetryAfter())}}
	case r.code == fault.Unavailable.Word():
		r.header = http.Header{"Retry-After": {strconv.Itoa(retryUnavailable)}}
	}
	return r
}

// retryUnavailable is the number of seconds after which a caller repeats a request that the
// service could not take. A 503 with a code of its own has no such time.
const retryUnavailable = 2

func messageOf(err error) string {
	var m interface{ Message() string }
	if errors.As(err, &m) {
		return m.Message()
	}
	return err.Error()
}

func problemOf(e *fault.Error) problem {
	p := problem{Type: e.Code(), Msg: e.Message(), Input: e.Input(), Loc: []any{"body"}}
	if loc := e.Loc(); len(loc) > 0 {
		p.Loc = make([]any, len(loc))
		for i, part := range loc {
			p.Loc[i] = part
			if n, err := strconv.Atoi(part); err == nil {
				p.Loc[i] = n
			}
		}
	}
	return p
}

func WriteDetail(w http.ResponseWriter, status int, detail string) {
	writeError(w, &refusal{status: status, detail: detail})
}

func writeError(w http.ResponseWriter, r *refusal) {
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	body, err := json.Marshal(r)
	if err != nil {
		body = []byte(`{"code":"internal_error","detail":"Internal Server Error"}`)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(append(body, '\n'))
}

// separator separates the code from the message in the texts that SetUpHuma gives to
// huma's validator.
const separator = "\x1f"

// enumFormat replaces huma's format for a value outside an enum.
const enumFormat = "enum" + separator + "%s"

// SetUpHuma sets the error shapes and texts of this API. huma supports this only with
// package variables, so they belong to the process and are the same for every API. A
// program calls SetUpHuma before New; further calls change nothing.
func SetUpHuma() { humaSettings() }

var humaSettings = sync.OnceFunc(func() {
	humaIsSetUp.Store(true)
	huma.DefaultArrayNullable = false
	huma.ErrorFormatter = func(format string, args ...any) string {
		if format == enumFormat { // huma joins the words of a schema by commas
			return "enum" + separator + fault.EnumMessage(strings.Split(fmt.Sprint(args...), ", "))
		}
		if !strings.ContainsRune(format, '%') {
			return format
		}
		return fmt.Sprintf(format, args...)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		withheld := ctx != nil && ctx.Operation() != nil && ctx.Operation().Metadata[metaWithheld] == true
		return schemaRefusal(status, msg, withheld, errs)
	}
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return schemaRefusal(status, msg, false, errs)
	}
	for target, text := range map[*string]string{
		&validation.MsgExpectedRequiredProperty:       "missing" + separator + "Field required" + separator + "%s",
		&validation.MsgExpectedString:                 "string_type" + separator + "Input should be a valid string",
		&validation.MsgExpectedInteger:                "int_type" + separator + "Input should be a valid integer",
		&validation.MsgExpectedNumber:                 "float_type" + separator + "Input should be a valid number",
		&validation.MsgExpectedBoolean:                "bool_type" + separator + "Input should be a valid boolean",
		&validation.MsgExpectedArray:                  "list_type" + separator + "Input should be a valid list",
		&validation.MsgExpectedObject:                 "model_attributes_type" + separator + "Input should be a valid dictionary or object to extract fields from",
		&validation.MsgExpectedOneOf:                  enumFormat,
		&validation.MsgExpectedMinimumNumber:          "greater_than_equal" + separator + "Input should be greater than or equal to %.15g",
		&validation.MsgExpectedExclusiveMinimumNumber: "greater_than" + separator + "Input should be greater than %.15g",
		&validation.MsgExpectedMaximumNumber:          "less_than_equal" + separator + "Input should be less than or equal to %.15g",
		&validation.MsgExpectedExclusiveMaximumNumber: "less_than" + separator + "Input should be less than %.15g",
		&validation.MsgExpectedMinLength:              "string_too_short" + separator + "String should have at least %d characters",
		&validation.MsgExpectedMaxLength:              "string_too_long" + separator + "String should have at most %d characters",
		&validation.MsgExpectedMatchPattern:           "string_pattern_mismatch" + separator + "String should match pattern '%s'",
		&validation.MsgExpectedBePattern:              "string_pattern_mismatch" + separator + "String should be %s",
		&validation.MsgExpectedMinItems:               "too_short" + separator + "List should have at least %d items",
		&validation.MsgExpectedMaxItems:               "too_long" + separator + "List should have at most %d items",
		&validation.MsgExpectedRFC4122UUID:            "uuid_parsing" + separator + "Input should be a valid UUID",
		&validation.MsgExpectedRFC3339Date:            "date_from_datetime_parsing" + separator + "Input should be a valid date in the format YYYY-MM-DD",
		&validation.MsgExpectedRFC3339DateTime:        "datetime_from_date_parsing" + separator + "Input should be a valid datetime",
		&validation.MsgExpectedRFC5322Email:           "value_error" + separator + "value is not a valid email address",
		&validation.MsgExpectedRFC3986URI:             "url_parsing" + separator + "Input should be a valid URL",
	} {
		*target = text
	}
})

// humaIsSetUp means that SetUpHuma was called.
var humaIsSetUp atomic.Bool

// metaWithheld marks operations whose input is personal.
const metaWithheld = "hale.withheld"

// schemaRefusal returns the response to problems that huma's decoder and validator
// found.
func schemaRefusal(status int, msg string, withheld bool, errs []error) *refusal {
	var problems []problem
	for _, err := range errs {
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			problems = append(problems, schemaProblem(d, withheld))
		}
	}
	switch {
	case len(problems) > 0:
		return &refusal{status: http.StatusUnprocessableEntity, detail: problems}
	case status == http.StatusBadRequest: // huma: request body is required
		return &refusal{status: http.StatusUnprocessableEntity, detail: []problem{{Type: "missing", Loc: []any{"body"}, Msg: "Field required"}}}
	case status == http.StatusRequestEntityTooLarge:
		return &refusal{status: status, detail: "Request body is too large"}
	case status == http.StatusInternalServerError && len(errs) == 1 && msg == "cannot read request body":
		return &refusal{status: http.StatusBadRequest, detail: "The request body could not be read"}
	case status >= http.StatusInternalServerError:
		return &refusal{status: status, detail: "Internal Server Error"}
	}
	return &refusal{status: status, detail: msg}
}

func schemaProblem(d *huma.ErrorDetail, withheld bool) problem {
	code, sentence, found := strings.Cut(d.Message, separator)
	sentence, missing, _ := strings.Cut(sentence, separator)
	p := problem{Type: code, Msg: sentence, Loc: location(d.Location)}
	switch {
	case missing != "":
		p.Loc = append(p.Loc, location(missing)...)
		return p
	case !found:
		p.Type, p.Msg = rewordProblem(d)
	}
	if !withheld && d.Location != "body" { // the whole body is never returned
		p.Input = shortInput(d.Value)
	}
	return p
}

// rewordProblem rewords the few messages of huma that cannot be configured.
func rewordProblem(d *huma.ErrorDetail) (code, sentence string) {
	in := d.Message
	switch {
	case strings.HasPrefix(in, "required "):
		return "missing", "Field required"
	case in == "invalid integer":
		return "int_parsing", "Input should be a valid integer, unable to parse string as an integer"
	case in == "invalid float":
		return "float_parsing", "Input should be a valid number, unable to parse string as a number"
	case in == "invalid boolean":
		return "bool_parsing", "Input should be a valid boolean, unable to interpret input"
	case strings.HasPrefix(in, "invalid value: ids:"):
		return "uuid_parsing", "Input should be a valid UUID"
	case strings.HasPrefix(in, "invalid value: civil:"):
		return "date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD"
	case strings.HasPrefix(in, "civil: not a date"):
		return "date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD"
	case d.Location == "body" && strings.HasPrefix(in, "json: cannot unmarshal"):
		return "value_error", "Value error, a field has a value of the wrong type"
	case d.Location == "body":
		return "json_invalid", "JSON decode error"
	}
	return "value_error", "Value error, " + in
}

// location splits "body.data[0].value" into body, data, 0, value.
func location(path string) []any {
	var loc []any
	for name := range strings.SplitSeq(path, ".") {
		name, rest, _ := strings.Cut(name, "[")
		if name != "" {
			loc = append(loc, name)
		}
		for rest != "" {
			index, more, _ := strings.Cut(rest, "]")
			if n, err := strconv.Atoi(index); err == nil {
				loc = append(loc, n)
			}
			rest = strings.TrimPrefix(more, "[")
		}
	}
	return loc
}

// maxInput is the maximum length of the input that a 422 returns.
const maxInput = 100

// shortInput returns the bad value if it is a short scalar. It omits objects and long
// texts.
func shortInput(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) <= maxInput {
			return v
		}
	case bool, float64, int64, int, uint64:
		return v
	}
	return nil
}

// errorBody and problemsBody describe the two shapes in OpenAPI.
type errorBody struct {
	Code   errorCode `json:"code" doc:"Code for programs. docs/errors.md has the meanings."`
	Detail any       `json:"detail" doc:"A message, or an object with error_type and error_message."`
}

type problemsBody struct {
	Code   errorCode `json:"code" doc:"invalid_request."`
	Detail []problem `json:"detail"`
}

// errorCode is the code of an error.
type errorCode string

func (errorCode) Schema(huma.Registry) *huma.Schema { return Enum(fault.Codes()) }

// RefusalOf returns the status, the code and the detail of the response to err.
func (a *API) RefusalOf(ctx context.Context, err error) (status int, code string, detail any) {
	r := a.refusal(ctx, err)
	return r.status, cmp.Or(r.code, codeOfStatus(r.status)), r.detail
}

// WriteError writes the response to err.
func (a *API) WriteError(ctx context.Context, w http.ResponseWriter, err error) {
	writeError(w, a.refusal(ctx, err))
}

// CheckBody returns the violations of an operation's body schema in a text, without the
// input. It returns nothing for text that is not JSON, because decoding refuses it.
func (a *API) CheckBody(op *huma.Operation, text []byte) (found fault.List) {
	var value any
	if UnmarshalJSON(text, &value) != nil {
		return nil
	}
	var result huma.ValidateResult
	at := huma.NewPathBuffer([]byte{}, 0)
	at.Push("body")
	schema := op.RequestBody.Content["application/json"].Schema
	huma.Validate(a.OpenAPI().Components.Schemas, schema, at, huma.ModeWriteToServer, value, &result)
	for _, err := range result.Errors {
		if d, ok := err.(*huma.ErrorDetail); ok { //nolint:errorlint // the validator returns no other type
			p := schemaProblem(d, true)
			loc := make([]string, len(p.Loc))
			for i, part := range p.Loc {
				loc[i] = fmt.Sprint(part)
			}
			found = append(found, fault.New(fault.Invalid, p.Msg).WithType(p.Type).At(loc...))
		}
	}
	return found
}
