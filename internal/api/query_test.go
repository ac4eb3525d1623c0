package api

import (
	"net/http/httptest"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/fault"
)

// Every spelling of a list has the same result. What an operation cannot apply is refused.
func TestCheckedQuery(t *testing.T) {
	SetUpHuma()
	op := &huma.Operation{
		Parameters: []*huma.Param{
			{Name: "status", In: "query", Schema: &huma.Schema{Type: huma.TypeArray}},
			{Name: "name", In: "query", Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "limit", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}},
		},
		Metadata: map[string]any{metaReads: true},
	}
	for text, want := range map[string]string{
		"status=a&status=b":       "status=a&status=b",
		"status=a,b":              "status=a&status=b",
		"status=a,%20b":           "status=a&status=b",
		"status[]=a&status[]=b":   "status=a&status=b",
		"status%5B%5D=a":          "status=a",
		"status=a&status[]=b,c":   "status=a&status=b&status=c",
		"status[0]=a&status[1]=b": "status=a&status=b",
		"name=a,b":                "name=a,b",
		"name[]=a,b":              "name=a%2Cb",
		"name[0]=a":               "name=a",
		"other[]=a&other[]=b":     "other[]=a&other[]=b",
		"name=a&name=b":           "name is refused",
		"name=a&name[]=b":         "name is refused",
		"limit=1&limit=2":         "limit is refused",
		"name[0]=a&name[1]=b":     "name is refused",
		"status[x]=a":             "status is refused",
		"status[=a":               "status is refused",
		"status[0][]=a":           "status is refused",
		"status=":                 "status is refused",
		"status=a,":               "status is refused",
		"name=a&status=a;b":       "status is refused",
		"page_token=a":            "page_token is refused",
		"skip=1":                  "skip is refused",
		"user_limit=1":            "user_limit is refused",
		"lab_test_limit=1":        "lab_test_limit is refused",
		"page[number]=2":          "page is refused",
		"cursor[]=a":              "cursor is refused",
	} {
		r := httptest.NewRequest("GET", "/v3/orders", nil)
		r.URL.RawQuery = text
		got := ""
		if err := checkedQuery(r, op); err == nil {
			got = r.URL.RawQuery
		} else if loc := New(Deps{}).refusal(t.Context(), err).detail.([]problem)[0].Loc; len(loc) == 2 && loc[0] == "query" {
			got = loc[1].(string) + " is refused"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Equal JSON is the same request, and other JSON is not. Keys in both headers must agree.
func TestWhiteSpaceAndHeadersOfIdempotentRequests(t *testing.T) {
	r := httptest.NewRequest("POST", "/v3/order", nil)
	one, spaced, other := []byte(`{"a":[1,"b c"]}`), []byte("{\n  \"a\": [1, \"b c\"]\n}"), []byte(`{"a":[1,"bc"]}`)
	at := &Attempt{request: fingerprint(r, withoutSpace(spaced)), exact: fingerprint(r, spaced)}
	if !at.isRequest(fingerprint(r, withoutSpace(one))) || !at.isRequest(fingerprint(r, spaced)) || at.isRequest(fingerprint(r, withoutSpace(other))) {
		t.Error("white space decides")
	}
	if text := []byte("no json "); string(withoutSpace(text)) != string(text) {
		t.Error("text that is not JSON was changed")
	}
	SetUpHuma()
	a := New(Deps{})
	r.Header.Set(idempotencyHeader, "1")
	r.Header.Set(idempotencyTwin, "2")
	if _, err := a.attempt(r, 200); !fault.Is(err, fault.Invalid) {
		t.Errorf("two keys: %v", err)
	}
	r.Header.Set(idempotencyTwin, "1")
	if _, err := a.attempt(r, 200); err != nil {
		t.Error(err)
	}
	if _, err := a.attempt(r, 200); !fault.Is(err, fault.Conflict) || a.refusal(r.Context(), err).header.Get("Retry-After") != "1" {
		t.Errorf("while it runs: %v", err)
	}
}
