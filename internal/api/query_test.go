package api

import (
	"net/http/httptest"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/fault"
)

// Every spelling of a list has the same result. Queries that cannot be applied are refused.
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
func TestFormAndHeadersOfIdempotentRequests(t *testing.T) {
	r := httptest.NewRequest("POST", "/v3/order", nil)
	at := func(body string) *Attempt {
		at := &Attempt{}
		at.identify(r, []byte(body))
		return at
	}
	one := at(`{"a":[1,"b/c\u00e4"],"b":{"c":60,"d":null}}`)
	for text, same := range map[string]bool{
		"{\n  \"a\": [1, \"b/c\u00e4\"], \"b\": {\"c\": 60, \"d\": null}}\n": true,
		`{"b":{"d":null,"c":60},"a":[1,"b\/c\u00E4"]}`:                       true,
		`{"\u0061":[1,"b/cä"],"b":{"c":60,"d":null}}`:                        true,
		`{"a":["b/cä",1],"b":{"c":60,"d":null}}`:                             false,
		`{"a":[1,"b/cä"],"b":{"c":60.0,"d":null}}`:                           false,
		`{"a":[1,"b/cä"],"b":{"c":60}}`:                                      false,
		`{"a":[1,"b/ cä"],"b":{"c":60,"d":null}}`:                            false,
		`{"a":[1,"b/cä"],"b":{"c":60,"d":null}} no json`:                     false,
	} {
		if got := at(text).isRequest(one.request); got != same {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, older := range one.older {
		if !one.isRequest(older) {
			t.Error("an answer that an earlier version stored is not found")
		}
	}
	SetUpHuma()
	a := New(Deps{})
	r.Header[idempotencyHeader] = []string{"1", "2"}
	if _, err := a.attempt(r, 200); !fault.Is(err, fault.Invalid) {
		t.Errorf("two keys in one header: %v", err)
	}
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
