package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"hale/internal/platform/fault"
)

func render(t *testing.T, r *refusal) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	writeError(w, r)
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Code, body
}

func TestFaultsBecomeStatusAndBody(t *testing.T) {
	a := &API{Deps: Deps{Log: quietLogger()}}
	for name, c := range map[string]struct {
		err    error
		status int
		detail any
	}{
		"text":          {fault.New(fault.NotFound, "User not found"), 404, "User not found"},
		"wrapped":       {errors.Join(fault.New(fault.Conflict, "taken")), 409, "taken"},
		"object":        {fault.New(fault.Refused, "no").WithDetail(map[string]any{"error_type": "X"}), 400, map[string]any{"error_type": "X"}},
		"one bad field": {fault.New(fault.Invalid, "bad zone").At("fallback_time_zone"), 422, []any{map[string]any{"type": "value_error", "loc": []any{"body", "fallback_time_zone"}, "msg": "bad zone", "input": nil}}},
		"two bad fields": {
			fault.Join(fault.New(fault.Invalid, "a").At("x"), fault.New(fault.Invalid, "b").At("body", "data", "3").WithType("enum").WithInput(7)),
			422,
			[]any{
				map[string]any{"type": "value_error", "loc": []any{"body", "x"}, "msg": "a", "input": nil},
				map[string]any{"type": "enum", "loc": []any{"body", "data", 3.0}, "msg": "b", "input": 7.0},
			},
		},
		"ours": {errors.New("password is hunter2"), 500, "Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := render(t, a.refusal(t.Context(), c.err))
			if status != c.status {
				t.Errorf("status %d, not %d", status, c.status)
			}
			if diff := cmp.Diff(c.detail, body["detail"]); diff != "" {
				t.Error(diff)
			}
			if body["code"] != fault.CodeOf(c.err) {
				t.Errorf("code %v", body["code"])
			}
		})
	}
}

// Every kind of fault has a status, and every refused status a code.
func TestEveryKindHasAStatusAndACode(t *testing.T) {
	for kind := fault.Invalid; kind <= fault.Unavailable; kind++ {
		status := kind.Status()
		if status == http.StatusInternalServerError {
			t.Errorf("kind %d has no status", kind)
		}
		for _, r := range []*refusal{{status: status}, {status: status, code: kind.Word()}} {
			if _, body := render(t, r); !slices.Contains(fault.Codes(), body["code"].(string)) {
				t.Errorf("%d has the code %v", status, body["code"])
			}
		}
	}
	if _, body := render(t, &refusal{status: 405}); body["code"] != "method_not_allowed" {
		t.Errorf("405 has the code %v", body["code"])
	}
}

// A 503 says when to repeat, unless its code has a remedy of its own.
func TestUnavailableSaysWhenToRepeat(t *testing.T) {
	a := &API{Deps: Deps{Log: quietLogger()}}
	busy := fault.New(fault.Unavailable, "busy")
	if r := a.refusal(t.Context(), busy); r.header.Get("Retry-After") == "" || r.code != "unavailable" {
		t.Errorf("%v %v", r.header, r.code)
	}
	if r := a.refusal(t.Context(), busy.WithType("scheduling_disabled")); r.header.Get("Retry-After") != "" || r.code != "scheduling_disabled" {
		t.Errorf("%v %v", r.header, r.code)
	}
}

func TestSchemaFindingsUseTheCodesOfTheReference(t *testing.T) {
	missing := &huma.ErrorDetail{Location: "body.address", Message: "missing" + separator + "Field required" + separator + "zip", Value: map[string]any{"name": "Ann"}}
	long := &huma.ErrorDetail{Location: "query.limit", Message: "less_than_equal" + separator + "Input should be less than or equal to 500", Value: int64(501)}
	broken := &huma.ErrorDetail{Location: "body", Message: "invalid character 'A' after object key", Value: `{"name" Ann}`}
	_, body := render(t, schemaRefusal(422, "validation failed", false, []error{missing, long, broken}))
	want := []any{
		map[string]any{"type": "missing", "loc": []any{"body", "address", "zip"}, "msg": "Field required", "input": nil},
		map[string]any{"type": "less_than_equal", "loc": []any{"query", "limit"}, "msg": "Input should be less than or equal to 500", "input": 501.0},
		map[string]any{"type": "json_invalid", "loc": []any{"body"}, "msg": "JSON decode error", "input": nil},
	}
	if diff := cmp.Diff(want, body["detail"]); diff != "" {
		t.Error(diff)
	}
}

func TestInputOfPersonalOperationsIsWithheld(t *testing.T) {
	bad := &huma.ErrorDetail{Location: "body.email", Message: "string_too_long" + separator + "String should have at most 3 characters", Value: "ann@example.org"}
	_, body := render(t, schemaRefusal(422, "", true, []error{bad}))
	if got := body["detail"].([]any)[0].(map[string]any)["input"]; got != nil {
		t.Errorf("the answer repeats %v", got)
	}
}

func TestLocation(t *testing.T) {
	for path, want := range map[string][]any{
		"body":                {"body"},
		"body.data[12].value": {"body", "data", 12, "value"},
		"path.user_id":        {"path", "user_id"},
		"body.a[0][1].b":      {"body", "a", 0, 1, "b"},
		"query.status[3]":     {"query", "status", 3},
	} {
		if diff := cmp.Diff(want, location(path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
