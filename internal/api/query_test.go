package api

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/fault"
)

func TestSplitLists(t *testing.T) {
	declared := []*huma.Param{
		{Name: "status", In: "query", Schema: &huma.Schema{Type: huma.TypeArray}},
		{Name: "name", In: "query", Schema: &huma.Schema{Type: huma.TypeString}},
	}
	for text, want := range map[string]string{
		"status=a&status=b":     "status=a&status=b",
		"status=a,b":            "status=a&status=b",
		"status[]=a&status[]=b": "status=a&status=b",
		"status=a&status[]=b,c": "status=a&status=b&status=c",
		"name=a,b":              "name=a%2Cb",
	} {
		query, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if splitLists(query, declared); query.Encode() != want {
			t.Errorf("%s: %s, want %s", text, query.Encode(), want)
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
